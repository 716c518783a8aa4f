"""The link between nodes, measured: all of them start it at about the same time, and all find the same numbers.

Parties meet as before a run, and native code measures, on connections as runs have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import linked_parties
from tacit.agent.federation_members import Members
from tacit.agent.meeting import READY, Status, gather
from tacit.plan.facts.catalog import Link


@dataclass(frozen=True)
class MeasuredLinks:
    """What was measured. pairs: the names of two parties, and their link, with the bandwidth of the slower direction.

    worst: the highest latency and the lowest bandwidth of all pairs, of which two digits count. It is the same at all
    parties that have measured together.
    """

    pairs: tuple[tuple[str, str, Link], ...]
    worst: Link


def measuring_parties(members: Members, me: str) -> tuple[str, ...]:
    """Who measures together, this party among them. Raises RunError if it is none of them, or there is no other."""
    parties = linked_parties(members)
    if members.known(me) not in parties:
        problem = f"{members.path}: {me} is no node, and the link is that between the nodes"
        raise RunError(Fault.INPUT, f"{problem}; measure it at {' and '.join(parties)}.")
    if len(parties) < 2:
        advice = "a further party adds itself with `tacit join`"
        raise RunError(Fault.INPUT, f"{members.path}: names {me} alone, and a link has two ends; {advice}.")
    return parties


def measure_links(
    members: Members, parties: Sequence[str], me: str, seconds: float, tell: Callable[[str], None]
) -> MeasuredLinks:
    """Measure the links between parties, all of which call this. seconds: how long to wait for the others.

    tell: is told what happens. Raises RunError if some do not come in time, and native errors if one of them fails.
    """
    private = members.private(me)
    key, network = private.read_key(), private.network
    described = [members.native_party(name) for name in parties]
    others = [name for name in parties if name != me]
    own = Status.of(members, READY)
    gather(members, me, others, own, seconds, lambda absent: tell(f"{me} waits for {' and '.join(absent)}"))
    tell(f"{me} measures with {' and '.join(others)}")
    pairs, worst = _native.measure_links(
        described,
        me,
        key,
        connect_timeout=network.connect_timeout,
        idle_timeout=network.idle_timeout,
        latency=network.latency,
        bandwidth=network.bandwidth,
    )
    found = tuple((one, other, Link(latency, bandwidth)) for one, other, latency, bandwidth in pairs)
    return MeasuredLinks(found, Link(*(float(f"{number:.1e}") for number in worst)))
