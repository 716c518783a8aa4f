"""What a party reads and its ledger says about a match. Never an identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tacit.agent.approval import today, usable
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger
from tacit.agent.proof import Proof
from tacit.agent.recording import Recording
from tacit.agent.signer import Signer
from tacit.plan.account.statement import NOTHING_ELSE
from tacit.plan.policy.matches import MatchAllowance
from tacit.psi.disclosures import (
    CommonKeys,
    Disclosure,
    MatchingKeys,
    MatchingPairs,
    PreparedKeys,
    Shown,
    UniversalIds,
    sentence,
    together,
)
from tacit.psi.parameters import Parameters
from tacit.psi.report import Report
from tacit.psi.run import Run

JSON = dict[str, Any]

Result = TypeVar("Result")

Consent = Callable[[Sequence[str]], None]
"""Takes the account in lines, and raises if it is not agreed with."""


def account(parameters: Parameters) -> list[str]:
    """What each party learns besides its own data, a sentence each."""
    return [sentence(each, parameters.parties) for each in parameters.disclosures()]


def allowances(allowed: Sequence[MatchAllowance]) -> list[str]:
    """Which rules allow it, a sentence each."""
    return [f"{each.owner} allows: {each.sentence}" for each in allowed]


def agreed(told: Sequence[str]) -> None:
    """Agree, as whoever calls from Python has."""


def recorded(
    run: Run,
    work: Callable[[], tuple[Report, Result]],
    notes: Sequence[str] = (),
    consent: Consent = agreed,
    *,
    approved: bool = False,
) -> tuple[Report, Result, JSON]:
    """Do a run's work, with what all will learn told before it, and the ledger's entries around it.

    notes: what this party should know of its input. consent: raises if a person does not agree with the account.
    approved: run only what the party has approved for several runs. The work approves the run when all have met; what
    fails before that is no run. Bins that were done until a failure stay disclosed, and are recorded. Returns the last
    entry too.
    """
    learnt = [*account(run.parameters), *allowances(run.judged.allowed)]
    told = ["What each party will learn", *(f"- {line}" for line in learnt), NOTHING_ELSE, *notes]
    for line in told:
        run.tell(line)
    consent(told)
    recording = run.recording = Recording(run.members, run.me, run.parameters.parties, run.others)
    run.approval = lambda entries: {**_approved(run), **(_by(run, recording, entries) if approved else {})}
    recording.ledger.check()
    if approved:
        run.approval(recording.ledger.entries())
    with _as_answer(run, recording):
        try:
            report, result = work()
        except BaseException as error:
            if recording.approved:
                _record_failure(run, recording, error)
            raise
    alone = {} if recording.signed() else {"alone": True}  # the matches were here already
    said = {**_completed(recording.approved, run.parameters, report), **alone, **recording.signed()}
    return report, result, recording.ledger.append("completed", said)


def _record_failure(run: Run, recording: Recording, error: BaseException) -> None:
    """Record how a run that was approved has failed, with what all have signed of it."""
    recording.close_failed()
    recording.ledger.append("failed", {**_failed(recording.approved, error, run.may_ask), **recording.signed()})


@contextmanager
def _as_answer(run: Run, recording: Recording) -> Iterator[None]:
    """The run counts as an answer of this party's own tables of which others get something. Raises RunError."""
    own = [each for each in run.judged.bound if each.owner == run.me]
    if not own:
        yield
        return
    from tacit.agent.auditing import match_counted  # which loads what queries need

    with match_counted(run.members, run.me, own, run.judged.hash, recording.ledger, lambda: run.shared):
        yield


def certify(run: Run, entry: JSON, file: Path) -> None:
    """Write the certificate of a match's rows beside their file. entry: the last one of the run. Raises RunError."""
    assert run.recording is not None, "a run that is over is recorded"
    try:
        Proof(entry, run.recording.signer).certify(file)
    except OSError as error:
        problem = f"the rows are in {file}, but their certificate cannot be written ({error.strerror})"
        raise RunError(Fault.INPUT, f"{problem}; free space, and get them anew.") from error


def check_approved(members: Members, me: str, parameters: Parameters) -> None:
    """Refuse a match that the party has not approved ahead, before anything is read. Raises RunError."""
    signer = Signer.of(members, me)
    _usable(Ledger(members.private(me).ledger, signer).entries(), signer, parameters)


def _by(run: Run, recording: Recording, entries: list[JSON]) -> JSON:
    """By which approval for several runs this one is allowed. Raises RunError."""
    return {"by": _usable(entries, recording.signer, run.parameters)}


def _usable(entries: list[JSON], signer: Signer, parameters: Parameters) -> str:
    return usable(entries, signer, parameters.plan_hash.hex(), today())


def _approved(run: Run) -> JSON:
    """The entry before anything leaves: the parameters, and all that anybody will learn."""
    parameters = run.parameters
    described = f"psi {parameters.what()} of {together(parameters.parties)}, {len(parameters.normalisers)} key columns"
    said = parameters.options()
    tables = f", of {said['--tables']}" if parameters.tables else ""
    shared = f", sharing {said['--columns']}" if parameters.shared else ""
    rules = (
        {"allowed": [{**each.json(), "sentence": each.sentence} for each in run.judged.allowed]}
        if run.judged.allowed
        else {}
    )
    kinds = parameters.kinds or ("",) * len(parameters.normalisers)
    read = [f"{how} as {kind}" if kind else how for how, kind in zip(parameters.normalisers, kinds, strict=True)]
    return {
        "party": run.me,
        "query": f"{described} ({', '.join(read)}){tables}{shared}, to {together(parameters.to)}",
        "plan_hash": parameters.plan_hash.hex(),
        "engine": f"psi/{parameters.protocol_name()}",
        "nodes": list(parameters.parties),
        "parties": {name: run.members.fingerprint(name) for name in parameters.parties},
        "recipients": list(parameters.to),
        "disclosures": disclosed(parameters),
        **rules,
    }


def disclosed(parameters: Parameters) -> list[JSON]:
    """All that anybody will learn, as data and in words."""
    return [_disclosure(each, parameters) for each in parameters.disclosures()]


def _completed(approved: JSON, parameters: Parameters, report: Report) -> JSON:
    """The entry after a match: how many keys were found to be common, and what it cost."""
    happened = [{**_disclosure(each, parameters), **_counted(each.shown, report)} for each in parameters.disclosures()]
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


def _failed(approved: JSON, error: BaseException, may_ask: tuple[str, ...]) -> JSON:
    """The entry after a failure. may_ask: what the run's report would say."""
    from tacit.agent.diagnosis import diagnose

    found = diagnose(error)
    fault = {"fault": found.fault.value, "sentence": found.sentence}
    return {**_reference(approved), **fault, "disclosures": approved["disclosures"], "may_ask": list(may_ask)}


def _disclosure(disclosure: Disclosure, parameters: Parameters) -> JSON:
    """A disclosure as data, and in words."""
    return {
        **disclosure.json(),
        "what": sentence(disclosure, parameters.parties),
        "rule": " and ".join(disclosure.rules),
    }


def _counted(shown: Shown, report: Report) -> JSON:
    """The number that a party's report has of what is shown: keys that all have, or pairs of rows that match."""
    match shown:
        case MatchingPairs() | UniversalIds("pairs"):
            return {"rows": report.pairs}
        case MatchingKeys() | PreparedKeys() | CommonKeys() | UniversalIds() if report.keys is not None:
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
