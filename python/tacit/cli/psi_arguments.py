"""The arguments that say what a match shows of which tables, for `tacit psi` and for `tacit policy test`."""

from __future__ import annotations

import argparse

from tacit.psi.parameters import JOINS, LEAST, PAIRS


def add_shown(parser: argparse._ActionsContainer) -> None:
    """--with, --tables, --key, --columns, --normalise, --kind, --reveal and what belongs to it, --join, --plugin."""
    add = parser.add_argument
    add("--with", dest="other", type=names, metavar="PARTIES",
        help="whom to match with (default: all parties of the federation file)")  # fmt: skip
    add("--tables", type=names, metavar="TABLES",
        help="tables of offers to match, each under its owner's rules; this party's own needs no --input")  # fmt: skip
    add("--key", type=names, action="append", metavar="COLUMNS",
        help="the columns that identify a row, in an agreed order; of several --key one is enough; where names of "
        "tables' columns differ, like customers.id=people.ssn")  # fmt: skip
    add("--columns", type=names, metavar="COLUMNS",
        help="the columns of the output (default: all); with --reveal shares the columns that all parties share, "
        "like people.seat or b.amount (default: none)")  # fmt: skip
    add("--normalise", type=_by_column, default={}, metavar="COLUMN=HOW",
        help="spelling of key columns: email, name, phone, phone:REGION, exact (default: exact)")  # fmt: skip
    add("--kind", type=_by_column, default={}, metavar="COLUMN=KIND",
        help="what texts of key columns are read as: number, date, ... (default: they stay texts)")  # fmt: skip
    add("--reveal", default="intersection", metavar="WHAT",
        help="intersection (default), cardinality, sum(PARTY.COLUMN), ids, or shares")  # fmt: skip
    add("--pairs", choices=PAIRS, default="all",
        help="with --reveal shares: all pairs of rows with a common key (default), or one for each row")  # fmt: skip
    add("--drop-contaminated", dest="drop", metavar="WHOSE",
        help="with --reveal shares: leave out rows with several counterparts, of both parties or of one")  # fmt: skip
    add("--least", type=int, default=LEAST, metavar="KEYS",
        help=f"with a sum: how many keys have to match for it to be shown (default: {LEAST})")  # fmt: skip
    add("--join", choices=JOINS, default="inner", help="which rows the output has (default: inner)")
    add("--plugin", metavar="WHAT", help="a protocol from elsewhere: a shared library, or MODULE:CLASS")


def names(text: str) -> list[str]:
    """Names with commas between them."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("name at least one column")
    return found


def _by_column(text: str) -> dict[str, str]:
    """What is said of columns, like ``email=email,phone=phone:DE``."""
    return {column: said for column, _, said in (each.partition("=") for each in names(text))}
