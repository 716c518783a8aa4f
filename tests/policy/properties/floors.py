"""Whether enough units stand behind what the reference shows, counted once more from the rows of each shown group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from sqlglot import exp

from ..reference.evaluate import Question
from ..reference.floors import Row, Shown
from ..reference.offers import Table, read
from ..reference.tree import Join, Relation, Scan, Union
from ..reference.values import argument, value
from .checks import Found
from .worlds import NORTH, worlds

Pattern = tuple[bool, ...]


def too_few(offers: Mapping[str, str], questions: Sequence[str], seed: int, count: int) -> Found:
    """Groups, aggregates and differences of aggregates behind which there are fewer units than the floor.

    Nobody at all is too few as well, unless the query itself or values that are stored as NULL say so.
    """
    for sql in questions:
        question = Question(sql, read(offers), NORTH)
        found = [(data, shown) for data in worlds(seed, count) for shown in question.view(data).shown]
        for instance, table in question.derivation.tables.items():
            if table.binds("north"):
                possible = {(s.tree, each) for _, s in found for each in _patterns(s, instance)}
                for data, shown in found:
                    mine = {each for tree, each in possible if tree is shown.tree}
                    yield from ((sql, instance, what, data) for what in _few(shown, instance, table, mine))


def _few(shown: Shown, instance: str, table: Table, possible: Iterable[Pattern]) -> Found:
    """What is shown of one row of an answer. Cells: rows that count alike in every aggregate of it."""
    if not shown.aggregates and shown.tree.aggregates:
        return
    if all(instance not in row.units for row in shown.rows) and _is_elsewhere(shown, instance):
        return
    sets = [_counted(shown.rows, dict(shown.tree.aggregates)[name]) for name in shown.aggregates]
    cells: dict[tuple[bool, ...], set[Hashable]] = {}
    for at, row in enumerate(shown.rows):
        cells.setdefault(tuple(at in each for each in sets), set()).update(row.units.get(instance, ()))
    whole = {unit for units in cells.values() for unit in units}
    if len(whole) < table.least_group:
        yield "group", sorted(map(str, whole))
    for units in cells.values():
        if 0 < len(units) < table.least_group:
            yield "cell", sorted(map(str, units))
    patterns = _patterns(shown, instance)
    if any(_case(shown, name) for name in shown.aggregates):
        yield from (("pattern", each) for each in possible if len(patterns.get(each, ())) < table.least_group)


def _is_elsewhere(shown: Shown, instance: str) -> bool:
    """Whether the rows are all of other sides of a UNION, which write so into ``src``, or of another aggregation."""
    return not _scans(shown.tree, instance) or any("src" in str(key) for _, key in shown.tree.keys)


def _scans(tree: Relation, instance: str) -> bool:
    match tree:
        case Scan():
            return tree.instance == instance
        case Join():
            return _scans(tree.left, instance) or _scans(tree.right, instance)
        case Union():
            return any(_scans(each, instance) for each in tree.sides)
    return _scans(tree.child, instance)


def _patterns(shown: Shown, instance: str) -> dict[Pattern, set[Hashable]]:
    """The units of an instance by the branches that conditions take."""
    found: dict[Pattern, set[Hashable]] = {}
    inner = [each for name, _ in shown.tree.aggregates if (each := _case(shown, name))]
    for row in (row for row in shown.rows if instance in row.units):
        found.setdefault(tuple(_taken(each, row) for each in inner), set()).update(row.units[instance])
    return found


def _case(shown: Shown, name: str) -> exp.Case | None:
    """The CASE that an aggregate is of."""
    expression = dict(shown.tree.aggregates)[name]
    inner = None if isinstance(expression.this, exp.Star) else argument(expression)
    return inner if isinstance(inner, exp.Case) else None


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
