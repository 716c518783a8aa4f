"""Add this party to a federation of which the public files are here: key pair, offer, private file, membership.

Prints which files the others need then.
"""

from __future__ import annotations

import argparse

from tacit.agent.federation_setup import join
from tacit.cli.query_arguments import add_federation
from tacit.cli.set_up import show_set_up

NAME = "join"
HELP = "add this party to a federation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--federation, --private, --name, --address."""
    add_federation(parser)
    parser.add_argument("--name", required=True, metavar="PARTY", help="what this party is called")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="where it listens for the others (default: as the federation file says)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    show_set_up(join(options.federation, options.private, options.name, options.address), options.name)
    return 0
