"""What a party's ledger says about a match. Never an identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tacit.agent.ledger import Ledger
from tacit.psi.agreement import Agreement, together
from tacit.psi.disclosures import Counted, Disclosure
from tacit.psi.match import Report
from tacit.psi.sentences import sentence

JSON = dict[str, Any]


def approved_entry(me: str, parameters: Agreement) -> JSON:
    """The entry before anything leaves: the parameters, and all that anybody will learn."""
    described = f"psi {parameters.what()} of {together(parameters.parties)}, {len(parameters.normalisers)} key columns"
    kinds = parameters.kinds or ("",) * len(parameters.normalisers)
    read = [f"{how} as {kind}" if kind else how for how, kind in zip(parameters.normalisers, kinds, strict=True)]
    return {
        "party": me,
        "query": f"{described} ({', '.join(read)}), to {together(parameters.to)}",
        "plan_hash": parameters.plan_hash.hex(),
        "engine": f"psi/{parameters.protocol_name()}",
        "nodes": list(parameters.parties),
        "recipients": list(parameters.to),
        "disclosures": [_disclosure(each, parameters) for each in parameters.disclosures()],
    }


def completed_entry(approved: JSON, parameters: Agreement, report: Report) -> JSON:
    """The entry after a match: how many keys were found to be common, and what it cost."""
    happened = [
        {**_disclosure(each, parameters), **_counted(each.shown.counted, report)} for each in parameters.disclosures()
    ]
    cost = {
        "bytes_sent": report.bytes_sent,
        "bytes_received": report.bytes_received,
        "rounds": report.rounds,
        "seconds": round(report.seconds, 3),
    }
    bins = {"resumed_bins": report.resumed, "repeated_bins": report.again}
    ran = {} if report.protocol is None else {"engine": f"psi/{report.protocol}"}
    asked = {"may_ask": list(report.may_ask)}
    return {**_reference(approved), **ran, "disclosures": happened, **asked, "cost": cost, **bins}


@contextmanager
def recorded(ledger: Ledger, approved: JSON, may_ask: Callable[[], tuple[str, ...]] = tuple) -> Iterator[None]:
    """Record a failure: bins that were done until then stay disclosed. may_ask: what the run's report would say."""
    try:
        yield
    except BaseException as error:
        from tacit.agent.diagnosis import diagnose

        found = diagnose(error)
        fault = {"fault": found.fault.value, "sentence": found.sentence}
        told = {"disclosures": approved["disclosures"], "may_ask": list(may_ask())}
        ledger.append("failed", {**_reference(approved), **fault, **told})
        raise


def _disclosure(disclosure: Disclosure, parameters: Agreement) -> JSON:
    """A disclosure as data, and in words."""
    return {
        **disclosure.json(),
        "what": sentence(disclosure, parameters.parties),
        "rule": " and ".join(disclosure.rules),
    }


def _counted(counted: Counted | None, report: Report) -> JSON:
    """The number that a party's report has of what it counts."""
    match counted:
        case "pairs":
            return {"rows": report.pairs}
        case "keys" if report.keys is not None:
            return {"rows": report.keys}
        case _:
            return {}


def _reference(approved: JSON) -> JSON:
    return {
        "party": approved["party"],
        "run": approved["hash"],
        "query": approved["query"],
        "plan_hash": approved["plan_hash"],
    }
