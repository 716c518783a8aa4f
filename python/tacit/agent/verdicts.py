"""What owners' rules say of queries, before anybody runs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tacit.agent.faults import Fault
from tacit.plan.account.serialise import offer_hash
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog
from tacit.plan.policy.allowed import Disclosed
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import disclosures, statements


@dataclass(frozen=True)
class Verdict:
    """Of one query. disclosed: what its owners allow of it. error: why it cannot be asked, None where it can.

    offer_hash: of all tables and arrays, with their terms, of the owner that refuses it.
    """

    query: str
    disclosed: tuple[Disclosed, ...] = ()
    error: QueryError | None = None
    offer_hash: str | None = None

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
        return {**found, "disclosed": [each.json() for each in self.disclosed]}


def verdicts(text: str, catalog: Catalog, recipients: tuple[str, ...]) -> Iterator[Verdict]:
    """The verdict of each query of a text. They are divided by semicolons."""
    today = datetime.now(UTC).date()
    for query in (each.strip() for each in statements(text)):
        try:
            yield Verdict(query, disclosures(query, catalog, recipients, today))
        except PolicyRefusal as error:
            owner = error.problem.owner
            offered = offer_hash(each for each in catalog.offered if each.owner == owner)
            yield Verdict(query, error=error, offer_hash=offered)
        except QueryError as error:
            yield Verdict(query, error=error)
