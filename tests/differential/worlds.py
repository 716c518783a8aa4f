"""Generated federations: owners, tables of every type, and rows full of NULLs, duplicates and extreme values.

The tables are such that there is something to ask: ``people`` and ``places`` have unique keys; ``sales_a``, ``sales_b``
and more of their kind, which are united as ``sales``, refer to them and have the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from .chance import Chance
from .columns import Column, Value, columns, csv_text
from .federations import MEMBERS, Declared


@dataclass(frozen=True)
class Table:
    """An owner's table with its rows. rows_bound: the declared ``rows``. unique: the columns of its key, if any."""

    name: str
    owner: str
    columns: tuple[Column, ...]
    unique: tuple[str, ...]
    rows_bound: int | None
    consents: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    parquet: bool = False

    def column(self, name: str) -> Column:
        """A column by its name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def section(self) -> str:
        """Its section of the offer, with owner and path."""
        path = f"{self.owner}/{self.name}.{'parquet' if self.parquet else 'csv'}"
        lines = [f"[tables.{self.name}]", f'owner = "{self.owner}"', f'path = "{path}"']
        lines += [] if self.rows_bound is None else [f"rows = {self.rows_bound}"]
        lines += [f"unique = [[{', '.join(map(_quoted, self.unique))}]]"] if self.unique else []
        lines += [f"consents = [{', '.join(map(_quoted, self.consents))}]"] if self.consents else []
        return "\n".join([*lines, *(column.line for column in self.columns)])

    @property
    def csv(self) -> str:
        """Its rows as a CSV file."""
        lines = [",".join(column.name for column in self.columns)]
        return "\n".join([*lines, *(",".join(map(csv_text, row)) for row in self.rows)]) + "\n"

    @property
    def features(self) -> set[str]:
        """What is special about it."""
        found = {feature for column in self.columns for feature in column.features}
        found |= {"announced rows"} if self.rows_bound is None else {"padded rows"}
        found |= {f"consent to {consent}" for consent in self.consents}
        found |= {"columns that others read"} if any(column.readers for column in self.columns) else set()
        found |= {"empty table"} if not self.rows else set()
        found |= {"duplicate rows"} if len(set(self.rows)) < len(self.rows) else set()
        found |= {"NULL in a key"} if any(row[0] is None for row in self.rows) else set()
        return found


@dataclass(frozen=True)
class Members:
    """Who takes part. clients: parties that are no nodes. owners: those that hold tables."""

    engine: str
    clients: tuple[str, ...]
    owners: tuple[str, ...]

    @property
    def parties(self) -> tuple[str, ...]:
        """All, the nodes first."""
        return (*MEMBERS[self.engine], *self.clients)

    @property
    def features(self) -> set[str]:
        """What is special about it."""
        nodes = set(MEMBERS[self.engine])
        found = {"owner that is no node"} if set(self.owners) - nodes else set()
        found |= {"no node owns"} if not set(self.owners) & nodes else set()
        found |= {"node that owns nothing"} if nodes - set(self.owners) else set()
        return found | ({"party that owns nothing"} if set(self.clients) - set(self.owners) else set())


@dataclass(frozen=True)
class World:
    """A federation with its data. united: the tables whose rows ``sales`` has together."""

    members: Members
    tables: tuple[Table, ...]
    united: tuple[str, ...]

    def table(self, name: str) -> Table:
        """A table by its name."""
        return next(table for table in self.tables if table.name == name)

    def declared(self) -> dict[str, Declared]:
        """All tables, as text."""
        return {table.name: Declared(table.section, table.csv) for table in self.tables}

    @property
    def features(self) -> set[str]:
        """What is special about it."""
        owners = len({table.owner for table in self.tables})
        return {f"{owners} owners"}.union(self.members.features, *(table.features for table in self.tables))


THREE = Members("rep3", (), MEMBERS["rep3"])
TWO = Members("two", (), MEMBERS["two"])
CLIENTS = ("d", "e", "f", "g", "h", "i")
"""Names of parties that are no nodes."""


def members(chance: Chance, owners: int, engine: str) -> Members:
    """A federation of so many owners, of which some are nodes, or none."""
    nodes = MEMBERS[engine]
    owning = chance.between(max(0, owners - len(CLIENTS)), min(len(nodes), owners))
    others = CLIENTS[: owners - owning]
    idle = CLIENTS[len(others) : len(others) + chance.between(0, 2)]
    return Members(engine, (*others, *idle), (*chance.several(nodes, owning, owning), *others))


def worlds(chance: Chance, who: Members = THREE) -> World:
    """A federation's data."""
    key = columns(chance, "k", ("whole", "whole", "text", "date", "moment", "decimal"), key=True)
    second = [columns(chance, "k2", ("whole", "text"), key=True)] if chance.often(4) else []
    group = columns(chance, "g", ("text", "whole", "flag", "text"), key=True)
    others = [
        columns(chance, "v", ("whole",)),
        columns(chance, "w", ("decimal", "whole")),
        columns(chance, "t", ("text",)),
        columns(chance, "d", ("date", "moment")),
        columns(chance, "b", ("flag",)),
    ]
    keys = [key, *second]
    chosen = [each for each in others if not chance.often(4)]
    people = [each for each in others if chance.often(2)]
    places = [each for each in others if chance.often(3)]
    unique = tuple(each.name for each in keys)
    make = _Tables(chance, _owners(chance, who), chance.often(2), not chance.often(3))
    sales = [f"sales_{letter}" for letter in "abcdefgh"[: max(2, len(who.owners) - 2)]]
    tables = (
        make.table("people", (*keys, group, *people), unique),
        make.table("places", (group, *places), ("g",)),
        *(make.table(name, (*keys, group, *chosen), ()) for name in sales),
    )
    return World(who, tuple(map(_Readers.drawn(chance, who).read, tables)), tuple(sales))


@dataclass(frozen=True)
class _Readers:
    """Who may read columns of others. part: one in so many columns stays closed; 0 for keys alone."""

    chance: Chance
    parties: tuple[str, ...]
    part: int

    @classmethod
    def drawn(cls, chance: Chance, who: Members) -> _Readers:
        """Nobody, a party that may read most columns, or all parties the keys."""
        match chance.pick(["nobody", "nobody", "party", "all"]):
            case "party":
                return cls(chance, (chance.pick(who.parties),), 6)
            case "all":
                return cls(chance, who.parties, 0)
            case _:
                return cls(chance, (), 0)

    def read(self, table: Table) -> Table:
        """The table with its readers."""
        return replace(table, columns=tuple(map(self._column, table.columns))) if self.parties else table

    def _column(self, column: Column) -> Column:
        readable = not self.chance.often(self.part) if self.part else column.name in ("k", "k2", "g")
        return replace(column, readers=self.parties) if readable else column


def _owners(chance: Chance, who: Members) -> list[str]:
    """The owner of each table, of which each owner that there is has one, if there are so many tables."""
    owners = chance.shuffled(who.owners)
    each = [owners[at % len(owners)] for at in range(max(4, len(owners)))]
    return each if chance.often(2) else [*owners, *(chance.pick(owners) for _ in each[len(owners) :])]


@dataclass
class _Tables:
    """Makes tables. owners: of those to come.

    matching: their rows will be matched with those of others, because plans expect many of them. consents: whether
    owners then show which rows match; who does not has them hidden, where both sides' keys are unique.
    """

    chance: Chance
    owners: list[str]
    matching: bool
    consents: bool

    def table(self, name: str, listed: tuple[Column, ...], unique: tuple[str, ...]) -> Table:
        """A table of the next owner."""
        chance = self.chance
        found = tuple(_varied(chance, column) for column in listed)
        rows = _unique_rows(chance, found, len(unique)) if unique else _rows(chance, found)
        return Table(
            name,
            self.owners.pop(0),
            found,
            unique,
            None if self.matching else chance.pick([None, len(rows), len(rows) + 3]),
            chance.pick([(), ("filter",), ("groups", "sizes"), ("filter", "groups", "sizes")])
            + (("matches",) if (self.consents if self.matching else chance.often(2)) else ()),
            rows,
            chance.often(4),
        )


def _rows(chance: Chance, found: tuple[Column, ...]) -> tuple[tuple[Value, ...], ...]:
    """Any rows; sometimes none."""
    size = chance.pick([6, 3, 9, 12, 9, 6, 12, 12, 9, 0])
    return tuple(tuple(_value(chance, column) for column in found) for _ in range(chance.between(size * 2 // 3, size)))


def _unique_rows(chance: Chance, found: tuple[Column, ...], width: int) -> tuple[tuple[Value, ...], ...]:
    """Rows whose first columns never repeat together: most of the possible keys, at most eight, sometimes none."""
    pools = [[*column.values, *([None] if column.nullable else [])] for column in found[:width]]
    if chance.often(12):
        return ()
    keys = [key for key in product(*pools) if not chance.often(4)]
    return tuple((*key, *(_value(chance, column) for column in found[width:])) for key in keys[:8])


def _varied(chance: Chance, column: Column) -> Column:
    """The same column as another table has it: perhaps with NULL, where the other has none."""
    nullable = chance.pick([column.nullable, column.nullable, not column.nullable])
    return Column(
        column.name, column.family, column.declaration, column.values, nullable, column.features, column.shown
    )


def _value(chance: Chance, column: Column) -> Value:
    return None if column.nullable and chance.often(3) else chance.pick(column.values)


def _quoted(name: str) -> str:
    return f'"{name}"'
