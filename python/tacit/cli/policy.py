"""Owners' rules: what tables allow, in sentences, and what they say of queries."""

from __future__ import annotations

import argparse
from types import ModuleType
from typing import Final

from tacit.cli import policy_show, policy_test

NAME = "policy"
HELP = "show what owners' offers allow, and what they say of queries"

COMMANDS: Final[tuple[ModuleType, ...]] = (policy_show, policy_test)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One command of the group."""
    group = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in COMMANDS:
        command = group.add_parser(module.NAME, help=module.HELP, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(policy=module)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    status: int = options.policy.run(options)
    return status
