"""Take part in a query as one party. Every organisation starts this with the same query; they compute when all have.
With --wait at all of them, nobody has to be quick. All are told who is missing or cannot start, and what differs.

Starting it approves one run of what `tacit explain` shows for the query. With --approved, `tacit approve` has to have.
A recipient's answer goes to stdout.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tacit.agent.connection import connect
from tacit.agent.faults import RunError
from tacit.agent.federation_members import Members
from tacit.agent.federation_private import private_folder
from tacit.agent.party import LINGER
from tacit.agent.party_process import PartyTask
from tacit.agent.waiting import Waiting
from tacit.cli import output
from tacit.cli.account import show_account
from tacit.cli.durations import seconds
from tacit.cli.party_process import fork, run_task
from tacit.cli.progress import Progress
from tacit.cli.query_arguments import add_query, query_text
from tacit.cli.screen import console

NAME = "party"
HELP = "take part in a query as one party"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--name, --wait and the arguments of ``sql``; the others are for the process that starts this one."""
    parser.add_argument("--name", required=True, metavar="PARTY", help="the party that this machine is")
    add_query(parser)
    output.add_arguments(parser)
    parser.add_argument(
        "--wait",
        type=seconds,
        metavar="TIME",
        help="how long to wait for the others to start, for example 30m (default: connect_timeout, 30s)",
    )
    parser.add_argument(
        "--approved", action="store_true", help="run it only if the party has approved it (tacit approve)"
    )
    parser.add_argument("--events", type=int, metavar="FD", help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--then-connect", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--parties", type=int, default=1, metavar="COUNT", help=argparse.SUPPRESS)
    parser.add_argument("--at", type=_addresses, default={}, metavar="PARTY=HOST:PORT,...", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    os.umask(0o077)  # whatever a party writes is its own
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.events is None:
        return _for_a_person(options)
    private = private_folder(options.federation, options.private)
    recipients = tuple(options.to or ())
    query = query_text(options)
    task = PartyTask(
        options.name, options.federation, private, query, recipients, options.wait, options.answer, options.at,
        options.then_connect, options.approved, options.parties,
    )  # fmt: skip
    return run_task(task, options.events)


def _for_a_person(options: argparse.Namespace) -> int:
    """Run the party as a process of its own, show its progress, and print the answer if it is a recipient."""
    output.check_arguments(options)
    query = query_text(options)
    with _failures_told(options):
        federation = connect(options.federation, party=options.name, private=options.private)
        output.check_inputs(options, federation.federation)
        plan = federation.plan(query, options.to)
    output.check_arrays(plan, options)
    screen = console(to_stderr=True)
    show_account(plan, screen)
    screen.print()
    with Progress(plan, federation.parties_here(plan), screen) as progress:
        done = federation.run(plan, progress, options.wait, fork, approved=options.approved)
    if not plan.recipients:
        screen.print(f"{options.name} has done its part; nothing was opened to anybody.")
    elif done.arrays is not None:
        output.put_arrays(done.arrays, options)
    elif done.answer is not None:
        output.put(done.answer, options)
    else:
        screen.print(f"{options.name} has done its part; the answer went to {', '.join(plan.recipients)}.")
    if done.unrecorded is not None:
        raise done.unrecorded
    return 0


@contextmanager
def _failures_told(options: argparse.Namespace) -> Iterator[None]:
    """Tell the other parties if this one cannot even plan, unless the query's text is to blame, which they have too."""
    try:
        yield
    except RunError as error:
        if error.position is None:
            with suppress(RunError):
                members = Members.load(options.federation, options.private)
                others = [name for name in members.parties if name != members.known(options.name)]
                Waiting(members, options.name, others, 0.0, lambda event: None, linger=LINGER).tell_failure(error)
        raise


def _addresses(text: str) -> dict[str, str]:
    return dict(each.split("=", 1) for each in text.split(","))
