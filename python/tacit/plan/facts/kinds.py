"""How a value is represented under MPC, and the narrowest width that its public bounds allow.

Numbers that are compared, ordered, grouped or joined are bit planes ("bits"); numbers that are added up or multiplied
are ring shares ("ring64", "ring128"). Strings are equal by a keyed hash ("hash") or, where they are short, by their
bytes ("bytes"); order and output need the bytes. A column used in both ways enters MPC in both representations: sharing
it twice is cheaper than converting it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import subexpressions
from tacit.plan.algebra.refusals import QueryError, TooWide, UnsupportedSQL
from tacit.plan.algebra.relations import Filter, Literal, Project, Relation
from tacit.plan.algebra.trees import children, kept_scans, scans
from tacit.plan.algebra.types import Boolean, Double, Field, Type, Varchar
from tacit.plan.facts.fields import most_rows

Rep = OneOf["bits", "ring64", "ring128", "hash", "bytes", "any"]
Encoding = OneOf["int", "hash", "bytes"]
"""How a value becomes bits: as a number, by the keyed hash of a string, as a string's zero-padded bytes."""

RINGS: tuple[Rep, Rep] = ("ring64", "ring128")
COLLISION_BITS = 40  # two of a query's strings share a hash with probability below 2**-40
WIDEST = 128


@dataclass(frozen=True)
class Hashes:
    """How strings are compared for equality. width: of their keyed hashes, None where there can be none.

    declared: whether strings of a declared length are hashed, where their bytes are not as short.
    """

    width: int | None
    declared: bool = True


NO_HASHES = Hashes(None, declared=False)
"""Strings are equal by their bytes, however many."""


@dataclass(frozen=True)
class Kind:
    """A column kind of docs/placed-plan.md. encode: how a string becomes bits ("int" for everything else)."""

    repr: OneOf["bits", "ring64", "ring128"]
    width: int
    signed: bool
    nullable: bool
    encode: Encoding = "int"

    @property
    def rep(self) -> Rep:
        """The representation as demands name it."""
        return self.repr if self.encode == "int" else self.encode

    def json(self) -> dict[str, Any]:
        """As the native session reads it."""
        return {"repr": self.repr, "width": self.width, "signed": self.signed, "nullable": self.nullable}


def hashes(relation: Relation) -> Hashes:
    """Key narrowing for strings: enough hash bits for all strings of a query together, columns and constants.

    Of n strings two share a hash of w bits with a probability below n^2 / 2^(w + 1). Kept strings are bytes: hashes are
    made by owners, under a key of their run.
    """
    if any(_is_string(each.type) for scan in kept_scans(relation) for each in scan.fields):
        return NO_HASHES
    columns = sum(most_rows(scan) * sum(_is_string(each.type) for each in scan.fields) for scan in scans(relation))
    strings = max(columns + len(_constants(relation)), 2)
    width = 2 * (strings - 1).bit_length() + COLLISION_BITS
    if width > WIDEST:
        most = WIDEST - COLLISION_BITS >> 1
        raise QueryError(
            f"the query reads up to {strings:,} strings, more than the 2^{most} that hashes tell apart; "
            "declare rows for its tables, or read fewer VARCHAR columns."
        )
    return Hashes(width)


def kind_of(type_: Type, nullable: bool, rep: Rep, hashed: Hashes) -> Kind:
    """The kind of a value of this type in a representation. hashed: how the query compares strings."""
    match type_:
        case Double():
            raise UnsupportedSQL(
                "DOUBLE arithmetic under MPC", "divide in the outermost SELECT, or CAST it to a DECIMAL"
            )
        case Varchar(max_length, None):
            if rep == "hash" or (rep == "any" and equality_rep(type_, hashed) == "hash"):
                if hashed.width is None:
                    raise UnsupportedSQL(
                        "a VARCHAR without a max_length beside strings of a kept table",
                        "declare the column's max_length",
                    )
                return Kind("bits", hashed.width, False, nullable, "hash")
            if max_length is None:
                raise UnsupportedSQL(
                    "the output or order of a VARCHAR without a max_length", "declare the column's max_length"
                )
            return Kind("bits", max(8 * max_length, 8), False, nullable, "bytes")
        case Boolean() if rep not in RINGS:
            return Kind("bits", 1, False, nullable)
        case _:
            return _number(bounds.range_of(type_), nullable, rep)


def opened_rep(type_: object) -> Rep:
    """Strings are opened as bytes; numbers in whichever representation they have."""
    return "bytes" if isinstance(type_, Varchar) and type_.values is None else "any"


def kind_of_field(field: Field, rep: Rep, hashed: Hashes) -> Kind:
    """The kind of a column in a representation. A refusal is about the column."""
    try:
        return kind_of(field.type, field.nullable, rep, hashed)
    except QueryError as error:
        raise error.at(None, field.name) from None


def _is_string(type_: Type) -> bool:
    """Whether values are strings without a dictionary."""
    return isinstance(type_, Varchar) and type_.values is None


def _constants(relation: Relation) -> set[str]:
    """The strings that the query's expressions write down."""
    match relation:
        case Filter(_, predicate):
            written = [predicate]
        case Project(_, outputs):
            written = [each for _, each in outputs]
        case _:
            written = []
    parts = [part for each in written for part in subexpressions(each)]
    found = {part.value for part in parts if isinstance(part, Literal) and isinstance(part.value, str)}
    return found.union(*map(_constants, children(relation)))


def equality_rep(type_: Type, hashed: Hashes) -> Rep:
    """The representation in which values of a type are compared for equality."""
    if not isinstance(type_, Varchar) or type_.values is not None:
        return "bits"
    if type_.max_length is None:
        return "hash"
    short = hashed.width is None or 8 * type_.max_length <= hashed.width
    return "bytes" if short or not hashed.declared else "hash"


def order_rep(type_: Type) -> Rep:
    """The representation in which values of a type are ordered."""
    return "bytes" if isinstance(type_, Varchar) and type_.values is None else "bits"


def ring_of(type_: Type) -> Rep:
    """The smaller ring that holds every value of a type."""
    return "ring64" if width_of(bounds.range_of(type_)) + (bounds.range_of(type_)[0] >= 0) <= 64 else "ring128"


def width_of(found: bounds.Range) -> int:
    """Bits that encode all values of a range and 0, in two's complement if any is negative."""
    low, high = min(found[0], 0), max(found[1], 0)
    if low == 0:
        return max(high.bit_length(), 1)
    return max(high.bit_length(), (-low - 1).bit_length()) + 1


def _number(found: bounds.Range, nullable: bool, rep: Rep) -> Kind:
    width, signed = width_of(found), found[0] < 0
    if width > WIDEST - (not signed):
        raise TooWide("a computed number", width)
    narrow: OneOf["ring64", "ring128"] = "ring64" if width + (not signed) <= 64 else "ring128"
    if rep in RINGS:
        return Kind("ring128" if "ring128" in (rep, narrow) else "ring64", width, signed, nullable)
    return Kind("bits", width, signed, nullable)
