"""The check that looks at no data (``differences = "text"``): which people a query's words select.

A *region* is a condition on a table's columns, as JSON that a history can keep. What is known of numbers of people is
what the offer says: each whole cell, an interval between ``cuts`` or one of the ``constants``, and the whole table, is
large. Everything else counts as nobody. So a question is answered only if whole cells make up what it selects, and the
verdict can be foretold by everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from tacit.audit.atoms import Atom
from tacit.audit.linear import isolates
from tacit.audit.vectors import trimmed
from tacit.plan.algebra.relations import Call, ColumnRef, Expr, Literal
from tacit.plan.facts.catalog import Column

Region = list[Any]
"""["column", name, whether NULL may occur], ["constant", value] or [operator, region, ...]."""

MOST_CELLS = 10_000
"""Combinations of cells that are looked at. Beyond, no combination of regions is known to be another one."""

TRUE = frozenset({True})
ANY = frozenset({True, False})
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
Outcomes = frozenset[bool | None]
Value = int | str | bool


def region(expr: Expr) -> Region:
    """An expression over a table's columns."""
    match expr:
        case ColumnRef(name, _, nullable):
            return ["column", name, nullable]
        case Literal(value):
            return ["constant", value]
        case Call(op, args):
            return [op, *map(region, args)]


@dataclass(frozen=True)
class Cell:
    """Values of a column: one, or those from ``low`` to below ``high``, or all but some, or NULL.

    large: the offer says that it is a whole cell.
    """

    column: str
    large: bool = False
    value: Value | None = None
    low: int | None = None
    high: int | None = None
    but: frozenset[Value] | None = None
    null: bool = False

    def compared(self, op: str, constant: Value) -> Outcomes:
        """What a comparison of a value of the cell with a constant can give."""
        if self.null:
            return frozenset({None})
        if self.value is not None:
            return frozenset({_compare(op, self.value, constant)})
        if self.but is not None:
            return frozenset({op == "ne"}) if constant in self.but and op in ("eq", "ne") else ANY
        return self._interval(op, int(constant))

    def _interval(self, op: str, constant: int) -> Outcomes:
        below = self.high is not None and self.high <= constant
        reaches = self.low is not None and self.low >= constant
        above = self.low is not None and self.low > constant
        ends = self.high is not None and self.high <= constant + 1
        match op:
            case "lt" | "ge":
                known = True if below else False if reaches else None
            case "le" | "gt":
                known = True if ends else False if above else None
            case _:
                known = False if below or above else None
        if known is None:
            return ANY
        return frozenset({known != (op in ("ge", "gt", "ne"))})


def cells(column: Column) -> list[Cell]:
    """Cells that make up all values of a column; empty if the offer names none."""
    name, terms = column.field.name, column.terms
    found: list[Cell] = []
    if isinstance(terms.cuts, tuple):
        borders = [None, *sorted(terms.cuts), None]
        found = [Cell(name, True, low=low, high=high) for low, high in pairwise(borders)]
    elif terms.constants is not None:
        found = [Cell(name, True, value=each) for each in sorted(terms.constants, key=repr)]
        found.append(Cell(name, but=terms.constants))
    return [*found, Cell(name, null=True)] if found and column.field.nullable else found


def outcomes(said: Region, known: Mapping[str, Cell]) -> Outcomes:
    """What a region can be for rows whose columns are in these cells. NULL is None."""
    match said:
        case ["constant", value]:
            return frozenset({None if value is None else bool(value)})
        case ["column", name, nullable]:
            found = known[name].compared("eq", True) if name in known else ANY
            return found if name in known or not nullable else found | {None}
        case ["and", a, b]:
            return frozenset(_and(x, y) for x, y in product(outcomes(a, known), outcomes(b, known)))
        case ["or", a, b]:
            both = product(outcomes(a, known), outcomes(b, known))
            return frozenset(_not(_and(_not(x), _not(y))) for x, y in both)
        case ["not", a]:
            return frozenset(map(_not, outcomes(a, known)))
        case ["is_null", ["column", name, nullable]]:
            return frozenset({known[name].null}) if name in known else ANY if nullable else frozenset({False})
        case ["if", condition, a, b]:
            tested = outcomes(condition, known)
            then = outcomes(a, known) if True in tested else frozenset()
            return then | (outcomes(b, known) if tested - TRUE else frozenset())
        case [op, ["column", name, _], ["constant", value]] if op in MIRRORED and name in known and value is not None:
            return known[name].compared(op, value)
        case [op, ["constant", value], ["column", name, _]] if op in MIRRORED and name in known and value is not None:
            return known[name].compared(MIRRORED[op], value)
        case _:
            return ANY | {None}


def too_near(regions: Sequence[Region], columns: Iterable[Column]) -> bool:
    """Whether answers over these regions could tell of fewer people than a whole cell has."""
    named = {name for each in regions for name in _columns(each)}
    grid = {each.field.name: cells(each) for each in columns if each.field.name in named}
    known = [cell for found in grid.values() for cell in found if cell.large]
    large = [_members(regions, {cell.column: cell}) for cell in known] + [_members(regions, {})]
    atoms = [_atom(each, frozenset({b"somebody"})) for each in large if each is not None]
    return isolates([*atoms, *_combinations(regions, [grid.get(name, []) for name in sorted(named)])], 1)


def _combinations(regions: Sequence[Region], grid: list[list[Cell]]) -> Iterator[Atom]:
    """Atoms of nobody for all combinations of cells. Where they do not decide all regions, no region is another's."""
    count = 1
    for found in grid:
        count *= len(found)
    points = product(*grid) if 0 < count <= MOST_CELLS else iter(())
    decided = [_members(regions, {cell.column: cell for cell in point}) for point in points]
    if decided and all(each is not None for each in decided):
        yield from (_atom(each, frozenset()) for each in decided if each is not None)
    else:
        yield from (_atom(1 << at, frozenset()) for at, _ in enumerate(regions))


def _members(regions: Sequence[Region], known: Mapping[str, Cell]) -> int | None:
    """The regions that rows in these cells are in, as bits; None if the cells do not decide it for all."""
    found = 0
    for at, each in enumerate(regions):
        can = outcomes(each, known)
        if True in can and can != TRUE:
            return None
        found |= (can == TRUE) << at
    return found


def _atom(members: int, units: frozenset[bytes]) -> Atom:
    return Atom(trimmed((members,)), units)


def _columns(said: Region) -> Iterator[str]:
    if said[0] == "column":
        yield said[1]
    elif said[0] != "constant":
        for each in said[1:]:
            yield from _columns(each)


def _compare(op: str, a: Any, b: Any) -> bool:
    found = {"eq": a == b, "ne": a != b} if type(a) is str or type(b) is str else {
        "eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b
    }  # fmt: skip
    return bool(found[op])


def _and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _not(a: bool | None) -> bool | None:
    return None if a is None else not a
