"""Approve a query for a number of later runs, until a day. `tacit party --approved` runs nothing else.

The approval is signed by the party's key and stands in its ledger, as does each run that used it. It is of the plan: of
any other query, offer, recipient or version of tacit nothing is approved. QUERY may be the hash of a plan, too: so a
match is approved, of which `tacit psi explain` shows the hash.
"""

from __future__ import annotations

import argparse
import re
from datetime import date, timedelta

from tacit.agent.approval import approve, today
from tacit.agent.connection import connect
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.ledger import Ledger
from tacit.agent.signer import Signer
from tacit.cli.account import show_account
from tacit.cli.consent import question
from tacit.cli.query_arguments import add_query, query_text
from tacit.cli.screen import console
from tacit.plan import plan_hash

NAME = "approve"
HELP = "approve a query for later runs"

DAYS = 30
"""For which an approval is valid if nobody says until when."""
HASH = re.compile("[0-9a-f]{8,64}")
WHOLE_HASH = 64
"""Digits."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """QUERY, --name, --times, --until, --yes and the arguments of queries."""
    add_query(parser)
    parser.add_argument("--name", required=True, metavar="PARTY", help="the party that approves")
    parser.add_argument("--times", type=_times, default=1, metavar="N", help="how many runs (default: 1)")
    parser.add_argument(
        "--until", type=_day, metavar="DAY", help=f"the last day, as 2027-01-31 (default: in {DAYS} days)"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask, at a terminal")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    until = options.until or today() + timedelta(days=DAYS)
    if until < today():
        raise RunError(Fault.INPUT, f"--until {until} is over; name a later day.")
    text, screen = query_text(options), console(to_stderr=True)
    members = Members.load(options.federation, options.private)
    signer = Signer.of(members, members.known(options.name))
    ledger = Ledger(members.private(options.name).ledger, signer)
    query: str | None
    if HASH.fullmatch(text):
        known, query = _known(ledger, text), None
    else:
        plan = connect(options.federation, party=options.name, private=options.private).plan(text, options.to)
        show_account(plan, screen)
        known, query = plan_hash(plan).hex(), plan.query
    what = f"{options.times} {'run' if options.times == 1 else 'runs'} until {until}"
    question(f"Approve {what} as {options.name}", yes=options.yes, quiet=False)([])
    entry = approve(ledger, signer, known, query, options.times, until)
    screen.print(f"{options.name} approves {what}: plan {known}, ledger entry {entry['entry']}", soft_wrap=True)
    return 0


def _known(ledger: Ledger, text: str) -> str:
    """The whole hash of a plan of the ledger that begins so. Raises RunError."""
    found = {str(entry["plan_hash"]) for entry in ledger.entries() if str(entry.get("plan_hash")).startswith(text)}
    if len(text) == WHOLE_HASH:
        return text
    if len(found) != 1:
        state = "none" if not found else "several"
        problem = f"of the plans in this ledger {state} begin with {text}"
        raise RunError(Fault.INPUT, f"{problem}; give the query, or all {WHOLE_HASH} digits of the hash.")
    return found.pop()


def _times(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of runs; write for example 10")
    return int(text)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day; write for example 2027-01-31") from None
