"""Match a table with another party's by identifiers, showing nothing but what both approve.

Both parties start it, each with its own input; parameters are compared before anything leaves. The rows of the output
are in the same order at both.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import Ledger
from tacit.psi.account import approved_entry, completed_entry, recorded
from tacit.psi.choice import Choice
from tacit.psi.match import Limits, Match, Report
from tacit.psi.members import Members
from tacit.psi.output import check_output, write_rows
from tacit.psi.parameters import JOINS, Parameters, normalisers, recipients, revealed
from tacit.psi.plugin import plugin_named
from tacit.psi.source import open_source

NAME = "psi"
HELP = "match a table with another party's without showing it"

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a match."""
    add = parser.add_argument
    add("--federation", type=Path, default=Path("federation.toml"), metavar="FILE", help="the federation file")
    add("--as", dest="me", required=True, metavar="PARTY", help="the party that this machine is")
    add("--with", dest="other", metavar="PARTY", help="the other party (needed among more than two)")
    add("--input", type=Path, required=True, metavar="FILE", help="this party's own table, .parquet or .csv")
    add(
        "--key",
        type=_names,
        required=True,
        metavar="COLUMNS",
        help="the columns that identify a row, in an agreed order",
    )
    add("--output", type=Path, metavar="FILE", help="where the matching rows go, .parquet or .csv")
    add("--columns", type=_names, metavar="COLUMNS", help="the columns of the output (default: all)")
    add("--normalise", type=_names, default=[], metavar="COLUMN=HOW",
        help="spelling of key columns: email, name, phone, phone:REGION, exact (default: exact)")  # fmt: skip
    add("--reveal", default="intersection", metavar="WHAT",
        help="intersection (default), cardinality, sum(PARTY.COLUMN), ids, or shares")  # fmt: skip
    add("--to", default="both", metavar="PARTY", help="who learns the matches: both (default) or one party")
    add("--join", choices=JOINS, default="inner", help="which rows the output has (default: inner)")
    add("--protocol", default="auto", help="auto (default), or a protocol's name")
    add("--plugin", metavar="WHAT", help="a protocol from elsewhere: a shared library, or MODULE:CLASS")
    add("--bins", default="auto", metavar="N", help="into how many bins the tables are put (default: auto)")
    add("--memory", type=_bytes, default=3 << 30, metavar="SIZE", help="what this party may use (default: 3G)")
    add("--workers", type=int, metavar="N", help="bins matched at the same time (default: half the cores)")
    add("--explain", action="store_true", help="show why bins, protocol and workers were chosen")
    add("--quiet", action="store_true", help="print nothing but errors")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    os.umask(0o077)
    members = Members.load(options.federation)
    parties = members.pair(options.me, options.other)
    plugin = None if options.plugin is None else plugin_named(options.plugin)
    parameters = Parameters(
        parties, normalisers(options.key, options.normalise), recipients(parties, options.to), options.join,
        options.protocol, _bins(options.bins), None if plugin is None else str(getattr(plugin, "name", options.plugin)),
        *revealed(options.reveal, parties),
    )  # fmt: skip
    learns = parameters.gives_rows and options.me in parameters.to
    if options.output is None and learns:
        raise RunError(Fault.INPUT, f"{options.me} gets rows: name the file for them with --output.")
    if options.output is not None:
        check_output(options.output)
    limits = Limits(options.memory, options.workers)
    columns = [] if options.columns is None and parameters.reveal == "shares" else options.columns
    source = open_source(options.input, options.key, columns, os.cpu_count() or 1, limits.memory)
    screen = _Screen(options.quiet)
    screen.account(parameters)
    match = Match(
        members,
        options.me,
        parameters,
        source,
        limits,
        options.output or options.input,
        plugin,
        screen.line,
        screen.progress,
    )
    ledger = Ledger(members.parties[options.me].ledger)
    approved = ledger.append("approved", approved_entry(options.me, parameters))
    with recorded(ledger, approved, options.me):
        report = match.run(lambda choice: screen.choice(choice, parameters, options.explain))
        count = 0
        if learns:
            screen.line(f"writing {options.output}")
            count = write_rows(source.database, match.rows, options.output, match.if_unwritten())
    entry = ledger.append("completed", completed_entry(approved, report))
    if report.unconfirmed is None:
        match.remove_files()
    screen.report(report, count, learns, entry["entry"])
    if not parameters.gives_rows and report.keys is not None:
        sys.stdout.write(f"matching keys: {report.keys}\n")
        if report.sum is not None:
            sys.stdout.write(f"sum: {report.sum}\n")
    if report.unconfirmed is not None:
        raise RunError(
            Fault.PEER_GONE,
            f"this party's output is complete, but {match.peer} was lost before it confirmed ({report.unconfirmed}); "
            "should it start again, run the same command again.",
        )
    return 0


class _Screen:
    """What a person reads, on stderr: whole lines, and on a terminal one line that changes while bins are matched."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._last = 0, 0.0

    def line(self, text: str) -> None:
        if not self._quiet:
            sys.stderr.write(f"{text}\n")

    def account(self, parameters: Parameters) -> None:
        self.line("What each party will learn")
        for sentence in parameters.account():
            self.line(f"- {sentence}")

    def choice(self, choice: Choice, parameters: Parameters, explain: bool) -> None:
        a, b = parameters.parties
        sent = f"{a} sends {_size(choice.sent[0])}, {b} sends {_size(choice.sent[1])}"
        workers = f"{choice.workers} worker{'s' if choice.workers > 1 else ''}"
        bins = f"{choice.bins} bin{'s' if choice.bins > 1 else ''}"
        self.line(f"{choice.protocol}, {bins}, {workers}: {sent}, about {choice.seconds:.1f} s")
        for reason in choice.why if explain else ():
            self.line(f"- {reason}")

    def progress(self, metrics: Mapping[str, int], bins: int) -> None:
        if self._quiet or not self._live:
            return
        sent, received = metrics["bytes_sent"], metrics["bytes_received"]
        rate = (sent + received - self._last[0]) / 0.2
        self._last = sent + received, 0.0
        end = "\n" if metrics["bins"] == bins else ""
        done = f"bin {metrics['bins']} of {bins}, {_size(sent)} sent, {_size(received)} received, {_size(rate)}/s"
        sys.stderr.write(f"\r\033[K{done}{end}")

    def report(self, report: Report, count: int, learns: bool, entry: int) -> None:
        keyless = report.null + sum(report.invalid.values())
        rows = f"{report.rows:,} rows" + (f", {keyless:,} of them without a valid key" if keyless else "")
        self.line(f"{rows}{_found(report)}" + (f"; {count:,} rows written" if learns else ""))
        self.line(
            f"{_size(report.bytes_sent)} sent, {_size(report.bytes_received)} received, {report.seconds:.1f} s; "
            f"ledger entry {entry}"
        )


def _found(report: Report) -> str:
    if report.union is not None:
        return f"; {report.union:,} ids in all, which tells the number of common keys: {report.keys:,}"
    if report.rate is not None:
        return f"; {report.keys:,} keys matched ({report.rate:.1%})"
    if report.keys is None and report.pairs:
        several = f" ({report.repeated:,} rows of this party are in more than one)" if report.repeated else ""
        return f"; {report.pairs:,} pairs of rows matched{several}"
    return ""


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("name at least one column")
    return names


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


def _size(count: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"
