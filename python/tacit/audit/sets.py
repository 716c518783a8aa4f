"""The sets of rows over which a query's shown numbers are added up, at one aggregate.

Each group that is shown is a cell of the local keys, and so is the row into which small groups are folded. Where the
owner's tables alone decide a group, the owner knows which groups are shown. Where others' rows decide too, all groups
that could be shown count: those that have enough units here. Groups below the floor are never shown, and are no sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tacit.audit.pieces import Columns, Piece
from tacit.audit.tracked import ROW, ROW_FIELD, Site, pieces_of
from tacit.plan.algebra.relations import Expr, Project, Relation
from tacit.plan.algebra.trees import scans
from tacit.plan.algebra.types import Boolean, Field
from tacit.plan.facts.fields import column, field_of

Row = tuple[int, tuple[object, ...], tuple[bool | None, ...]]
"""A row's number, the cell of its keys, and whether it is in each conditional piece."""


@dataclass(frozen=True)
class RowSet:
    """How often each row, by its number, counts in what one number is made of.

    measures: columns of which values are added up. uses: all columns that entered.
    """

    rows: Mapping[int, int]
    measures: Columns
    uses: Columns


@dataclass(frozen=True)
class Selection:
    """What the owner computes for a site: the rows of the relation have a row's number, keys and conditions."""

    site: Site
    keys: tuple[str, ...]
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, site: Site) -> Selection:
        """Of all the aggregate's keys that the owner knows, and of all pieces of its sums, once each."""
        outputs = site.tracked.outputs
        keys = tuple(key for key in site.aggregate.keys if outputs[key].known)
        found = dict[Piece, None]()
        for each in site.aggregate.aggregations:
            found |= dict.fromkeys(pieces_of(each, site.tracked))
        return cls(site, keys, tuple(found))

    @property
    def conditions(self) -> tuple[Expr, ...]:
        """Those of the pieces, once each."""
        return tuple(dict.fromkeys(each.condition for each in self.pieces if each.condition is not None))

    @property
    def contributions(self) -> int:
        """Of how many kinds the rows are that sums are over."""
        return len({each.condition for each in self.pieces})

    @property
    def relation(self) -> Relation:
        """What the owner's engine computes."""
        tracked = self.site.tracked.relation
        keys = [(f"key {at}", column(tracked, key)) for at, key in enumerate(self.keys)]
        conditions = [(f"condition {at}", each) for at, each in enumerate(self.conditions)]
        return Project(tracked, ((ROW, column(tracked, ROW)), *keys, *conditions))

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its columns."""
        tracked = self.site.tracked.relation
        keys = (Field(f"key {at}", field_of(tracked, key).type, True) for at, key in enumerate(self.keys))
        conditions = (Field(f"condition {at}", Boolean(), True) for at, _ in enumerate(self.conditions))
        return (ROW_FIELD, *keys, *conditions)

    def rows(self, fetched: Iterable[tuple[object, ...]]) -> list[Row]:
        """The rows of the relation, in parts."""
        keys = 1 + len(self.keys)
        return [
            (int(str(row[0])), row[1:keys], tuple(None if b is None else bool(b) for b in row[keys:]))
            for row in fetched
        ]

    @property
    def exact(self) -> bool:
        """Whether the owner knows which groups are shown: no other instance and no other party decides it."""
        only = len(scans(self.site.aggregate.input)) == 1
        return only and self.site.tracked.alone and self.keys == self.site.aggregate.keys


def row_sets(
    selection: Selection, rows: Iterable[Row], units: Mapping[int, bytes | None], least: int, folds: bool, apart: bool
) -> list[RowSet]:
    """The sets of what may be shown. units: of rows. folds: small groups become one row, unless the query prevents it.
    apart: no unit may be in two groups, by what is declared.

    Where sums of a group are over different rows, those with a condition are shown only if each class of rows, by all
    conditions, has enough units.
    """
    used = selection.site.tracked.used | selection.site.tracked.read(selection.keys)
    conditions = {each: at for at, each in enumerate(selection.conditions)}
    cells = dict[tuple[object, ...], list[Row]]()
    for row in rows:
        cells.setdefault(row[1], []).append(row)
    found = []
    for cell in shown(selection, [*cells.values()], units, least, folds, apart):
        parts = {None: cell} | {each: [row for row in cell if row[2][at]] for each, at in conditions.items()}
        enough = selection.contributions == 1 or _is_refined(cell, units, least)
        for piece in selection.pieces:
            part = parts[piece.condition]
            if piece.condition is None or ((enough or piece.inner) and _units(part, units) >= least):
                found.append(_set(part, piece, used))
    return found


def shown(
    selection: Selection,
    cells: Sequence[list[Row]],
    units: Mapping[int, bytes | None],
    least: int,
    folds: bool,
    apart: bool,
) -> list[list[Row]]:
    """The groups that may be shown, and the row of the rest.

    If the rest has units, but too few, all groups of the smallest size join it. Units that may be in several groups are
    not counted anew for the rest: they never are enough. Where others decide which groups are shown, nobody here knows
    which join a rest. Then one of enough units counts beside all of them, as its sum with some does.
    """
    sizes = [_units(cell, units) for cell in cells]
    large = [cell for cell, size in zip(cells, sizes, strict=True) if size >= least]
    rest = [row for cell, size in zip(cells, sizes, strict=True) if size < least for row in cell]
    if not folds or selection.site.drops or not selection.site.aggregate.keys:
        return large
    enough = least if apart or not selection.exact else len(rest) + 1
    if 0 < _units(rest, units) < enough:
        if not selection.exact or not large:
            return large
        smallest = min(size for size in sizes if size >= least)
        rest += [row for cell in large if _units(cell, units) == smallest for row in cell]
        large = [cell for cell in large if _units(cell, units) > smallest]
    return [*large, rest] if rest else large


def _is_refined(cell: Sequence[Row], units: Mapping[int, bytes | None], least: int) -> bool:
    """Whether each class of rows with the same conditions has enough units."""
    classes = dict[tuple[bool, ...], list[Row]]()
    for row in cell:
        classes.setdefault(tuple(bool(each) for each in row[2]), []).append(row)
    return all(_units(each, units) >= least for each in classes.values())


def _units(rows: Iterable[Row], units: Mapping[int, bytes | None]) -> int:
    return len({units[row[0]] for row in rows} - {None})


def _set(rows: Iterable[Row], piece: Piece, used: Columns) -> RowSet:
    return RowSet(Counter(row[0] for row in rows), piece.reads, used | piece.reads)
