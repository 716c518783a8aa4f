"""Run a Python script as one party: its programs on private arrays are run with the other parties.

All parties start the same script, each with its own name. Each traces the programs for itself; parties whose programs
differ stop before anything is shared. The script is Python, and may do whatever its user may.

--dry-run shows what each program would reveal, and runs none. `tacit approve` takes the hash of the plan that it shows;
with --approved nothing else runs.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
from functools import partial
from pathlib import Path

from tacit.agent.deployed import DEPLOYED, Deployed
from tacit.agent.faults import Fault, RunError
from tacit.cli.account import SHOWN_DIGITS
from tacit.cli.durations import seconds
from tacit.plan import explain_text, plan_hash
from tacit.plan.physical.placed import PlacedPlan

NAME = "run"
HELP = "run a script of programs on private arrays as one party"

FAILED = 1
"""The exit status of a script that ends with an exception of its own, as Python has it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """SCRIPT and its arguments, --name, --private, --wait, --approved."""
    parser.add_argument("script", type=Path, metavar="SCRIPT", help="the Python file")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="what the script finds in sys.argv")
    parser.add_argument("--name", required=True, metavar="PARTY", help="the party that this machine is")
    parser.add_argument(
        "--private", type=Path, metavar="FOLDER",
        help="the folder of private files (default: $TACIT_PRIVATE, or private beside the federation file)",
    )  # fmt: skip
    parser.add_argument(
        "--wait", type=seconds, metavar="TIME",
        help="how long to wait for the others to start, for example 30m (default: connect_timeout, 30s)",
    )  # fmt: skip
    parser.add_argument(
        "--dry-run", action="store_true", help="show the account of each program, and run none: results are None"
    )
    parser.add_argument(
        "--approved", action="store_true", help="run only programs that the party has approved (tacit approve)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if not options.script.is_file():
        raise RunError(Fault.INPUT, f"{options.script}: there is no such file; name a Python script.")
    sys.argv = [str(options.script), *options.arguments]
    sys.path.insert(0, str(options.script.resolve().parent))
    begins = _shown if options.dry_run else partial(_told, options.name)
    token = DEPLOYED.set(Deployed(options.name, options.private, options.wait, options.approved, begins))
    try:
        runpy.run_path(str(options.script), run_name="__main__")
    except RunError:
        raise
    except Exception:
        traceback.print_exc()
        return FAILED
    finally:
        DEPLOYED.reset(token)
    return 0


def _shown(plan: PlacedPlan) -> bool:
    """Show the account of a plan that is not run."""
    sys.stdout.write(f"{explain_text(plan)}\n")
    return False


def _told(party: str, plan: PlacedPlan) -> bool:
    """Say which plan a party begins: it waits for the others first, and they may be late."""
    to = ", ".join(plan.recipients) or "nobody"
    sys.stderr.write(f"tacit: {party} begins plan {plan_hash(plan).hex()[:SHOWN_DIGITS]}, whose answer goes to {to}\n")
    return True
