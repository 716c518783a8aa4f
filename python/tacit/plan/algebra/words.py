"""What functions make of each word of a public dictionary."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.plan.algebra.folding import Constant, NoValue, values_of
from tacit.plan.algebra.functions import is_function
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Double, Type, Varchar

MOST_WORDS = 1000
"""Words of a dictionary of which functions are computed when a query is bound."""

PLAIN = Varchar(None)


def results(expr: Expr) -> tuple[Expr, Mapping[str, Constant]] | None:
    """The one string with a dictionary in a function's arguments, and what the function makes of each word.

    None where there is none, where other arguments are no constants, or where the function has no value for a word.
    """
    if not isinstance(expr, Call) or not is_function(expr) or isinstance(expr.type, Double):
        return None
    subjects = [arg for arg in expr.args if not isinstance(arg, Literal)]
    words = dictionary(subjects[0].type) if len(subjects) == 1 else None
    if words is None:
        return None
    rows = [[arg if isinstance(arg, Literal) else Literal(word, PLAIN) for arg in expr.args] for word in words]
    try:
        return subjects[0], dict(zip(words, values_of(expr.op, rows, expr.type), strict=True))
    except NoValue:
        return None


def dictionary(type_: Type) -> tuple[str, ...] | None:
    """A type's dictionary, if it is short enough."""
    values = type_.values if isinstance(type_, Varchar) else None
    return values if values is not None and len(values) <= MOST_WORDS else None


def of_words(found: Mapping[str, Constant]) -> Varchar:
    """The type of strings that a function makes of words."""
    made = sorted({each for each in found.values() if isinstance(each, str)}, key=str.encode)
    return Varchar(max((len(each.encode()) for each in made), default=0), tuple(made) or ("",))
