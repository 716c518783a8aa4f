"""What owners' rules say of queries and programs, before anybody runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from tacit.agent.faults import Fault
from tacit.plan.account.serialise import offer_hash
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.allowances import Allowance
from tacit.plan.facts.catalog import Catalog
from tacit.plan.policy.allowed import Disclosed
from tacit.plan.policy.programs import program_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.plan.programs.identity import digest
from tacit.plan.programs.reading import program_of
from tacit.sql import compile_query, disclosures, statements


@dataclass(frozen=True)
class Verdict:
    """Of one query, or a program. disclosed: what its owners allow of it. error: why it cannot be asked, None where it
    can. allowances: what owners allow of a program.

    offer_hash: of all tables and arrays, with their terms, of the owner that refuses it.
    """

    query: str
    disclosed: tuple[Disclosed, ...] = ()
    error: QueryError | None = None
    offer_hash: str | None = None
    allowances: tuple[Allowance, ...] = ()

    @property
    def fault(self) -> Fault | None:
        """Whose fault it is that the query cannot be asked."""
        if self.error is None:
            return None
        return Fault.POLICY if isinstance(self.error, PolicyRefusal) else Fault.INPUT

    def json(self) -> dict[str, Any]:
        """For programs."""
        verdict = {None: "allowed", Fault.POLICY: "refused"}.get(self.fault, "wrong")
        found: dict[str, Any] = {"query": self.query, "verdict": verdict}
        if isinstance(self.error, PolicyRefusal):
            return {**found, "refusal": {**self.error.json(), "offer_hash": self.offer_hash}}
        if self.error is not None:
            return {**found, "error": str(self.error)}
        allowed = [asdict(each) for each in self.allowances]
        disclosed = [each.json() for each in self.disclosed]
        return {**found, "disclosed": disclosed, **({"allowed": allowed} if allowed else {})}


def verdicts(text: str, catalog: Catalog, recipients: tuple[str, ...]) -> Iterator[Verdict]:
    """The verdict of a program, or of each query of a text. Queries are divided by semicolons."""
    today = datetime.now(UTC).date()
    asked = text.strip()
    if (program := program_of(asked)) is not None:
        title = f"program {program_hash(digest(program))}"
        yield _verdict(title, catalog, partial(_of_program, title, asked, catalog, recipients, today))
        return
    for query in (each.strip() for each in statements(text)):
        yield _verdict(query, catalog, partial(_of_query, query, catalog, recipients, today))


def _of_query(query: str, catalog: Catalog, recipients: tuple[str, ...], today: date) -> Verdict:
    return Verdict(query, disclosures(query, catalog, recipients, today))


def _of_program(title: str, text: str, catalog: Catalog, recipients: tuple[str, ...], today: date) -> Verdict:
    plan = compile_query(text, catalog, recipients, today=today)
    return Verdict(title, allowances=plan.ruling.allowances)


def _verdict(title: str, catalog: Catalog, judged: Callable[[], Verdict]) -> Verdict:
    """A verdict, or why there is none that allows."""
    try:
        return judged()
    except PolicyRefusal as error:
        owner = error.problem.owner
        offered = offer_hash(each for each in catalog.offered if each.owner == owner)
        return Verdict(title, error=error, offer_hash=offered)
    except QueryError as error:
        return Verdict(title, error=error)
