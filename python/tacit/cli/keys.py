"""Make key pairs where private files and the federation file expect them, or show the certificates that are here.

A private key stays at its party; certificates go to all, who compare their fingerprints.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.key_change import check_replaceable, told
from tacit.agent.keys import make_keys
from tacit.cli.consent import question
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console

NAME = "keys"
HELP = "make the parties' key pairs, or show fingerprints"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--federation, --private, --name, --force, --show, --yes."""
    add_federation(parser)
    parser.add_argument(
        "--name", metavar="PARTY", help="the party to make keys for (default: all, to try things on one machine)"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--force", action="store_true", help="replace existing keys, unless kept tables need them")
    what.add_argument(
        "--show",
        nargs="?",
        const=Path(),
        type=Path,
        metavar="FILE",
        help="make nothing, and print the fingerprint of a certificate, or without FILE those of the parties",
    )
    parser.add_argument("--yes", action="store_true", help="with --force: do not ask, at a terminal")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    screen = console()
    if options.show is not None and options.show != Path():
        screen.print(f"{options.show}: fingerprint {_fingerprint(options.show)}", soft_wrap=True, markup=False)
        return 0
    members = Members.load(options.federation, options.private)
    names = tuple(members.parties) if options.name is None else (members.known(options.name),)
    if options.show is not None:
        return _show(members, names, screen)
    if options.force:
        _ask(members, names, yes=options.yes)
    for name, made in make_keys(members, names, replace=options.force).items():
        files = f"private key {made.private_key}, certificate {made.certificate}"
        for line in (files, f"fingerprint {made.fingerprint}"):
            screen.print(f"{name}: {line}", soft_wrap=True, markup=False)
    return 0


def _ask(members: Members, names: Sequence[str], *, yes: bool) -> None:
    """Say what new keys make unreadable, before anything is replaced. Raises RunError if that stands against them."""
    for name in names:
        check_replaceable(members, name)
    lost = [line for line in (told(members, name) for name in names) if line]
    for line in lost:
        console(to_stderr=True).print(line, soft_wrap=True)
    if lost:
        question("Replace the keys", yes=yes, quiet=False)(lost)


def _show(members: Members, names: Sequence[str], screen: Console) -> int:
    """Print the fingerprints of certificates that are here, and which are not."""
    missing = [name for name in names if not members.parties[name].certificate.exists()]
    for name in names:
        found = "no certificate is here" if name in missing else f"fingerprint {members.fingerprint(name)}"
        screen.print(f"{name}: {found}", soft_wrap=True, markup=False)
    return Fault.INPUT.exit_status if missing else 0


def _fingerprint(file: Path) -> str:
    try:
        return _native.fingerprint(file.read_text(encoding="ascii"))
    except OSError as error:
        raise RunError(Fault.INPUT, f"{file}: cannot be read ({error.strerror}).") from None
    except (UnicodeDecodeError, _native.InputError):
        raise RunError(Fault.INPUT, f"{file}: is no certificate in PEM text; ask its party for a copy.") from None
