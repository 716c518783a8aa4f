"""The arguments that all commands about a query share: the federation file, the query, and who gets the answer."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tacit.agent.faults import Fault, RunError


def add_federation(parser: argparse.ArgumentParser) -> None:
    """--federation, --private."""
    parser.add_argument(
        "--federation", type=Path, default=Path("federation.toml"), metavar="FILE",
        help="the federation file (default: federation.toml)",
    )  # fmt: skip
    parser.add_argument(
        "--private", type=Path, metavar="FOLDER",
        help="the folder of private files (default: $TACIT_PRIVATE, or private beside that file)",
    )  # fmt: skip


def add_query(parser: argparse.ArgumentParser) -> None:
    """QUERY, --federation, --private and --to."""
    parser.add_argument("query", metavar="QUERY", help="the SQL text, or - to read it from standard input")
    add_federation(parser)
    add_recipients(parser)


def add_recipients(parser: argparse.ArgumentParser) -> None:
    """--to."""
    parser.add_argument(
        "--to", type=_names, default=None, metavar="PARTIES",
        help="who gets the answer, separated by commas (default: the federation file's recipients)",
    )  # fmt: skip


def query_text(options: argparse.Namespace) -> str:
    """The query's text. Raises RunError if there is none, or it is no text."""
    try:
        text = sys.stdin.read() if options.query == "-" else str(options.query)
        text.encode()
    except UnicodeError:
        raise RunError(Fault.INPUT, "the query is not UTF-8 text; save or type it as UTF-8.") from None
    if not text.strip():
        raise RunError(Fault.INPUT, 'the query is empty; write it in quotes: tacit sql "SELECT ...".')
    return text.strip()


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("name at least one party")
    return names
