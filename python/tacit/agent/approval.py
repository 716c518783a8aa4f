"""Approvals of a plan for later runs: signed, counted and expiring.

One is an entry ``approval`` of the party's ledger. Each run that it allows names it in its own entry ``approved``; so
the ledger says how often it was used. A run that fails counts, too.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

from tacit.agent.account import program_entry
from tacit.agent.audit import certificates, unsound
from tacit.agent.entry import JSON, canonical
from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.signer import Signer, signed_by

KIND = "approval"
SHOWN_DIGITS = 16
"""Of a plan's hash, as commands show it."""


def today() -> date:
    """The day on which approvals are looked at."""
    return datetime.now(UTC).date()


def approve(ledger: Ledger, signer: Signer, plan_hash: str, query: str | None, times: int, until: date) -> JSON:
    """Approve a plan for some runs until a day, that day included. Returns the entry."""
    said = {"party": signer.party, "plan_hash": plan_hash, "times": times, "until": until.isoformat()}
    described = {} if query is None else {"query": query, **program_entry(query)}
    return ledger.append(KIND, {**said, **described, "approval": signer.sign("approval", canonical(said))})


def usable(entries: list[JSON], signer: Signer, plan_hash: str, day: date) -> str:
    """The hash of an approval that allows one more run of a plan on a day: that which ends first.

    entries: the whole ledger, which has to be whole, because what was used is counted in it. Raises RunError.
    """
    _check(entries, signer)
    found = [entry for entry in entries if entry["kind"] == KIND and entry.get("plan_hash") == plan_hash]
    found = [entry for entry in found if _is_signed(entry, certificates(entries, signer.certificate))]
    valid = [entry for entry in found if date.fromisoformat(entry["until"]) >= max(day, _seen(entries, entry))]
    left = [entry for entry in valid if uses(entries, entry["hash"]) < entry["times"]]
    if left:
        return str(min(left, key=lambda entry: (entry["until"], entry["entry"]))["hash"])
    state = "has not approved this plan"
    if found:
        state = (
            f"has used up its approval of this plan ({valid[-1]['times']} runs)"
            if valid
            else (f"has approved this plan until {found[-1]['until']}, which is over")
        )
    advice = f"`tacit approve --name {signer.party}` with the query, or with {plan_hash}, approves it"
    raise RunError(Fault.POLICY, f"{signer.party} {state} ({plan_hash[:SHOWN_DIGITS]}); {advice}.")


def uses(entries: list[JSON], approval: str) -> int:
    """How many runs an approval has allowed."""
    return sum(entry["kind"] == "approved" and entry.get("by") == approval for entry in entries)


def _seen(entries: list[JSON], approval: JSON) -> date:
    """The latest day that the ledger has seen since an approval. A clock that is set back does not bring it back."""
    return max(date.fromisoformat(str(entry["time"])[:10]) for entry in entries[approval["entry"] - 1 :])


def _is_signed(entry: JSON, certificates: list[str]) -> bool:
    content = canonical({name: entry.get(name) for name in ("party", "plan_hash", "times", "until")})
    return any(signed_by(certificate, "approval", content, entry.get("approval")) for certificate in certificates)


def _check(entries: list[JSON], signer: Signer) -> None:
    """Refuse a ledger of which an entry was removed or changed. Raises LedgerError.

    What others have signed of it does not matter here: by that, any of them could end all approvals.
    """
    for problem in unsound(entries, signer.certificate, f"the ledger of {signer.party}"):
        raise LedgerError(problem)
