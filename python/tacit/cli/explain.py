"""Explain a query: its placed plan, what each party would learn, the predicted cost. Runs nothing, reads no data."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tacit.agent.connection import connect
from tacit.cli.query_arguments import add_query, query_text

NAME = "explain"
HELP = "show the plan, what each party would learn, and the cost, without running anything"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """QUERY, --federation, --private, --to, --format, --rules."""
    add_query(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--format", choices=["text", "json"], default="text", help="for people or for programs (default: text)"
    )
    shown.add_argument("--rules", action="store_true", help="show the query's tree after each of the planner's rules")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    connection, query = connect(options.federation, private=options.private), query_text(options)
    if options.rules:
        explained: str | dict[str, Any] = connection.rules(query, options.to)
    else:
        explained = connection.explain(query, options.to, format=options.format)
    text = explained if isinstance(explained, str) else json.dumps(explained, indent=2, ensure_ascii=False)
    sys.stdout.write(text.rstrip("\n") + "\n")
    return 0
