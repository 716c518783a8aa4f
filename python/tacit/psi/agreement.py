"""What all parties of a match agree on before anything leaves: compared by a hash when they connect."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field

from tacit import _native
from tacit.psi.disclosures import Disclosure


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

    @property
    def plan_hash(self) -> bytes:
        """32 bytes that are equal exactly if the parameters and the version of tacit are."""
        described = {"psi": asdict(self), "version": _native.version()}
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).digest()

    @property
    def gives_rows(self) -> bool:
        """Whether the output is a table."""
        return True

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
