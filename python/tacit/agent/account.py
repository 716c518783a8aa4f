"""What a party's ledger says about a run: what it approved, and what really happened. Never a value of any data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.agent.cost import Metrics
from tacit.agent.faults import RunError
from tacit.agent.federation import Federation
from tacit.agent.steps import participants
from tacit.plan import plan_hash
from tacit.plan.account.sentences import rule, what
from tacit.plan.account.serialise import disclosure_json
from tacit.plan.facts.deliveries import day
from tacit.plan.physical.disclosure import Disclosure, OpenedRows
from tacit.plan.physical.placed import DropStep, KeepStep, PlacedPlan
from tacit.plan.policy.programs import program_hash
from tacit.plan.programs.identity import digest
from tacit.plan.programs.reading import program_of

JSON = dict[str, Any]


def approved_entry(federation: Federation, me: str, plan: PlacedPlan, by: str | None = None) -> JSON:
    """The entry before anything is shared: the query, who takes part, and all that anybody will learn.

    by: the hash of the entry that approved the plan for several runs, if it was one.
    """
    names = participants(plan, federation.catalog.parties)
    return {
        "party": me,
        "query": plan.query,
        **program_entry(plan.query),
        "plan_hash": plan_hash(plan).hex(),
        "engine": plan.engine,
        "nodes": list(plan.nodes),
        "parties": {name: federation.fingerprint(name) for name in names},
        "recipients": list(plan.recipients),
        "disclosures": [_disclosure(disclosure) for disclosure in plan.disclosures],
        **({} if by is None else {"by": by}),
        **_tables(plan),
    }


def program_entry(query: str) -> JSON:
    """The hash of a program, as offers list it; no member for a query."""
    program = program_of(query)
    return {} if program is None else {"program": program_hash(digest(program))}


def _tables(plan: PlacedPlan) -> JSON:
    """The kept tables that a plan reads, keeps and drops; without members for what it does not do."""
    read = plan.catalog.kept if plan.catalog else ()
    keeps = [
        {
            "table": step.operator.table,
            "columns": [each.name for each in step.fields],
            "made_of": list(step.about.tables),
        }
        for step in plan.steps
        if isinstance(step, KeepStep)
    ]
    found = {
        "reads": [
            {"table": each.name, "id": each.id, "plan_hash": each.plan_hash}
            | ({"delivered": day(each)} if each.declared else {})
            for each in read
        ],
        "keeps": keeps,
        "drops": [{"table": step.table} for step in plan.steps if isinstance(step, DropStep)],
    }
    return {name: tables for name, tables in found.items() if tables}


def completed_entry(
    approved: JSON, plan: PlacedPlan, opened: Mapping[str, int], metrics: Metrics, done: Mapping[str, JSON]
) -> JSON:
    """The entry after a run that gave its answer. opened: rows opened to this party, by step.

    done: what it has really kept or dropped: "kept" or "dropped" to the table, its id and, of a kept one, its rows.
    """
    happened = [
        {**_disclosure(disclosure), "rows": _actual_rows(disclosure, opened, metrics)}
        for disclosure in plan.disclosures
    ]
    return {**_reference(approved), "disclosures": happened, "cost": _cost(metrics), **done}


def failed_entry(approved: JSON, error: RunError, opened: Mapping[str, int], metrics: Metrics) -> JSON:
    """The entry after a run that ended early. Sites whose steps were reached may have disclosed what was approved."""
    reached = [item for item in approved["disclosures"] if item["site"].partition("/")[0] in metrics]
    happened = [{**item, "rows": opened.get(item["site"])} for item in reached]
    fault = {"fault": error.fault.value, "sentence": error.sentence}
    return {**_reference(approved), **fault, "disclosures": happened, "cost": _cost(metrics)}


def _reference(approved: JSON) -> JSON:
    """Which run an entry is about: ``run`` is the hash of the entry that approved it."""
    return {
        "party": approved["party"],
        "run": approved["hash"],
        "query": approved["query"],
        "plan_hash": approved["plan_hash"],
    }


def _disclosure(disclosure: Disclosure) -> JSON:
    """A disclosure as data, and in words."""
    return {**disclosure_json(disclosure), "what": what(disclosure), "rule": rule(disclosure)}


def _actual_rows(disclosure: Disclosure, opened: Mapping[str, int], metrics: Metrics) -> int | None:
    """How many rows the site disclosed, as far as this party knows: nodes know sizes, recipients the opened rows."""
    if isinstance(disclosure.shown, OpenedRows):
        return None
    if disclosure.kind == "size":
        rows = metrics.get(disclosure.site.name, {}).get("rows")
        return None if rows is None else int(rows)
    return opened.get(disclosure.site.name)


def _cost(metrics: Metrics) -> JSON:
    """This party's own cost in all."""
    return {
        "bytes_sent": sum(figures["bytes_sent"] for figures in metrics.values()),
        "bytes_received": sum(figures["bytes_received"] for figures in metrics.values()),
        "rounds": sum(figures["rounds"] for figures in metrics.values()),
        "rounds_ahead": sum(figures["rounds_ahead"] for figures in metrics.values()),
        "seconds": round(sum(figures["seconds"] for figures in metrics.values()), 3),
    }
