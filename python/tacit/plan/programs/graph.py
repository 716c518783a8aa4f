"""A program's graph: frozen nodes, each made once, with what is known of them.

A node whose integers may use the slack of their ring is never made: making it raises TooWide.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from math import ceil
from typing import Literal

from tacit.plan.programs.facts import Array
from tacit.plan.programs.infer_format import coarser
from tacit.plan.programs.inference import inferred
from tacit.plan.programs.limits import MOST_ENCODED, MOST_ERROR
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Bilinear, Known, Multiply, Operation, Truncate
from tacit.plan.programs.refusals import OutOfDomain, ProgramError, TooWide

ERROR_STEPS = 1 << 32
"""Errors are multiples of the last place divided by this."""

Rounding = Literal["dither", "floor"]


@dataclass(frozen=True)
class Settings:
    """What a program asks for. fraction: bits after the point. rounding: of truncations; "floor" is exact.

    units: of the last place, by which a product of private factors may be wrong when it is cut, unless it is rounded
    down. It is the engine's, and no part of a program's text.
    """

    fraction: int = 16
    rounding: Rounding = "dither"
    units: int = 1


@dataclass(frozen=True)
class Proof:
    """How a fact of algebra comes about: by what tacit.plan.programs.proofs makes of an array with parameters."""

    name: str
    of: Node
    parameters: tuple[int, ...]


@dataclass
class Graph:
    """Makes nodes, the same one for the same operation on the same nodes. line: of the program, as it is traced.

    notes: why an array has the format that it has, where it is not the usual one, by the numbers of nodes. proofs: of
    the facts of algebra, by the numbers of nodes. room: how many more public numbers it encodes.
    """

    settings: Settings = field(default_factory=Settings)
    line: int | None = None
    notes: dict[int, str] = field(default_factory=dict, repr=False)
    proofs: dict[int, Proof] = field(default_factory=dict, repr=False)
    room: int = MOST_ENCODED
    nodes: dict[bytes, Node] = field(default_factory=dict, repr=False)

    def make(self, operation: Operation, *args: Node) -> Node:
        """The node of an operation, refused where its numbers may not fit its ring."""
        key = _key(operation, args)
        found = self.nodes.get(key)
        if found is None:
            found = Node(operation, args, self._facts(operation, args), len(self.nodes), self.line)
            self.nodes[key] = found
        return found

    def again(self, node: Node, args: list[Node]) -> Node:
        """The node of the same operation on other nodes, which are often the same."""
        same = all(new is old for new, old in zip(args, node.args, strict=True))
        return node if same else self.make(node.operation, *args)

    def spend(self, numbers: int) -> None:
        """Take room for public numbers. Raises ProgramError where there is none."""
        if numbers > self.room:
            raise ProgramError("it encodes too many public numbers; give large public arrays as an owner's.", self.line)
        self.room -= numbers

    def know(self, fact: Known, a: Node, proof: Proof) -> Node:
        """The node of an array of which algebra knows more."""
        found = self.make(fact, a)
        self.proofs.setdefault(found.number, proof)
        return found

    def _facts(self, operation: Operation, args: tuple[Node, ...]) -> Array:
        try:
            array = inferred(operation, args)
        except ProgramError as error:
            error.line = error.line or self.line
            raise
        if self.settings.units > 1 and _is_cut_product(operation, args):
            array = coarser(array, self.settings.units - 1)
        if not array.fits:
            raise TooWide(_name(operation), array.low, array.high, array.fraction, self.line)
        return replace(array, error=self._possible(operation, _short(min(array.error, array.farthest))))

    def _possible(self, operation: Operation, error: Fraction) -> Fraction:
        """An error, refused where it is so large that it says nothing, and takes long to compute with."""
        if error.numerator.bit_length() > MOST_ERROR:
            raise OutOfDomain(
                f"{_name(operation)} has no bound of its error that says anything: products square large "
                "errors with every step; bound the array with np.clip before it is multiplied.",
                self.line,
            )
        return error


def _key(operation: Operation, args: tuple[Node, ...]) -> bytes:
    """What tells nodes apart. Whoever writes a text chooses its numbers, so that this
    has to resist collisions: Python's own hashes of them do not."""
    return sha256(f"{operation!r} of {[arg.number for arg in args]}".encode()).digest()


def _is_cut_product(operation: Operation, args: tuple[Node, ...]) -> bool:
    return (
        isinstance(operation, Truncate)
        and not operation.floor
        and isinstance(args[0].operation, Multiply | Bilinear)
        and not any(factor.is_public or factor.array.dtype == "bool" for factor in args[0].args)
    )


def _short(error: Fraction) -> Fraction:
    """An error rounded up to a short fraction: exact ones get twice as long with every product."""
    return Fraction(ceil(error * ERROR_STEPS), ERROR_STEPS)


def _name(operation: Operation) -> str:
    name = type(operation).__name__
    return "the result of " + "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
