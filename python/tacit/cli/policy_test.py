"""Ask owners' rules about queries or a program, or with --tables about a match: what is allowed, by which rule, and
what is refused.

Runs nothing, and reads no data.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tacit.agent.connection import connect
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.verdicts import Verdict
from tacit.cli.psi_arguments import add_shown
from tacit.cli.query_arguments import add_federation, add_recipients
from tacit.psi.request import Request
from tacit.psi.verdict import match_verdict

NAME = "test"
HELP = "say which queries of a file, or which match, owners' rules allow"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, --federation, --private, --to, --format, and the options of a match."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="SQL queries, divided by semicolons, or the text of a program; - for standard input",
    )
    add_federation(parser)
    add_recipients(parser)
    match = parser.add_argument_group("a match in place of queries, by the options of tacit psi")
    match.add_argument("--as", dest="me", metavar="PARTY", help="whose --columns are named without a table")
    add_shown(match)
    parser.add_argument("--format", choices=["text", "json"], default="text", help="for people or for programs")


def run(options: argparse.Namespace) -> int:
    """Run the command. Exit status: 3 if a query is refused, else 2 if one is wrong."""
    if options.tables is not None:
        return _of_match(options)
    if options.file is None:
        raise RunError(Fault.INPUT, "name a file of queries, or the tables of a match with --tables.")
    if options.file.endswith(".py"):
        advice = "give the text of its program, as print(train(x, y).text) in it writes that"
        raise RunError(Fault.INPUT, f"{options.file}: is a script; {advice}.")
    found = connect(options.federation, private=options.private).verdicts(_text(options.file), options.to)
    if not found:
        raise RunError(Fault.INPUT, f"{options.file} has no query; write one or more, divided by semicolons.")
    if options.format == "json":
        sys.stdout.write(json.dumps([each.json() for each in found], indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n\n".join("\n".join(_lines(each)) for each in found) + "\n")
    faults = {each.fault for each in found}
    return next((each.exit_status for each in (Fault.POLICY, Fault.INPUT) if each in faults), 0)


def _of_match(options: argparse.Namespace) -> int:
    """The verdict of a match. Exit status: 3 if it is refused."""
    if options.file is not None or options.key is None:
        raise RunError(Fault.INPUT, "of a match, name --tables and --key, and no file of queries.")
    if options.me is None and not all("." in each for each in options.columns or ()):
        raise RunError(Fault.INPUT, "--columns names those of one party; name it with --as, or write TABLE.COLUMN.")
    if options.plugin is not None:
        problem = "--plugin is not loaded here, and its own name is in the hash of the match"
        raise RunError(Fault.INPUT, f"{problem}; `tacit psi explain` says what rules allow.")
    found = match_verdict(_request(options), Members.load(options.federation, options.private))
    if options.format == "json":
        sys.stdout.write(json.dumps([found.json()], indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(found.lines()) + "\n")
    return Fault.POLICY.exit_status if found.refusal is not None else 0


def _request(options: argparse.Namespace) -> Request:
    return Request(
        me=options.me or "", keys=options.key, other=options.other, normalise=options.normalise, kinds=options.kind,
        to=",".join(options.to or ["all"]), reveal=options.reveal, join=options.join, plugin=options.plugin,
        pairs=options.pairs, drop=options.drop, least=options.least, tables=options.tables,
        shared=options.columns or (),
    )  # fmt: skip


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
    for allowance in verdict.allowances:
        yield f"  {allowance.owner} allows: {allowance.sentence}"
