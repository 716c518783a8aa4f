"""Ask a question: run a query over all parties' tables on this machine and print the answer.

The answer goes to stdout (or --output-file), everything else to stderr.
"""

from __future__ import annotations

import argparse

from tacit.agent.connection import connect
from tacit.cli import output
from tacit.cli.account import show_account
from tacit.cli.party_process import fork
from tacit.cli.progress import Progress
from tacit.cli.query_arguments import add_query, query_text
from tacit.cli.screen import console

NAME = "sql"
HELP = "ask a question and print the answer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """QUERY, --federation, --private, --to, --output, --output-file, --quiet."""
    add_query(parser)
    output.add_arguments(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but the answer")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    output.check_arguments(options)
    federation = connect(options.federation, private=options.private)
    output.check_inputs(options, federation.federation)
    plan = federation.plan(query_text(options), options.to)
    output.check_arrays(plan, options)
    screen = console(to_stderr=True)
    screen.quiet = options.quiet
    show_account(plan, screen)
    screen.print()
    with Progress(plan, federation.parties_here(plan), screen) as progress:
        done = federation.run(plan, progress, start=fork)
    if done.arrays is not None:
        output.put_arrays(done.arrays, options)
    else:
        assert done.answer is not None, "all parties ran here, so the recipients did"
        output.put(done.answer, options)
    if done.unrecorded is not None:
        raise done.unrecorded
    return 0
