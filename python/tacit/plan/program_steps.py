"""A lowered program on its way to the steps of a plan, and to what they disclose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, DisclosureRule
from tacit.plan.facts.kinds import Kind
from tacit.plan.facts.row_arrays import RowArray
from tacit.plan.facts.sources import Source as Origin
from tacit.plan.facts.sources import Use, Uses, ordered
from tacit.plan.physical.disclosure import (
    ArrayRows,
    Derivation,
    Disclosure,
    OpenedArray,
    OpenedBound,
    OpenedRows,
    Site,
)
from tacit.plan.physical.lower_program import Lowered, kind_of_array
from tacit.plan.physical.operators import Element, Input, Made, Named, Program, Release, Shared
from tacit.plan.physical.placed import (
    ArrayStep,
    GuardStep,
    InputStep,
    ProgramStep,
    ReleaseStep,
    Result,
    ResultStep,
    Step,
)
from tacit.plan.place_rows import Asked, PlacedRows, Rows
from tacit.plan.programs import operations as ops
from tacit.plan.programs.facts import Array
from tacit.plan.programs.nodes import Node, behind, reachable
from tacit.plan.programs.text import error_of

VALUE = "value"
"""The column of an array's table."""
GUARD = "outside"
"""The column of the bit that says whether a checked bound does not hold."""
BIT = Kind("bits", 1, False, False)


@dataclass(frozen=True)
class Given:
    """What the inputs of a program are, by their names: owners' arrays, and columns of the rows of queries."""

    arrays: Mapping[str, OfferedArray]
    columns: Mapping[str, RowArray]
    queries: Mapping[Asked, Rows]

    @property
    def parties(self) -> tuple[str, ...]:
        """The owners of arrays, and of what queries read."""
        owners = [each.owner for each in self.arrays.values()]
        return tuple(dict.fromkeys([*owners, *(party for each in self.queries.values() for party in each.parties)]))

    def offered(self, catalog: Catalog) -> tuple[OfferedArray, ...]:
        """All that owners offer of what a program reads, by whatever way."""
        behind_rows = (each for rows in self.queries.values() for each in rows.offered(catalog))
        return tuple(dict.fromkeys([*self.arrays.values(), *behind_rows]))

    def sources(self, name: str, catalog: Catalog) -> tuple[Origin, ...]:
        """What owners offer that stands behind an input."""
        if name in self.arrays:
            offered: tuple[OfferedArray, ...] = (self.arrays[name],)
        else:
            offered = self.queries[self.columns[name].rows].offered(catalog)
        return tuple(Origin(each.owner, each.name, None) for each in offered)

    def uses(self, name: str, catalog: Catalog) -> Uses:
        """What an input is computed from, and what decides which elements it has."""
        if name in self.arrays:
            array = self.arrays[name]
            return frozenset({Use(Origin(array.owner, array.name, None), ("program",))})
        column = self.columns[name]
        return self.queries[column.rows].uses(column.column, catalog)


@dataclass(frozen=True)
class Placing:
    """A lowered program on its way to steps. rows: of queries, beneath it. told: whether checked bounds hold."""

    outputs: Mapping[str, Node]
    lowered: Lowered
    given: Given
    rows: PlacedRows
    recipients: tuple[str, ...]
    told: tuple[str, ...]

    def steps(self) -> tuple[Step, ...]:
        """All steps: rows of queries, owners' arrays, their shares, the program, a release for each output, and the
        result.

        A guard of checked bounds is before all releases.
        """
        before, program = self.computed()
        guards = (GuardStep(self._release(program.operator, 0, self.told)),) if self.told else ()
        places = range(len(guards), len(program.operator.outputs))
        releases = tuple(ReleaseStep(self._release(program.operator, place), ()) for place in places)
        results = tuple(self._result(*each) for each in zip(self.outputs.items(), releases, strict=True))
        result = ResultStep(releases[-1].id + 1, self.recipients, results)
        return (*before, program, *guards, *releases, result)

    def computed(self, *, one_table: bool = False) -> tuple[tuple[Step, ...], ProgramStep]:
        """The steps up to the program, and its own. one_table: all results are columns of one table."""
        arrays, inputs = self._inputs()
        before = (*self.rows.steps, *arrays)
        return before, ProgramStep(self._program(len(before) + 1, inputs, one_table), self._sizes())

    def made_of(self) -> dict[str, tuple[Use, ...]]:
        """What each result is computed from."""
        return {name: self._uses(nodes) for name, nodes in behind(self.outputs, ops.Input).items()}

    def announced(self) -> tuple[Disclosure, ...]:
        """What is told before anything is computed: on the way of queries' rows, and sizes of arrays."""
        return (*self.rows.disclosures, *self._sized(self.rows.catalog))

    @property
    def checked(self) -> tuple[Origin, ...]:
        """What owners offer of which it shows whether checked bounds hold."""
        found = (self.given.sources(each, self.rows.catalog) for each in _inputs(reachable(self.lowered.checked)))
        return tuple(dict.fromkeys(each for sources in found for each in sources))

    def _uses(self, nodes: Iterable[Node]) -> tuple[Use, ...]:
        """What the inputs among nodes are computed from."""
        found = (self.given.uses(each, self.rows.catalog) for each in _inputs(nodes))
        return ordered(frozenset(use for uses in found for use in uses))

    def _inputs(self) -> tuple[list[Step], tuple[Element, ...]]:
        """The steps that share each array once, and where the program finds all that it is given."""
        steps: list[Step] = []
        shared: dict[tuple[str, str, int], int] = {}
        places, before = [], len(self.rows.steps)
        for node in self.lowered.inputs:
            assert isinstance(node.operation, ops.Input)
            if node.operation.name in self.given.columns:
                places.append(self.rows.element(self.given.columns[node.operation.name]))
                continue
            offered = self.given.arrays[node.operation.name]
            key = offered.owner, offered.name, node.array.ring
            if key not in shared:
                shared[key] = before + len(steps) + 2
                steps += _shared(offered, node.array, before + len(steps) + 1)
            places.append(Element(shared[key], VALUE))
        return steps, tuple(places)

    def _program(self, step: int, inputs: tuple[Element, ...], one_table: bool) -> Program:
        made = [(self.lowered.places[name], name, kind_of_array(node.array)) for name, node in self.outputs.items()]
        if self.lowered.outside is not None:
            made.insert(0, (self.lowered.outside, GUARD, BIT))
        tables = tuple(Made(step + 1 + (0 if one_table else place), *each) for place, each in enumerate(made))
        return Program(step, inputs, self.lowered.instructions, tables)

    def _sizes(self) -> str:
        return ", ".join(f"{node.array.size:,}" for node in self.outputs.values())

    def _release(self, program: Program, place: int, told: tuple[str, ...] = ()) -> Release:
        """The release of a table of the program. told: of the bit of checked bounds, who is told it."""
        made = program.outputs[place]
        step = program.outputs[-1].id + 1 + place
        return Release(step, made.id, told or self.recipients, (made.column,), (), True, guard=bool(told))

    def _result(self, output: tuple[str, Node], release: ReleaseStep) -> Result:
        name, array = output[0], output[1].array
        return Result(name, release.id, array.shape, array.dtype, array.fraction)

    def disclosures(self) -> tuple[Disclosure, ...]:
        """What the rows of queries tell on their way, what each release shows, and to clients how many elements."""
        catalog = self.rows.catalog
        steps = self.steps()
        guards = [step for step in steps if isinstance(step, GuardStep)]
        releases = [step for step in steps if isinstance(step, ReleaseStep)]
        pairs = list(zip(self.outputs.items(), releases, strict=True))
        made_of = self.made_of()
        sizes: list[tuple[int, ReleaseStep | GuardStep]] = [(1, each) for each in guards]
        sizes += [(node.array.size, each) for (_, node), each in pairs]
        told = [_told(outside, *each) for each in sizes if (outside := _outside(each[1], catalog))]
        bounds = [self._bound(each) for each in guards]
        answers = [self._opened(name, node, release, made_of[name]) for (name, node), release in pairs]
        return (*self.announced(), *told, *bounds, *answers)

    def _bound(self, guard: GuardStep) -> Disclosure:
        uses = self._uses(reachable(self.lowered.checked))
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

    def _opened(self, name: str, node: Node, release: ReleaseStep, uses: tuple[Use, ...]) -> Disclosure:
        array = node.array
        opened = OpenedArray(
            name, (Named(name, kind_of_array(array)),), array.shape, array.dtype, array.fraction, error_of(array)
        )
        derivation = Derivation(((name, uses),), (), array.size, None, ((name, uses),))
        return Disclosure(self.recipients, _site(release), opened, derivation, (DisclosureRule.QUERY,))


def _shared(offered: OfferedArray, array: Array, step: int) -> tuple[Step, Step]:
    """The steps that give an owner's array, and share it."""
    column = Shared(VALUE, VALUE, "int", kind_of_array(array))
    shared = Input(step + 1, offered.owner, (column,), None, ordered=True)
    return ArrayStep(step, offered.owner, offered.name, array.fraction), InputStep(step, shared, exact=offered.size)


def _outside(release: ReleaseStep | GuardStep, catalog: Catalog) -> tuple[str, ...]:
    """The recipients that are no nodes."""
    return tuple(each for each in release.operator.to if each not in catalog.nodes)


def _told(outside: tuple[str, ...], elements: int, release: ReleaseStep | GuardStep) -> Disclosure:
    derivation = Derivation((), (), elements)
    return Disclosure(outside, _site(release), OpenedRows(), derivation, (DisclosureRule.QUERY,))


def _inputs(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The names of the inputs that are among nodes."""
    return tuple(dict.fromkeys(each.operation.name for each in nodes if isinstance(each.operation, ops.Input)))


def _site(release: ReleaseStep | GuardStep) -> Site:
    return Site(release.id, release.operator.op)
