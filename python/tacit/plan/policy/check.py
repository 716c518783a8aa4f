"""The static check of owners' rules: by the text of a query and offers alone, before any optimisation.

It takes a bound query, the catalog, the recipients and the day; it reads no data, and knows no way to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from tacit.plan.algebra.relations import Aggregate, Project, Relation, Sort
from tacit.plan.algebra.trees import constants, kept_scans, scans
from tacit.plan.facts.allowances import Ruling
from tacit.plan.facts.catalog import Catalog, KeptTable, Table
from tacit.plan.facts.deliveries import delivered_table
from tacit.plan.facts.row_arrays import read_tables
from tacit.plan.facts.sources import Use
from tacit.plan.facts.table_arrays import offered_array
from tacit.plan.policy.allowed import allowances
from tacit.plan.policy.derive import derived
from tacit.plan.policy.form import problems_of_form
from tacit.plan.policy.guarded import guarded, notice
from tacit.plan.policy.guards import Guard
from tacit.plan.policy.levels import with_sums_of_groups
from tacit.plan.policy.offers import of_offer, protected, wholly_open
from tacit.plan.policy.question import question_hash
from tacit.plan.policy.refusal import PolicyRefusal, Problem
from tacit.plan.policy.release import problems_of
from tacit.plan.policy.results import check_results, computed_tables
from tacit.plan.policy.state import State
from tacit.plan.policy.told import told_tables
from tacit.plan.policy.units import Uncountable


@dataclass(frozen=True)
class Allowed:
    """A query that all owners allow.

    relation: the query with its guards. state: what it exposes. ruling: what owners' rules say of it.
    """

    relation: Relation
    guards: tuple[Guard, ...]
    state: State
    ruling: Ruling


def check(relation: Relation, catalog: Catalog, recipients: tuple[str, ...], today: date) -> Allowed:
    """What the rules of all owners say of a bound query. Raises PolicyRefusal where one of them does not allow it."""
    tables = _bound_by(relation, catalog, recipients)
    results = check_results(relation, catalog, recipients, today)
    early = [*_withdrawn(relation, catalog, recipients), *results.problems]
    early += _beside_constants(tables, relation, catalog, recipients)
    early += [each for table in tables for each in _of_query(table, relation, catalog, recipients, today)]
    if early:
        refusal = PolicyRefusal(tuple(early))
        if results.change is not None and refusal.problem in results.problems:
            refusal.change = results.change
        raise refusal
    allowed = _of_tables(relation, tables, catalog, recipients)
    return replace(allowed, ruling=allowed.ruling.with_allowances(results.allowances))


def _of_tables(relation: Relation, tables: list[Table], catalog: Catalog, recipients: tuple[str, ...]) -> Allowed:
    """What the rules of tables say of a query. Raises PolicyRefusal."""
    if not tables:
        return Allowed(relation, (), State(relation, {}), Ruling())
    try:
        return _judged(relation, tables, catalog, recipients)
    except PolicyRefusal as refusal:
        if refusal.problem.rule != "differences":
            raise
        summed = with_sums_of_groups(relation, catalog.nodes[0])
        if summed == relation:
            raise
        try:
            return _judged(summed, tables, catalog, recipients)
        except PolicyRefusal:
            raise refusal from None


def _judged(relation: Relation, tables: list[Table], catalog: Catalog, recipients: tuple[str, ...]) -> Allowed:
    """What the rules say of a query that a table's own terms leave open."""
    state = derived(relation, catalog, recipients)
    problems = problems_of(state, tables, recipients)
    if problems:
        raise PolicyRefusal(problems)
    guards = tuple(dict.fromkeys(_placed(each, state.relation) for each in state.guards))
    if problems := problems_of_form(guards, catalog, recipients):
        raise PolicyRefusal(problems)
    # Without guards nothing reads the conditions that the derivation has put beside the query's own columns.
    whole = _with_guards(state.relation, guards, catalog, recipients) if guards else relation
    ruling = Ruling(allowances(state, recipients), notice(guards), _refusing(tables))
    return Allowed(whole, guards, state, ruling)


def _refusing(tables: list[Table]) -> tuple[str, ...]:
    """Owners that hold a question against their data before they answer it."""
    found = (each.owner for each in tables if each.terms is not None and each.terms.differences == "sets")
    return tuple(dict.fromkeys(found))


def _with_guards(
    relation: Relation, guards: tuple[Guard, ...], catalog: Catalog, recipients: tuple[str, ...]
) -> Relation:
    """The query with its guards. Raises PolicyRefusal where the units of a table cannot be counted."""
    try:
        return guarded(relation, guards, catalog)
    except Uncountable as uncountable:
        table = next(each for each in catalog.tables if each.name == uncountable.scan.table)
        first = next(each for each in recipients if each != table.owner)
        sentence = uncountable.sentence.removesuffix(".")
        found = Problem("floor", table.owner, table.name, None, "count", sentence, first)
        raise PolicyRefusal((found,)) from uncountable


def check_kept(relation: Relation, catalog: Catalog, delivers: bool) -> None:
    """Whether the nodes may keep a query's rows. Nobody receives them, and what is asked of them later is not known.

    delivers: an owner delivers its whole table, and each later question meets the table's own rules.
    """
    if delivers:
        return
    everybody = catalog.parties
    for table in _tables(relation, catalog, computed=True):
        if table.terms is not None and not wholly_open(table, everybody):
            sentence = f"what is kept of {table.name} would leave its rules; keeping is not allowed yet"
            raise PolicyRefusal((Problem("kept", table.owner, table.name, None, "keep", sentence, "nodes"),))


def _tables(relation: Relation, catalog: Catalog, *, computed: bool) -> list[Table]:
    """The owners' tables that a query reads, also as deliveries and in kept tables, in the catalog's order.

    computed: also those of which programs' results alone are in kept tables.
    """
    read = {each.table for each in scans(relation)}
    for scan in kept_scans(relation):
        kept = next(each for each in catalog.kept if each.name == scan.table)
        behind = {*kept.tables} - (frozenset() if computed else computed_tables(kept))
        read |= {*behind, delivered_table(kept.name) or scan.table}
    return [each for each in catalog.tables if each.name in read]


def _withdrawn(relation: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> list[Problem]:
    """Tables in kept ones that nobody offers any more, where offers have terms: what is not offered is closed."""
    if catalog.offered and all(each.terms is None for each in catalog.offered):
        return []
    return [
        Problem("kept", owner, name, None, "keep", f"{kept.name} has data of {name}, which is not offered", each)
        for kept in read_tables(relation, catalog)
        if {*kept.owners} != {*recipients}
        for owner, name in _gone(kept, catalog)
        for each in recipients[:1]
    ]


def _gone(kept: KeptTable, catalog: Catalog) -> list[tuple[str, str]]:
    """Owners and names of what a kept table is made of and its owner offers no more; another's of that name is not it.

    Files that do not say whose a table was have its name alone.
    """
    used = [(each, each.source.owner) for each in kept.uses]
    made = dict.fromkeys((owner, each.source.table) for each, owner in used if owner is not None)
    gone = dict.fromkeys(
        (owner, each.source.table)
        for each, owner in used
        if owner is not None and not _is_offered(each, owner, catalog)
    )
    unsaid = {*kept.tables} - {name for _, name in made} - {each.name for each in catalog.offered}
    return [*gone, *((kept.owners[0], name) for name in sorted(unsaid))]


def _is_offered(use: Use, owner: str, catalog: Catalog) -> bool:
    """Whether an owner still offers a column of a table, its rows, or an array that a program has read."""
    table = next((each for each in catalog.tables if (each.owner, each.name) == (owner, use.source.table)), None)
    if use.source.column is not None:
        return table is not None and any(each.field.name == use.source.column for each in table.columns)
    is_array = use.through[:1] == ("program",) or table is None
    return not is_array or offered_array(catalog, owner, use.source.table) is not None


def _beside_constants(
    tables: list[Table], relation: Relation, catalog: Catalog, recipients: tuple[str, ...]
) -> list[Problem]:
    """Rows that stand in the question could have a weight, or a group, for each unit. So could those that an earlier
    one, or a program, has put into a kept table.
    """
    kept = told_tables(relation, catalog)
    if not constants(relation) and not kept:
        return []
    rows = "rows of constants stand" if not kept else f"rows of {kept[0].name}, which constants or programs made, stand"
    ruled = (each for each in tables if not wholly_open(each, recipients))
    return [
        Problem("weights", each.owner, each.name, None, "count", f"{rows} beside {each.name}", first)
        for each in ruled
        for first in [next(one for one in recipients if one != each.owner)]
    ]


def _bound_by(relation: Relation, catalog: Catalog, recipients: tuple[str, ...]) -> list[Table]:
    return [each for each in _tables(relation, catalog, computed=False) if protected(each, recipients)]


def _of_query(
    table: Table, relation: Relation, catalog: Catalog, recipients: tuple[str, ...], today: date
) -> list[Problem]:
    """What a table's own terms say of any query: who may ask, until when, which questions, and of its size."""
    terms = table.terms
    assert terms is not None, "only tables with terms bind a query"
    found = of_offer(table, lambda: question_hash(relation, catalog, recipients), recipients, today)
    if terms.least_group is not None and table.rows is None:
        first = next(each for each in recipients if each != table.owner)
        sentence = f"{table.name} declares no number of rows to pad to, so that all nodes would learn the exact one"
        found.append(Problem("sizes", table.owner, table.name, None, "count", sentence, first))
    return found


def _placed(guard: Guard, relation: Relation) -> Guard:
    """The guard with what happens to small groups, by what stands above: a rest row is no group to go on with."""
    return guard if _reaches_answer(guard.aggregate, relation) else replace(guard, small="drop")


def _reaches_answer(aggregate: Aggregate, relation: Relation) -> bool:
    """Whether an aggregate's rows are the answer's, at most in another order."""
    match relation:
        case Project(input, _) | Sort(input, _):
            return _reaches_answer(aggregate, input)
        case _:
            return relation == aggregate
