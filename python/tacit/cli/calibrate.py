"""Measure what this machine takes, and write the table of prices by which plans and protocols are chosen.

All parties of a federation need the same table: measure on the machine that is most like all of them, and copy the
file. It takes about a minute, in which nothing else should run.

With --link, measure the network between the nodes instead, and print the section [link] that declares it. All nodes
start it at about the same time; where parties only match tables, all parties do. It takes some seconds for each pair.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

from tacit.agent.calibration import as_toml, calibrate
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.link import measure_links, measuring_parties
from tacit.agent.link_section import check_writable, link_section, write_link
from tacit.agent.prices import FILE
from tacit.cli.durations import seconds
from tacit.cli.query_arguments import add_federation
from tacit.cli.screen import console, table
from tacit.plan.facts.catalog import Link

NAME = "calibrate"
HELP = "measure this machine's prices, or the link between nodes, by which plans are chosen"
WAIT = 120.0
"""Seconds that people may take to start the others."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--output, --machine, --force; --link, --as, --write, --wait, --federation, --private."""
    parser.add_argument("--output", type=Path, metavar="FILE", help=f"where prices go (default: {FILE})")
    parser.add_argument("--machine", metavar="TEXT", help="how the file of prices names this machine")
    parser.add_argument("--force", action="store_true", help="replace a file, or a section [link], that exists")
    parser.add_argument("--link", action="store_true", help="measure the network between the nodes, not this machine")
    parser.add_argument("--as", dest="me", metavar="PARTY", help="with --link: the party that this machine is")
    parser.add_argument("--write", action="store_true", help="with --link: write the section into the federation file")
    parser.add_argument(
        "--wait", type=seconds, metavar="TIME", help="with --link: how long the others may take to start (default: 2m)"
    )
    add_federation(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    return _link(options) if options.link else _prices(options)


def _prices(options: argparse.Namespace) -> int:
    """Measure this machine."""
    _refuse(
        {"--as": options.me is not None, "--write": options.write, "--wait": options.wait is not None},
        "is for the network between nodes; add --link",
    )
    output: Path = options.output or Path(FILE)
    if output.exists() and not options.force:
        raise RunError(Fault.INPUT, f"{output} exists; give another --output, or replace it with --force.")
    machine = options.machine or f"{platform.machine()}, {os.cpu_count()} cores"
    prices = calibrate(time.strftime("%Y-%m-%d"), machine, _teller())
    try:
        output.write_text(as_toml(prices.table))
    except OSError as error:
        raise RunError(Fault.INPUT, f"{output} cannot be written ({error.strerror}); name another --output.") from None
    screen = console()
    shown = table(screen, ("step", "left"), ("taken", "right"), ("by default", "right"), ("by these prices", "right"))
    for step in sorted(prices.steps, key=lambda step: -step.taken)[:12]:
        shown.add_row(step.name, *(f"{seconds:.3f} s" for seconds in (step.taken, step.predicted, step.fitted)))
    screen.print(shown)
    before = _error(step.predicted / step.taken for step in prices.steps)
    now = _error(step.fitted / step.taken for step in prices.steps)
    sentence = f"{len(prices.steps)} steps; predicted time is off by {before} by default, by {now} with {output}"
    screen.print(sentence, soft_wrap=True, markup=False)
    return 0


def _error(ratios: Iterable[float]) -> str:
    """The median of how far ratios are from one, as a factor."""
    return f"a factor of {median(max(ratio, 1 / max(ratio, 1e-9)) for ratio in ratios):.2f}"


def _link(options: argparse.Namespace) -> int:
    """Measure the network, with the other nodes."""
    _refuse(
        {"--output": options.output is not None, "--machine": options.machine is not None},
        "is for prices; leave it out with --link",
    )
    if options.me is None:
        raise RunError(Fault.INPUT, "--link has two ends; name the party that this machine is with --as PARTY.")
    members = Members.load(options.federation, options.private)
    parties = measuring_parties(members, options.me)
    if options.write:
        check_writable(members.path, replace=options.force)
    found = measure_links(members, parties, options.me, options.wait or WAIT, _teller())
    screen = console()
    shown = table(screen, ("link", "left"), ("one way", "right"), ("each direction", "right"))
    for one, other, link in (*found.pairs, ("the worst", "", found.worst)):
        shown.add_row(f"{one} and {other}" if other else one, *_shown(link))
    screen.print(shown)
    for line in ("", *link_section(found.worst).splitlines(), ""):
        screen.print(line, soft_wrap=True, markup=False)
    if options.write:
        write_link(members.path, found.worst)
    done = "declares it now" if options.write else "has to declare it: --write does that"
    alike = "All parties need the same file. Those who measured have the same numbers; whoever did not gets a copy."
    screen.print(f"{members.path} {done}. {alike}", soft_wrap=True, markup=False)
    return 0


def _teller() -> Callable[[str], None]:
    """Prints lines about what happens."""
    screen = console(to_stderr=True)
    return lambda line: screen.print(line, soft_wrap=True, markup=False)


def _shown(link: Link) -> tuple[str, str]:
    return f"{1e3 * link.latency:.3g} ms", f"{link.bandwidth / 1e6:.3g} MB/s"


def _refuse(given: dict[str, bool], why: str) -> None:
    for option, is_given in given.items():
        if is_given:
            raise RunError(Fault.INPUT, f"{option} {why}.")
