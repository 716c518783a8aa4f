"""Say what is wrong before a run: this party's own files, and what the other parties hold, show and answer.

Parties that run it at the same time answer each other, and so do those that wait for a run.
"""

from __future__ import annotations

import argparse

from rich.text import Text

from tacit.agent.doctor import Check, own_checks, peer_checks
from tacit.agent.faults import Fault
from tacit.agent.federation_members import Members
from tacit.cli.durations import seconds
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console, table

NAME = "doctor"
HELP = "say what is wrong before a run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--federation, --private, --name, --wait."""
    add_federation(parser)
    parser.add_argument("--name", required=True, metavar="PARTY", help="the party that this machine is")
    parser.add_argument(
        "--wait", type=seconds, default=20.0, metavar="TIME", help="how long the others may take (default: 20s)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    members = Members.load(options.federation, options.private)
    members.known(options.name)
    screen = console()
    checks = list(own_checks(members, options.name))
    others = " and ".join(name for name in members.parties if name != options.name)
    if others:
        told = console(to_stderr=True)
        told.print(f"waiting up to {options.wait:g} s for {others}", soft_wrap=True, markup=False)
        checks += peer_checks(members, options.name, options.wait)
    shown = table(screen, ("check", "left"), ("", "left"), ("what is so, or what to do", "left"))
    for check in checks:
        shown.add_row(*_cells(check))
    screen.print(shown)
    wrong = sum(bool(check.wrong) for check in checks)
    screen.print("all is well" if not wrong else f"{wrong} of {len(checks)} checks found something wrong")
    return Fault.INPUT.exit_status if wrong else 0


def _cells(check: Check) -> tuple[Text, Text, Text]:
    mark = Text("wrong", style="bold red") if check.wrong else Text("ok", style="green")
    return Text(check.subject), mark, Text(check.wrong or check.found)
