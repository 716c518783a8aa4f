"""The way from a program's text to its placed plan: it is read, checked against offers, optimised, and lowered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial

from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, DisclosureRule
from tacit.plan.facts.kinds import Kind, width_of
from tacit.plan.facts.sources import Source as Origin
from tacit.plan.facts.sources import Use
from tacit.plan.facts.table_arrays import offered_array
from tacit.plan.physical.cost import power_of_two, predict, total
from tacit.plan.physical.disclosure import (
    ArrayRows,
    Derivation,
    Disclosure,
    OpenedArray,
    OpenedBound,
    OpenedRows,
    Site,
)
from tacit.plan.physical.engines import FAILS_AT_MOST, PROGRAMS_ALONE
from tacit.plan.physical.lower_program import Lowered, kind_of_array, lower_program
from tacit.plan.physical.operators import Element, Input, Instruction, Made, Named, Program, Release, Shared
from tacit.plan.physical.placed import (
    ArrayStep,
    GuardStep,
    InputStep,
    PlacedPlan,
    ProgramStep,
    ReleaseStep,
    Result,
    ResultStep,
    Step,
)
from tacit.plan.physical.room import with_room
from tacit.plan.physical.row_passes import Cut, Piece, Ref
from tacit.plan.physical.wide_ring import in_wide_ring
from tacit.plan.policy.programs import Bound, check_program, program_hash
from tacit.plan.program_blocks import Cuttable, cuttable, within
from tacit.plan.programs import operations as ops
from tacit.plan.programs.declared import declared
from tacit.plan.programs.facts import Array
from tacit.plan.programs.identity import digest
from tacit.plan.programs.limits import MOST_AT_ONCE, MOST_NAME
from tacit.plan.programs.nodes import Node, behind, reachable
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import Program as Read
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.release import released
from tacit.plan.programs.text import described, error_of
from tacit.plan.taking_part import check_engine, check_party, check_recipients

VALUE = "value"
"""The column of an array's table."""
GUARD = "outside"
"""The column of the bit that says whether a checked bound does not hold."""
BIT = Kind("bits", 1, False, False)


def place_program(text: str, catalog: Catalog, recipients: tuple[str, ...], today: date | None = None) -> PlacedPlan:
    """The placed plan that reveals a program's results to the recipients. Raises QueryError where there is none.

    today: the day by which owners' offers are read, by default this one in UTC.
    """
    check_recipients(recipients, "program")
    check_engine(catalog)
    program = read(text)
    arrays = _offered(program, catalog)
    _check_parties(arrays.values(), recipients, catalog)
    given = tuple(dict.fromkeys(arrays.values()))
    ruling = check_program(given, program_hash(digest(text)), recipients, today or datetime.now(UTC).date())
    graph = program.graph
    outputs = released(graph, optimised(graph, program.outputs).after)
    if catalog.engine in PROGRAMS_ALONE:
        graph, outputs = in_wide_ring(graph, outputs)
    outputs = with_room(graph, outputs)
    lowered = lower_program(outputs)
    placing = _Placing(outputs, lowered, arrays, recipients, _told_bound(lowered, given, recipients, catalog))
    if placing.told:
        bound = Bound(placing.told, placing.checked)
        ruling = check_program(given, program_hash(digest(text)), recipients, today or datetime.now(UTC).date(), bound)
    found = replace(catalog, kept=(), broken=())

    def planned(placing: _Placing) -> PlacedPlan:
        steps, disclosures = placing.steps(), placing.disclosures(found)
        _check_sizes(steps)
        return PlacedPlan(text, catalog.engine, catalog.nodes, recipients, steps, disclosures, found, ruling=ruling)

    if catalog.program_memory is None:
        plan = planned(placing)
    else:
        cuts = cuttable(outputs, arrays)
        in_blocks = partial(_in_blocks, placing, cuts)
        plan = within(catalog.program_memory, cuts, lambda: planned(placing), lambda cut: planned(in_blocks(cut)))
    _check_failure(plan)
    return plan


def _in_blocks(placing: _Placing, cuttable: Cuttable | None, cut: Cut) -> _Placing:
    assert cuttable is not None
    return replace(placing, lowered=cuttable.lowered, cut=cut, by_rows=cuttable.given)


def _check_sizes(steps: Iterable[Step]) -> None:
    """Refuse steps of which one has more elements of an array than a node can have at once."""
    nodes = (node for step in steps if isinstance(step, ProgramStep) for node in step.operator.nodes)
    largest = max(nodes, key=lambda node: node.size)
    if largest.size > MOST_AT_ONCE:
        raise ProgramError(
            f"a node has at most {MOST_AT_ONCE:,} elements of an array at once, and that of {largest.op} would have "
            f"{largest.size:,}; declare memory under [programs] of the federation file, so that it is cut into blocks "
            "of rows, or compute less that needs all rows at once."
        )


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


def _check_parties(arrays: Iterable[OfferedArray], recipients: tuple[str, ...], catalog: Catalog) -> None:
    for party in recipients:
        check_party(party, "recipient", catalog)
    for array in arrays:
        check_party(array.owner, "owner", catalog)


def _offered(program: Read, catalog: Catalog) -> dict[str, OfferedArray]:
    """The owners' arrays that a program's inputs are, by the names of inputs."""
    nodes = reachable(program.outputs.values())
    inputs = [node.operation for node in nodes if isinstance(node.operation, ops.Input)]
    if not inputs:
        raise ProgramError("the program reads no owner's array, so that nothing in it is private; compute it in NumPy.")
    return {each.name: _array(each, program, catalog) for each in inputs}


def _array(given: ops.Input, program: Read, catalog: Catalog) -> OfferedArray:
    source = program.sources.get(given.name)
    if source is None:
        raise ProgramError(f"the program does not say whose array {given.name} is; name an owner's array for it.")
    named = offered_array(catalog, source.owner, source.array)
    if named is None:
        offers = ", ".join(each.name for each in catalog.arrays if each.owner == source.owner) or "none"
        raise ProgramError(f"{source.owner} offers no array {source.array[:MOST_NAME]!r}; its arrays are: {offers}.")
    _check_declared(given, named, program)
    return named


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


def _told_bound(
    lowered: Lowered, arrays: Iterable[OfferedArray], recipients: tuple[str, ...], catalog: Catalog
) -> tuple[str, ...]:
    """Who is told whether checked bounds hold: all parties of the run, as it ends for all. Nobody without bounds."""
    everybody = dict.fromkeys((*catalog.nodes, *(each.owner for each in arrays), *recipients))
    return tuple(everybody) if lowered.checked else ()


@dataclass(frozen=True)
class _Placing:
    """A lowered program on its way to steps. arrays: by the names of inputs. told: whether checked bounds hold.

    cut: its blocks of rows; None if it has none. by_rows: the indices of inputs of which each block is given alone.
    """

    outputs: Mapping[str, Node]
    lowered: Lowered
    arrays: Mapping[str, OfferedArray]
    recipients: tuple[str, ...]
    told: tuple[str, ...]
    cut: Cut | None = None
    by_rows: frozenset[int] = frozenset()

    def steps(self) -> tuple[Step, ...]:
        """All steps: owners' arrays, their shares, the program, a release for each output, and the result.

        A guard of checked bounds is before all releases.
        """
        given, tables = self._inputs()
        programs = self._programs(len(given) + 1, tables)
        program = programs[-1]
        guards = (GuardStep(self._release(program.operator, 0, self.told)),) if self.told else ()
        places = range(len(guards), len(program.operator.outputs))
        releases = tuple(ReleaseStep(self._release(program.operator, place), ()) for place in places)
        arrays = tuple(self._result(*each) for each in zip(self.outputs.items(), releases, strict=True))
        result = ResultStep(releases[-1].id + 1, self.recipients, arrays)
        return (*given, *programs, *guards, *releases, result)

    @property
    def checked(self) -> tuple[Origin, ...]:
        """The owners' arrays of which it shows whether checked bounds hold."""
        return self._sources(self.lowered.checked)

    def _sources(self, nodes: Iterable[Node]) -> tuple[Origin, ...]:
        """The owners' arrays behind nodes."""
        return self._origins(reachable(nodes))

    def _origins(self, nodes: Iterable[Node]) -> tuple[Origin, ...]:
        """The owners' arrays that are among nodes."""
        given = (self.arrays[each.operation.name] for each in nodes if isinstance(each.operation, ops.Input))
        return tuple(dict.fromkeys(Origin(each.owner, each.name, None) for each in given))

    def _inputs(self) -> tuple[list[Step], dict[Ref, int]]:
        """The steps that share each array once, or each block of it, and the tables in which the program finds them."""
        steps: list[Step] = []
        shared: dict[tuple[str, str, int, tuple[int, int] | None], int] = {}
        tables = {}
        for index, node in enumerate(self.lowered.inputs):
            assert isinstance(node.operation, ops.Input)
            offered = self.arrays[node.operation.name]
            for ref, block in self._blocks(index):
                key = offered.owner, offered.name, node.array.ring, block
                if key not in shared:
                    shared[key] = len(steps) + 2
                    steps += _shared(offered, node.array, len(steps) + 1, block)
                tables[ref] = shared[key]
        return steps, tables

    def _blocks(self, index: int) -> list[tuple[Ref, tuple[int, int] | None]]:
        """The parts in which an input is given: each with its rows, or all of it."""
        if self.cut is None or index not in self.by_rows:
            return [(Ref("input", index), None)]
        return [(Ref("input", index, each), self.cut.bounds_of(each)) for each in range(len(self.cut.ends))]

    def _programs(self, step: int, tables: dict[Ref, int]) -> list[ProgramStep]:
        """The pieces of the program, of which the last one makes the outputs. tables: of what there is already."""
        found: list[ProgramStep] = []
        *pieces, last = self._pieces()
        for piece in pieces:
            made = tuple(
                Made(step + 1 + at, node, VALUE, _kind(piece.nodes[node])) for at, (_, node) in enumerate(piece.made)
            )
            tables |= {ref: table.id for (ref, _), table in zip(piece.made, made, strict=True)}
            sizes = ", ".join(f"{piece.nodes[node].size:,}" for _, node in piece.made)
            found.append(ProgramStep(Program(step, _elements(piece, tables), piece.nodes, made), sizes))
            step += 1 + len(made)
        named = [(name, kind_of_array(node.array)) for name, node in self.outputs.items()]
        if self.lowered.outside is not None:
            named.insert(0, (GUARD, BIT))
        ends = zip(last.made, named, strict=True)
        made = tuple(Made(step + 1 + at, node, *name) for at, ((_, node), name) in enumerate(ends))
        sizes = ", ".join(f"{node.array.size:,}" for node in self.outputs.values())
        return [*found, ProgramStep(Program(step, _elements(last, tables), last.nodes, made), sizes)]

    def _pieces(self) -> list[Piece]:
        """What is run together: all of it, or block by block. The last piece makes the outputs, behind the guard."""
        guards = [] if self.lowered.outside is None else [self.lowered.outside]
        places = [*guards, *(self.lowered.places[name] for name in self.outputs)]
        if self.cut is not None:
            return self.cut.pieces(places)
        inputs = tuple(Ref("input", index) for index in range(len(self.lowered.inputs)))
        return [Piece(self.lowered.instructions, inputs, tuple((Ref("value", place), place) for place in places))]

    def _release(self, program: Program, place: int, told: tuple[str, ...] = ()) -> Release:
        """The release of a table of the program. told: of the bit of checked bounds, who is told it."""
        made = program.outputs[place]
        step = program.outputs[-1].id + 1 + place
        return Release(step, made.id, told or self.recipients, (made.column,), (), True, guard=bool(told))

    def _result(self, output: tuple[str, Node], release: ReleaseStep) -> Result:
        name, array = output[0], output[1].array
        return Result(name, release.id, array.shape, array.dtype, array.fraction)

    def disclosures(self, catalog: Catalog) -> tuple[Disclosure, ...]:
        """What each release shows, and to clients how many elements that are."""
        steps = self.steps()
        guards = [step for step in steps if isinstance(step, GuardStep)]
        releases = [step for step in steps if isinstance(step, ReleaseStep)]
        pairs = list(zip(self.outputs.items(), releases, strict=True))
        inputs = behind(self.outputs, ops.Input)
        sizes: list[tuple[int, ReleaseStep | GuardStep]] = [(1, each) for each in guards]
        sizes += [(node.array.size, each) for (_, node), each in pairs]
        told = [_told(outside, *each) for each in sizes if (outside := _outside(each[1], catalog))]
        bounds = [self._bound(each) for each in guards]
        answers = [self._opened(name, node, release, inputs[name]) for (name, node), release in pairs]
        return (*self._sized(catalog), *told, *bounds, *answers)

    def _bound(self, guard: GuardStep) -> Disclosure:
        uses = tuple(Use(each, ("program",)) for each in self.checked)
        opened = OpenedBound((Named(GUARD, BIT),), len(self.lowered.checked))
        return Disclosure(self.told, _site(guard), opened, Derivation(((GUARD, uses),), (), 1), (DisclosureRule.QUERY,))

    def _sized(self, catalog: Catalog) -> Iterator[Disclosure]:
        """The sizes of arrays, which their owners announce to the nodes."""
        steps = self._inputs()[0]
        for given, shared in zip(steps[::2], steps[1::2], strict=True):
            assert isinstance(given, ArrayStep) and isinstance(shared, InputStep)
            derivation = Derivation((), (Use(Origin(given.party, given.array, None)),), shared.exact)
            shown = ArrayRows(given.party, given.array)
            yield Disclosure(catalog.nodes, Site(shared.id, "input"), shown, derivation, (DisclosureRule.QUERY,))

    def _opened(self, name: str, node: Node, release: ReleaseStep, inputs: list[Node]) -> Disclosure:
        array = node.array
        uses = tuple(Use(each, ("program",)) for each in self._origins(inputs))
        opened = OpenedArray(
            name, (Named(name, kind_of_array(array)),), array.shape, array.dtype, array.fraction, error_of(array)
        )
        derivation = Derivation(((name, uses),), (), array.size, None, ((name, uses),))
        return Disclosure(self.recipients, _site(release), opened, derivation, (DisclosureRule.QUERY,))


def _shared(offered: OfferedArray, array: Array, step: int, block: tuple[int, int] | None) -> tuple[Step, Step]:
    """The steps that give an owner's array, or a block of its rows, and share it."""
    column = Shared(VALUE, VALUE, "int", kind_of_array(array))
    shared = Input(step + 1, offered.owner, (column,), None, ordered=True)
    size = offered.size if block is None else offered.size // offered.shape[0] * (block[1] - block[0])
    given = ArrayStep(step, offered.owner, offered.name, array.fraction, block)
    return given, InputStep(step, shared, exact=size)


def _elements(piece: Piece, tables: Mapping[Ref, int]) -> tuple[Element, ...]:
    """Where a piece finds what it is given."""
    return tuple(Element(tables[ref], VALUE) for ref in piece.given)


def _kind(node: Instruction) -> Kind:
    """The kind of a column of what an instruction makes, for later pieces."""
    if node.ring == 1:
        return BIT
    return Kind(
        "ring64" if node.ring == 64 else "ring128", width_of((int(node.low), int(node.high))), int(node.low) < 0, False
    )


def _outside(release: ReleaseStep | GuardStep, catalog: Catalog) -> tuple[str, ...]:
    """The recipients that are no nodes."""
    return tuple(each for each in release.operator.to if each not in catalog.nodes)


def _told(outside: tuple[str, ...], elements: int, release: ReleaseStep | GuardStep) -> Disclosure:
    derivation = Derivation((), (), elements)
    return Disclosure(outside, _site(release), OpenedRows(), derivation, (DisclosureRule.QUERY,))


def _site(release: ReleaseStep | GuardStep) -> Site:
    return Site(release.id, release.operator.op)
