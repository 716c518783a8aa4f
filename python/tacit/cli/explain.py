"""Explain a query: its placed plan, what each party would learn, the predicted cost. Runs nothing, reads no data."""

from __future__ import annotations

import argparse
import json
import sys

from tacit.agent.connection import connect
from tacit.cli.query_arguments import add_query, query_text

NAME = "explain"
HELP = "show the plan, what each party would learn, and the cost, without running anything"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """QUERY, --federation, --to, --format."""
    add_query(parser)
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="for people or for programs (default: text)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    explained = connect(options.federation).explain(query_text(options), options.to, format=options.format)
    text = explained if isinstance(explained, str) else json.dumps(explained, indent=2, ensure_ascii=False)
    sys.stdout.write(text.rstrip("\n") + "\n")
    return 0
