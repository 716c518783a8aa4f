"""The rules in their order, each by its name, and what each makes of a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit.plan.algebra.relations import Relation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.rules.distinct import drop_redundant
from tacit.plan.rules.predicates import push_predicates
from tacit.plan.rules.prune import prune
from tacit.plan.rules.push_down import push_down
from tacit.plan.rules.simplify import named, simplify


@dataclass(frozen=True)
class Rule:
    """A change of a tree that keeps its meaning. name: as ``tacit explain --rules`` prints it."""

    name: str
    change: Callable[[Relation, Catalog], Relation]


SIMPLIFY = Rule("simplify", lambda tree, _: simplify(tree))

NORMAL = (
    SIMPLIFY,
    Rule("predicates", lambda tree, _: push_predicates(tree)),
    SIMPLIFY,
    Rule("distinct", drop_redundant),
    SIMPLIFY,
    Rule("prune", lambda tree, _: prune(tree)),
)
"""What every tree goes through, also one that its recipient computes alone."""

FRONTIER = (
    Rule("push_down", push_down),
    SIMPLIFY,
    Rule("names", lambda tree, _: named(tree)),
)
"""What a tree of several owners goes through after that."""

RULES = (*NORMAL, *FRONTIER)

Trace = Callable[[str, Relation], None]
"""Called with a rule's name and the tree after it."""


def ignore(name: str, tree: Relation) -> None:
    """The trace of nobody."""


def applied(rules: tuple[Rule, ...], tree: Relation, catalog: Catalog, trace: Trace = ignore) -> Relation:
    """The tree after all rules."""
    for rule in rules:
        tree = rule.change(tree, catalog)
        trace(rule.name, tree)
    return tree
