"""Whether enough units stand behind what the reference shows, counted once more from the rows of each shown group."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence

from sqlglot import exp

from ..reference.evaluate import Question
from ..reference.floors import Row, Shown
from ..reference.offers import Table, read
from ..reference.values import argument, value
from .checks import Found
from .worlds import NORTH, worlds


def too_few(offers: Mapping[str, str], questions: Sequence[str], seed: int, count: int) -> Found:
    """Groups, aggregates and differences of aggregates behind which some units stand, and fewer than the floor."""
    asked = [(sql, Question(sql, read(offers), NORTH)) for sql in questions]
    for data in worlds(seed, count):
        for sql, question in asked:
            for shown in question.view(data).shown:
                for instance, table in question.derivation.tables.items():
                    if table.binds("north"):
                        yield from ((sql, instance, what, data) for what in _few(shown, instance, table))


def _few(shown: Shown, instance: str, table: Table) -> Found:
    """What is shown of one row of an answer. Cells: rows that count alike in every aggregate of it."""
    if not shown.aggregates and shown.tree.aggregates:
        return
    sets = [_counted(shown.rows, dict(shown.tree.aggregates)[name]) for name in shown.aggregates]
    cells: dict[tuple[bool, ...], set[Hashable]] = {}
    for at, row in enumerate(shown.rows):
        cells.setdefault(tuple(at in each for each in sets), set()).update(row.units.get(instance, ()))
    whole = {unit for units in cells.values() for unit in units}
    if (shown.tree.keys and 0 < len(whole) < table.least_group) or (not whole and sets):
        yield "group", sorted(map(str, whole))
    for places in itertools.chain.from_iterable(itertools.combinations(cells, size) for size in (1, len(cells))):
        units = {unit for place in places for unit in cells[place]}
        if 0 < len(units) < table.least_group:
            yield "cell", sorted(map(str, units))


def _counted(rows: Iterable[Row], aggregate: exp.Expr) -> frozenset[int]:
    """Rows that an aggregate counts: of which a measure, and no constant in its place, enters it."""
    if isinstance(aggregate.this, exp.Star):
        return frozenset(at for at, _ in enumerate(rows))
    inner = argument(aggregate)
    return frozenset(at for at, row in enumerate(rows) if value(inner, row.values) is not None and _taken(inner, row))


def _taken(inner: exp.Expr, row: Row) -> bool:
    if not isinstance(inner, exp.Case):
        return True
    taken = next(
        (each.args["true"] for each in inner.args["ifs"] if value(each.this, row.values)), inner.args.get("default")
    )
    return not isinstance(taken, exp.Literal) or taken.name != "0"
