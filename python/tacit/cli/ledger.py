"""Show a party's ledger: what it approved, what it disclosed, when, and who has signed it.

`tacit ledger verify` checks the chain of hashes and all signatures; with --with it compares the ledger with the copy
that another party has made of its own by `tacit ledger export FILE`. `tacit ledger adopt` signs the entries of versions
that did not sign.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from tacit.agent.audit import Audit, audited, compared, printable
from tacit.agent.entry import JSON
from tacit.agent.events import Event
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger, LedgerError
from tacit.agent.ledger_export import export, read_export
from tacit.agent.own_files import check_not_own, own_files
from tacit.agent.signer import Signer
from tacit.cli.account import show_entry
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console

NAME = "ledger"
HELP = "show, verify, compare or copy a party's ledger"

ACTIONS = ("show", "verify", "export", "adopt")
LEAST_DIGITS = 16
"""Of a hash, which tell it from all others."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The action, its file, --federation, --private, --name, --with, --last, --for, --format."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="show", help="what to do (default: show)")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="where export writes the copy")
    add_federation(parser)
    parser.add_argument(
        "--name", metavar="PARTY", help="whose ledger (default: every party with a ledger on this machine)"
    )
    parser.add_argument(
        "--with", dest="other", type=Path, metavar="EXPORT", help="with verify: another party's copy, to compare with"
    )
    parser.add_argument("--last", metavar="HASH", help="with verify: a hash that was noted, which has to be there")
    parser.add_argument(
        "--for", dest="reader", metavar="PARTY", help="with export: leave out what runs without that party say"
    )
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="json: the entries as they are, one a line"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    _check(options)
    members = Members.load(options.federation, options.private)
    names = tuple(members.parties) if options.name is None else (members.known(options.name),)
    ledgers = {name: Ledger(members.private(name).ledger) for name in names}
    there = {name: ledger for name, ledger in ledgers.items() if ledger.path.exists()}
    if not there:
        raise RunError(
            Fault.INPUT, f"no ledger yet of {', '.join(names)}; the first query a party takes part in starts it."
        )
    if len(there) > 1 and (options.action in ("export", "adopt") or options.other or options.last):
        raise RunError(Fault.INPUT, f"ledgers of {', '.join(there)} are here; name one with --name.")
    screen = console()
    for name, ledger in there.items():
        _act(name, ledger, members, options, screen)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Refuse options that belong to another action. Raises RunError."""
    verifies, exports = options.action == "verify", options.action == "export"
    if exports != (options.file is not None):
        raise RunError(Fault.INPUT, "export needs the file to write, and nothing else takes one.")
    if (options.other or options.last) and not verifies:
        raise RunError(Fault.INPUT, "--with and --last are for `tacit ledger verify`; leave them out.")
    if options.reader and not exports:
        raise RunError(Fault.INPUT, "--for is for `tacit ledger export`; leave it out.")


def _act(name: str, ledger: Ledger, members: Members, options: argparse.Namespace, screen: Console) -> None:
    match options.action:
        case "verify":
            _verify(name, ledger, members, options, screen)
        case "export":
            reader = None if options.reader is None else members.known(options.reader)
            check_not_own(options.file, own_files(members, map(members.private, members.parties)))
            entries = ledger.entries()
            hidden = export(entries, name, options.file, reader)
            left_out = f", {hidden} of them without what they say" if hidden else ", every query among them in full"
            screen.print(f"{options.file}: {len(entries)} entries of {name}{left_out}", soft_wrap=True, markup=False)
        case "adopt":
            entry = Ledger(ledger.path, Signer.of(members, name)).adopt()
            screen.print(f"{name}: {entry['entries']} entries are signed now ({ledger.path})", soft_wrap=True)
        case _:
            _show(ledger, options, screen)


def _show(ledger: Ledger, options: argparse.Namespace, screen: Console) -> None:
    entries = ledger.entries()
    if options.format == "json":
        sys.stdout.writelines(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        return
    for entry in entries:
        _show_one(entry, screen)
    if entries:
        screen.print(f"last hash  {entries[-1]['hash']}", soft_wrap=True)


def _show_one(entry: Event, screen: Console) -> None:
    show_entry(entry, screen)
    screen.print()


def _verify(name: str, ledger: Ledger, members: Members, options: argparse.Namespace, screen: Console) -> None:
    """Check one ledger. Raises what is wrong with it, after all else that is."""
    entries = ledger.entries()
    known = dict(_certificates(members))
    certificate = members.certificate(name)
    found = audited(entries, name, certificate, f"ledger {ledger.path}", known)
    if torn := ledger.torn():
        found.notes.append(f"ledger {ledger.path}: a write of {len(torn)} bytes was cut short; the next entry says so.")
    if options.last is not None and not _has(entries, options.last):
        found.problems.append(f"ledger {ledger.path}: no entry has the hash {options.last}; it was cut or rewritten.")
    _tell(found, screen)
    others = ", ".join(f"{other} ({count})" for other, count in found.signers.items() if other != name)
    for line in (
        f"{name}: {len(entries)} entries, chain intact, all signed by {name} ({ledger.path})",
        f"ends of runs signed by {others or 'nobody else'}",
        f"last hash  {found.last or 'none: the ledger is empty'}",
    ):
        screen.print(line, soft_wrap=True, markup=False)
    if options.other is not None:
        _compare(name, entries, certificate, members, options.other, screen)


def _compare(name: str, entries: list[JSON], certificate: str, members: Members, path: Path, screen: Console) -> None:
    """Compare a ledger with another party's copy. Raises what is wrong."""
    other, theirs = read_export(path)
    if other not in members.parties or other == name:
        raise RunError(
            Fault.INPUT, f"{path}: is of {printable(other)}; name the copy of another party of this federation."
        )
    found = compared(entries, name, certificate, theirs, other, members.certificate(other), str(path))
    _tell(found, screen)
    line = f"{path}: {len(theirs)} entries of {other}, whole, and as this ledger has their common runs"
    screen.print(line, soft_wrap=True, markup=False)


def _tell(found: Audit, screen: Console) -> None:
    """Print what was found, and raise the first thing that is wrong."""
    for note in found.notes:
        screen.print(f"note: {note}", soft_wrap=True, markup=False)
    for problem in found.problems[1:]:
        screen.print(problem, soft_wrap=True, markup=False)
    if found.problems:
        raise LedgerError(found.problems[0])


def _has(entries: list[JSON], noted: str) -> bool:
    return any(str(entry.get("hash")).startswith(noted) for entry in entries if len(noted) >= LEAST_DIGITS)


def _certificates(members: Members) -> list[tuple[str, str]]:
    """The certificates that are here."""
    found = []
    for name in members.parties:
        with suppress(RunError):
            found.append((name, members.certificate(name)))
    return found
