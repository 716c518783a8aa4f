"""The arguments that say what a match shows of which tables, for `tacit psi` and for `tacit policy test`."""

from __future__ import annotations

import argparse

from tacit.psi.parameters import JOINS


def add_named(parser: argparse.ArgumentParser) -> None:
    """--with, --tables, --key, --reveal, --join."""
    add = parser.add_argument
    add("--with", dest="other", type=names, metavar="PARTIES",
        help="whom to match with (default: all parties of the federation file)")  # fmt: skip
    add("--tables", type=names, metavar="TABLES",
        help="tables of offers to match, each under its owner's rules; this party's own needs no --input")  # fmt: skip
    add("--key", type=names, action="append", metavar="COLUMNS",
        help="the columns that identify a row, in an agreed order; of several --key one is enough; where names of "
        "tables' columns differ, like customers.id=people.ssn")  # fmt: skip
    add("--reveal", default="intersection", metavar="WHAT",
        help="intersection (default), cardinality, sum(PARTY.COLUMN), ids, or shares")  # fmt: skip
    add("--join", choices=JOINS, default="inner", help="which rows the output has (default: inner)")


def names(text: str) -> list[str]:
    """Names with commas between them."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError("name at least one column")
    return found
