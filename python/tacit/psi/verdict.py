"""What owners' rules say of a match, before any party starts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tacit.agent.diagnosis import as_run_error
from tacit.agent.federation_members import Members
from tacit.plan.account.serialise import offer_hash
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.psi.account import allowances
from tacit.psi.offered import offers, owner_of
from tacit.psi.parameters import Parameters
from tacit.psi.request import Request
from tacit.psi.rules import Judged, judged


@dataclass(frozen=True)
class MatchVerdict:
    """Of one match. refusal: why it cannot be started, None where it can. judged: by what it is allowed.

    offer_hash: of all tables, with their terms, of the owner that refuses it.
    """

    parameters: Parameters
    judged: Judged | None = None
    refusal: PolicyRefusal | None = None
    offer_hash: str | None = None

    def json(self) -> dict[str, Any]:
        """For programs."""
        found: dict[str, Any] = {"match": self.parameters.what(), "agreed": self.parameters.options()}
        if self.refusal is not None:
            refusal = {**self.refusal.json(), "offer_hash": self.offer_hash}
            return {**found, "verdict": "refused", "refusal": refusal}
        assert self.judged is not None, "what is not refused is allowed by something"
        allowed, query = [each.json() for each in self.judged.allowed], self.judged.verdict
        return {**found, "verdict": "allowed", "allowed": allowed, "query": None if query is None else query.json()}

    def lines(self) -> Iterator[str]:
        """For people."""
        said = self.parameters.options()
        yield f"{self.parameters.what()} of {said['--tables']}, to {said['--to']}"
        if self.refusal is not None:
            yield f"  {self.refusal}"
            return
        assert self.judged is not None, "what is not refused is allowed by something"
        if self.judged.verdict is None:
            yield "  allowed"
            yield from (f"  {each}" for each in allowances(self.judged.allowed))
            return
        yield f"  allowed above owners' floors, as the query {self.judged.question}"
        for each in self.judged.verdict.disclosed:
            yield f"  for {each.output or 'which rows there are'}, {each.owner} allows: {each.sentence}"


def guarded_question(request: Request, members: Members) -> str | None:
    """The query that is asked in place of a match; None where owners allow the match itself, or name no table.

    Raises RunError where they refuse both.
    """
    parameters = request.parameters(members)
    if not parameters.tables or parameters.reveal not in ("cardinality", "sum"):
        return None
    with as_run_error():
        return judged(parameters, members).question


def match_verdict(request: Request, members: Members) -> MatchVerdict:
    """The verdict of all owners. Raises RunError."""
    request = replace(request, me=request.me or owner_of(members, request.tables[0])).resolved(members)
    parameters = request.parameters(members)
    try:
        return MatchVerdict(parameters, judged(parameters, members))
    except PolicyRefusal as refusal:
        offered = offer_hash(each for each in offers(members) if each.owner == refusal.problem.owner)
        return MatchVerdict(parameters, refusal=refusal, offer_hash=offered)
