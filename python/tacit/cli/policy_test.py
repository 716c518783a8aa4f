"""Ask owners' rules about queries: what is allowed, by which rule, and what is refused. Runs nothing, reads no data."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tacit.agent.connection import connect
from tacit.agent.faults import Fault, RunError
from tacit.agent.verdicts import Verdict
from tacit.cli.query_arguments import add_federation, add_recipients

NAME = "test"
HELP = "say which queries of a file owners' rules allow"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, --federation, --private, --to, --format."""
    parser.add_argument("file", metavar="FILE", help="SQL queries, divided by semicolons, or - for standard input")
    add_federation(parser)
    add_recipients(parser)
    parser.add_argument("--format", choices=["text", "json"], default="text", help="for people or for programs")


def run(options: argparse.Namespace) -> int:
    """Run the command. Exit status: 3 if a query is refused, else 2 if one is wrong."""
    found = connect(options.federation, private=options.private).verdicts(_text(options.file), options.to)
    if not found:
        raise RunError(Fault.INPUT, f"{options.file} has no query; write one or more, divided by semicolons.")
    if options.format == "json":
        sys.stdout.write(json.dumps([each.json() for each in found], indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n\n".join("\n".join(_lines(each)) for each in found) + "\n")
    faults = {each.fault for each in found}
    return next((each.exit_status for each in (Fault.POLICY, Fault.INPUT) if each in faults), 0)


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text()
    except UnicodeError:
        raise RunError(Fault.INPUT, f"{file} is not UTF-8 text; save it as UTF-8.") from None


def _lines(verdict: Verdict) -> Iterator[str]:
    yield verdict.query
    if verdict.error is not None:
        yield f"  {verdict.error}"
        return
    yield "  allowed"
    for each in verdict.disclosed:
        of = "which rows there are" if each.output is None else each.output
        yield f"  for {of}, {each.owner} allows: {each.sentence}"
