"""What both parties of a match agree on before anything leaves: compared by a hash when they connect."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tacit import _native
from tacit.agent.faults import Fault, RunError

JOINS = ("inner", "left", "right", "full", "anti")
RECIPIENTS = ("both", "first", "second")


@dataclass(frozen=True)
class Parameters:
    """Equal at both parties. parties: the first is the left one of joins. normalisers: one for each key column.

    to: the parties that learn the matches. bins: None lets both choose by the same rule. plugin: the name of a protocol
    from elsewhere, or None. reveal: "intersection", "cardinality", or "sum" of the column ``summed`` of a party.
    """

    parties: tuple[str, str]
    normalisers: tuple[str, ...]
    to: tuple[str, ...]
    join: str = "inner"
    protocol: str = "auto"
    bins: int | None = None
    plugin: str | None = None
    reveal: str = "intersection"
    summed: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.join not in JOINS:
            raise RunError(Fault.INPUT, f"there is no join {self.join!r}; choose {_listed(JOINS)}.")
        if self.join != "inner" and len(self.to) == 1:
            raise RunError(
                Fault.INPUT, f"a {self.join} join needs both parties to learn the matches; leave out --to or --join."
            )
        if self.reveal != "intersection":
            self._check_aggregate()
        if self.protocol != "auto" and self.plugin is None:
            names = [name for name, _ in _native.matching_protocols()]
            if self.protocol not in names:
                raise RunError(
                    Fault.INPUT, f"there is no protocol {self.protocol!r}; choose {_listed(('auto', *names))}."
                )

    def _check_aggregate(self) -> None:
        if (self.join, self.protocol, self.bins, self.plugin) != ("inner", "auto", None, None):
            raise RunError(
                Fault.INPUT,
                f"--reveal {self.reveal} has a protocol of its own; leave out --join, --protocol and --bins.",
            )
        if self.summed is not None and self.to == (self.summed[0],):
            raise RunError(
                Fault.INPUT,
                f"who has no column {self.summed[1]} learns the sum over it; write --to both, or the other.",
            )

    @property
    def receiver(self) -> str:
        """Of an aggregate: the party that computes it, and tells the other if that one is to learn it."""
        if self.summed is not None:
            return self.parties[1 - self.parties.index(self.summed[0])]
        return self.to[0]

    @property
    def plan_hash(self) -> bytes:
        """32 bytes that are equal exactly if the parameters and the version of tacit are."""
        described = {"psi": asdict(self), "version": _native.version()}
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).digest()

    @property
    def both_learn(self) -> bool:
        """Whether both parties learn the matches."""
        return len(self.to) == 2

    def protocol_name(self) -> str:
        """The protocol that runs."""
        if self.plugin is not None:
            return self.plugin
        return _native.matching_protocols()[0][0] if self.protocol == "auto" else self.protocol

    def account(self) -> list[str]:
        """What each party learns besides its own data, in sentences."""
        a, b = self.parties
        if self.reveal != "intersection":
            what = "how many keys both have"
            if self.summed is not None:
                what += f", and the sum of {self.summed[0]}'s {self.summed[1]} over the rows that have them"
            who = [self.receiver, *(name for name in self.to if name != self.receiver)]
            sizes = "the other's number of rows, and the type of each key column"
            return [f"{name} learns {what}" for name in who] + [f"both learn {sizes}"]
        sizes = "the other's number of rows, and the type of each key column"
        if not self.both_learn:
            (alone,) = self.to
            other = b if alone == a else a
            return [f"{alone} learns which of its own keys {other} has too", f"both learn {sizes}"]
        return [
            f"{a} learns which of its own keys {b} has too, and how many rows {b} has with each of these",
            f"{b} learns which of its own keys {a} has too, and how many rows {a} has with each of these",
            f"both learn {sizes}",
        ]


def recipients(parties: tuple[str, str], to: str) -> tuple[str, ...]:
    """Who learns the matches: ``both`` or a party's name. Raises RunError."""
    if to == "both":
        return parties
    if to in parties:
        return (to,)
    raise RunError(Fault.INPUT, f"--to is {to!r}; write both, {parties[0]} or {parties[1]}.")


def revealed(text: str, parties: tuple[str, str]) -> tuple[str, tuple[str, str] | None]:
    """What is revealed, and the column to sum, from ``sum(PARTY.COLUMN)`` or a word. Raises RunError."""
    if text in ("intersection", "cardinality"):
        return text, None
    found = re.fullmatch(r"sum\((\w+)\.(.+)\)", text)
    if found is None or found[1] not in parties:
        raise RunError(
            Fault.INPUT, f"--reveal is {text!r}; write intersection, cardinality or sum({parties[1]}.COLUMN)."
        )
    return "sum", (found[1], found[2])


def normalisers(key: Sequence[str], declared: Sequence[str]) -> tuple[str, ...]:
    """The normaliser of each key column from texts like ``email=email`` or ``phone=phone:DE``. Raises RunError."""
    chosen = dict.fromkeys(key, "exact")
    for text in declared:
        column, equals, name = text.partition("=")
        if not equals or column not in chosen:
            raise RunError(
                Fault.INPUT, f"--normalise {text!r}: write COLUMN=NORMALISER with a key column, {_listed(tuple(key))}."
            )
        chosen[column] = name
    return tuple(chosen.values())


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
