"""What all parties of a match agree on before anything leaves: a plan, which native code compares and holds them to."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from tacit import _native
from tacit.psi.disclosures import Disclosure

Column = TypeVar("Column")


@dataclass(frozen=True)
class Agreement(ABC):
    """Equal at all parties. parties: in the federation file's order. normalisers: one for each key column.

    to: the parties that learn the matches. kinds: for each key column what its texts are read as at all parties, ""
    for nothing else; empty if that holds for all. No party reads a key as anything that another one announces.
    prices: the table of prices that all share, as JSON; None for the default.
    """

    parties: tuple[str, ...]
    normalisers: tuple[str, ...]
    to: tuple[str, ...]
    kinds: tuple[str, ...] = field(default=(), kw_only=True)
    prices: str | None = field(default=None, kw_only=True, repr=False)

    @cached_property
    def plan(self) -> _native.MatchPlan:
        """As native code compares it, and runs nothing else."""
        kinds = self.kinds or ("",) * len(self.normalisers)
        columns = [
            {"normaliser": normaliser, "kind": kind or None}
            for normaliser, kind in zip(self.normalisers, kinds, strict=True)
        ]
        described = {
            "parties": self.parties,
            "to": self.to,
            "keys": self.by_key(columns),
            "reveals": self.reveals(),
            "prices": self.prices,
        }
        return _native.MatchPlan(json.dumps(described))

    @property
    def plan_hash(self) -> bytes:
        """32 bytes that are equal exactly if the plans and the versions of tacit are."""
        return self.plan.hash

    @property
    def gives_rows(self) -> bool:
        """Whether the output is a table."""
        return True

    def by_key(self, columns: Sequence[Column]) -> list[list[Column]]:
        """What belongs to the key columns, in one list for each key."""
        return [list(columns)]

    @abstractmethod
    def reveals(self) -> str | dict[str, Any]:
        """What is revealed and by which rules, as the plan says it."""

    @abstractmethod
    def what(self) -> str:
        """What is asked for, in a word or two."""

    @abstractmethod
    def protocol_name(self) -> str:
        """The protocol that runs; ``auto`` where it is chosen from what all announce."""

    @abstractmethod
    def disclosures(self) -> tuple[Disclosure, ...]:
        """What each party learns besides its own data."""


def together(names: tuple[str, ...] | list[str]) -> str:
    """Names, for people."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
