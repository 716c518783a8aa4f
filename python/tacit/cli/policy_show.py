"""Show in sentences what owners' offers allow: of all tables and arrays, or of one."""

from __future__ import annotations

import argparse
import json
import sys
from difflib import get_close_matches
from typing import Any

from rich.console import Console
from rich.padding import Padding

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console, heading, table
from tacit.plan.account.arrays_text import array_clauses, number_text
from tacit.plan.account.serialise import encoded, offer_hash
from tacit.plan.account.terms_text import Clause, is_open, table_clauses, value_text
from tacit.plan.algebra.types import sql_name
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, Column, Table

NAME = "show"
HELP = "say in sentences what offers allow"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """TABLE, --federation, --private, --format."""
    parser.add_argument("table", nargs="?", metavar="TABLE", help="the table or array (default: all)")
    add_federation(parser)
    parser.add_argument("--format", choices=["text", "json"], default="text", help="for people or for programs")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    catalog = Federation.load(options.federation, private=options.private).catalog
    shown = catalog.offered if options.table is None else _named(options.table, catalog)
    if options.format == "json":
        found = [_said(each, catalog) if isinstance(each, Table) else _array(each, catalog) for each in shown]
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return 0
    screen = console()
    for owner in dict.fromkeys(each.owner for each in shown):
        for each in (found for found in shown if found.owner == owner):
            if isinstance(each, Table):
                _show(f"{each.name}, a table of {owner}", table_clauses(each, catalog.parties), screen)
            else:
                _show(f"{each.name}, an array of {owner}", array_clauses(each), screen)
        what = "tables and arrays" if any(each.owner == owner for each in catalog.arrays) else "tables"
        screen.print(f"\nAll {what} of {owner}, with their terms: offer {_hash(owner, catalog)[:16]}")
    return 0


def _named(name: str, catalog: Catalog) -> tuple[Table | OfferedArray, ...]:
    """The table that SQL means by a name, and the arrays of that name. Raises RunError if there is none."""
    found = tuple(each for each in catalog.offered if each.name.lower() == name.lower())
    if not found:
        known = {each.name.lower(): each.name for each in catalog.offered}
        near = get_close_matches(name.lower(), known, n=1)
        advice = f"perhaps you mean {known[near[0]]}" if near else "`tacit tables` lists all"
        raise RunError(Fault.INPUT, f"nobody offers a table {name!r}; {advice}.")
    return found


def _show(title: str, clauses: tuple[Clause, ...], screen: Console) -> None:
    heading(screen, title)
    listed = table(screen, ("", "left"), ("", "left"))
    listed.show_header, listed.box = False, None
    for clause in clauses:
        listed.add_row(clause.subject, clause.text)
    screen.print(Padding(listed, (0, 0, 0, 2)))


def _hash(owner: str, catalog: Catalog) -> str:
    return offer_hash(each for each in catalog.offered if each.owner == owner)


def _said(shown: Table, catalog: Catalog) -> dict[str, Any]:
    """A table's terms as data, under the names that offers use, with the sentences."""
    terms = encoded(shown.terms)
    return {
        "table": shown.name,
        "owner": shown.owner,
        "offer_hash": _hash(shown.owner, catalog),
        "open": is_open(shown, catalog.parties),
        "terms": None if terms is None else {name: value for name, value in terms.items() if name != "node"},
        "columns": [_column(each) for each in shown.columns],
        "sentences": [{"subject": each.subject, "text": each.text} for each in table_clauses(shown, catalog.parties)],
    }


def _array(shown: OfferedArray, catalog: Catalog) -> dict[str, Any]:
    """An array's terms as data, under the names that offers use, with the sentences."""
    numbers = {"min": shown.low, "max": shown.high, "row_norm": shown.row_norm}
    terms = shown.terms
    return {
        "array": shown.name,
        "owner": shown.owner,
        "offer_hash": _hash(shown.owner, catalog),
        "shape": list(shown.shape),
        "dtype": shown.dtype,
        **{entry: None if each is None else number_text(each) for entry, each in numbers.items()},
        "use": [] if terms is None else encoded(terms.ways),
        "allow": None if terms is None or terms.programs is None else encoded(terms.programs),
        "programs": "any" if terms is not None and terms.programs is None else None,
        "recipients": [] if terms is None else encoded(terms.recipients),
        "until": None if terms is None else encoded(terms.until),
        "sentences": [{"subject": each.subject, "text": each.text} for each in array_clauses(shown)],
    }


def _column(column: Column) -> dict[str, Any]:
    terms, type_ = column.terms, column.field.type
    cuts = [value_text(each, type_) for each in terms.cuts] if isinstance(terms.cuts, tuple) else terms.cuts
    constants = None if terms.constants is None else sorted(value_text(each, type_) for each in terms.constants)
    return {
        "name": column.field.name,
        "type": sql_name(type_),
        "use": encoded(terms.ways),
        "functions": encoded(terms.functions),
        "least_group": terms.least_group,
        "to": encoded(terms.to),
        "with": encoded(terms.partners),
        "cuts": cuts,
        "constants": constants,
    }
