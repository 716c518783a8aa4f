"""Make key pairs where private files and the federation file expect them.

A private key stays at its party; certificates go to all.
"""

from __future__ import annotations

import argparse

from tacit.agent.federation_members import Members
from tacit.agent.keys import make_keys
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console

NAME = "keys"
HELP = "make the parties' key pairs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--federation, --private, --name, --force."""
    add_federation(parser)
    parser.add_argument(
        "--name", metavar="PARTY", help="the party to make keys for (default: all, to try things on one machine)"
    )
    parser.add_argument("--force", action="store_true", help="replace existing keys")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    members = Members.load(options.federation, options.private)
    names = tuple(members.parties) if options.name is None else (members.known(options.name),)
    screen = console()
    for name, made in make_keys(members, names, replace=options.force).items():
        files = f"private key {made.private_key}, certificate {made.certificate}"
        for line in (files, f"fingerprint {made.fingerprint}"):
            screen.print(f"{name}: {line}", soft_wrap=True, markup=False)
    return 0
