"""Match a table with other parties' by identifiers, showing nothing but what all approve.

All parties start it, each with its own input; parameters are compared before anything leaves. At a terminal it shows
what each party will learn, and asks before it starts. The rows of the output are in the same order at all that learn
the matches. `tacit psi explain` with the same options shows the whole account and runs nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.cli.durations import seconds
from tacit.cli.psi_arguments import add_shown
from tacit.cli.psi_prepared import answers, asked, inputs, prepared_query, run_prepared
from tacit.cli.psi_screen import Screen
from tacit.psi.account import certify, check_approved, recorded
from tacit.psi.explain import explained, lines
from tacit.psi.match import Match, fit
from tacit.psi.output import check_output, write_rows
from tacit.psi.parameters import Parameters
from tacit.psi.plugin import plugin_named
from tacit.psi.report import Report
from tacit.psi.request import Limits, Request
from tacit.psi.rules import runnable
from tacit.psi.source import Source
from tacit.psi.start import Start
from tacit.psi.verdict import guarded_question

NAME = "psi"
HELP = "match a table with other parties' without showing it"

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a match."""
    add = parser.add_argument
    add("action", nargs="?", choices=("explain",), metavar="explain",
        help="show who will learn what, what is told and what it costs, and run nothing")  # fmt: skip
    add("--federation", type=Path, default=Path("federation.toml"), metavar="FILE", help="the federation file")
    add("--private", type=Path, metavar="FOLDER",
        help="the folder of private files (default: $TACIT_PRIVATE, or private beside that file)")  # fmt: skip
    add("--as", dest="me", required=True, metavar="PARTY", help="the party that this machine is")
    add("--input", type=Path, metavar="FILE", help="this party's own table, .parquet or .csv")
    add_shown(parser)
    add("--output", type=Path, metavar="FILE", help="where the matching rows go, .parquet or .csv")
    add("--csv", type=_option, action="append", default=[], metavar="OPTION=VALUE",
        help="how a CSV input is written: delimiter, decimal, date_format, null (docs/federation.md)")  # fmt: skip
    add("--to", default="all", metavar="PARTIES", help="who learns the matches: all (default), or some parties")
    add("--protocol", default="auto", help="auto (default), or a protocol's name")
    add("--prepare", type=Path, metavar="FILE", help="prepare the input to be asked about many times, into this file")
    add("--prepared", type=Path, metavar="FILE",
        help="answer from a table prepared by this party; with --input, ask about one, which is kept here")  # fmt: skip
    add("--budget", type=int, metavar="ROWS", help="with --prepare: how many may be asked about in all (2^20)")
    add("--most", type=int, metavar="ROWS", help="with --prepared: how many may be asked about at once")
    add("--bins", default="auto", metavar="N", help="into how many bins the tables are put (default: auto)")
    add("--memory", type=_bytes, default=3 << 30, metavar="SIZE", help="what this party may use (default: 3G)")
    add("--workers", type=int, metavar="N", help="bins matched at the same time (default: half the cores)")
    add("--repeat-bins", action="store_true",
        help="match bins again of which the other may have results: it lost them, or broke off")  # fmt: skip
    add("--wait", type=seconds, metavar="TIME",
        help="how long to wait for the others to start, for example 30m (default: connect_timeout, 30s)")  # fmt: skip
    add("--yes", action="store_true", help="do not ask before the start, at a terminal")
    add("--approved", action="store_true", help="run it only if the party has approved it (tacit approve); do not ask")
    add("--format", choices=("text", "json"), help="with explain: for people or for programs (default: text)")
    add("--quiet", action="store_true", help="print nothing but errors, and the question before the start")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    os.umask(0o077)
    members = Members.load(options.federation, options.private)
    screen = Screen(options.quiet)
    if options.format is not None and options.action is None:
        raise RunError(Fault.INPUT, "--format is for `tacit psi explain`; leave it out.")
    if options.action is not None:
        return _explain(options, members)
    if options.prepare is not None:
        if options.approved:
            raise RunError(Fault.INPUT, "--prepare sends nothing, and needs no approval; leave out --approved.")
        return run_prepared(options, _checked(options, members), members, screen)
    with Start(members, options.me, options.other, options.wait, screen.line) as start:
        request = _checked(options, members)
        if options.prepared is not None:
            return run_prepared(options, request, members, screen, start)
        question = guarded_question(request, members)
        if question is None:
            return _match(options, request, start, screen)
        from tacit.cli.psi_guarded import ask, planned  # which loads what queries need

        guarded = planned(options, question, request.parameters(members))
    return ask(options, guarded, screen)


def _match(options: argparse.Namespace, request: Request, start: Start, screen: Screen) -> int:
    """Match, as a match."""
    parameters, source, plugin = _prepared(options, request, start.members)
    match = Match(
        start, parameters, source, request.limits, options.output or source.stored.file, plugin, screen.progress,
        lambda choice: screen.choice(choice, parameters),
    )  # fmt: skip
    report = _matched(options, match, screen)
    if report.unconfirmed is None:
        match.remove_files()
    match.check_confirmed(report)
    return 0


def _checked(options: argparse.Namespace, members: Members) -> Request:
    """What is asked for, once all is named that it needs. Raises RunError."""
    named = options.key is not None and (options.input is not None or options.tables is not None)
    if not answers(options) and not named:
        raise RunError(Fault.INPUT, "name this party's own table with --input, and its key columns with --key.")
    return _request(options).resolved(members)


def _prepared(
    options: argparse.Namespace, request: Request, members: Members, plugin: object | None = None
) -> tuple[Parameters, Source, object | None]:
    """The parameters, the open input and the plug-in of a match. Raises RunError if one of them is wrong."""
    parameters = request.parameters(members)
    if options.plugin is not None:
        plugin = plugin_named(options.plugin)
        parameters = replace(parameters, plugin=str(getattr(plugin, "name", options.plugin)))
    if options.approved and options.action is None:
        check_approved(members, options.me, parameters)
    gets_rows = parameters.gives_rows and options.me in parameters.to
    if options.output is not None or options.action is None:
        check_output(options.output, options.me, gets_rows, inputs(options, members))
    return parameters, request.open(options.input, options.columns, members), plugin


def _explain(options: argparse.Namespace, members: Members) -> int:
    """Show the account of what the same options would run."""
    request = _checked(options, members)
    if options.prepare is not None:
        raise RunError(Fault.INPUT, "--prepare sends nothing to anybody; leave out explain, or --prepare.")
    source: Source | None
    if options.prepared is not None:
        query, source = prepared_query(options, request, members)
        parameters, rules = query.parameters, query.judged.allowed
    elif (question := guarded_question(request, members)) is not None:
        from tacit.cli.psi_guarded import explain, planned  # which loads what queries need

        return explain(options, planned(options, question, request.parameters(members)))
    else:
        parameters, source, _ = _prepared(options, request, members)
        fit(source, parameters, options.me)
        rules = runnable(parameters, members).allowed
    notes = [] if source is None else source.notes
    found = explained(options.me, parameters, source, request.limits, options.output, notes, rules)
    shown = json.dumps(found, indent=2, ensure_ascii=False) if options.format == "json" else None
    sys.stdout.write((shown or "\n".join(lines(found, parameters))) + "\n")
    return 0


def _request(options: argparse.Namespace) -> Request:
    return Request(
        me=options.me, keys=options.key or [], other=options.other, normalise=options.normalise, kinds=options.kind,
        to=options.to, reveal=options.reveal, join=options.join, protocol=options.protocol, plugin=options.plugin,
        bins=_bins(options.bins), pairs=options.pairs, drop=options.drop, least=options.least,
        limits=Limits(options.memory, options.workers, options.repeat_bins), csv=_form(options.csv),
        tables=options.tables or (), shared=options.columns or (),
    )  # fmt: skip


def _matched(options: argparse.Namespace, match: Match, screen: Screen) -> Report:
    """Match, write the rows, and say what was found."""
    parameters, learns = match.parameters, match.learns()

    def work() -> tuple[Report, int]:
        report = match.run()
        if not learns:
            return report, 0
        screen.line(f"writing {options.output}")
        return report, write_rows(match.source.database, match.rows, options.output, match.if_unwritten())

    consent = asked(options, "Start the match")
    report, count, entry = recorded(match, work, match.source.notes, consent, approved=options.approved)
    if learns:
        certify(match, entry, options.output)
    screen.report(report, count, learns, entry["entry"])
    if not parameters.gives_rows and report.keys is not None:
        sys.stdout.write(f"matching keys: {report.keys}\n")
        if report.sum is not None:
            sys.stdout.write(f"sum: {report.sum}\n")
        elif parameters.summed is not None:
            sys.stdout.write(f"sum: not shown, fewer than {parameters.least} keys match\n")
    return report


def _option(text: str) -> tuple[str, str]:
    """A name and its value, like ``delimiter=;``."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no option; write for example delimiter=;")
    return name, value


def _form(given: list[tuple[str, str]]) -> dict[str, object]:
    """The options of a CSV file; those for NULL may be several."""
    nulls = [value for name, value in given if name == "null"]
    return {**dict(given), "null": nulls} if nulls else dict(given)


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)\s*([KMGT]?)(i?B)?", text.strip(), re.IGNORECASE)
    if not found or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write for example 3G or 512M")
    return int(found[1]) * UNITS[found[2].upper()]


def _bins(text: str) -> int | None:
    if text == "auto":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= 1 << 14:
        raise RunError(Fault.INPUT, f"--bins is {text!r}; write auto, or a number from 1 to {1 << 14}.")
    return int(text)
