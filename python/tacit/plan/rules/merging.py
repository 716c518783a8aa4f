"""Joins that merge what both owners sorted, instead of sorting it under MPC.

Lowering finds the joins that can (tacit.plan.physical.merging). Of these one after the other is merged where that makes
the predicted time of the whole plan shorter.
"""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.rules.stage import Pricing, Stage


def choose_merged(stage: Stage, pricing: Pricing) -> Stage:
    """The stage with the joins merged for which that has not been decided yet, and which are faster so."""
    for join in pricing.mergeable(stage):
        if join in stage.weighed or join not in pricing.mergeable(stage):
            continue
        stage = replace(stage, weighed=stage.weighed | {join})
        merged = replace(stage, merged=stage.merged | {join})
        if pricing.seconds(merged) < pricing.seconds(stage):
            stage = merged
    return stage
