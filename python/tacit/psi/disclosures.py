"""Disclosures of a match as data: who learns what, and what it derives from.

Ledgers hold them, and what people read is written from them (tacit.psi.sentences).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar
from typing import Literal as OneOf

from tacit.plan.facts.catalog import DisclosureRule

JSON = dict[str, Any]

DisclosureKind = OneOf["matches", "size", "value", "fact"]

Counted = OneOf["keys", "pairs"]
"""What a report counts of a match: keys that both have, or pairs of rows that match."""

Part = OneOf["rows", "keys", "columns", "declarations"]
"""What a disclosure derives from: how many rows an input has, its keys, the names or values of its columns, or what its
party declares of itself."""


@dataclass(frozen=True)
class Source:
    """A part of one party's input. column: of values, whose they are."""

    owner: str
    part: Part
    column: str | None = None


@dataclass(frozen=True)
class MatchingKeys:
    """Which of the recipient's keys all others have. repeats: how many rows those parties have with each of them."""

    others: tuple[str, ...]
    repeats: tuple[str, ...] = ()
    kind: ClassVar[DisclosureKind] = "matches"
    counted: ClassVar[Counted | None] = "keys"


@dataclass(frozen=True)
class PreparedKeys:
    """Which of the recipient's keys an owner had when it prepared its table."""

    owner: str
    kind: ClassVar[DisclosureKind] = "matches"
    counted: ClassVar[Counted | None] = "keys"


@dataclass(frozen=True)
class HeldPublished:
    """What an owner has published of a prepared table, which the recipient keeps."""

    owner: str
    kind: ClassVar[DisclosureKind] = "fact"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class AskedRows:
    """About how many rows a party asks."""

    asker: str
    kind: ClassVar[DisclosureKind] = "size"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class Budget:
    """How many rows may be asked about in all and now."""

    owner: str
    kind: ClassVar[DisclosureKind] = "fact"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class CommonKeys:
    """How many keys both have. summed: a party and its column, summed over them if there are ``least``."""

    summed: tuple[str, str] | None
    least: int
    counted: ClassVar[Counted | None] = "keys"

    @property
    def kind(self) -> DisclosureKind:
        """A sum is a value."""
        return "size" if self.summed is None else "value"


@dataclass(frozen=True)
class RowsOfSum:
    """Which of the recipient's rows add up to a sum that it learns, as far as their values say."""

    column: str
    kind: ClassVar[DisclosureKind] = "matches"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class UniversalIds:
    """How many ids there are, and so how many keys or pairs of rows match."""

    counted: Counted | None
    kind: ClassVar[DisclosureKind] = "size"


@dataclass(frozen=True)
class MatchingPairs:
    """How many pairs of rows match."""

    kind: ClassVar[DisclosureKind] = "size"
    counted: ClassVar[Counted | None] = "pairs"


@dataclass(frozen=True)
class SharedPattern:
    """Which rows, in no known order, share keys. several: which of their several keys."""

    several: bool
    kind: ClassVar[DisclosureKind] = "matches"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class RecognisedKeys:
    """Whether the other party has a key, for keys that repeat as no other of a table does."""

    kind: ClassVar[DisclosureKind] = "matches"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class ColumnNames:
    """The names of the columns that the others share."""

    kind: ClassVar[DisclosureKind] = "fact"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class Refusal:
    """Whether keys repeat so often that the rows do not fit into memory."""

    kind: ClassVar[DisclosureKind] = "size"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class PooledKeys:
    """Of the keys of a party that finds the matches, those that all parties have which do not pool what they see with
    it. finders: one of these."""

    finders: tuple[str, ...]
    kind: ClassVar[DisclosureKind] = "matches"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class QuestionsBeyond:
    """Whether others have items beyond those declared, for a party that deviates. times: the number of
    these for each declared row. few: who declares fewer rows counts as one with these."""

    times: int
    few: int
    kind: ClassVar[DisclosureKind] = "matches"
    counted: ClassVar[Counted | None] = None


@dataclass(frozen=True)
class Facts:
    """What all parties announce of themselves. limits: memory, workers and network too. kinds: to whom key columns'
    kinds are told."""

    limits: bool
    kinds: tuple[str, ...]
    kind: ClassVar[DisclosureKind] = "fact"
    counted: ClassVar[Counted | None] = None


Shown = (
    MatchingKeys
    | PreparedKeys
    | HeldPublished
    | AskedRows
    | Budget
    | CommonKeys
    | RowsOfSum
    | UniversalIds
    | MatchingPairs
    | SharedPattern
    | RecognisedKeys
    | ColumnNames
    | Refusal
    | PooledKeys
    | QuestionsBeyond
    | Facts
)


@dataclass(frozen=True)
class Disclosure:
    """One thing that parties learn besides their own inputs. derivation: of whose parts it is computed."""

    recipients: tuple[str, ...]
    shown: Shown
    derivation: tuple[Source, ...]
    rules: tuple[DisclosureRule, ...] = (DisclosureRule.QUERY,)

    def json(self) -> JSON:
        """As ledgers hold it."""
        return {
            "recipients": list(self.recipients),
            "kind": self.shown.kind,
            "site": "psi",
            "shown": {"node": type(self.shown).__name__, **asdict(self.shown)},
            "derivation": [asdict(source) for source in self.derivation],
            "rules": [rule.value for rule in self.rules],
        }


def parts(owners: Iterable[str], *names: Part) -> tuple[Source, ...]:
    """These parts of the inputs of owners."""
    return tuple(Source(owner, part) for owner in owners for part in names)
