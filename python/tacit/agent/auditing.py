"""An owner's own check of a question before anything leaves: against what it has answered, and how often.

The question counts from here on. What is known to have told nobody anything is taken back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from tacit import _native
from tacit.agent.answered import HISTORY, KEY_PURPOSE, recorded_history
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_members import Members
from tacit.agent.federation_private import PrivateFile
from tacit.agent.keys import derived_key
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.steps import participants
from tacit.audit.check import Question, Worded, checked_tables, judge, question, refused
from tacit.audit.history import HistoryError, HistoryFile
from tacit.audit.refusals import Refused
from tacit.plan import plan_hash
from tacit.plan.facts.catalog import Table
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.physical.record import JSON
from tacit.plan.programs.reading import is_program
from tacit.sql import bind


@contextmanager
def reserved(
    federation: Federation,
    me: str,
    plan: PlacedPlan,
    ledger: Ledger,
    shared: Callable[[], bool],
    clock: Callable[[], float] = time.time,
) -> Iterator[None]:
    """A run of a question that this party has checked and counted.

    After a failure it does not count if no share can have left: ``shared`` says whether one can. If that cannot be
    written, it counts. Raises RunError if this party refuses the question, after recording that.
    """
    asked = _asked(federation, me, plan, ledger)
    if asked is None:
        yield
        return
    history = history_file(federation, me, ledger)
    with _refusal_recorded(federation, me, plan, ledger):
        id = _judged(history, asked, clock())
    with _taken_back(history, id, shared):
        yield


@contextmanager
def match_counted(
    members: Members, me: str, tables: Sequence[Table], hash: str, ledger: Ledger, shared: Callable[[], bool]
) -> Iterator[None]:
    """A match of own tables with rules, which counts as one answer of each. hash: of the match, as offers list it.

    No rows are compared: what a match shows, it shows one by one. shared: as of questions. Raises RunError if a table
    has given all its answers.
    """
    terms = [(each, each.terms) for each in tables if each.terms is not None and each.terms.differences != "off"]
    if not terms:
        yield
        return
    history = _history(members.private(me), ledger)
    asked = Question(hash, "", False, tuple(Worded(table, each, ()) for table, each in terms))
    try:
        id = _judged(history, asked, time.time())
    except HistoryError as error:
        raise RunError(Fault.INPUT, str(error)) from error
    except Refused as refusal:
        raise RunError(Fault.POLICY, str(refusal)) from None
    with _taken_back(history, id, shared):
        yield


@contextmanager
def _taken_back(history: HistoryFile, id: str | None, shared: Callable[[], bool]) -> Iterator[None]:
    """After a failure of which nobody has learnt anything, the question does not count."""
    try:
        yield
    except BaseException:
        if id is not None and not shared():
            with suppress(HistoryError, LedgerError, OSError, RunError, _native.TacitError):
                history.take_back(id)
        raise


def _asked(federation: Federation, me: str, plan: PlacedPlan, ledger: Ledger) -> Question | None:
    """What a plan asks of this party's tables; None if nothing is opened, or none of them is checked. Programs ask
    nothing of tables."""
    if not plan.recipients or plan.catalog is None or is_program(plan.query):
        return None
    with _refusal_recorded(federation, me, plan, ledger):
        query = bind(plan.query, plan.catalog)
        if not checked_tables(query, plan.recipients, plan.catalog, me):
            return None
        return question(query, plan.recipients, plan.catalog, me, federation.privates[me].forms)


@contextmanager
def _refusal_recorded(federation: Federation, me: str, plan: PlacedPlan, ledger: Ledger) -> Iterator[None]:
    """Record this party's own refusal, and raise it as a RunError."""
    try:
        yield
    except HistoryError as error:
        raise RunError(Fault.INPUT, str(error)) from error
    except Refused as refusal:
        record_refusal(federation, me, plan, ledger, str(refusal))
        raise RunError(Fault.POLICY, str(refusal)) from None


def _judged(history: HistoryFile, asked: Question, now: float) -> str | None:
    """Read, judge and write while no other run of this party does. Raises Refused, after counting it."""
    with history.locked():
        known = history.read()
        try:
            after = judge(known, asked, now)
        except Refused as refusal:
            if refusal.looked:
                history.write(refused(known, refusal.table, now))
            raise
        if after is known:
            return None
        history.write(after)
        return after.answers[-1].id


def history_file(federation: Federation, me: str, ledger: Ledger) -> HistoryFile:
    """This party's history. There is no file before the first question that is checked."""
    return _history(federation.privates[me], ledger)


def _history(private: PrivateFile, ledger: Ledger) -> HistoryFile:
    """The same, by the party's private file."""

    def record(hash: str) -> None:
        ledger.append(HISTORY, {"party": private.party, HISTORY: hash})

    def key() -> bytes:
        return derived_key(private.read_key(), KEY_PURPOSE)

    return HistoryFile(private.history, key, private.party, lambda: recorded_history(ledger), record)


def record_refusal(federation: Federation, me: str, plan: PlacedPlan, ledger: Ledger, sentence: str) -> None:
    """Write in the ledger that some party has refused a question."""
    entry: JSON = {
        "party": me,
        "query": plan.query,
        "plan_hash": plan_hash(plan).hex(),
        "parties": {name: federation.fingerprint(name) for name in participants(plan, federation.catalog.parties)},
        "recipients": list(plan.recipients),
        "refused": sentence,
    }
    ledger.append("refused", entry)


@contextmanager
def refusals_recorded(federation: Federation, me: str, plan: PlacedPlan, ledger: Ledger) -> Iterator[None]:
    """Record a refusal of another party that is told within."""
    try:
        yield
    except RunError as error:
        if error.fault is Fault.POLICY:
            record_refusal(federation, me, plan, ledger, error.sentence)
        raise
