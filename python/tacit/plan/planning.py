"""One planning: what the stages of a query are lowered to and cost. Each is computed once, and forgotten at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tacit.plan.algebra.relations import Relation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import fields
from tacit.plan.facts.kinds import Hashes, hashes, opened_rep
from tacit.plan.facts.readers import Readers
from tacit.plan.physical.cost import predict, total
from tacit.plan.physical.demands import Demands
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.lower import Lowering
from tacit.plan.physical.merging import Merge, agree, with_merged
from tacit.plan.physical.placed import PlacedPlan, Step
from tacit.plan.physical.secure_expressions import WithoutHash
from tacit.plan.physical.tables import SharedTable
from tacit.plan.rules.push_down import is_local
from tacit.plan.rules.stage import Predicted, Resized, Stage, Trusted

_Done = tuple[Relation, Trusted | None, frozenset[Resized]]
"""What lowering takes of a stage."""

Ending = Callable[[Stage, SharedTable, Lowering], tuple[tuple[Step, ...], SharedTable]]
"""From a stage and its core's table to the last steps of the plan, and the table as they open or keep it."""


@dataclass(frozen=True)
class Lowered:
    """A stage's core as steps, with no join merged. last: what follows them. table: the core's, as the last steps take
    it."""

    lowering: Lowering
    last: tuple[Step, ...]
    table: SharedTable


class Planning:
    """The plans that a query could have, for rules to choose among (a tacit.plan.rules.stage.Pricing).

    before: steps that are placed already, behind which those of the query have their numbers.
    """

    def __init__(
        self,
        catalog: Catalog,
        recipients: tuple[str, ...],
        query: str,
        ending: Ending,
        before: tuple[Step, ...] = (),
    ) -> None:
        self.catalog = catalog
        self.recipients = recipients
        self.query = query
        self._ending = ending
        self._before = before
        self._readers = Readers(catalog)
        self._lowered: dict[_Done, Lowered] = {}
        self._predicted: dict[tuple[_Done, tuple[Merge, ...]], Predicted] = {}

    def lowered(self, stage: Stage) -> Lowered:
        """The steps of a stage."""
        key = _done(stage)
        if key not in self._lowered:
            self._lowered[key] = self._lower(stage)
        return self._lowered[key]

    def mergeable(self, stage: Stage) -> tuple[Relation, ...]:
        """The joins whose inputs can be sorted for a merge, beside those that the stage merges."""
        found, merges = self.lowered(stage).lowering.merges, self._merges(stage)
        return tuple(join for join, each in found.items() if join not in stage.merged and agree([*merges, each]))

    def bounds(self, stage: Stage) -> tuple[tuple[Relation, int], ...]:
        """The relations whose rows the nodes hold, from the inputs up, and how many rows each has at most."""
        return tuple((relation, table.rows.most) for relation, table in self.lowered(stage).lowering.placed.items())

    def seconds(self, stage: Stage) -> float:
        """The predicted time of a stage's plan."""
        return self.predicted(stage).seconds

    def predicted(self, stage: Stage) -> Predicted:
        """The predicted time of a stage's plan, and what is sent."""
        key = _done(stage), self._merges(stage)
        if key not in self._predicted:
            found = total(predict(self.plan(stage)))
            self._predicted[key] = Predicted(found.seconds, found.bytes, found.rounds)
        return self._predicted[key]

    def plan(self, stage: Stage, disclosures: tuple[Disclosure, ...] = ()) -> PlacedPlan:
        """The plan of a stage with these disclosures. A plan that is only priced needs none."""
        found = self.lowered(stage)
        steps = with_merged((*found.lowering.emit.steps, *found.last), self._merges(stage))
        placed = found.lowering.placed | found.lowering.fused
        joins = tuple(
            f"step {placed[relation].step} is {reason}" for relation, reason in stage.why.items() if relation in placed
        )
        resizing = tuple(f"step {placed[each].step}: {saves}" for each, saves in stage.saves.items() if each in placed)
        query, catalog, to = self.query, self.catalog, self.recipients
        found_why = joins, stage.slicing, resizing
        return PlacedPlan(query, catalog.engine, catalog.nodes, to, steps, disclosures, catalog, *found_why)

    def _lower(self, stage: Stage) -> Lowered:
        found = hashes(stage.core)
        try:
            return self._lower_with(stage, found)
        except WithoutHash:
            # MPC makes strings of declared lengths alone, and a column is of one length.
            return self._lower_with(stage, replace(found, declared=False))

    def _lower_with(self, stage: Stage, hashed: Hashes) -> Lowered:
        """The steps of a stage. hashed: how it compares strings."""
        core = stage.core
        demands = Demands(hashed, lambda each: is_local(each, self.catalog))
        demands.add(core, {each.name: frozenset({opened_rep(each.type)}) for each in fields(core)})
        lowering = Lowering(self.catalog, demands, self._readers, stage.trusted, stage.resized)
        lowering.emit.steps += self._before
        lowering.place_keys(core)
        return Lowered(lowering, *self._ending(stage, lowering.place(core), lowering))

    def _merges(self, stage: Stage) -> tuple[Merge, ...]:
        """How the joins that a stage merges are done, in the order of their steps."""
        found = self.lowered(stage).lowering.merges
        return tuple(each for join, each in found.items() if join in stage.merged)


def _done(stage: Stage) -> _Done:
    return stage.core, stage.trusted, stage.resized
