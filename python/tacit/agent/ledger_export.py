"""A copy of a ledger for somebody else, who compares it with an own one: a line about it, and an entry a line."""

from __future__ import annotations

from pathlib import Path

from tacit.agent.durable import whole_file
from tacit.agent.entry import JSON, canonical, is_unsigned, redacted
from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import LedgerError, parsed
from tacit.agent.record import OUTCOMES

FORM = 1
"""The version of the form."""


def export(entries: list[JSON], party: str, path: Path, reader: str | None = None) -> int:
    """Write a copy, closed to others. reader: for whom; of runs in which it had no part, only their place is said.

    Returns how many entries say nothing. Raises RunError.
    """
    if reader is not None and any(map(is_unsigned, entries)):
        problem = "entries of versions before signatures cannot be left out; leave out --for, and show all"
        raise RunError(Fault.INPUT, f"{path}: {problem}.")
    runs = {each["hash"]: each.get("parties", {}) for each in entries if each["kind"] == "approved"}
    shown = [entry if reader is None or _concerns(entry, runs, reader) else redacted(entry) for entry in entries]
    about = {"tacit_ledger": FORM, "party": party, "for": reader, "entries": len(entries)}
    try:
        with whole_file(path) as whole:
            whole.touch(0o600)
            whole.write_bytes(b"".join(canonical(each) + b"\n" for each in (about, *shown)))
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be written ({error.strerror}).") from error
    return sum(entry is not copy for entry, copy in zip(entries, shown, strict=True))


def read_export(path: Path) -> tuple[str, list[JSON]]:
    """The party that a copy is of, and its entries, unchecked. Raises RunError."""
    try:
        first, *lines = path.read_bytes().splitlines()
        about = parsed(first, f"{path}, line 1")
        entries = [parsed(line, f"{path}, line {number}") for number, line in enumerate(lines, start=2)]
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be read ({error.strerror}).") from error
    except (LedgerError, ValueError) as error:
        raise _no_export(path) from error
    if about.get("tacit_ledger") != FORM or not isinstance(about.get("party"), str):
        raise _no_export(path)
    if about.get("entries") != len(entries):
        problem = f"has {len(entries)} of {about.get('entries')} entries"
        raise RunError(Fault.INPUT, f"{path}: {problem}; get it anew, whole.")
    return about["party"], entries


def _no_export(path: Path) -> RunError:
    return RunError(Fault.INPUT, f"{path}: is no copy of a ledger; `tacit ledger export FILE` makes one.")


def _concerns(entry: JSON, runs: dict[str, JSON], reader: str) -> bool:
    """Whether an entry is of a run that the reader took part in, or needed to check others. runs: their parties."""
    if entry["kind"] in OUTCOMES:
        return reader in runs.get(entry.get("run", ""), {})
    return entry["kind"] in ("key", "adopted", "repaired") or reader in entry.get("parties", {})
