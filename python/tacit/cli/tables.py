"""List the tables that queries can read: owners' tables, and kept tables of which parties on this machine hold shares.
Owners' arrays, which programs can read, follow.

Nothing is connected: of a kept table, each node sees its own part, and who is no node its description.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tacit.agent.connection import connect
from tacit.agent.federation import Federation
from tacit.agent.kept_catalog import described_tables, parts_of
from tacit.agent.kept_store import Part
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console, table
from tacit.plan.account.arrays_text import array_text
from tacit.plan.algebra.types import Field, sql_name
from tacit.plan.facts.catalog import Table
from tacit.plan.facts.fields import added

NAME = "tables"
HELP = "list owners' tables and kept tables"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--federation, --private, --name, --format."""
    add_federation(parser)
    parser.add_argument(
        "--name", metavar="PARTY", help="whose parts of kept tables (default: every node's on this machine)"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text", help="for people or for programs")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    federation = connect(options.federation, party=options.name, private=options.private).federation
    nodes = tuple(node for node in federation.catalog.nodes if options.name in (None, node))
    kept = _kept(parts_of(federation, nodes), " (shares)") if nodes else _kept(described_tables(federation), "")
    found = [*_owned(federation), *_united(federation), *kept, *_arrays(federation)]
    if options.format == "json":
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return 0
    screen = console()
    shown = table(
        screen, ("table", "left"), ("held by", "left"), ("rows", "right"), ("made", "left"), ("columns", "left")
    )
    for each in found:
        rows = "announced" if each["rows"] is None else f"{each['rows']:,}"
        columns = each.get("elements") or ", ".join(
            f"{column['name']} {column['type']}" for column in each.get("columns", ())
        )
        made = f"{each['made']}, {each['id'][:8]}" if each.get("id") else ""
        shown.add_row(each.get("table") or each["array"], each["held_by"], rows, made, each.get("problem") or columns)
    screen.print(shown)
    return 0


def _owned(federation: Federation) -> list[dict[str, Any]]:
    return [
        {
            "table": each.name,
            "held_by": each.owner,
            "rows": each.rows,
            "columns": _columns([column.field for column in each.columns]),
        }
        for each in federation.catalog.tables
    ]


def _united(federation: Federation) -> list[dict[str, Any]]:
    """Names for several owners' tables together."""
    tables = {each.name: each for each in federation.catalog.tables}
    return [_union(each.name, [tables[name] for name in each.tables]) for each in federation.catalog.united]


def _union(name: str, parts: list[Table]) -> dict[str, Any]:
    rows = [part.rows for part in parts]
    return {
        "table": name,
        "held_by": " + ".join(part.owner for part in parts),
        "rows": added(rows),
        "columns": _columns([column.field for column in parts[0].columns]),
        "made_of": [part.name for part in parts],
    }


def _arrays(federation: Federation) -> list[dict[str, Any]]:
    return [
        {
            "array": each.name,
            "held_by": each.owner,
            "rows": each.size,
            "elements": array_text(each),
        }
        for each in federation.catalog.arrays
    ]


def _kept(tables: Mapping[str, Mapping[str, Part]], what: str) -> list[dict[str, Any]]:
    return [_part(f"{holder}{what}", part) for parts in tables.values() for holder, part in parts.items()]


def _part(holder: str, part: Part) -> dict[str, Any]:
    """One party's part of a kept table, or its description."""
    made = part.table.made if part.table else None
    seconds = part.path.stat().st_mtime if made is None else made
    time = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    known = {"table": part.name, "held_by": holder, "made": time, "file": str(part.path)}
    if part.table is None:
        return {**known, "rows": None, "problem": part.problem}
    return {
        **known,
        "id": part.table.id,
        "rows": part.table.rows,
        "columns": _columns([column.field for column in part.table.columns]),
        "made_of": list(part.table.tables),
        "owners": list(part.table.owners),
        "plan_hash": part.table.plan_hash,
        "query": part.table.query,
    }


def _columns(fields: Sequence[Field]) -> list[dict[str, str]]:
    return [{"name": each.name, "type": sql_name(each.type)} for each in fields]
