"""Functions of strings that have a public dictionary, as choices among what they make of each word of it.

So nodes can compute them: they compare a position in the dictionary with constants. ``name LIKE 'A%'`` is membership in
the words that begin with A; ``UPPER(name)`` is a CASE with a branch for each result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from tacit.plan.algebra import bounds
from tacit.plan.algebra.expressions import joined
from tacit.plan.algebra.folding import Constant
from tacit.plan.algebra.relations import Call, Expr, Literal
from tacit.plan.algebra.types import Boolean, Type, Varchar
from tacit.plan.algebra.words import results

MOST_RESULTS = 64
"""Results among which a choice is made: each costs a comparison and a choice of every row."""


def over_words(expr: Expr) -> Expr:
    """The expression, of which a function of one string with a dictionary is a choice among its results."""
    found = results(expr)
    if found is None:
        return expr
    subject, of_words = found
    words: dict[Constant, list[str]] = {}
    for word, result in of_words.items():
        words.setdefault(result, []).append(word)
    return expr if len(words) > MOST_RESULTS else _choice(subject, words, expr.type)


def _choice(subject: Expr, words: dict[Constant, list[str]], type_: Type) -> Expr:
    """A CASE by the words that give each result; the last result, which most words give, is the ELSE."""
    by_number = sorted(words.items(), key=lambda item: len(item[1]))
    *branches, (usual, _) = [(_constant(result, type_), found) for result, found in by_number]
    chosen: Expr = usual
    for result, found in branches:
        chosen = _if(_member(subject, found), result, chosen)
    missing = Call("is_null", (subject,), Boolean(), False)
    return _if(missing, Literal(None, type_), chosen) if subject.nullable else chosen


def _member(subject: Expr, words: Sequence[str]) -> Expr:
    """Whether a string is one of some words."""
    sides = [(subject, Literal(word, Varchar(len(word.encode())))) for word in words]
    return joined("or", [Call("eq", pair, Boolean(), subject.nullable) for pair in sides])


def _if(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """CASE WHEN condition THEN then ELSE otherwise END."""
    known = [each.type for each in (then, otherwise) if not (isinstance(each, Literal) and each.value is None)]
    type_ = reduce(_either, known[1:], known[0]) if known else then.type
    return Call("if", (condition, then, otherwise), type_, then.nullable or otherwise.nullable)


def _either(a: Type, b: Type) -> Type:
    both = bounds.encoded_range(a), bounds.encoded_range(b)
    return a if both[0] is None or both[1] is None else bounds.with_range(a, bounds.either(both[0], both[1]))


def _constant(value: Constant, type_: Type) -> Literal:
    plain = isinstance(value, bool) or not isinstance(value, int)
    return Literal(value, type_ if plain else bounds.with_range(type_, (int(value or 0), int(value or 0))))
