"""`tacit psi --prepare` and `--prepared`: a table prepared once, and one query about it."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger
from tacit.cli.psi_screen import Screen, size
from tacit.psi.account import approved_entry, completed_entry, recorded
from tacit.psi.match import Report
from tacit.psi.members import pair
from tacit.psi.output import check_output, write_rows
from tacit.psi.parameters import LEAST, UNBALANCED, kinds_declared, normalisers
from tacit.psi.prepared import DEFAULT_BUDGET, Query, prepare, query_parameters
from tacit.psi.prepared_file import held, read_prepared
from tacit.psi.source import Source, open_source


def run_prepared(options: argparse.Namespace, members: Members, screen: Screen) -> int:
    """Prepare a table, or answer or ask one query about a prepared one."""
    _refuse_others(options)
    if options.prepare is not None:
        return _prepare(options, members, screen)
    if options.input is None:
        return _answer(options, members, screen)
    return _ask(options, members, screen)


def _prepare(options: argparse.Namespace, members: Members, screen: Screen) -> int:
    begin = time.monotonic()
    members.known(options.me)
    budget = DEFAULT_BUDGET if options.budget is None else options.budget
    if not 1 <= budget <= _native.MOST_BUDGET:
        raise RunError(Fault.INPUT, f"--budget is {budget}; write a number of rows from 1 to {_native.MOST_BUDGET}.")
    if not options.prepare.parent.is_dir():
        raise RunError(Fault.INPUT, f"{options.prepare}: the folder {options.prepare.parent} does not exist.")
    source = _source(options)
    chosen = normalisers(options.key[0], options.normalise)
    key = members.private(options.me).read_key()
    about = prepare(source, chosen, options.prepare, key, budget, options.memory, screen.line)
    whole = options.prepare.stat().st_size
    seconds = time.monotonic() - begin
    screen.line(f"offline, once: {seconds:.1f} s; {options.prepare} has {size(whole)}, for its owner only")
    published = size(_native.published_bytes(about.rows, budget))
    screen.line(
        f"a party that asks gets {published} of it once, and sends and gets 32 B for each row that it asks about"
    )
    screen.line(f"budget: {budget:,} rows may be asked about in all")
    return 0


def _answer(options: argparse.Namespace, members: Members, screen: Screen) -> int:
    parties = pair(members, options.me, options.other)
    (asker,) = (name for name in parties if name != options.me)
    key = members.private(options.me).read_key()
    with held(options.prepared):
        file = read_prepared(options.prepared, key, options.memory)
        parameters = query_parameters(parties, asker, tuple(file.about.normalisers))
        query = Query(members, options.me, parameters, screen.line)
        report, _, entry = _recorded(query, screen, lambda: (query.answer(file, options.most), 0))
        left = file.about.budget - read_prepared(options.prepared, key).answered
    screen.line(f"{left:,} rows of the budget are left")
    screen.report(report, 0, False, entry)
    return _confirmed(report, asker)


def _ask(options: argparse.Namespace, members: Members, screen: Screen) -> int:
    parties = pair(members, options.me, options.other)
    if options.output is None:
        raise RunError(Fault.INPUT, f"{options.me} gets rows: name the file for them with --output.")
    check_output(options.output)
    source = _source(options)
    parameters = query_parameters(parties, options.me, normalisers(options.key[0], options.normalise))
    query = Query(members, options.me, parameters, screen.line)

    def ask() -> tuple[Report, int]:
        report, table = query.ask(source, options.prepared, options.memory)
        screen.line(f"writing {options.output}")
        rows = partial(table.output, "inner", True, 0)
        return report, write_rows(source.database, rows, options.output, "free space, and ask again")

    report, count, entry = _recorded(query, screen, ask)
    screen.report(report, count, True, entry)
    return _confirmed(report, query.peer)


def _recorded(query: Query, screen: Screen, work: Callable[[], tuple[Report, int]]) -> tuple[Report, int, int]:
    """A query, its disclosures on the screen and in the ledger: the report, rows written, the ledger's entry."""
    screen.account(query.parameters)
    ledger = Ledger(query.members.private(query.me).ledger)
    approved = ledger.append("approved", approved_entry(query.me, query.parameters))
    with recorded(ledger, approved):
        report, count = work()
    entry = ledger.append("completed", completed_entry(approved, query.parameters, report))
    return report, count, entry["entry"]


def _source(options: argparse.Namespace) -> Source:
    if options.input is None or options.key is None:
        raise RunError(Fault.INPUT, "name this party's own table with --input, and its key columns with --key.")
    key = options.key[0]
    kinds = kinds_declared(key, options.kind)
    return open_source(options.input, key, options.columns, os.cpu_count() or 1, options.memory, kinds)


def _refuse_others(options: argparse.Namespace) -> None:
    """Refuse options that a prepared table makes no use of. Raises RunError."""
    defaults = {
        "reveal": "intersection", "join": "inner", "plugin": None, "bins": "auto", "workers": None, "pairs": "all",
        "least": LEAST, "repeat_bins": False,
    }  # fmt: skip
    mistaken = [name for name, default in defaults.items() if getattr(options, name) != default]
    if options.drop is not None:
        mistaken.append("drop-contaminated")
    if len(options.key or ()) > 1:
        raise RunError(Fault.INPUT, "a prepared table has one key; write its columns as --key COLUMN,COLUMN.")
    if options.protocol not in ("auto", UNBALANCED):
        mistaken.append("protocol")
    if options.prepare is not None and options.prepared is not None:
        mistaken.append("prepared")
    if options.most is not None and (options.prepared is None or options.input is not None):
        mistaken.append("most")
    if options.budget is not None and options.prepare is None:
        mistaken.append("budget")
    if mistaken:
        raise RunError(Fault.INPUT, f"a prepared table has no use for --{mistaken[0]} here; leave it out.")
    of_input = [name for name in ("key", "kind", "normalise", "columns", "output") if getattr(options, name)]
    if options.input is None and options.prepared is not None and of_input:
        raise RunError(
            Fault.INPUT,
            f"without --input, --prepared answers by the keys as they were prepared; leave out --{of_input[0]}, or "
            "name the table to ask about with --input.",
        )
    if options.most is not None and options.most < 1:
        raise RunError(Fault.INPUT, f"--most is {options.most}; write a number of rows from 1.")


def _confirmed(report: Report, peer: str) -> int:
    if report.unconfirmed is not None:
        raise RunError(
            Fault.PEER_GONE, f"this party is done, but {peer} was lost before it confirmed ({report.unconfirmed})."
        )
    return 0
