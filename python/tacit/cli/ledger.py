"""Show a party's ledger: what it approved, what it disclosed, and when; or verify that nothing was changed."""

from __future__ import annotations

import argparse
import json
import sys

from rich.console import Console

from tacit.agent.events import Event
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger
from tacit.cli.account import show_entry
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console

NAME = "ledger"
HELP = "show or verify a party's ledger"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--federation, --private, --name, --verify, --format."""
    add_federation(parser)
    parser.add_argument(
        "--name", metavar="PARTY", help="whose ledger (default: every party with a ledger on this machine)"
    )
    parser.add_argument("--verify", action="store_true", help="check the whole chain of hashes")
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="json: the entries as they are, one a line"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    members = Members.load(options.federation, options.private)
    names = tuple(members.parties) if options.name is None else (members.known(options.name),)
    ledgers = {name: Ledger(members.private(name).ledger) for name in names}
    if not any(ledger.path.exists() for ledger in ledgers.values()):
        raise RunError(
            Fault.INPUT, f"no ledger yet of {', '.join(names)}; the first query a party takes part in starts it."
        )
    screen = console()
    for name, ledger in ledgers.items():
        if ledger.path.exists():
            _show(name, ledger, options, screen)
    return 0


def _show(name: str, ledger: Ledger, options: argparse.Namespace, screen: Console) -> None:
    if options.verify:
        screen.print(f"{name}: {ledger.verify()} entries, chain intact ({ledger.path})", soft_wrap=True)
    elif options.format == "json":
        sys.stdout.writelines(json.dumps(entry, ensure_ascii=False) + "\n" for entry in ledger.entries())
    else:
        for entry in ledger.entries():
            _show_one(entry, screen)


def _show_one(entry: Event, screen: Console) -> None:
    show_entry(entry, screen)
    screen.print()
