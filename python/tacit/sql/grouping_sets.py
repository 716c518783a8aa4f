"""GROUP BY with GROUPING SETS, ROLLUP and CUBE: the keys of each set of groups."""

from __future__ import annotations

from itertools import product

from sqlglot import exp

from tacit.sql.text import Text

MOST_SETS = 64
"""Each is an aggregation of its own."""

Keys = list[exp.Expr]


def grouping_sets(group: exp.Group, text: Text) -> list[Keys]:
    """The keys of each grouping set. Members of GROUP BY are combined, each set of one with each of the others."""
    choices = [_choices(each, text) for each in group.expressions]
    count = 1
    for each in choices:
        count *= len(each)
        if count > MOST_SETS:
            raise text.unsupported(group, f"more than {MOST_SETS} grouping sets", "name the sets that you need")
    return [[key for part in parts for key in part] for parts in product(*choices)]


def _choices(node: exp.Expr, text: Text) -> list[Keys]:
    match node:
        case exp.GroupingSets():
            return [keys for each in node.expressions for keys in _choices(each, text)]
        case exp.Rollup():
            units = [_keys(each) for each in node.expressions]
            return [_joined(units[:length]) for length in range(len(units), -1, -1)]
        case exp.Cube():
            units = [_keys(each) for each in node.expressions]
            if 1 << len(units) > MOST_SETS:
                raise text.unsupported(node, f"a CUBE of {len(units)} keys", "name the grouping sets that you need")
            return [_joined([u for u, yes in zip(units, chosen, strict=True) if yes]) for chosen in _subsets(units)]
        case _:
            return [_keys(node)]


def _subsets(units: list[Keys]) -> list[tuple[bool, ...]]:
    return list(product([True, False], repeat=len(units)))


def _keys(node: exp.Expr) -> Keys:
    """The keys of a list in parentheses, or the one key."""
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _joined(units: list[Keys]) -> Keys:
    return [key for unit in units for key in unit]
