"""Check that an answer's file is the one that its recipient got, and that all parties signed the run that gave it.

Asks nobody: it takes the certificate beside the file (FILE.tacit.json) and the parties' certificates in keys/.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tacit.agent.federation_members import Members
from tacit.agent.proof import check
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console

NAME = "verify"
HELP = "check the certificate of an answer's file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, --federation, --private."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the answer, as --output-file has written it")
    add_federation(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    found = check(options.file, Members.load(options.federation, options.private))
    screen = console()
    for line in (
        f"{options.file}: as {found.recipient} got it",
        f"run {found.run}, plan {found.plan_hash}",
        f"signed by {', '.join(found.signers)}" + (" alone" if len(found.signers) == 1 else ""),
    ):
        screen.print(line, soft_wrap=True, markup=False)
    return 0
