"""Begin a federation as its first party: the public folder, this party's key pair, offer and private file.

The other parties get a copy of the public files and add themselves with `tacit join`.
"""

from __future__ import annotations

import argparse

from tacit.agent.federation_setup import found
from tacit.cli.query_arguments import add_federation
from tacit.cli.set_up import show_set_up
from tacit.plan.physical import engines

NAME = "init"
HELP = "begin a federation as its first party"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--federation, --private, --name, --address, --engine."""
    add_federation(parser)
    parser.add_argument("--name", required=True, metavar="PARTY", help="what this party is called")
    parser.add_argument("--address", required=True, metavar="HOST:PORT", help="where it listens for the others")
    parser.add_argument(
        "--engine",
        choices=tuple(engines.NODES),
        default=engines.DEFAULT,
        help=f"how the nodes compute: {engines.alternatives()} nodes (default: {engines.DEFAULT})",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    made = found(options.federation, options.private, options.name, options.address, options.engine)
    show_set_up(made, options.name)
    return 0
