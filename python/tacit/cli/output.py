"""Where an answer goes: as a table for people, or as csv, json or parquet for programs, to stdout or to a file."""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tacit.agent.answer import FORMATS, Answer
from tacit.agent.array_answer import FILES, ArrayAnswer, check_file, gives_arrays
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.own_files import check_not_own, check_place, own_files
from tacit.cli.screen import console, table
from tacit.plan.physical.placed import PlacedPlan

SIGNIFICANT_DIGITS = 6
"""Of the largest floating-point number of a column on screen. Files and the other formats hold all digits."""

SHOWN_ROWS = 40
"""Rows of a table on screen; the rest is counted. Files and the other formats hold all rows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--output and --output-file."""
    formats = ["table", *FORMATS]
    parser.add_argument(
        "--output", choices=formats, help="format of the answer (default: as --output-file ends, else table)"
    )
    parser.add_argument("--output-file", type=Path, metavar="FILE", help="write the answer to FILE instead of stdout")


def check_arguments(options: argparse.Namespace) -> None:
    """Refuse what could only fail after the computation. Raises RunError."""
    file: Path | None = options.output_file
    if file is None:
        if options.output == "parquet" and sys.stdout.isatty():
            raise RunError(Fault.INPUT, "parquet is not for a terminal; name a file with --output-file.")
        return
    if _is_for_arrays(options):
        return
    if _format(options) not in FORMATS:
        raise RunError(
            Fault.INPUT, f"{file}: name it .csv, .json or .parquet, or choose --output csv, json or parquet."
        )
    check_place(file)


def check_inputs(options: argparse.Namespace, federation: Federation) -> None:
    """Refuse an output over a file that parties read or keep here. Raises RunError."""
    if options.output_file is not None:
        check_not_own(options.output_file, own_files(federation.members, federation.privates.values()))


def check_arrays(plan: PlacedPlan, options: argparse.Namespace) -> None:
    """Refuse a format of tables for the arrays of a program, and one of arrays for a table. Raises RunError."""
    if not gives_arrays(plan):
        if _is_for_arrays(options):
            problem = "has arrays, and a query gives a table"
            raise RunError(Fault.INPUT, f"{options.output_file}: {problem}; name it .csv, .json or .parquet.")
        return
    if options.output is not None:
        problem = "a program gives arrays, and no table to write"
        raise RunError(Fault.INPUT, f"{problem}; leave --output out, and name a .npy or .npz file with --output-file.")
    if options.output_file is not None:
        check_file(options.output_file, plan)


def _is_for_arrays(options: argparse.Namespace) -> bool:
    """Whether the file is one of NumPy."""
    return options.output is None and options.output_file is not None and options.output_file.suffix in FILES


def put_arrays(answer: ArrayAnswer, options: argparse.Namespace) -> None:
    """Write the arrays of a program where the options say, or print them as NumPy does.

    Raises RunError if that fails; arrays that their file does not take are on stdout then.
    """
    if options.output_file is None:
        _print_arrays(answer)
        return
    try:
        answer.write(options.output_file)
    except OSError as error:
        _print_arrays(answer)
        problem = f"{options.output_file}: cannot be written ({error.strerror}); the arrays are on stdout instead."
        raise RunError(Fault.INPUT, problem) from error


def _print_arrays(answer: ArrayAnswer) -> None:
    for name, array in answer.arrays.items():
        sys.stdout.write(f"{name} = {array}\n")


def put(answer: Answer, options: argparse.Namespace) -> None:
    """Write the answer where and how the options say.

    Raises RunError if that fails; an answer that its file does not take is on stdout then.
    """
    format = _format(options)
    if options.output_file is None:
        _to_stdout(answer, format)
        return
    try:
        answer.write(options.output_file, format)
    except OSError as error:
        _to_stdout(answer, "csv" if format == "parquet" else format)
        problem = f"{options.output_file}: cannot be written ({error.strerror}); the answer is on stdout instead."
        raise RunError(Fault.INPUT, problem) from error


def show_table(answer: Answer, screen: Console) -> None:
    """The first rows as a table for people."""
    rows = answer.rows()
    columns = [_column([row[at] for row in rows]) for at in range(len(answer.columns))]
    shown = table(screen, *((name, side) for name, (side, _) in zip(answer.columns, columns, strict=True)))
    for row in rows[:SHOWN_ROWS]:
        shown.add_row(*(_cell(value, form) for value, (_, form) in zip(row, columns, strict=True)))
    screen.print(shown)
    if len(rows) > SHOWN_ROWS:
        screen.print(f"... and {len(rows) - SHOWN_ROWS:,} more rows; --output csv shows all")
    elif not rows:
        screen.print("(no rows)")


def _column(values: list[object]) -> tuple[str, str]:
    """Which side a column's cells keep to, and the format of its floating-point numbers: alike in the whole column."""
    known = [value for value in values if value is not None]
    if not all(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in known):
        return "left", ""
    largest = max((abs(value) for value in known if isinstance(value, float) and math.isfinite(value)), default=0.0)
    decimals = SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(largest)) if largest > 0 else 1
    return "right", f".{decimals}f" if 0 < decimals < 2 * SIGNIFICANT_DIGITS else f".{SIGNIFICANT_DIGITS}g"


def _cell(value: object, form: str) -> Text:
    if value is None:
        return Text("NULL", style="dim")
    return Text(format(value, form) if isinstance(value, float) else str(value))


def _format(options: argparse.Namespace) -> str:
    if options.output is not None:
        return str(options.output)
    return "table" if options.output_file is None else str(options.output_file.suffix.removeprefix("."))


def _to_stdout(answer: Answer, format: str) -> None:
    try:
        if format == "table":
            show_table(answer, console())
        else:
            _copy_to_stdout(answer, format)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RunError(Fault.INPUT, f"stdout: the answer cannot be written ({error.strerror}).") from error


def _copy_to_stdout(answer: Answer, format: str) -> None:
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        file = Path(folder) / "answer"
        answer.write_rows(file, format)
        with file.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
    sys.stdout.buffer.flush()
