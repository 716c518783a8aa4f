"""What the entries and signatures of a ledger prove, and what another party's ledger shows beside it.

The chain finds what was changed, moved, removed or inserted before the last entry. The party's own signatures find what
somebody without its key has written. The other parties' signatures of each run hold the hash of the party's entry that
approved it; so even the party itself cannot rewrite what lies before a run. Entries that were cut off at the end are
found by a hash that was noted elsewhere, or by the ledger of another party of a later run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tacit import _native
from tacit.agent.entry import JSON, is_redacted, is_stripped, is_unsigned, signed
from tacit.agent.ledger import broken
from tacit.agent.record import COMPLETED, OUTCOMES, RunRecord, digest

SHOWN_DIGITS = 16
"""Of a run's name and of hashes."""


@dataclass
class Audit:
    """What was found. problems: what no crash and no mistake of a network explains. notes: what a reader should know.

    signers: how many entries each other party has signed the end of.
    """

    entries: int
    last: str | None
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    signers: dict[str, int] = field(default_factory=dict)


def audited(
    entries: list[JSON], party: str, certificate: str, where: str, known: Mapping[str, str] | None = None
) -> Audit:
    """Look at a whole ledger. certificate: that of the party now. where: what the ledger is called.

    known: the certificates of all parties now, to note where a run had others.
    """
    found = Audit(len(entries), str(entries[-1].get("hash")) if entries else None)
    found.problems += unsound(entries, certificate, where)
    if found.problems:  # what entries say is worth something only if they are the party's
        return found
    begun: dict[str, JSON] = {}
    for line, entry in enumerate(entries, start=1):
        if entry.get("kind") == "approved":
            begun[entry["hash"]] = entry
        if entry.get("kind") not in OUTCOMES or is_unsigned(entry):  # what is adopted is believed
            continue
        at = f"{where}, line {line}"
        approved = begun.get(str(entry.get("run")))
        found.problems += [f"{at}: {problem}." for problem in _run_problems(approved, entry, party)]
        _note_run(found, entry, at, party, known or {})
    found.problems += [f"{where}, line {line}: {problem}." for line, problem in _twice(entries)]
    found.notes += [f"{where}, line {line}: {note}." for line, note in _unfinished(entries)]
    return found


def printable(text: str) -> str:
    """A text as it may be printed: names in it may be another party's invention."""
    return text if text.isprintable() else ascii(text)


def unsound(entries: list[JSON], certificate: str, where: str) -> Iterator[str]:
    """What is wrong with a ledger by itself, whatever other parties have signed."""
    yield from broken(entries, where)
    yield from _unsigned(entries, certificate, where)
    for line, entry in enumerate(entries, start=1):
        if is_redacted(entry):
            yield f"{where}, line {line}: what the entry says was taken out."
        if is_stripped(entry):
            yield f"{where}, line {line}: its signature was taken out."


def certificates(entries: Sequence[JSON], certificate: str) -> list[str]:
    """The certificates under which a party wrote its entries, the present one first."""
    replaced = [entry["replaces"] for entry in reversed(entries) if "replaces" in entry and entry.get("kind") == "key"]
    return [certificate, *replaced]


def compared(
    mine: list[JSON], me: str, certificate: str, theirs: list[JSON], other: str, their_certificate: str, export: str
) -> Audit:
    """Compare this party's ledger with another party's, which it has exported. Both are looked at by themselves first.

    certificate, their_certificate: those of the two parties, as this one holds them.
    """
    found = Audit(len(theirs), str(theirs[-1].get("hash")) if theirs else None)
    found.problems += [*broken(theirs, export), *_unsigned(theirs, their_certificate, export)]
    stripped = [line for line, entry in enumerate(theirs, start=1) if is_stripped(entry)]
    found.problems += [f"{export}, line {line}: its signature was taken out." for line in stripped]
    if found.problems:
        return found
    found.problems += [f"{export}, line {line}: {problem}." for line, problem in _twice(theirs)]
    here, there = _runs(mine), _runs(theirs)
    heads = {str(entry["hash"]): entry for entry in theirs}
    for run, record in here.items():
        if other in record.previous:
            found.problems += [f"run {run[:SHOWN_DIGITS]}: {each}." for each in _against(record, there, heads, other)]
    own = {str(entry["hash"]) for entry in mine}
    for run, record in there.items():
        if me in record.certificates and run not in here:
            problem, is_problem = _unknown(record, me, certificates(mine, certificate), own)
            (found.problems if is_problem else found.notes).append(f"run {run[:SHOWN_DIGITS]}: {problem}.")
    found.problems, found.notes = [*map(printable, found.problems)], [*map(printable, found.notes)]
    return found


def _unsigned(entries: list[JSON], certificate: str, where: str) -> Iterator[str]:
    """Entries that are not signed: each by the key that its party had then, as later entries tell."""
    found, adopted = [], False
    for line in range(len(entries), 0, -1):
        entry = entries[line - 1]
        if adopted and is_unsigned(entry):
            continue
        adopted = adopted or entry.get("kind") == "adopted"
        if not signed(entry, certificate):
            found.append(f"{where}, line {line}: the entry is not signed by its party's key.")
        elif entry.get("kind") == "key" and _is_certificate(entry.get("replaces")):
            certificate = entry["replaces"]
    yield from reversed(found)


def _ends(entries: list[JSON]) -> Iterator[tuple[int, JSON]]:
    """The entries that end a run, with their lines."""
    return ((line, entry) for line, entry in enumerate(entries, start=1) if entry.get("kind") in OUTCOMES)


def _runs(entries: list[JSON]) -> dict[str, RunRecord]:
    """The signed records of a ledger by the names of their runs."""
    found = [_record(entry) for _, entry in _ends(entries)]
    return {record.run: record for record in found if record is not None}


def _record(entry: JSON) -> RunRecord | None:
    """The signed record of a run's end; None without one, or for what is none."""
    try:
        return RunRecord.read(entry)
    except ValueError:
        return None


def _run_problems(approved: JSON | None, entry: JSON, party: str) -> Iterator[str]:
    """What is wrong with an end of a run. approved: the entry before it that approved the run."""
    if approved is None:
        yield "it ends a run that no entry before it has approved"
        return
    if entry.get("plan_hash") != approved.get("plan_hash"):
        yield "it is of another plan than the one that was approved"
    parties = approved.get("parties", {})
    if "attendance" not in entry:
        alone = "drops" in approved or (str(approved.get("engine")).startswith("psi/") and entry.get("alone"))
        if entry["kind"] == COMPLETED and len(parties) > 1 and not alone:
            yield "the signatures of the other parties were removed"
        return
    record = _record(entry)
    if record is None:
        yield "the signatures of the parties are not as they should be"
        return
    yield from record.problems(party)
    own = record.said.get(party)
    if entry["kind"] == COMPLETED and (own is None or own.outcome != COMPLETED):
        yield f"{party} has not signed that it completed" if own is None else f"{party} has signed that it failed"
    if record.previous.get(party) != approved["hash"]:
        yield "the other parties were shown another ledger than this one: an entry was rewritten, or one before it"
    yield from _unfit(record, approved, party)


def _unfit(record: RunRecord, approved: JSON, party: str) -> Iterator[str]:
    """What of a signed run is not as the party's entry has approved it."""
    parties = approved.get("parties", {})
    for name in sorted(_linked(approved, party) - record.previous.keys()):
        yield f"the signature of {name} was removed: the run has begun with it"
    if record.disclosures != digest(approved.get("disclosures")):
        yield "what the parties have signed to be disclosed is not what was approved"
    for name, certificate in record.certificates.items():
        if not _is_certificate(certificate) or parties.get(name) != _native.fingerprint(certificate):
            yield f"the certificate of {name} is not the one that was approved"


def _linked(approved: JSON, party: str) -> set[str]:
    """The parties that one has links with in a run, so that it begins with all their signatures."""
    parties, nodes = set(approved.get("parties", {})), set(approved.get("nodes", []))
    return parties if party in nodes else parties & {*nodes, party}


def _note_run(found: Audit, entry: JSON, at: str, party: str, known: Mapping[str, str]) -> None:
    """What to know of a run whose signatures stand in an entry."""
    record = _record(entry)
    if record is None:
        return
    found.notes += [f"{at}: {note}." for note in record.notes(party)]
    for name, said in record.said.items():
        found.signers[name] = found.signers.get(name, 0) + 1
        if said.outcome != entry["kind"]:
            found.notes.append(f"{at}: the run {entry['kind']} here, and {name} signed that it {said.outcome}.")
    for name, certificate in record.certificates.items():
        if name in known and known[name].strip() != certificate.strip():
            found.notes.append(f"{at}: {name} had another certificate than it has now.")
    for name in record.missing:
        found.notes.append(f"{at}: {name} has not signed how the run ended.")


def _twice(entries: list[JSON]) -> Iterator[tuple[int, str]]:
    """Runs that stand in a ledger more than once."""
    seen: dict[str, int] = {}
    for line, entry in _ends(entries):
        attendance = entry.get("attendance")
        for name in (f"of {entry.get('run')}", *([f"run {attendance['run']}"] if isinstance(attendance, dict) else [])):
            if name in seen:
                yield line, f"the run ended in line {seen[name]} already"
                break
            seen[name] = line


def _unfinished(entries: list[JSON]) -> Iterator[tuple[int, str]]:
    """Runs without an end, and what a torn write has left."""
    ended = {entry.get("run") for _, entry in _ends(entries)}
    for line, entry in enumerate(entries, start=1):
        if entry.get("kind") == "approved" and entry["hash"] not in ended:
            yield line, "the run has no end here: it runs now, or this party was killed in it"
        elif entry.get("kind") == "repaired":
            yield line, f"a write was cut short before this entry; {entry.get('bytes')} bytes were moved aside"


def _against(record: RunRecord, there: dict[str, RunRecord], heads: Mapping[str, JSON], other: str) -> Iterator[str]:
    """What another party's ledger lacks of a run of this one's, or has otherwise."""
    if record.previous[other] not in heads:
        yield f"{other} took part with an entry that its export has not: its history was cut, emptied or rewritten"
        return
    approved = heads[record.previous[other]]
    if is_redacted(approved):
        yield f"{other} took part, and its export hides what it approved"
    theirs = there.get(record.run)
    if theirs is None:
        if other in record.said:
            yield f"{other} has signed how it ended, and its export has no end of it: that was cut or replaced"
        return
    what = [(each.plan_hash, each.approval, each.disclosures) for each in (record, theirs)]
    if what[0] != what[1]:
        yield "the two ledgers have another plan, or other disclosures"
    yield from theirs.problems(other)
    if not is_redacted(approved):
        yield from _unfit(theirs, approved, other)
    for name in record.previous.keys() & theirs.previous.keys():
        if record.previous[name] != theirs.previous[name]:
            yield f"{name} has shown a different ledger to each of the two"
    for name in record.said.keys() & theirs.said.keys():
        if record.said[name].outcome != theirs.said[name].outcome:
            yield f"{name} has signed two different ends of it"


def _unknown(record: RunRecord, me: str, own: list[str], entries: set[str]) -> tuple[str, bool]:
    """A run of this party in another's ledger that is not in its own: what that means, and whether it is a problem."""
    presence, head = record.presence.get(me), record.previous.get(me)
    took_part = (
        presence is not None
        and head is not None
        and any(
            RunRecord(
                record.run, record.plan_hash, record.approval, record.disclosures, {me: certificate}, {}, {}
            ).attends(me, head, presence)
            for certificate in own
            if _is_certificate(certificate)
        )
    )
    if not took_part:
        return f"the export names {me}, which has not signed that it took part", True
    if head in entries:
        return f"{me} took part and has no end of it: it was killed, or the end was cut off", me in record.said
    return f"{me} took part, and its own ledger lacks it: this history was cut, emptied or rewritten", True


def _is_certificate(text: object) -> bool:
    try:
        _native.fingerprint(str(text))
    except _native.InputError:
        return False
    return True
