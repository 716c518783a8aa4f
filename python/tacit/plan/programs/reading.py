"""The text of a program read: every operation is made anew, and its facts are inferred, whoever wrote the text.

A text is read if it is what tacit.plan.programs.identity writes of the graph that it makes, and refused otherwise. A
text may be written to harm: tacit.plan.programs.limits says how much work its reader does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

from tacit.plan.programs.declared import encoded_input
from tacit.plan.programs.facts import RINGS, SLACK, Shape
from tacit.plan.programs.forms import LARGEST, MOST_AXES, READERS, count, integer, items, operation_of, shown
from tacit.plan.programs.graph import Graph, Proof, Settings
from tacit.plan.programs.identity import VERSION, Source, canonical
from tacit.plan.programs.limits import (
    MOST_COLUMNS,
    MOST_DIGITS,
    MOST_ELEMENTS,
    MOST_ENDS,
    MOST_FRACTION,
    MOST_INTEGER,
    MOST_NAME,
    MOST_NODES,
    MOST_OPERANDS,
    MOST_PUBLIC,
    check_text,
    too_many,
)
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operands import MOST_MOVED, check
from tacit.plan.programs.operations import Input, Sample, Take
from tacit.plan.programs.proofs import proved
from tacit.plan.programs.public import Public, encoded
from tacit.plan.programs.queries import NamedQuery
from tacit.plan.programs.refusals import ProgramError

MEMBERS = ["fraction", "nodes", "outputs", "program", "rounding"]
AGAIN = "write it anew with this version of tacit"


@dataclass(frozen=True)
class Program:
    """A program as it is read. sources: where its inputs come from, by their names, for those that say."""

    text: str
    graph: Graph
    outputs: Mapping[str, Node]
    sources: Mapping[str, Source]


def is_program(text: str) -> bool:
    """Whether a query's text is that of a program. No text of SQL begins so."""
    return text.lstrip().startswith("{")


KEEPING = re.compile(
    r"CREATE (?P<replace>OR REPLACE )?TABLE (?P<name>\w+) \((?P<columns>\w+( DECIMAL\(\d+, \d+\))?"
    r"(, \w+( DECIMAL\(\d+, \d+\))?)*)\) AS (?P<program>\{.*)",
    re.ASCII | re.DOTALL,
)
"""What keeps the results of a program as a table: its name and columns, and the program behind."""


def program_of(text: str) -> str | None:
    """The program in a query's text: all of it, or what it keeps as a table; None if there is none."""
    if is_program(text):
        return text
    found = KEEPING.fullmatch(text)
    return None if found is None else found["program"]


def read(text: str) -> Program:
    """The program of a text. Raises ProgramError with what is wrong with it, and where."""
    said = _members(text)
    reader = _Reader(Graph(_settings(said)), _rows(said))
    nodes = reader.nodes(said["nodes"])
    outputs = _outputs(said["outputs"], nodes)
    if canonical(reader.graph, outputs, reader.sources) != text:
        raise _wrong("it is not written as its own graph is")
    return Program(text, reader.graph, outputs, reader.sources)


def _wrong(problem: str) -> ProgramError:
    return ProgramError(f"the text is no program: {problem}; {AGAIN}.")


def _members(text: str) -> dict[str, Any]:
    try:
        check_text(text)
        said = json.loads(text, parse_float=_no_float, parse_constant=_no_float, parse_int=_short_integer)
    except ProgramError as error:
        raise _wrong(error.sentence.rstrip(".")) from error
    except (ValueError, RecursionError) as error:
        raise _wrong("it is no JSON of integers and strings") from error
    if not isinstance(said, dict) or "program" not in said:
        raise _wrong("it does not say its version")
    if said["program"] != VERSION or type(said["program"]) is not int:
        raise _wrong(f"it has the version {shown(said['program'])}, and this tacit reads version {VERSION}")
    if sorted(said.keys() - {"rows"}) != MEMBERS:
        raise _wrong(f"its members are not {', '.join(MEMBERS)}")
    return said


def _no_float(text: str) -> Any:
    raise ValueError(text)


def _short_integer(text: str) -> int:
    if len(text) > MOST_INTEGER:
        raise ValueError("an integer is too long")
    return int(text)


def _settings(said: Mapping[str, Any]) -> Settings:
    fraction, rounding = said["fraction"], said["rounding"]
    if type(fraction) is not int or not 1 <= fraction <= MOST_FRACTION or rounding not in ("dither", "floor"):
        raise _wrong(f'it needs 1 to {MOST_FRACTION} bits after the point and the rounding "dither" or "floor"')
    return Settings(fraction, rounding)


def _rows(said: Mapping[str, Any]) -> tuple[NamedQuery, ...]:
    """The queries of whose rows inputs are columns."""
    rows = said.get("rows", [])
    if type(rows) is not list or len(rows) > MOST_ENDS:
        raise _wrong(f"its rows are no list of {MOST_ENDS:,} queries at most")
    try:
        return tuple(map(NamedQuery.of, rows))
    except ProgramError as error:
        raise _wrong(error.sentence.rstrip(".")) from error


def _outputs(said: Any, nodes: list[Node]) -> dict[str, Node]:
    if type(said) is list and len(said) > MOST_ENDS:
        raise _wrong(f"it has more than {MOST_ENDS:,} outputs")
    try:
        listed = [(_name(name), nodes[_place(place, len(nodes))]) for name, place in said]
    except (TypeError, ValueError):
        raise _wrong("its outputs are not names, each with the place of an operation") from None
    if not listed or len(dict(listed)) != len(listed):
        raise _wrong("it has no output, or two of one name")
    return dict(listed)


def _name(value: Any, most: int = MOST_NAME) -> str:
    if type(value) is not str or not 0 < len(value) <= most or not value.isprintable():
        raise ValueError
    return value


def _place(value: Any, before: int) -> int:
    if count(value) >= before:
        raise ValueError
    return int(value)


class _Reader:
    """Makes the nodes of a text. rows: of queries, as it has them. sources: where inputs come from, if it is said."""

    def __init__(self, graph: Graph, rows: tuple[NamedQuery, ...]) -> None:
        self.graph = graph
        self.rows = rows
        self.sources: dict[str, Source] = {}
        self._made: list[Node] = []
        self._names: set[str] = set()
        self._numbers: set[int] = set()
        self._samples = self._operands = self._public = 0

    def nodes(self, said: Any) -> list[Node]:
        """All nodes, in the order of the text."""
        if type(said) is not list or not 0 < len(said) <= MOST_NODES:
            raise _wrong(f"it has no list of 1 to {MOST_NODES:,} operations")
        for place, each in enumerate(said):
            try:
                self._add(self._sized(self._node(each)))
            except ProgramError as error:
                raise _wrong(f"at operation {place} ({_op(each)}), {error.sentence.rstrip('.')}") from error
            except ArithmeticError as error:
                problem = "its numbers have no bounds that can be computed"
                raise _wrong(f"at operation {place} ({_op(each)}), {problem}") from error
            except (KeyError, TypeError, ValueError) as error:
                raise _wrong(f"operation {place} ({_op(each)}) lacks a member, or has a wrong one") from error
        return self._made

    def _add(self, node: Node) -> None:
        """Refuse what was made before: to prove one fact a thousand times takes hours."""
        if node.number in self._numbers:
            raise ProgramError("it is the same as one before it.")
        self._numbers.add(node.number)
        self._made.append(node)

    def _node(self, said: Any) -> Node:
        given = dict(said)
        op, args = _word(given.pop("op")), tuple(self._at(place) for place in items(count)(given.pop("args")))
        self._operands += len(args)
        if self._operands > MOST_OPERANDS:
            raise too_many("operands", MOST_OPERANDS)
        match op:
            case "input":
                return self._input(given)
            case "constant":
                return self._constant(given)
            case "sample":
                return self._sample(given)
            case "known":
                (known,) = args
                parameters = items(count)(given["parameters"])
                return proved(self.graph, known, Proof(_word(given["proof"]), self._at(given["of"]), parameters))
            case _:
                operation = operation_of(op, given)
                if isinstance(operation, Take):
                    self._count_public(len(operation.positions))
                check(operation, args)
                return self.graph.make(operation, *args)

    def _at(self, place: Any) -> Node:
        return self._made[_place(place, len(self._made))]

    def _sized(self, node: Node) -> Node:
        shape = node.array.shape
        if max(node.array.size, *shape, 0) > MOST_ELEMENTS or len(shape) > MOST_AXES:
            raise ProgramError(f"an array of shape {node.array.shape} is too large.")
        if abs(node.array.fraction) > MOST_MOVED:
            raise ProgramError(f"it has {node.array.fraction} bits after the point.")
        return node

    def _sample(self, given: Mapping[str, Any]) -> Node:
        shape, bits, fraction = (READERS[each](given[each]) for each in ("shape", "bits", "fraction"))
        if not 1 <= bits <= RINGS[0] - SLACK or fraction > RINGS[0] - SLACK:
            raise ProgramError(f"random numbers have 1 to {RINGS[0] - SLACK} bits.")
        if given["number"] != self._samples or type(given["number"]) is not int:
            raise ProgramError(f"random numbers are counted in their order, and these are number {self._samples}.")
        self._samples += 1
        return self.graph.make(Sample(self._samples - 1, shape, bits, fraction))

    def _input(self, given: Mapping[str, Any]) -> Node:
        name, dtype = _name(given["name"]), READERS["dtype"](given["dtype"])
        bounds = integer(given["low"]), integer(given["high"])
        norm2 = None if given["norm2"] is None else _square(given["norm2"])
        if bounds[0] > bounds[1]:
            raise ProgramError("its lower bound is above its upper one.")
        array = encoded_input(
            name, READERS["shape"](given["shape"]), dtype, bounds, norm2, self.graph.settings.fraction
        )
        if dtype == "bool" and not (bounds[0] >= 0 and bounds[1] <= 1):
            raise ProgramError("its bounds are not those of bits.")
        if name in self._names:
            raise ProgramError(f"the input {name} is there already.")
        self._names.add(name)
        if len(self._names) > MOST_ENDS:
            raise too_many("inputs", MOST_ENDS)
        if given["owner"] is not None:
            rows = self.rows[_place(given["rows"], len(self.rows))] if "rows" in given else None
            self.sources[name] = Source(_name(given["owner"]), _name(given["array"], MOST_COLUMNS), rows)
        return self.graph.make(Input(name, array))

    def _constant(self, given: Mapping[str, Any]) -> Node:
        shape, ring = READERS["shape"](given["shape"]), given["ring"]
        fraction = count(given["fraction"])
        self._count_public(max(prod(shape), len(given["reals"])))
        reals = items(_real)(given["reals"])
        if ring not in RINGS or fraction > MOST_MOVED:
            raise ProgramError("it has no such ring, or too many bits after the point.")
        dtype = READERS["dtype"](given["dtype"])
        if dtype == "bool" and (fraction or not all(real in (0, 1) for real in reals)):
            raise ProgramError("its numbers are no bits.")
        return encoded(self.graph, _public(shape, reals), fraction, dtype, ring)

    def _count_public(self, numbers: int) -> None:
        self._public += numbers
        if self._public > MOST_PUBLIC:
            raise too_many("public numbers", MOST_PUBLIC)


def _op(said: Any) -> str:
    op = said.get("op") if isinstance(said, dict) else None
    return repr(op[:32]) if isinstance(op, str) else "without a name"


def _word(value: Any) -> str:
    if type(value) is not str:
        raise ValueError
    return value


def _public(shape: Shape, reals: tuple[Fraction, ...]) -> Public:
    """Public numbers; one stands for all."""
    size = prod(shape)
    found = reals * size if len(reals) == 1 else reals
    if len(found) != size:
        raise ProgramError(f"there are {len(reals)} numbers for {size} elements.")
    return Public(shape, "fixed", found)


def _square(value: Any) -> int:
    """A bound of a sum of squares."""
    if type(value) is not int or not 0 <= value < LARGEST**4:
        raise ValueError
    return value


def _real(value: Any) -> Fraction:
    """A public number, as its numerator and denominator."""
    if type(value) is not str or any(len(part) > MOST_DIGITS for part in value.split("/")):
        raise ValueError
    top, _, bottom = value.partition("/")
    if bottom and int(bottom) < 2:
        raise ValueError
    return Fraction(int(top), int(bottom or 1))
