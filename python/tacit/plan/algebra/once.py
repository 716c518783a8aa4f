"""Facts of relations, computed once each: trees are frozen, so what is true of one stays true."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from tacit.plan.algebra.relations import Relation

Context = ParamSpec("Context")
T = TypeVar("T")


def once(fact: Callable[Concatenate[Relation, Context], T]) -> Callable[Concatenate[Relation, Context], T]:
    """The same function of a relation and of a context, such as its catalog; a relation keeps what it gave.

    Contexts are told apart by identity: each is kept with its fact, so that no other object takes its identity.
    """

    def known(relation: Relation, /, *context: Context.args, **named: Context.kwargs) -> T:
        assert not named, "a fact's context has its place, and no name"
        found: dict[Any, tuple[Any, T]] = vars(relation).setdefault("_facts", {})
        key = (fact, *map(id, context))
        if key not in found:
            found[key] = (context, fact(relation, *context, **named))
        return found[key][1]

    update_wrapper(known, fact)
    return known
