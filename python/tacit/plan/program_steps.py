"""A lowered program on its way to the steps of a plan, and to what they disclose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, DisclosureRule
from tacit.plan.facts.kinds import Kind, width_of
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
from tacit.plan.physical.operators import Element, Input, Instruction, Made, Named, Program, Release, Shared
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
from tacit.plan.physical.row_passes import Cut, Piece, Ref
from tacit.plan.place_rows import PlacedRows, Rows
from tacit.plan.programs import operations as ops
from tacit.plan.programs.facts import Array
from tacit.plan.programs.nodes import Node, behind, reachable
from tacit.plan.programs.queries import NamedQuery, RowArray
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
    queries: Mapping[NamedQuery, Rows]

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
    """A lowered program on its way to steps. rows: of queries, beneath it. told: whether checked bounds hold.

    cut: its blocks of rows; None if it has none. by_rows: the indices of inputs of which each block is given alone.
    """

    outputs: Mapping[str, Node]
    lowered: Lowered
    given: Given
    rows: PlacedRows
    recipients: tuple[str, ...]
    told: tuple[str, ...]
    cut: Cut | None = None
    by_rows: frozenset[int] = frozenset()

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
        """The steps before the program's last piece, and that. one_table: all results are columns of one table."""
        arrays, tables = self._inputs()
        before = (*self.rows.steps, *arrays)
        *pieces, last = self._programs(len(before) + 1, tables, one_table)
        return (*before, *pieces), last

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

    def _inputs(self) -> tuple[list[Step], dict[Ref, Element]]:
        """The steps that share each array once, or each block of it, and where the program finds all it is given."""
        steps: list[Step] = []
        shared: dict[tuple[str, str, int, tuple[int, int] | None], int] = {}
        found, before = {}, len(self.rows.steps)
        for index, node in enumerate(self.lowered.inputs):
            assert isinstance(node.operation, ops.Input)
            if node.operation.name in self.given.columns:
                found[Ref("input", index)] = self.rows.element(self.given.columns[node.operation.name])
                continue
            offered = self.given.arrays[node.operation.name]
            for ref, block in self._blocks(index):
                key = offered.owner, offered.name, node.array.ring, block
                if key not in shared:
                    shared[key] = before + len(steps) + 2
                    steps += _shared(offered, node.array, before + len(steps) + 1, block)
                found[ref] = Element(shared[key], VALUE)
        return steps, found

    def _blocks(self, index: int) -> list[tuple[Ref, tuple[int, int] | None]]:
        """The parts in which an input is given: each with its rows, or all of it."""
        if self.cut is None or index not in self.by_rows:
            return [(Ref("input", index), None)]
        return [(Ref("input", index, each), self.cut.bounds_of(each)) for each in range(len(self.cut.ends))]

    def _programs(self, step: int, found: dict[Ref, Element], one_table: bool) -> list[ProgramStep]:
        """The pieces of the program, of which the last one makes the outputs. found: what there is already."""
        programs: list[ProgramStep] = []
        *pieces, last = self._pieces()
        for piece in pieces:
            made = tuple(
                Made(step + 1 + at, node, VALUE, _kind(piece.nodes[node])) for at, (_, node) in enumerate(piece.made)
            )
            given = tuple(found[ref] for ref in piece.given)
            found |= {ref: Element(table.id, VALUE) for (ref, _), table in zip(piece.made, made, strict=True)}
            sizes = ", ".join(f"{piece.nodes[node].size:,}" for _, node in piece.made)
            programs.append(ProgramStep(Program(step, given, piece.nodes, made), sizes))
            step += 1 + len(made)
        named = [(name, kind_of_array(node.array)) for name, node in self.outputs.items()]
        if self.lowered.outside is not None:
            named.insert(0, (GUARD, BIT))
        ends = zip(last.made, named, strict=True)
        made = tuple(
            Made(step + 1 + (0 if one_table else at), node, *name) for at, ((_, node), name) in enumerate(ends)
        )
        given = tuple(found[ref] for ref in last.given)
        sizes = ", ".join(f"{node.array.size:,}" for node in self.outputs.values())
        return [*programs, ProgramStep(Program(step, given, last.nodes, made), sizes)]

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


def _shared(offered: OfferedArray, array: Array, step: int, block: tuple[int, int] | None) -> tuple[Step, Step]:
    """The steps that give an owner's array, or a block of its rows, and share it."""
    column = Shared(VALUE, VALUE, "int", kind_of_array(array))
    shared = Input(step + 1, offered.owner, (column,), None, ordered=True)
    size = offered.size if block is None else offered.size // offered.shape[0] * (block[1] - block[0])
    given = ArrayStep(step, offered.owner, offered.name, array.fraction, block)
    return given, InputStep(step, shared, exact=size)


def _kind(node: Instruction) -> Kind:
    """The kind of a column of what an instruction makes, for later pieces."""
    if node.ring == 1:
        return BIT
    width = width_of((int(node.low), int(node.high)))
    return Kind("ring64" if node.ring == 64 else "ring128", width, int(node.low) < 0, False)


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
