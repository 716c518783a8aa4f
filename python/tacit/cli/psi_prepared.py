"""`tacit psi --prepare` and `--prepared`: a table prepared once, and one query about it."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.own_files import check_not_own, own_files
from tacit.cli.consent import question
from tacit.cli.psi_screen import Screen, size
from tacit.psi.account import Consent, certify, recorded
from tacit.psi.output import check_output, write_rows
from tacit.psi.parameters import UNBALANCED
from tacit.psi.prepared import DEFAULT_BUDGET, Query, prepare
from tacit.psi.prepared_file import held, read_prepared
from tacit.psi.report import Report
from tacit.psi.request import Request
from tacit.psi.source import Source
from tacit.psi.start import Start


def run_prepared(
    options: argparse.Namespace, request: Request, members: Members, screen: Screen, start: Start | None = None
) -> int:
    """Prepare a table, or answer or ask one query about a prepared one. start: of a query."""
    _refuse_others(options, request)
    if start is None:
        _prepare(options, request, members, screen)
    elif answers(options):
        _answer(options, request, start, screen)
    else:
        _ask(options, request, start, screen)
    return 0


def answers(options: argparse.Namespace) -> bool:
    """Whether a party answers about its prepared table, and asks about none: who asks gets rows."""
    asks = options.input is not None or (options.tables is not None and options.output is not None)
    return options.prepared is not None and not asks


def prepared_query(options: argparse.Namespace, request: Request, members: Members) -> tuple[Query, Source | None]:
    """A query about a prepared table, and the input of the party that asks. Raises RunError."""
    _refuse_others(options, request)
    start = Start(members, options.me, options.other)
    if answers(options):
        file = read_prepared(options.prepared, members.private(options.me).read_key(), options.memory)
        return Query.answering(start, file, request.matched(start.parties)), None
    source = request.open(options.input, options.columns, members)
    return Query.asking(start, request), source


def inputs(options: argparse.Namespace, members: Members) -> dict[str, Path]:
    """The files of this party that no output may replace."""
    named = {"--input": options.input, "--prepared": options.prepared, "--plugin": options.plugin}
    files = {f"the file of {option}": Path(path) for option, path in named.items() if path is not None}
    return files | own_files(members, [members.private(options.me)])


def _prepare(options: argparse.Namespace, request: Request, members: Members, screen: Screen) -> None:
    begin = time.monotonic()
    members.known(options.me)
    budget = DEFAULT_BUDGET if options.budget is None else options.budget
    if not 1 <= budget <= _native.MOST_BUDGET:
        raise RunError(Fault.INPUT, f"--budget is {budget}; write a number of rows from 1 to {_native.MOST_BUDGET}.")
    if not options.prepare.parent.is_dir():
        raise RunError(Fault.INPUT, f"{options.prepare}: the folder {options.prepare.parent} does not exist.")
    check_not_own(options.prepare, inputs(options, members))
    source = request.open(options.input, (), members)
    about = prepare(source, request, options.prepare, members.private(options.me).read_key(), budget, screen.line)
    whole = options.prepare.stat().st_size
    seconds = time.monotonic() - begin
    screen.line(f"offline, once: {seconds:.1f} s; {options.prepare} has {size(whole)}, for its owner only")
    published = size(_native.published_bytes(about.rows, budget))
    screen.line(
        f"a party that asks gets {published} of it once, and sends and gets 32 B for each row that it asks about"
    )
    screen.line(f"budget: {budget:,} rows may be asked about in all")


def _answer(options: argparse.Namespace, request: Request, start: Start, screen: Screen) -> None:
    with held(options.prepared):
        private_key = start.members.private(options.me).read_key()
        file = read_prepared(options.prepared, private_key, options.memory)
        query = Query.answering(start, file, request.matched(start.parties))
        report, left, entry = recorded(
            query, lambda: query.answer(file, options.most), (), asked(options, "Answer a query"),
            approved=options.approved,
        )  # fmt: skip
    screen.line(f"{left:,} rows of the budget are left")
    screen.report(report, 0, False, entry["entry"])
    query.check_confirmed(report)


def _ask(options: argparse.Namespace, request: Request, start: Start, screen: Screen) -> None:
    check_output(options.output, options.me, gets_rows=True, inputs=inputs(options, start.members))
    source = request.open(options.input, options.columns, start.members)
    query = Query.asking(start, request)

    def ask() -> tuple[Report, int]:
        report, rows = query.ask(source, options.prepared, options.memory)
        screen.line(f"writing {options.output}")
        return report, write_rows(source.database, rows, options.output, "free space, and ask again")

    consent = asked(options, "Ask")
    report, count, entry = recorded(query, ask, source.notes, consent, approved=options.approved)
    certify(query, entry, options.output)
    screen.report(report, count, True, entry["entry"])
    query.check_confirmed(report)


def asked(options: argparse.Namespace, what: str) -> Consent:
    """What asks a person before a run, unless it was approved before."""
    return question(f"{what} as {options.me}", yes=options.yes or options.approved, quiet=options.quiet)


def _refuse_others(options: argparse.Namespace, request: Request) -> None:
    """Refuse options that a prepared table makes no use of. Raises RunError."""
    if len(request.keys) > 1:
        raise RunError(Fault.INPUT, "a prepared table has one key; write its columns as --key COLUMN,COLUMN.")
    mistaken = [used for used in request.options() if (used, request.protocol) != ("--protocol", UNBALANCED)]
    if options.prepare is not None and options.prepared is not None:
        mistaken.append("--prepared")
    if options.most is not None and not answers(options):
        mistaken.append("--most")
    if options.budget is not None and options.prepare is None:
        mistaken.append("--budget")
    if mistaken:
        raise RunError(Fault.INPUT, f"a prepared table has no use for {mistaken[0]} here; leave it out.")
    unused = (*(("key",) if options.tables is None else ()), "kind", "normalise", "columns", "output")
    of_input = [name for name in unused if getattr(options, name)]
    if answers(options) and of_input:
        raise RunError(
            Fault.INPUT,
            f"without --input, --prepared answers by the keys as they were prepared; leave out --{of_input[0]}, or "
            "name the table to ask about with --input.",
        )
    if options.most is not None and options.most < 1:
        raise RunError(Fault.INPUT, f"--most is {options.most}; write a number of rows from 1.")
