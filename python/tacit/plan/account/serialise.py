"""Plans as canonical JSON: every field of every node, keys sorted, so that equal plans have equal text anywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.sources import Use
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.physical.record import JSON, Record

LEFT_OUT = {"position", "positions", "counted", "path", "united"}
"""Where a construct stands in the text (which is hashed), which columns count as rows do, where an owner keeps its data
(its own business), and names of several tables together (a plan reads the tables themselves)."""

UNLESS_FALSE = {
    *("rounded", "rank", "repeats", "slicing", "resizing", "expected", "most", "arrays", "exact", "computing"),
    *("block", "program_memory", "program"),
}
"""Members that are left out where they are False, None or empty: what is said without them has the hash that it had."""


def plan_json(plan: PlacedPlan) -> JSON:
    """The whole plan, its account and its catalog as JSON values."""
    found = encoded(plan)
    assert isinstance(found, dict)
    return found


def encoded(value: object) -> Any:
    """Any part of a plan as JSON values. Nodes name their class; sets become sorted lists.

    Operators and permits are as native code reads them."""
    if isinstance(value, Record):
        return value.json()
    if isinstance(value, Disclosure):
        return disclosure_json(value)
    if is_dataclass(value) and not isinstance(value, type):
        members = {each.name: getattr(value, each.name) for each in fields(value) if each.name not in LEFT_OUT}
        said = {
            name: encoded(each)
            for name, each in members.items()
            if name not in UNLESS_FALSE or not (each is None or each is False or each == () or each == frozenset())
        }
        return {"node": type(value).__name__} | said
    if isinstance(value, dict):
        return {str(key): encoded(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted((encoded(each) for each in value), key=canonical)
    if isinstance(value, tuple | list):
        return [encoded(each) for each in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a plan holds no {type(value).__name__}")


def disclosure_json(disclosure: Disclosure) -> JSON:
    """A disclosure as data, with what follows from it: its kind and its permit, if it has one."""
    derivation, permit = disclosure.derivation, disclosure.permit
    return {
        "recipients": list(disclosure.recipients),
        "kind": disclosure.kind,
        "site": disclosure.site.name,
        "step": disclosure.site.step,
        "shown": encoded(disclosure.shown),
        "derivation": {
            "values": _uses(derivation.values),
            "outputs": _uses(derivation.outputs),
            "presence": [each.json() for each in derivation.presence],
            "rows": derivation.rows,
            "floor": derivation.floor,
        },
        "rules": [rule.value for rule in disclosure.rules],
        "permit": None if permit is None else permit.json(),
    }


def _uses(columns: tuple[tuple[str, tuple[Use, ...]], ...]) -> dict[str, list[object]]:
    return {name: [each.json() for each in uses] for name, uses in columns}


def canonical(value: object) -> str:
    """JSON text with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def plan_hash(plan: PlacedPlan) -> bytes:
    """SHA-256 over the query's text, the placed plan, its disclosures, its catalog (without paths) and tacit's version.

    Parties whose hashes differ would not run the same thing; they stop before any share leaves.
    """
    return hashlib.sha256(canonical({"tacit": tacit_version(), "plan": plan_json(plan)}).encode()).digest()


def declaration_hash(declared: Table | OfferedArray) -> str:
    """SHA-256 over what an offer declares of a table or an array, in hexadecimal."""
    return hashlib.sha256(canonical(encoded(declared)).encode()).hexdigest()


def offer_hash(offered: Iterable[Table | OfferedArray]) -> str:
    """SHA-256 over all tables and arrays of one owner with their terms, in hexadecimal. Their order does not matter."""
    listed = sorted((encoded(each) for each in offered), key=canonical)
    return hashlib.sha256(canonical({"offer": listed}).encode()).hexdigest()


@cache
def tacit_version() -> str:
    """The installed version, or "source" where tacit runs without being installed."""
    try:
        return version("tacit")
    except PackageNotFoundError:
        return "source"
