"""A query between two rules, and what rules that choose ask of its lowered plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tacit.plan.algebra.relations import Relation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.rules.push_up import Split

Reasons = Mapping[Relation, str]
"""Why each join of two owners, a Join or a Match, and what a trusted party could order, is done as it is."""


@dataclass(frozen=True)
class Trusted:
    """A party, the same in the whole query, that sees the keys of these joins, marks and aggregations of the core."""

    party: str
    steps: frozenset[Relation]

    def by(self, relation: Relation) -> str | None:
        """Who sees the keys of a relation, if anybody does."""
        return self.party if relation in self.steps else None


@dataclass(frozen=True)
class Resized:
    """A relation of the core whose padding is dropped. most: a bound on its valid rows; None: these are counted.

    expected: how many rows it is priced with where they are counted.
    """

    relation: Relation
    most: int | None
    expected: int = 0

    @property
    def rows(self) -> int:
        """How many rows it is priced with."""
        return self.expected if self.most is None else self.most


@dataclass(frozen=True)
class Predicted:
    """What a whole plan is predicted to take. bytes: sent by all parties together."""

    seconds: float
    bytes: int
    rounds: int

    @property
    def text(self) -> str:
        """All of it, for people."""
        return f"{self.seconds:.3f} s, {self.bytes / 1e6:,.1f} MB and {self.rounds:,} rounds"


@dataclass(frozen=True)
class Stage:
    """A query as rules have left it.

    core: the tree under MPC, or of a recipient that computes alone. split: of a query with an answer, what push_up made
    of it. merged: the joins of the core that merge what their owners sorted. weighed: the joins for which that has been
    decided. why: as of Reasons. trusted: who orders rows by keys that it may see; None: nobody. slicing: of each part
    that could be computed in slices, how it is done and why. resized: where padding is dropped. saves: of each of
    these, what that is predicted to save.
    """

    core: Relation
    split: Split | None = None
    merged: frozenset[Relation] = frozenset()
    weighed: frozenset[Relation] = frozenset()
    why: Reasons = field(default_factory=dict)
    trusted: Trusted | None = None
    slicing: tuple[str, ...] = ()
    resized: frozenset[Resized] = frozenset()
    saves: Reasons = field(default_factory=dict)


class Pricing(Protocol):
    """The catalog, and the plan that a stage is lowered to."""

    @property
    def catalog(self) -> Catalog:
        """What is declared."""

    @property
    def recipients(self) -> tuple[str, ...]:
        """Who gets the answer."""

    def bounds(self, stage: Stage) -> tuple[tuple[Relation, int], ...]:
        """The relations whose rows the nodes hold, from the inputs up, and how many rows each has at most."""

    def mergeable(self, stage: Stage) -> tuple[Relation, ...]:
        """The joins that could merge what their owners sort, beside those that already do."""

    def seconds(self, stage: Stage) -> float:
        """The predicted time of the whole plan."""

    def predicted(self, stage: Stage) -> Predicted:
        """The same, with what is sent."""
