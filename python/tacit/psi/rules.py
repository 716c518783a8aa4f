"""Owners' rules for a match of their tables: allowed as it is, answered by a guarded query instead, or refused.

Every party judges for all owners, by the offers and the options alone, before it shares anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from tacit.agent.diagnosis import as_run_error
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.plan.account.terms_text import is_open
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.policy.matches import MatchAllowance, MatchedTable, MatchQuestion, Shows, check_match
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.psi.disclosures import together
from tacit.psi.guarded import Unaskable, question_texts
from tacit.psi.offered import offers
from tacit.psi.parameters import LEAST, Parameters

if TYPE_CHECKING:
    from tacit.agent.verdicts import Verdict

COSTS = ("--bins", "--protocol", "[link] of the federation file", "prices.toml")
"""Options that decide how a match runs, and not what it shows."""


@dataclass(frozen=True)
class Judged:
    """What owners allow of a match. hash: of the match, as offers list it. bound: tables of which somebody but their
    owners gets something. question: in SQL, the one that is asked in place of a match without guards. verdict: of that
    question.
    """

    allowed: tuple[MatchAllowance, ...] = ()
    hash: str = ""
    bound: tuple[Table, ...] = ()
    question: str | None = None
    verdict: Verdict | None = None


def runnable(parameters: Parameters, members: Members) -> Judged:
    """What allows a match that is about to run. Raises RunError where nothing does."""
    with as_run_error():
        found = judged(parameters, members)
    if found.question is not None:
        problem = "a match tells its numbers without a guard, which owners' rules do not allow here"
        raise RunError(Fault.POLICY, f'{problem}; ask in SQL, to {together(parameters.to)}: "{found.question}".')
    return found


def judged(parameters: Parameters, members: Members) -> Judged:
    """What all owners say of a match. Raises PolicyRefusal if one of them does not allow it, with what would pass."""
    known = {each.name: each for each in offers(members)} if parameters.tables else {}
    tables = tuple(known.values())
    parties, today = tuple(members.parties), datetime.now(UTC).date()
    named = tuple(_matched(known[each.name], each.columns, parameters, parties) for each in parameters.tables)
    judge = Judge(Catalog(parties, "", (), tables), named, today)
    try:
        return judge.verdict(parameters)
    except PolicyRefusal as refusal:
        _advise(refusal, parameters, judge)
        raise


@dataclass(frozen=True)
class Judge:
    """Judges a match of tables, and what could be asked instead."""

    catalog: Catalog
    named: tuple[MatchedTable, ...]
    today: date

    def verdict(self, parameters: Parameters) -> Judged:
        """Raises PolicyRefusal."""
        said = {name: value for name, value in parameters.options().items() if name not in COSTS}
        leaving = parameters.reveal in ("sum", "shares")
        named = tuple(each if leaving else replace(each, shown=()) for each in self.named)
        question = MatchQuestion(parameters.parties, parameters.to, named, _shows(parameters), said)
        try:
            allowed = check_match(question, self.today)
            bound = tuple(each.table for each in named if {*question.receivers} - {each.table.owner})
            return Judged(allowed, question.hash, bound)
        except PolicyRefusal as refusal:
            if parameters.reveal not in ("cardinality", "sum"):
                raise
            return self._guarded(parameters, refusal)

    def _guarded(self, parameters: Parameters, refusal: PolicyRefusal) -> Judged:
        """A number that is shown above the floors alone, if it can be asked for so."""
        from tacit.agent.verdicts import verdicts  # which loads what queries need

        try:
            questions = question_texts(parameters, self.named)
        except Unaskable as unaskable:
            refusal.change = str(unaskable)
            raise refusal from None
        found = [next(iter(verdicts(each, self.catalog, parameters.to))) for each in questions]
        allowed = [each for each in zip(questions, found, strict=True) if each[1].error is None]
        question, verdict = allowed[0] if allowed else (questions[0], found[0])
        if isinstance(verdict.error, PolicyRefusal):
            raise PolicyRefusal(tuple(replace(each, position=None) for each in verdict.error.problems))
        if verdict.error is not None:
            refusal.change = f"a question in its place is wrong: {verdict.error}".rstrip(".")
            raise refusal
        return Judged(question=question, verdict=verdict)


def _matched(table: Table, keys: tuple[str, ...], parameters: Parameters, parties: tuple[str, ...]) -> MatchedTable:
    return MatchedTable(table, keys, _shown(table, parameters), is_open(table, parties))


def _shown(table: Table, parameters: Parameters) -> tuple[str, ...]:
    """The columns besides keys that leave a table: those that are summed or shared."""
    if parameters.summed is not None and parameters.summed[0] == table.owner:
        return (parameters.summed[1],)
    return parameters.shared_by(table.owner)


def _shows(parameters: Parameters) -> Shows:
    if parameters.plugin is not None:
        return "foreign"
    match parameters.reveal:
        case "ids":
            return "ids"
        case "shares":
            return "shares"
        case "intersection" | "cardinality" | "sum":
            return "rows"
    raise AssertionError(f"rules know no --reveal {parameters.reveal}")


def _advise(refusal: PolicyRefusal, parameters: Parameters, judge: Judge) -> None:
    """Write into a refusal the first change of options that passes; where none does, it says whom to ask."""
    for sentence, changed in _changes(parameters):
        try:
            judge.verdict(changed)
        except (PolicyRefusal, RunError):
            continue
        refusal.change, refusal.changed_recipients = sentence, changed.to
        return


def _changes(parameters: Parameters) -> Iterator[tuple[str, Parameters]]:
    """Other recipients, a number in place of rows, and both; the smallest change first."""
    fewer = [(party,) for party in parameters.parties if (party,) != parameters.to]
    for to in fewer:
        yield from _changed(f"--to {to[0]}", parameters, to=to)
    if parameters.several:
        return
    number = {
        "reveal": "cardinality", "summed": None, "join": "inner", "protocol": "auto", "bins": None, "plugin": None,
        "pairs": "all", "dropped": (), "least": LEAST, "shared": (),
    }  # fmt: skip
    options = {"--join": parameters.join != "inner", "--plugin": parameters.plugin is not None}
    without = [option for option, given in options.items() if given]
    end = f", without {together(without)}" if without else ""
    yield from _changed(f"--reveal cardinality{end}", parameters, **number)
    for to in fewer:
        yield from _changed(f"--reveal cardinality --to {to[0]}{end}", parameters, to=to, **number)


def _changed(sentence: str, parameters: Parameters, **changes: object) -> Iterator[tuple[str, Parameters]]:
    """The parameters after a change, unless options cannot say it."""
    try:
        yield sentence, replace(parameters, **changes)  # type: ignore[arg-type]  # mypy knows no names of fields
    except RunError:
        return
