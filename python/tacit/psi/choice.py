"""How a match runs: bins, workers and storage, chosen from public sizes by a rule that both parties compute alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.plan.physical.cost import Network
from tacit.psi.parameters import FEW_ROWS, MOST_ASKED, Parameters

FAVOURED = 1 << 20
"""Tokens a bin for which the protocols are fastest: with more, their tables leave the caches."""

BYTES_PER_TOKEN = 512
"""What a worker keeps at most for each token of a bin while it is matched."""

MOST_BINS = 1 << 14

MOST_WORKERS = 256
"""Bins matched at once: a peer that deviates has one try for each (AT_ONCE in crates/security/src/transfers.rs)."""

SECONDS_PER_TOKEN = {"dh": 40e-6, "vole-compact": 1.1e-6}
"""Measured on one core with AVX-512 for both roles together; other protocols are dominated by network and memory."""

DEFAULT_SECONDS_PER_TOKEN = 0.9e-6

SECONDS_TO_BEGIN = {"dh": 0.003}
"""Measured with sets of a few items: what base OTs and the first correlations take, or their absence."""

DEFAULT_SECONDS_TO_BEGIN = 0.06

AUTOMATIC = ("vole", "vole-compact", "dh")
"""What ``auto`` chooses from: the protocols against semi-honest parties that are fastest on some network."""


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


def choose(parameters: Parameters, facts: tuple[Mapping[str, Any], Mapping[str, Any]]) -> Choice:
    """From what both parties announce: rows, memory (bytes), workers. Raises RunError."""
    rows = (int(facts[0]["rows"]), int(facts[1]["rows"]))
    memory = min(int(each["memory"]) for each in facts)
    wanted = min(MOST_WORKERS, *(int(each["workers"]) for each in facts))
    bins, why_bins = _bins(parameters, max(rows), memory, wanted)
    capacities = (_native.matching_capacity(rows[0], bins), _native.matching_capacity(rows[1], bins))
    if parameters.malicious:
        wanted = min(wanted, memory // (BYTES_PER_TOKEN * max(1, *capacities)))
    workers = max(1, min(wanted, bins))
    need = BYTES_PER_TOKEN * max(capacities) * workers
    # Padding may exceed by a little what was divided evenly.
    if need > (memory if parameters.bins is not None else 2 * memory):
        instead = "agree on more --bins" if parameters.malicious else "leave --bins to tacit"
        raise RunError(
            Fault.INPUT,
            f"bins of {max(capacities):,} tokens need {need >> 20:,} MiB, more than the {memory >> 20:,} MiB declared; "
            f"declare more --memory, or {instead}.",
        )
    network = DeclaredNetwork.of(facts)
    automatic = parameters.plugin is None and parameters.protocol == "auto"
    names = AUTOMATIC if automatic else (parameters.protocol_name(),)
    options = [_option(parameters, name, rows, capacities, bins, workers, network) for name in names]
    chosen = min(options, key=lambda option: option.seconds)
    name = chosen.name
    others = [f"{each.name} {each.seconds:.2f} s" for each in options if each is not chosen]
    why_protocol = f"{chosen.seconds:.2f} s predicted {network}, {', '.join(others)}" if automatic else "as asked"
    padded = bins * max(capacities) / max(1, max(rows)) - 1
    why = (
        f"protocol {name}: {why_protocol}",
        why_bins,
        f"padding adds {padded:.1%}: each bin is padded to {capacities[0]:,} and {capacities[1]:,} rows, and overflows "
        "with probability below 2^-80",
        f"{workers} worker{'s' if workers > 1 else ''}: the fewer of what the parties offer, and at most one a bin",
        chosen.why_sender,
    )
    return Choice(
        name, bins, workers, chosen.sent, chosen.rounds, chosen.seconds, why, chosen.sender, capacities,
        may_ask=_may_ask(parameters, chosen.sender, capacities, bins, rows),
    )  # fmt: skip


@dataclass(frozen=True)
class DeclaredNetwork(Network):
    """The worst of what the parties' private files declare; what none declares is as in a plan for SQL."""

    declared: bool = False

    @classmethod
    def of(cls, facts: Sequence[Mapping[str, Any]]) -> DeclaredNetwork:
        bandwidths = [float(each["bandwidth"]) for each in facts if each["bandwidth"] is not None]
        latency = max(float(each["latency"]) for each in facts)
        declared = bool(bandwidths) or latency > 0
        return cls(latency or cls.latency, min(bandwidths, default=cls.bandwidth), declared)

    def __str__(self) -> str:
        if not self.declared:
            return "on a fast network, as no other is declared"
        return f"at {1e3 * self.latency:g} ms one way and {self.bandwidth / 1e6:g} MB/s"

    def seconds(self, sent: int, rounds: int) -> float:
        """The time that bytes in one direction and rounds take."""
        return sent / self.bandwidth + rounds * self.latency


@dataclass(frozen=True)
class _Option:
    """A protocol, its cheaper roles, and what it costs."""

    name: str
    sender: int
    why_sender: str
    sent: tuple[int, int]
    rounds: int
    seconds: float


def _option(
    parameters: Parameters,
    name: str,
    rows: tuple[int, int],
    capacities: tuple[int, int],
    bins: int,
    workers: int,
    network: DeclaredNetwork,
) -> _Option:
    sender, why_sender = _sender(parameters, name, capacities, bins)
    sent, rounds = _traffic(parameters, name, rows, capacities, sender, bins, workers)
    seconds = SECONDS_TO_BEGIN.get(name, DEFAULT_SECONDS_TO_BEGIN)
    seconds += SECONDS_PER_TOKEN.get(name, DEFAULT_SECONDS_PER_TOKEN) * bins * sum(capacities) / 2
    # Both directions carry at the same time.
    seconds += network.seconds(max(sent), rounds)
    return _Option(name, sender, why_sender, sent, rounds, seconds)


def _bins(parameters: Parameters, rows: int, memory: int, workers: int) -> tuple[int, str]:
    if parameters.bins is not None:
        return parameters.bins, f"{parameters.bins} bins: as asked"
    fitting = max(1 << 10, memory // (BYTES_PER_TOKEN * max(1, workers)))
    # More bins let a party that deviates ask about more items, and it may declare as little memory as it likes.
    tokens = FAVOURED if parameters.malicious else min(FAVOURED, fitting)
    bins = min(MOST_BINS, max(1, -(-rows // tokens)))
    if bins == 1:
        return 1, f"1 bin: {rows:,} tokens fit into memory and caches at once, so nothing is padded"
    limit = "are matched fastest" if tokens == FAVOURED else f"fit into {memory >> 20:,} MiB for {workers} workers"
    return bins, f"{bins} bins: so that about {tokens:,} tokens a bin {limit}"


def _sender(parameters: Parameters, name: str, capacities: tuple[int, int], bins: int) -> tuple[int, str]:
    if not parameters.both_learn:
        receiver = parameters.parties.index(parameters.to[0])
        return 1 - receiver, f"{parameters.to[0]} receives: it alone learns the matches"
    if parameters.plugin is not None:
        return 1, f"{parameters.parties[0]} receives: the first party does with a plug-in"
    costs = [sum(_bin_bytes(name, capacities, sender, bins)) for sender in (0, 1)]
    sender = 0 if costs[0] < costs[1] else 1
    return sender, f"{parameters.parties[1 - sender]} receives: this way fewer bytes are sent"


def _bin_bytes(name: str, capacities: tuple[int, int], sender: int, bins: int) -> tuple[int, int]:
    """Bytes a bin that the sender and the receiver send where both learn the matches."""
    cost = _native.matching_cost(name, capacities[sender], capacities[1 - sender], bins, True)["bin"]
    return cost["sender"], cost["receiver"]


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
    if parameters.both_learn:
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


def _traffic(
    parameters: Parameters,
    name: str,
    rows: tuple[int, int],
    capacities: tuple[int, int],
    sender: int,
    bins: int,
    workers: int,
) -> tuple[tuple[int, int], int]:
    """Payload bytes that each party sends, and rounds of one worker."""
    if parameters.plugin is not None:
        return (0, 0), 0
    cost = _native.matching_cost(name, capacities[sender], capacities[1 - sender], bins, parameters.both_learn)
    of_role = [workers * cost["setup"][role] + bins * cost["bin"][role] for role in ("sender", "receiver")]
    sent = (of_role[0], of_role[1]) if sender == 0 else (of_role[1], of_role[0])
    if parameters.both_learn:  # How often keys repeat: as long for any keys.
        counts = [bins * _native.matching_counts_bytes(min(capacities), each, bins) for each in rows]
        sent = (sent[0] + counts[0], sent[1] + counts[1])
    each = -(-bins // workers)
    rounds = cost["setup"]["rounds"] + each * (cost["bin"]["rounds"] + (1 if parameters.both_learn else 0))
    return sent, rounds
