"""Values that the native session computes for every row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from tacit.plan.facts.kinds import Encoding, Kind
from tacit.plan.physical.record import JSON, Record, written

Function = OneOf[
    "add", "sub", "mul", "neg",
    "scale",  # multiplies by a constant
    "quotient", "remainder",  # rounded towards zero, with the sign of the first; NULL where the second is 0
    "floor", "ceil", "round",  # quotients by a positive constant; "round" from the middle away from zero
    "eq", "ne", "lt", "le", "gt", "ge",
    "and", "or", "not",  # three-valued; "and" and "or" take one or more arguments
    "is_null",
    "if",  # (condition, then, else): a NULL condition takes else
    "convert",  # changes representation or width, keeps the value
]  # fmt: skip


@dataclass(frozen=True)
class Column(Record):
    """A column of the input: ``{"col": "score"}``."""

    name: str

    def json(self) -> JSON:
        """The object."""
        return {"col": self.name}


@dataclass(frozen=True)
class Integer(Record):
    """A constant, its decimal digits in a string; BOOLEAN: 0 or 1: ``{"int": "-12", "kind": {...}}``."""

    value: int
    kind: Kind

    def json(self) -> JSON:
        """The object."""
        return {"int": str(self.value), "kind": self.kind.json()}


@dataclass(frozen=True)
class Text(Record):
    """A string constant, encoded as the column it meets: ``{"text": "aspirin", "encode": "hash", "kind": {...}}``."""

    text: str
    encode: Encoding
    kind: Kind


@dataclass(frozen=True)
class Null(Record):
    """NULL of a kind: ``{"null": {...}}``."""

    kind: Kind

    def json(self) -> JSON:
        """The object."""
        return {"null": self.kind.json()}


@dataclass(frozen=True)
class Call(Record):
    """A function of other values: ``{"op": "add", "args": [...], "kind": {...}}``.

    kind: the result's, which follows from public bounds. by: the constant of "scale", "floor", "ceil" and "round",
    as ``"by": "100"``.
    """

    function: Function
    args: tuple[Value, ...]
    kind: Kind
    by: int | None = None

    def json(self) -> JSON:
        """The object."""
        found = {"op": self.function, "args": written(self.args), "kind": self.kind.json()}
        return found if self.by is None else found | {"by": str(self.by)}


Value = Column | Integer | Text | Null | Call
