"""The rules in their order, each by its name, and what each makes of a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from tacit.plan.algebra.relations import Relation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.rules.determined import drop_determined
from tacit.plan.rules.distinct import drop_redundant
from tacit.plan.rules.full_joins import settle_full_joins
from tacit.plan.rules.functions import with_functions
from tacit.plan.rules.lookups import sink_lookups
from tacit.plan.rules.marks import settle_marks
from tacit.plan.rules.matching import choose_matches
from tacit.plan.rules.merging import choose_merged
from tacit.plan.rules.orders import share_orders
from tacit.plan.rules.owner_ranks import rank_strings
from tacit.plan.rules.predicates import push_predicates
from tacit.plan.rules.prune import prune
from tacit.plan.rules.push_down import push_down
from tacit.plan.rules.push_up import push_up
from tacit.plan.rules.resizing import choose_resized
from tacit.plan.rules.simplify import named, simplify
from tacit.plan.rules.slicing import choose_slices
from tacit.plan.rules.stage import Pricing, Stage
from tacit.plan.rules.trusting import choose_trusted, tell_trusted


@dataclass(frozen=True)
class Rule:
    """A change of a query that keeps its meaning. name: as ``tacit explain --rules`` prints it."""

    name: str
    change: Callable[[Stage, Pricing], Stage]


def _of_tree(name: str, change: Callable[[Relation, Catalog], Relation]) -> Rule:
    """A rule that changes the tree and nothing else, by what the catalog declares."""
    return Rule(name, lambda stage, pricing: replace(stage, core=change(stage.core, pricing.catalog)))


def _split(stage: Stage) -> Stage:
    split = push_up(stage.core)
    return replace(stage, core=split.core, split=split)


SIMPLIFY = _of_tree("simplify", lambda tree, _: simplify(tree))

NORMAL = (
    SIMPLIFY,
    _of_tree("predicates", lambda tree, _: push_predicates(tree)),
    _of_tree("marks", settle_marks),
    SIMPLIFY,
    _of_tree("distinct", drop_redundant),
    SIMPLIFY,
    _of_tree("functions", with_functions),
    SIMPLIFY,
    _of_tree("prune", lambda tree, _: prune(tree)),
)
"""What every tree goes through, also one that its recipient computes alone."""

FULL_JOINS = _of_tree("full_joins", settle_full_joins)

FRONTIER = (
    _of_tree("lookups", sink_lookups),
    _of_tree("predicates", lambda tree, _: push_predicates(tree)),
    SIMPLIFY,
    _of_tree("push_down", push_down),
    SIMPLIFY,
    _of_tree("names", lambda tree, _: named(tree)),
    _of_tree("owner_ranks", rank_strings),
    SIMPLIFY,
    _of_tree("determined", drop_determined),
    _of_tree("orders", share_orders),
    SIMPLIFY,
)
"""What a tree of several owners goes through after that."""

MERGING = Rule("merging", choose_merged)

CHOICES = (
    MERGING,
    Rule("trusting", choose_trusted),
    Rule("matching", choose_matches),
    MERGING,
    Rule("trusting", tell_trusted),
)
"""What is chosen by predicted time at last. A join that is matched frees the order of inputs for others to merge.

A match is held against a join that a trusted party orders, and that is chosen anew of the joins that are left.
"""

SECURE = (
    *NORMAL,
    FULL_JOINS,
    *FRONTIER,
    MERGING,
    Rule("matching", choose_matches),
    MERGING,
    Rule("resizing", partial(choose_resized, counting=False)),
)
"""What a query goes through whose rows the nodes keep: nobody sees keys for these."""


def _slices(stage: Stage, pricing: Pricing) -> Stage:
    return choose_slices(stage, pricing, lambda each: applied((*FRONTIER, *CHOICES), each, pricing))


RULES = (
    Rule("push_up", lambda stage, _: _split(stage)),
    *NORMAL,
    FULL_JOINS,
    Rule("slicing", _slices),
    *FRONTIER,
    *CHOICES,
    Rule("resizing", partial(choose_resized, counting=True)),
)
"""What a query goes through whose answer the nodes open."""

Trace = Callable[[str, Stage], None]
"""Called with a rule's name and the query after it."""


def ignore(name: str, stage: Stage) -> None:
    """The trace of nobody."""


def applied(rules: tuple[Rule, ...], stage: Stage, pricing: Pricing, trace: Trace = ignore) -> Stage:
    """The query after all rules."""
    for rule in rules:
        stage = rule.change(stage, pricing)
        trace(rule.name, stage)
    return stage
