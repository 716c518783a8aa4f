"""Plans: types, catalog, algebra, the passes from a bound query to a placed plan, its account, hash and display.

SQL text becomes a placed plan with tacit.sql.compile_query, which binds it and calls ``place``.
"""

from __future__ import annotations

from tacit.plan.account.explain import explain_json, explain_text
from tacit.plan.account.learnt import learnt
from tacit.plan.account.serialise import plan_hash, plan_json
from tacit.plan.physical.cost import StepCost, predict
from tacit.plan.place import place

__all__ = ["StepCost", "explain_json", "explain_text", "learnt", "place", "plan_hash", "plan_json", "predict"]
