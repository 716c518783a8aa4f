"""Deliver a table to the nodes ahead, as shares, so that its owner need not be there when queries read it.

The owner and every node start it, as they start `tacit party`; each node keeps its part. A new delivery replaces the
one before. With --withdraw each node removes its part, without the others.
"""

from __future__ import annotations

import argparse

from tacit.agent.connection import connect
from tacit.agent.faults import Fault, RunError
from tacit.cli.account import show_account
from tacit.cli.durations import seconds
from tacit.cli.party_process import fork
from tacit.cli.progress import Progress
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console

NAME = "deliver"
HELP = "deliver a table to the nodes ahead of queries"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """TABLE, --name, --wait, --withdraw, --federation, --private."""
    parser.add_argument(
        "table", metavar="TABLE", help="the table's name in its owner's offer, or OWNER.TABLE with --withdraw"
    )
    parser.add_argument(
        "--name", metavar="PARTY", help="the party that this machine is (default: all, if all are on this machine)"
    )
    parser.add_argument(
        "--wait", type=seconds, metavar="TIME", help="how long to wait for the others to start, for example 30m"
    )
    parser.add_argument("--withdraw", action="store_true", help="remove the nodes' parts that are here")
    add_federation(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    connection = connect(options.federation, party=options.name, private=options.private)
    plan = connection.plan(f"{'WITHDRAW' if options.withdraw else 'DELIVER'} TABLE {options.table}")
    here, screen = connection.parties_here(plan), console()
    if not here:
        advice = f"each node removes its own with `tacit deliver {options.table} --withdraw`"
        raise RunError(Fault.INPUT, f"no part of a delivery of {options.table} is here; {advice}.")
    show_account(plan, screen)
    screen.print()
    with Progress(plan, here, screen) as progress:
        done = connection.run(plan, progress, options.wait, fork)
    whose = "has {} its part" if len(done.entries) == 1 else "have {} their parts"
    said = whose.format("removed" if options.withdraw else "done")
    screen.print(f"{' and '.join(done.entries)} {said} of the delivery of {options.table}.", soft_wrap=True)
    if done.unrecorded is not None:
        raise done.unrecorded
    return 0
