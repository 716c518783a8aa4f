"""Marks of which only one answer matters, and marks of choices that repeat.

Rows of which the mark must be TRUE are an inner join with the different choices: it masks nothing, and may be done by
matching. The choices of any other mark are made different, which a join needs.
"""

from __future__ import annotations

from tacit.plan.algebra.expressions import conjunction, conjuncts, reference
from tacit.plan.algebra.relations import Aggregate, ColumnRef, Expr, Filter, Join, Literal, Mark, Project, Relation
from tacit.plan.algebra.trees import over_children
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import column, fields, names
from tacit.plan.facts.uniqueness import is_unique


def settle_marks(relation: Relation, catalog: Catalog) -> Relation:
    """The tree with inner joins for marks that must be TRUE, and unique choices of all others."""
    relation = over_children(relation, lambda each: settle_marks(each, catalog))
    match relation:
        case Filter(Mark() as mark, predicate) if _demands(predicate, mark.name):
            rest = [each for each in conjuncts(predicate) if not _is(each, mark.name)]
            found = _as_join(mark)
            return Filter(found, conjunction(rest)) if rest else found
        case Mark(_, choices, _, keys) if not is_unique(choices, keys, catalog):
            return Mark(
                relation.input, _different(choices, keys), relation.input_keys, keys, relation.name, relation.position
            )
        case _:
            return relation


def _demands(predicate: Expr, name: str) -> bool:
    return any(_is(each, name) for each in conjuncts(predicate))


def _is(condition: Expr, name: str) -> bool:
    return isinstance(condition, ColumnRef) and condition.name == name


def _different(choices: Relation, keys: tuple[str, ...]) -> Aggregate:
    return Aggregate(choices, tuple(dict.fromkeys(keys)), ())


def _as_join(mark: Mark) -> Project:
    """The rows of input with a choice, beside TRUE."""
    taken = {each.lower() for each in (*names(mark.input), mark.name)}
    keys = dict.fromkeys(mark.choice_keys)
    renamed = {key: _unused(key, taken, place) for place, key in enumerate(keys)}
    choices = Project(mark.choices, tuple((renamed[key], column(mark.choices, key)) for key in keys))
    chosen = tuple(renamed[key] for key in mark.choice_keys)
    join = Join(_different(choices, chosen), mark.input, chosen, mark.input_keys, mark.position)
    outputs = tuple((each.name, reference(each)) for each in fields(mark.input))
    return Project(join, (*outputs, (mark.name, Literal(True, Boolean()))))


def _unused(key: str, taken: set[str], place: int) -> str:
    """A name for a key beside those of the input."""
    name = key if key.lower() not in taken else f"{key}_choice_{place}"
    while name.lower() in taken:
        name += "_"
    taken.add(name.lower())
    return name
