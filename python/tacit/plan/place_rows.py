"""The rows of queries beneath a program, whose columns it takes: bound, held against owners' rules, and lowered.

Nothing of them is opened. A query beneath a program may read kept tables, as they are when the program is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import scans
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, KeptTable
from tacit.plan.facts.fields import fields
from tacit.plan.facts.lineage import arranging, lineage
from tacit.plan.facts.row_arrays import PRESENT, RowColumn, is_exact, read_tables, row_column
from tacit.plan.facts.sources import Use, Uses, passed
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.lower import Lowering
from tacit.plan.physical.operators import Element
from tacit.plan.physical.placed import Step
from tacit.plan.physical.tables import SharedTable
from tacit.plan.place import Beneath, shown_columns
from tacit.plan.planning import Planning
from tacit.plan.policy.behind_rows import behind, check_sizes, without_consents
from tacit.plan.policy.sizes import with_hidden_sizes
from tacit.plan.programs.queries import NamedQuery, RowArray
from tacit.plan.read_tables import check_named
from tacit.plan.rules.functions import with_functions
from tacit.plan.rules.null_tests import without_null_tests
from tacit.plan.rules.quotients import with_quotients_above
from tacit.plan.rules.sequence import SECURE, applied
from tacit.plan.rules.stage import Stage
from tacit.plan.taking_part import check_kept_owners, check_party, check_queries

Bind = Callable[[str], Relation]
"""The meaning of a query's text, whose rows have no order. Raises QueryError."""


@dataclass(frozen=True)
class Rows:
    """The rows of one query. relation: as bound. kept: the kept tables that it reads. exact: it has as many rows as its
    public bound says, whatever the data are.
    """

    relation: Relation
    kept: tuple[KeptTable, ...]
    exact: bool

    @property
    def parties(self) -> tuple[str, ...]:
        """Who takes part besides the nodes, or has to approve it."""
        found = dict.fromkeys(scan.owner for scan in scans(self.relation))
        return tuple(dict.fromkeys([*found, *(owner for table in self.kept for owner in table.owners)]))

    def column(self, name: str | None) -> RowColumn:
        """The numbers of a column; without a name which rows there are. Raises QueryError."""
        if name is None:
            return PRESENT
        field = next((each for each in fields(self.relation) if each.name == name), None)
        if field is None:
            known = ", ".join(each.name for each in fields(self.relation))
            raise QueryError(f"the query gives no column {name!r}; its columns are: {known}.")
        return row_column(field, exact=self.exact)

    def uses(self, name: str | None, catalog: Catalog) -> Uses:
        """What a column is computed from, and what decides which rows there are, and in which order.

        The order may tell of all columns, and of all that kept tables beneath were made of.
        """
        found = lineage(self.relation, catalog)
        values = frozenset[Use]() if name is None else found.values[name]
        return passed(values, "program") | passed(passed(self._deciding(catalog), "rows"), "program")

    def _deciding(self, catalog: Catalog) -> Uses:
        found = lineage(self.relation, catalog)
        made_of = (use for table in self.kept for use in table.uses)
        return found.presence.union(*found.values.values(), arranging(self.relation, catalog), made_of)

    def offered(self, catalog: Catalog) -> tuple[OfferedArray, ...]:
        """What owners offer of all that the rows derive from. Raises QueryError, and PolicyRefusal as ``behind``."""
        return behind({each.source for each in self._deciding(catalog)}, self.kept, catalog)


def no_queries(query: str) -> Relation:
    """For programs that read arrays alone."""
    raise QueryError("the program reads the rows of a query, which nothing here can bind.")


def bound_rows(asked: NamedQuery, catalog: Catalog, bind: Bind) -> Rows:
    """The rows of a query.

    Raises QueryError for a query whose rows no program reads, or where it reads other tables than it names.
    """
    check_queries(catalog)
    relation = bind(asked.query)
    for party in {scan.owner for scan in scans(relation)}:
        check_party(party, "owner", catalog)
    kept = read_tables(relation, catalog)
    check_kept_owners(kept, catalog)
    for table in kept:
        if table.declared is not None:
            raise QueryError(f"the table {table.tables[0]} is delivered, so that no program reads it.")
    check_named(asked, relation, catalog)
    relation = with_functions(with_quotients_above(without_null_tests(relation)), catalog)
    return Rows(relation, kept, is_exact(relation, catalog))


@dataclass(frozen=True)
class PlacedRows:
    """The rows of all queries that a program reads. tables: of each query. catalog: against which they were placed.

    steps: that make them. disclosures: what is told of sizes and matches on the way. joins, slicing, resizing: as of a
    PlacedPlan.
    """

    tables: Mapping[NamedQuery, SharedTable]
    catalog: Catalog
    steps: tuple[Step, ...] = ()
    disclosures: tuple[Disclosure, ...] = ()
    joins: tuple[str, ...] = ()
    slicing: tuple[str, ...] = ()
    resizing: tuple[str, ...] = ()

    def rows(self, asked: NamedQuery) -> int:
        """The public number of rows of a query. Raises QueryError where it is told in a run alone."""
        known = self.tables[asked].rows.known
        if known is None:
            raise QueryError(
                "how many rows the query gives follows from sizes that are told in its run, and the shape of an array "
                "is public before; declare rows in the offers of its tables, or keep the query's rows as a table."
            )
        return known

    def element(self, array: RowArray) -> Element:
        """Where a program finds an array."""
        return Element(self.tables[array.rows].step, array.column)


def place_rows(
    queries: Mapping[NamedQuery, Rows], catalog: Catalog, recipients: tuple[str, ...], text: str
) -> PlacedRows:
    """The steps of all queries beneath a program, one behind the other. text: the program's.

    Raises QueryError where there are none, and PolicyRefusal where the nodes would be told what an owner does not
    allow. Whether owners allow the program is not checked here.
    """
    if not queries:
        return PlacedRows({}, replace(catalog, kept=(), broken=()))
    offered = [each for rows in queries.values() for each in rows.offered(catalog)]
    check_sizes(catalog, offered)
    kept = tuple(dict.fromkeys(table for rows in queries.values() for table in rows.kept))
    placed = PlacedRows({}, without_consents(with_hidden_sizes(replace(catalog, kept=kept, broken=())), offered))
    for asked, rows in queries.items():
        placed = _placed(placed, asked, rows, recipients, text)
    return placed


def _placed(before: PlacedRows, asked: NamedQuery, rows: Rows, recipients: tuple[str, ...], text: str) -> PlacedRows:
    planning = Planning(before.catalog, recipients, text, _as_they_are, before.steps)
    stage = applied(SECURE, Stage(rows.relation), planning)
    found, plan = planning.lowered(stage), planning.plan(stage)
    return PlacedRows(
        {**before.tables, asked: found.table},
        before.catalog,
        plan.steps,
        (*before.disclosures, *Beneath.of(found, before.catalog).all),
        (*before.joins, *plan.joins),
        (*before.slicing, *plan.slicing),
        (*before.resizing, *plan.resizing),
    )


def _as_they_are(stage: Stage, table: SharedTable, lowering: Lowering) -> tuple[tuple[Step, ...], SharedTable]:
    """Nothing follows but the program."""
    return (), shown_columns(stage.core, table, lowering)
