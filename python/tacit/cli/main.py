"""The ``tacit`` command: finds the subcommand, and turns every error into one sentence and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from tacit.cli.traces import show_traceback_if_asked

HOMES = {
    "sql": "tacit.cli.sql",
    "psi": "tacit.cli.psi",
    "explain": "tacit.cli.explain",
    "deliver": "tacit.cli.deliver",
    "tables": "tacit.cli.tables",
    "party": "tacit.cli.party",
    "run": "tacit.cli.run",
    "approve": "tacit.cli.approve",
    "demo": "tacit.cli.demo.command",
    "init": "tacit.cli.init",
    "join": "tacit.cli.join",
    "doctor": "tacit.cli.doctor",
    "calibrate": "tacit.cli.calibrate",
    "keys": "tacit.cli.keys",
    "ledger": "tacit.cli.ledger",
    "policy": "tacit.cli.policy",
    "verify": "tacit.cli.verify",
}
"""Each command's module, which only a run of the command loads: SQL's parser costs more time than a small match."""

EXIT_STATUS = """\
exit status: 0 success, 2 wrong input or usage, 3 refused by policy, 4 a peer misbehaved, 5 a peer is gone,
6 a peer cheated, 70 a fault in tacit itself (TACIT_TRACEBACK=1 shows where), 130 interrupted
"""


WRONG_USAGE = 2


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {message}; `{self.prog} --help` shows the usage.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        options = _parser(commands(arguments[:1])).parse_args(arguments)
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        from tacit.agent.diagnosis import diagnose

        show_traceback_if_asked()
        found = diagnose(error)
        sys.stderr.write(f"tacit: {found}\n")
        return found.fault.exit_status


def commands(named: Sequence[str] = ()) -> list[ModuleType]:
    """The modules of the commands that are named, or of all if one of the names is none."""
    wanted = [HOMES[name] for name in named if name in HOMES]
    return [import_module(home) for home in wanted or HOMES.values()]


def _parser(modules: Sequence[ModuleType]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tacit",
        description="SQL over several organisations' tables that reveals the agreed answer and nothing else.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version)
    group = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=_Parser)
    for module in modules:
        command = group.add_parser(module.NAME, help=module.HELP, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Prints the version of the native module, which parties compare before they compute together."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from tacit import _native

        sys.stdout.write(f"tacit {_native.version()}\n")
        parser.exit()
