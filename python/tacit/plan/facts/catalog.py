"""What every party publicly declares: who takes part, which tables they own, and what may be assumed about the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tacit.plan.algebra.types import Field
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.sources import Source, Use
from tacit.plan.facts.terms import OPEN_COLUMN, ColumnTerms, Terms


@dataclass(frozen=True)
class Column:
    """A column of an owner's table.

    readers: parties other than the owner that may see the column's values in clear. terms: what its owner allows.
    rounded: its values are floating-point numbers, which the owner rounds to the decimals of the type. repeats: no
    value but NULL occurs in more rows than this (checked by the owner at load); None: nothing is declared.
    """

    field: Field
    readers: frozenset[str] = frozenset()
    terms: ColumnTerms = OPEN_COLUMN
    rounded: bool = False
    repeats: int | None = None


@dataclass(frozen=True)
class Table:
    """An owner's table.

    rows: declared public bound on the number of rows: shares are padded to it and the true count stays hidden. None:
        the exact count is announced to all nodes, which is a disclosure.
    most_rows: a public bound on a count that is announced; None where rows are declared, or there is no bound.
    unique: sets of columns whose values never repeat together (checked by the owner at load).
    consents: what the owner agrees to show. "filter": how many rows a local filter leaves. "groups": how many groups a
        local aggregation has. "matches": which rows match another owner's in a join (tacit.plan.rules.matching).
        "sizes": how many rows a step under MPC leaves (tacit.plan.rules.resizing).
    exact: rows is the number of rows itself (checked by the owner at load).
    delivered: queries read what the owner has delivered to the nodes, and it need not be there.
    path: where the owner finds the data; never part of the plan. terms: what its owner allows; None for everything, in
        catalogs that no offer has made.
    """

    name: str
    owner: str
    columns: tuple[Column, ...]
    unique: tuple[frozenset[str], ...] = ()
    rows: int | None = None
    consents: frozenset[str] = frozenset()
    most_rows: int | None = None
    delivered: bool = False
    exact: bool = False
    path: str | None = field(default=None, compare=False, repr=False)
    terms: Terms | None = None

    @property
    def rounded(self) -> frozenset[str]:
        """The names of columns whose values are rounded."""
        return frozenset(column.field.name for column in self.columns if column.rounded)

    @property
    def relied_on(self) -> frozenset[str]:
        """The columns of unique keys and those whose repeats are declared: a plan may rest on these without a read."""
        counted = frozenset(column.field.name for column in self.columns if column.repeats is not None)
        return counted.union(*self.unique)

    @property
    def bound(self) -> int | None:
        """No more rows than this, declared or announced; None: no bound is known."""
        return self.most_rows if self.rows is None else self.rows


@dataclass(frozen=True)
class KeptColumn:
    """A column of a kept table. kind: in which it is kept. readers: as they were found when it was kept.

    uses: its lineage from then; None in files that do not say. repeats: as of a Column.
    """

    field: Field
    kind: Kind
    readers: frozenset[str]
    uses: tuple[Use, ...] | None = None
    repeats: int | None = None


@dataclass(frozen=True)
class KeptTable:
    """A table of which the nodes keep shares, made by an earlier run.

    id: random, common to the parts of all nodes. rows: its public number of rows. padded: whether some of them may not
    be valid. single: exactly one is. owners, tables: whose data, of which tables, entered it. plan_hash, query: of the
    run that made it. presence: the lineage of which rows there are; None in files that do not say. made: when, in
    seconds since 1970; None in files that do not say. declared: of a delivery, the hash of what the owner's offer
    declared of its table then (tacit.plan.facts.deliveries). exact: all rows are valid, whatever the data. told:
    constants of a query, or results of a program, are in it; None in files that do not say. program: the hash of the
    program whose results it has, as offers list it; None where it is not that.
    """

    name: str
    id: str
    columns: tuple[KeptColumn, ...]
    rows: int
    padded: bool
    single: bool
    unique: tuple[frozenset[str], ...]
    owners: tuple[str, ...]
    tables: tuple[str, ...]
    plan_hash: str
    query: str
    presence: tuple[Use, ...] | None = None
    made: int | None = None
    declared: str | None = None
    exact: bool = False
    told: bool | None = None
    program: str | None = None

    @property
    def uses(self) -> tuple[Use, ...]:
        """The lineage of all columns, and of which rows there are, as far as files say."""
        return (*(use for each in self.columns for use in each.uses or ()), *(self.presence or ()))

    @property
    def sources(self) -> tuple[Source, ...]:
        """All that it is made of, as far as files say."""
        return tuple(dict.fromkeys(each.source for each in self.uses))


@dataclass(frozen=True)
class Link:
    """The network between any two nodes, as all declare it. latency: seconds, one way. bandwidth: bytes a second."""

    latency: float
    bandwidth: float


@dataclass(frozen=True)
class UnitedTable:
    """A name for the rows of several owners' tables together, as the membership lists them. tables: at least two."""

    name: str
    tables: tuple[str, ...]


class DisclosureRule(StrEnum):
    """What allows a disclosure, in the words that people read."""

    QUERY = "query"
    """The recipients ask, and all parties approve the query."""
    UNDECLARED_ROWS = "no declared rows"
    """The owner of a table declares no bound to which its rows could be padded."""
    FILTER_CONSENT = "owner consent: filter"
    GROUPS_CONSENT = "owner consent: groups"
    MATCHES_CONSENT = "owner consent: matches"
    SIZES_CONSENT = "owner consent: sizes"
    READABLE_KEYS = "all nodes read the keys"
    """The owner names all nodes as readers of the columns that are matched."""
    TRUSTED_KEYS = "one node reads the keys"
    """The owners name a node among the readers of the columns that it sees, and of those that decide which rows."""
    PUBLIC_KEYS = "all parties read the keys"
    """The owner names all parties of the question as readers of the columns by which rows are sliced."""


@dataclass(frozen=True)
class Catalog:
    """All tables of a federation, the parties in their fixed order, the engine and its nodes (in engine order).

    link: the network between the nodes, by which an engine chooses how it computes; None if they declare none.
    prices: the table of prices that all parties share, as JSON, by which it chooses, too; None for the default.
    kept: kept tables; in a plan's catalog, those that it reads. broken: names of kept tables that cannot be read, each
    with the sentence that says why; none in a plan's catalog.
    united: names for several tables together. arrays: what owners offer to programs, each name once an owner.
    program_memory: bytes that each node has for a program, by which it is cut into blocks of rows; None: it is not cut.
    """

    parties: tuple[str, ...]
    engine: str
    nodes: tuple[str, ...]
    tables: tuple[Table, ...]
    link: Link | None = None
    kept: tuple[KeptTable, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    prices: str | None = None
    united: tuple[UnitedTable, ...] = ()
    arrays: tuple[OfferedArray, ...] = ()
    program_memory: int | None = None

    @property
    def offered(self) -> tuple[Table | OfferedArray, ...]:
        """All that owners offer."""
        return (*self.tables, *self.arrays)
