"""The way from a program's text to its placed plan: it is read, checked against offers, optimised, and lowered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

from tacit.plan.facts.allowances import Ruling
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.table_arrays import offered_array
from tacit.plan.physical.cost import power_of_two, predict, total
from tacit.plan.physical.engines import FAILS_AT_MOST, PROGRAMS_ALONE
from tacit.plan.physical.lower_program import Lowered, lower_program
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.physical.room import with_room
from tacit.plan.physical.wide_ring import in_wide_ring
from tacit.plan.place_rows import Bind, PlacedRows, bound_rows, no_queries, place_rows
from tacit.plan.policy.programs import Bound, check_program, program_hash
from tacit.plan.program_blocks import in_memory
from tacit.plan.program_steps import Given, Placing
from tacit.plan.programs import operations as ops
from tacit.plan.programs.declared import declared
from tacit.plan.programs.facts import Array
from tacit.plan.programs.identity import Source, digest
from tacit.plan.programs.limits import MOST_NAME, MOST_QUERIES
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.queries import RowArray
from tacit.plan.programs.reading import Program as Read
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.release import released
from tacit.plan.programs.text import described
from tacit.plan.taking_part import check_engine, check_party, check_recipients


def place_program(
    text: str, catalog: Catalog, recipients: tuple[str, ...], today: date | None = None, bind: Bind = no_queries
) -> PlacedPlan:
    """The placed plan that reveals a program's results to the recipients. Raises QueryError where there is none.

    today: the day by which owners' offers are read, by default this one in UTC. bind: the meaning of queries whose rows
    it reads.
    """
    check_recipients(recipients, "program")
    check_engine(catalog)
    for party in recipients:
        check_party(party, "recipient", catalog)
    today, hash = today or datetime.now(UTC).date(), program_hash(digest(text))

    def ruled(offered: tuple[OfferedArray, ...], bit: Bound | None = None) -> Ruling:
        return check_program(offered, hash, recipients, today, bit)

    placing, offered = place_lowered(text, catalog, recipients, bind, ruled)
    ruling = ruled(offered, Bound(placing.told, placing.checked) if placing.told else None)
    rows = placing.rows
    why = rows.joins, rows.slicing, rows.resizing

    def planned(placing: Placing) -> PlacedPlan:
        steps, told = placing.steps(), placing.disclosures()
        return PlacedPlan(
            text, catalog.engine, catalog.nodes, recipients, steps, told, rows.catalog, *why, ruling=ruling
        )

    plan = in_memory(catalog.program_memory, placing, planned)
    _check_failure(plan)
    return plan


def place_lowered(
    text: str,
    catalog: Catalog,
    recipients: tuple[str, ...],
    bind: Bind,
    ruled: Callable[[tuple[OfferedArray, ...]], object],
) -> tuple[Placing, tuple[OfferedArray, ...]]:
    """A program that is optimised and lowered, over what it reads; and what owners offer of that.

    ruled: holds that against owners' rules, before anything is optimised. Raises QueryError.
    """
    program = read(text)
    given = _given(program, catalog, bind)
    for array in given.arrays.values():
        check_party(array.owner, "owner", catalog)
    offered = given.offered(catalog)
    ruled(offered)
    graph = program.graph
    outputs = released(graph, optimised(graph, program.outputs).after)
    if catalog.engine in PROGRAMS_ALONE:
        graph, outputs = in_wide_ring(graph, outputs)
    outputs = with_room(graph, outputs)
    lowered = lower_program(outputs)
    rows = place_rows(given.queries, catalog, recipients, text)
    _check_rows(program, given, rows)
    told = _told_bound(lowered, given, recipients, catalog)
    return Placing(outputs, lowered, given, rows, recipients, told), offered


def _check_failure(plan: PlacedPlan) -> None:
    """Refuse a plan whose result may be wrong with a probability that is not negligible."""
    if plan.engine not in PROGRAMS_ALONE:
        return
    failure = total(predict(plan)).failure
    if failure > FAILS_AT_MOST:
        most, accepted = power_of_two(failure), power_of_two(FAILS_AT_MOST)
        raise ProgramError(
            f"the engine {plan.engine} may give a wrong result with a probability of up to {most}, and none above "
            f"{accepted} is accepted; declare tighter bounds, or compute with another engine."
        )


def _given(program: Read, catalog: Catalog, bind: Bind) -> Given:
    """What a program's inputs are: owners' arrays, and columns of queries' rows."""
    nodes = reachable(program.outputs.values())
    inputs = [node.operation for node in nodes if isinstance(node.operation, ops.Input)]
    if not inputs:
        raise ProgramError("the program reads no owner's array, so that nothing in it is private; compute it in NumPy.")
    sources = {each.name: _source(each, program) for each in inputs}
    columns = {name: RowArray.of(each.rows, each.array) for name, each in sources.items() if each.is_rows}
    arrays = {each.name: _array(each, program, catalog) for each in inputs if each.name not in columns}
    asked = tuple(dict.fromkeys(each.rows for each in columns.values()))
    if len(asked) > MOST_QUERIES:
        raise ProgramError(
            f"the program reads the rows of {len(asked)} queries, and at most {MOST_QUERIES} are bound; keep some as "
            "tables, or join them in one query."
        )
    queries = {each: bound_rows(each, catalog, bind) for each in asked}
    return Given(arrays, columns, queries)


def _source(given: ops.Input, program: Read) -> Source:
    source = program.sources.get(given.name)
    if source is None:
        raise ProgramError(f"the program does not say whose array {given.name} is; name an owner's array for it.")
    return source


def _array(given: ops.Input, program: Read, catalog: Catalog) -> OfferedArray:
    source = _source(given, program)
    named = offered_array(catalog, source.owner, source.array)
    if named is None:
        offers = ", ".join(each.name for each in catalog.arrays if each.owner == source.owner) or "none"
        raise ProgramError(f"{source.owner} offers no array {source.array[:MOST_NAME]!r}; its arrays are: {offers}.")
    _check_declared(given, named, program)
    return named


def _check_rows(program: Read, given: Given, rows: PlacedRows) -> None:
    """Refuse a program that relies on more than is public of queries' rows."""
    for node in reachable(program.outputs.values()):
        if not isinstance(node.operation, ops.Input) or node.operation.name not in given.columns:
            continue
        name = node.operation.name
        array, relied_on = given.columns[name], node.operation.array
        column = given.queries[array.rows].column(array.column)
        shape, bounds = (rows.rows(array.rows),), (column.low, column.high)
        found = declared(name, shape, column.dtype, bounds, None, program.graph.settings.fraction)
        if not _implies(found, relied_on):
            problem = f"the program takes {name} for: {_facts(relied_on)}. The query gives: {_facts(found)}"
            raise ProgramError(f"{problem}. Trace it again with what the query gives.")


def _check_declared(given: ops.Input, offered: OfferedArray, program: Read) -> None:
    """Refuse a program that relies on more than the array's owner declares."""
    bounds = offered.low, offered.high
    fraction = program.graph.settings.fraction
    found = declared(offered.name, offered.shape, offered.dtype, bounds, offered.row_norm, fraction)
    if not _implies(found, given.array):
        taken, said = _facts(given.array), f"{offered.owner} offers {offered.name}: {_facts(found)}"
        raise ProgramError(f"the program takes {given.name} for: {taken}. {said}. Trace it again with what is offered.")


def _implies(found: Array, relied_on: Array) -> bool:
    """Whether all that is relied on follows from what is declared."""
    same = (found.shape, found.dtype) == (relied_on.shape, relied_on.dtype)
    within = relied_on.low <= found.low and found.high <= relied_on.high
    norms = relied_on.norm2 is None or (found.norm2 is not None and found.norm2 <= relied_on.norm2)
    return same and within and norms


def _facts(array: Array) -> str:
    norm = "" if array.norm2 is None else f", rows of at most {array.norm2} in squares"
    return f"{described(array)}{norm}"


def _told_bound(lowered: Lowered, given: Given, recipients: tuple[str, ...], catalog: Catalog) -> tuple[str, ...]:
    """Who is told whether checked bounds hold: all parties of the run, as it ends for all. Nobody without bounds."""
    everybody = dict.fromkeys((*catalog.nodes, *given.parties, *recipients))
    return tuple(everybody) if lowered.checked else ()
