"""What lowering knows of a shared table: its columns and its public number of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.plan.facts.kinds import Kind, Rep
from tacit.plan.physical.secure_expressions import Columns, SecureColumn, pick


@dataclass(frozen=True)
class Rows:
    """A public row bound. known: as a number, None if it depends on announced sizes. text: the formula.

    most: a number that it is at most, whatever is announced.
    """

    known: int | None
    text: str
    most: int

    def __add__(self, other: Rows) -> Rows:
        if self.known is not None and other.known is not None:
            return exactly(self.known + other.known)
        return Rows(None, f"{self.text} + {other.text}", self.most + other.most)

    def __mul__(self, other: Rows) -> Rows:
        if self.known is not None and other.known is not None:
            return exactly(self.known * other.known)
        return Rows(None, f"({self.text}) * ({other.text})", self.most * other.most)

    def times(self, number: int) -> Rows:
        """This number of rows for each of them."""
        return self if number == 1 else self * exactly(number)

    def at_most(self, bound: int | None) -> Rows:
        """The smaller of this and a known bound."""
        if bound is None or self.most <= bound:
            return self
        if self.known is not None:
            return exactly(bound)
        return Rows(None, f"min({self.text}, {bound:,})", min(self.most, bound))


def exactly(rows: int) -> Rows:
    """A known number of rows."""
    return Rows(rows, f"{rows:,}", rows)


@dataclass(frozen=True)
class SharedTable:
    """The output of a step.

    columns: logical name to physical columns (one for each representation). physical: all columns the table has, also
    those that nothing uses any more.
    """

    step: int
    columns: Columns
    physical: dict[str, Kind]
    rows: Rows

    def column(self, name: str, rep: Rep) -> SecureColumn:
        """The physical column of a logical one that is best for a representation."""
        return pick(self.columns[name], rep)

    def with_columns(self, columns: Columns) -> SharedTable:
        """The same table under other logical names."""
        return replace(self, columns=columns)


def physical_of(columns: Columns) -> dict[str, Kind]:
    """All physical columns behind logical ones, each once."""
    return {column.name: column.kind for group in columns.values() for column in group}


def physical_name(logical: str, rep: Rep, taken: set[str]) -> str:
    """A name for a physical column: the logical one, or with its representation if that is taken."""
    if logical not in taken:
        return logical
    name, number = f"{logical}.{rep}", 2
    while name in taken:
        name, number = f"{logical}.{rep}.{number}", number + 1
    return name
