"""Plans: types, catalog, algebra, the passes from a bound query to a placed plan, its account, hash and display.

SQL text becomes a placed plan with tacit.sql.compile_query, which binds it and calls ``place``.
"""

from __future__ import annotations

from tacit.plan.account import account
from tacit.plan.cost import StepCost, predict
from tacit.plan.explain import explain_json, explain_text
from tacit.plan.place import place
from tacit.plan.serialise import plan_hash, plan_json

__all__ = ["StepCost", "account", "explain_json", "explain_text", "place", "plan_hash", "plan_json", "predict"]
