"""How a match runs: protocol, roles, bins and workers, as native code chooses them, in sentences for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.plan.facts.catalog import Link
from tacit.psi.parameters import FEW_ROWS, MOST_ASKED, Parameters

BYTES_PER_TOKEN = _native.BYTES_PER_TOKEN
"""What a worker keeps at most for each token of a bin while it is matched."""

Facts = tuple[_native.Announcement, ...]
"""What all parties announce, in their order."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen, why, and what it will cost. sent: payload bytes that each party sends.

    may_ask: how many items each party may ask about by deviating, in sentences; empty where no such number is known.
    """

    protocol: str
    bins: int
    workers: int
    sent: tuple[int, ...]
    rounds: int
    seconds: float
    why: tuple[str, ...]
    may_ask: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class Choice(Chosen):
    """Of two parties. sender: who plays the protocol's sender. capacities: each party's padded size of a bin."""

    sender: int
    capacities: tuple[int, int]


@dataclass(frozen=True)
class GroupChoice(Chosen):
    """Of more. leader: the party that finds the matches. rows: most that a party has in memory, its own and those."""

    leader: int
    rows: int


def choose(parameters: Parameters, facts: Facts, expected: Link | None = None) -> Choice:
    """From what both parties announce. expected: the network that this party expects, if it is not the one agreed on.

    Raises RunError and native errors.
    """
    automatic = parameters.plugin is None and parameters.protocol == "auto"
    first, second = facts
    found = _native.choose_bins(parameters.plan, (first, second), as_native(expected))
    bins, workers, capacities = found["bins"], found["workers"], (found["capacities"][0], found["capacities"][1])
    memory = min(each.memory for each in facts)
    if found["need"] > found["memory"]:
        instead = "agree on more --bins" if parameters.malicious else "leave --bins to tacit"
        raise RunError(
            Fault.INPUT,
            f"bins of {max(capacities):,} tokens need {found['need'] >> 20:,} MiB, more than the {memory >> 20:,} MiB "
            f"declared; declare more --memory, or {instead}.",
        )
    name, sender, rows = found["protocol"], found["sender"], (first.rows, second.rows)
    others = [f"{other} {seconds:.2f} s" for other, seconds in found["others"]]
    predicted = f"{found['seconds']:.2f} s predicted {network_text(parameters.link)}, {', '.join(others)}"
    most = "at most one a bin, and no more than fit into memory" if parameters.malicious else "and at most one a bin"
    padded = bins * max(capacities) / max(1, max(rows)) - 1
    why = (
        f"protocol {name}: {predicted if automatic else 'as asked'}",
        _why_bins(found, max(rows), memory, parameters.malicious),
        f"padding adds {padded:.1%}: each bin is padded to {capacities[0]:,} and {capacities[1]:,} rows, and overflows "
        "with probability below 2^-80",
        f"{workers} worker{'s' if workers > 1 else ''}: the fewer of what the parties offer, {most}",
        _why_sender(parameters, sender),
    )
    return Choice(
        name, bins, workers, tuple(found["sent"]), found["rounds"], found["expected"], why, sender, capacities,
        may_ask=_may_ask(parameters, sender, capacities, bins, rows),
    )  # fmt: skip


def as_native(network: Link | None) -> tuple[float, float] | None:
    """A network as native code wants it."""
    return None if network is None else (network.latency, network.bandwidth)


def network_text(link: Link | None) -> str:
    """The network that a choice reckons with, for people. link: as all declare it."""
    if link is None:
        return "on a fast network, as no other is declared"
    return f"at {1e3 * link.latency:g} ms one way and {link.bandwidth / 1e6:g} MB/s"


def _why_bins(found: Mapping[str, Any], rows: int, memory: int, malicious: bool) -> str:
    """malicious: parties may deviate, so that the memory which they declare decides nothing."""
    bins, tokens, workers = found["bins"], found["tokens"], found["workers"]
    match found["limit"]:
        case "asked":
            return f"{bins} bins: as asked"
        case "none":
            room = "caches" if malicious else "memory and caches"
            return f"1 bin: {rows:,} tokens fit into {room} at once, so nothing is padded"
        case "caches":
            limit = "are matched fastest"
        case _:
            limit = f"fit into {memory >> 20:,} MiB for {workers} workers"
    return f"{bins} bins: so that about {tokens:,} tokens a bin {limit}"


def _why_sender(parameters: Parameters, sender: int) -> str:
    receiver = parameters.parties[1 - sender]
    if not parameters.all_learn:
        return f"{receiver} receives: it alone learns the matches"
    if parameters.plugin is not None:
        return f"{receiver} receives: the first party does with a plug-in"
    return f"{receiver} receives: this way fewer bytes are sent"


def _may_ask(
    parameters: Parameters, sender: int, capacities: tuple[int, int], bins: int, rows: tuple[int, int]
) -> tuple[str, ...]:
    """How many items a party that deviates may ask about, where the protocol is against such parties.

    A receiver fills the stores of all bins; a sender that is told the matches sends a tag for each padded place. Raises
    RunError if these are too many for what the party declares.
    """
    if not parameters.malicious:
        return ()
    items = {1 - sender: bins * _native.matching_questions(capacities[1 - sender], bins)}
    if parameters.all_learn:
        items[sender] = bins * capacities[sender]
    told = []
    for party, most in items.items():
        who, other, declared = parameters.parties[party], parameters.parties[1 - party], rows[party]
        allowed = MOST_ASKED * max(FEW_ROWS, declared)
        if most > allowed:
            raise RunError(
                Fault.POLICY,
                f"{who} declares {declared:,} rows, but if it deviates, it may ask about {most:,} items in {bins:,} "
                f"bins, more than the {allowed:,} allowed; agree on fewer --bins, with more --memory.",
            )
        told.append(
            f"if {who} deviates, it may ask about {most:,} items which of them {other} has; it declares {declared:,}"
        )
    return tuple(told)
