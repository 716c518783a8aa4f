"""Answer a question of the literature on made-up data, by a process for each party, and check it against DuckDB."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax

from tacit.agent.connection import Connection, connect
from tacit.agent.faults import Fault, RunError
from tacit.agent.keys import make_keys
from tacit.cli.account import show_account, show_comparison, show_entry, show_plan, show_prediction
from tacit.cli.demo import aspirin, comorbidity, credit, hospitals, market, matching, recurrence, two_hospitals
from tacit.cli.demo.check import check_against_pooled_data
from tacit.cli.demo.scenario import Scenario, write_scenario
from tacit.cli.output import show_table
from tacit.cli.party_process import fork
from tacit.cli.progress import Progress
from tacit.cli.screen import console, heading

NAME = "demo"
HELP = "answer a question on made-up data, with everything shown"

QUESTIONS = (credit, market, comorbidity, aspirin, recurrence, two_hospitals, hospitals)
SCENARIOS = {module.SCENARIO.name: module.SCENARIO for module in QUESTIONS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The question, --rows, --outside, --keep."""
    parser.add_argument(
        "question",
        nargs="?",
        choices=[*SCENARIOS, matching.NAME],
        default="credit",
        help="which question (default: credit)",
    )
    parser.add_argument(
        "--rows", type=_positive, metavar="N", help="rows in each owner's file (credit: in each bureau's)"
    )
    parser.add_argument(
        "--outside", action="store_true", help="have parties compute that own nothing and get no answer"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="make the files in DIR, a new folder, and leave them there"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    with _folder(options.keep) as name:
        folder = Path(name)
        if options.question == matching.NAME:
            if options.outside:
                raise RunError(Fault.INPUT, "in a match the two owners compute themselves; leave out --outside.")
            matching.tell(options.rows or matching.ROWS, folder, console())
            return 0
        scenario = SCENARIOS[options.question]
        scenario = scenario.computed_outside() if options.outside else scenario
        write_scenario(scenario, options.rows or scenario.rows, folder)
        federation = connect(folder / "federation.toml")
        make_keys(federation.federation.members, scenario.everybody, replace=False)
        _tell(scenario, federation, folder, console())
        if options.keep is not None:
            _tell_where(options.keep, console())
    return 0


def _tell(scenario: Scenario, federation: Connection, folder: Path, screen: Console) -> None:
    """The whole story: question, plan, disclosures, cost, progress, answer, check, comparison, ledger."""
    heading(screen, "The question")
    screen.print(scenario.question)
    screen.print()
    screen.print(Syntax(scenario.query, "sql", background_color="default") if screen.is_terminal else scenario.query)
    plan = federation.plan(scenario.query)
    show_plan(plan, screen)
    show_account(plan, screen)
    show_prediction(federation.predict(plan), screen)
    heading(screen, "Progress")
    with Progress(plan, federation.parties_here(plan), screen) as progress:
        done = federation.run(plan, progress, start=fork)
    assert done.answer is not None, "all parties run here, so the recipients do"
    heading(screen, f"The answer, for {', '.join(plan.recipients)}")
    show_table(done.answer, screen)
    check_against_pooled_data(scenario, folder, done.answer)
    screen.print("checked: equals DuckDB on the pooled data")
    show_comparison(done.cost, screen)
    if done.unrecorded is not None:
        raise done.unrecorded
    heading(screen, "The ledger entry")
    show_entry(dict(done.entries[plan.recipients[0]]), screen)


def _tell_where(folder: Path, screen: Console) -> None:
    heading(screen, "Yours to change")
    screen.print(f"The files are in {folder}. Edit them and ask again, for example:", soft_wrap=True)
    screen.print(f'  tacit sql --federation {folder / "federation.toml"} "SELECT ..."', soft_wrap=True)


def _folder(keep: Path | None) -> AbstractContextManager[str | Path]:
    """A temporary folder, or the one to keep, which must be new so that nothing of the user's is overwritten."""
    if keep is None:
        return tempfile.TemporaryDirectory(prefix="tacit-demo-")
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise RunError(Fault.INPUT, f"{keep} exists already; name a new folder for --keep.")
    keep.mkdir(parents=True, exist_ok=True)
    return nullcontext(keep)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)
