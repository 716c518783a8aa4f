"""Measure what this machine takes, and write the table of prices by which plans and protocols are chosen.

All parties of a federation need the same table: measure on the machine that is most like all of them, and copy the
file. It takes about a minute, in which nothing else should run.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from tacit.agent.calibration import as_toml, calibrate
from tacit.agent.faults import Fault, RunError
from tacit.agent.prices import FILE
from tacit.cli.screen import console, table

NAME = "calibrate"
HELP = "measure this machine's prices, by which plans are chosen"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--output, --machine, --force."""
    parser.add_argument("--output", type=Path, default=Path(FILE), metavar="FILE", help=f"default: {FILE}")
    parser.add_argument(
        "--machine",
        default=f"{platform.machine()}, {os.cpu_count()} cores",
        metavar="TEXT",
        help="how the file names this machine",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    output: Path = options.output
    if output.exists() and not options.force:
        raise RunError(Fault.INPUT, f"{output} exists; give another --output, or replace it with --force.")
    told = console(to_stderr=True)
    prices = calibrate(
        time.strftime("%Y-%m-%d"), options.machine, lambda line: told.print(line, soft_wrap=True, markup=False)
    )
    try:
        output.write_text(as_toml(prices.table))
    except OSError as error:
        raise RunError(Fault.INPUT, f"{output} cannot be written ({error.strerror}); name another --output.") from None
    screen = console()
    shown = table(screen, ("step", "left"), ("taken", "right"), ("by default", "right"), ("by these prices", "right"))
    for step in sorted(prices.steps, key=lambda step: -step.taken)[:12]:
        shown.add_row(step.name, *(f"{seconds:.3f} s" for seconds in (step.taken, step.predicted, step.fitted)))
    screen.print(shown)
    before = _error(step.predicted / step.taken for step in prices.steps)
    now = _error(step.fitted / step.taken for step in prices.steps)
    sentence = f"{len(prices.steps)} steps; predicted time is off by {before} by default, by {now} with {output}"
    screen.print(sentence, soft_wrap=True, markup=False)
    return 0


def _error(ratios: Iterable[float]) -> str:
    """The median of how far ratios are from one, as a factor."""
    return f"a factor of {median(max(ratio, 1 / max(ratio, 1e-9)) for ratio in ratios):.2f}"
