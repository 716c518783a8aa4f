"""Numbers of matches that owners' floors guard: `tacit psi` asks them as queries, which have guards."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tacit.agent.answer import Answer
from tacit.agent.connection import Connection, connect
from tacit.agent.faults import Fault, RunError
from tacit.agent.steps import participants
from tacit.cli.account import show_account
from tacit.cli.party_process import fork
from tacit.cli.progress import Progress
from tacit.cli.psi_prepared import asked as consent
from tacit.cli.psi_screen import Screen
from tacit.cli.screen import console
from tacit.plan import explain_json, explain_text, learnt
from tacit.plan.physical.placed import PlacedPlan
from tacit.psi.disclosures import together
from tacit.psi.guarded import KEYS, TOTAL
from tacit.psi.parameters import Parameters

Guarded = tuple[Connection, PlacedPlan]
"""A federation and the plan of the query that is asked in place of a match."""

WITHHELD = "withheld, since fewer stand behind it than an owner's floor"


def planned(options: argparse.Namespace, asked: str, parameters: Parameters) -> Guarded:
    """The plan of a query. Raises RunError if parties compute it that take no part in the match."""
    for option, given in (("--input", options.input is not None), ("--csv", bool(options.csv))):
        if given:
            problem = f"{option}: the private file says where the table of an offer is, and how it is written"
            raise RunError(Fault.INPUT, f"{problem}; leave out {option}.")
    connection = connect(options.federation, party=options.me, private=options.private)
    plan = connection.plan(asked, parameters.to)
    names = participants(plan, connection.federation.catalog.parties)
    if beyond := [name for name in names if name not in parameters.parties]:
        to = ",".join(parameters.to)
        start = f'tacit party --name NAME --to {to} "{asked}"'
        problem = f"an owner's floor guards this number, and {together(beyond)} computes it, too, as a node"
        raise RunError(Fault.INPUT, f"{problem}; start `{start}` at each of {together(names)}.")
    return connection, plan


def explain(options: argparse.Namespace, guarded: Guarded) -> int:
    """Show the account of the query."""
    connection, plan = guarded
    costs = connection.predict(plan)
    if options.format == "json":
        sys.stdout.write(json.dumps(explain_json(plan, costs), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(f"{_said(plan)}\n\n{explain_text(plan, costs)}")
    return 0


def ask(options: argparse.Namespace, guarded: Guarded, screen: Screen) -> int:
    """Ask the query, once its account is agreed with, and print what it shows."""
    connection, plan = guarded
    shown = console(to_stderr=True)
    shown.quiet = options.quiet
    screen.line(_said(plan))
    show_account(plan, shown)
    consent(options, "Start the match")([_said(plan), *learnt(plan)])
    with Progress(plan, connection.parties_here(plan), shown) as progress:
        done = connection.run(plan, progress, options.wait, fork, approved=options.approved)
    if done.answer is not None:
        _print(done.answer)
    else:
        screen.line(f"{options.me} has done its part; the answer went to {together(plan.recipients)}.")
    if done.unrecorded is not None:
        raise done.unrecorded
    return 0


def _said(plan: PlacedPlan) -> str:
    return f"Owners' floors guard this number, so that it is asked as a query: {plan.query}"


def _print(answer: Answer) -> None:
    """The numbers, or that they are withheld."""
    (row,) = answer.rows()
    found: dict[str, Any] = dict(zip(answer.columns, row, strict=True))
    for name, title in ((KEYS, "matching keys"), (TOTAL, "sum")):
        if name in found:
            sys.stdout.write(f"{title}: {WITHHELD if found[name] is None else found[name]}\n")
