"""Disclosures of a match as data: who learns what, and what it derives from.

Ledgers hold them, and what people read is written from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar
from typing import Literal as OneOf

from tacit.plan.facts.catalog import DisclosureRule

JSON = dict[str, Any]

DisclosureKind = OneOf["matches", "size", "value", "fact"]

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


@dataclass(frozen=True)
class PreparedKeys:
    """Which of the recipient's keys an owner had when it prepared its table."""

    owner: str
    kind: ClassVar[DisclosureKind] = "matches"


@dataclass(frozen=True)
class HeldPublished:
    """What an owner has published of a prepared table, which the recipient keeps."""

    owner: str
    kind: ClassVar[DisclosureKind] = "fact"


@dataclass(frozen=True)
class AskedRows:
    """About how many rows a party asks."""

    asker: str
    kind: ClassVar[DisclosureKind] = "size"


@dataclass(frozen=True)
class Budget:
    """How many rows may be asked about in all and now."""

    owner: str
    kind: ClassVar[DisclosureKind] = "fact"


@dataclass(frozen=True)
class CommonKeys:
    """How many keys both have. summed: a party and its column, summed over them if there are ``least``."""

    summed: tuple[str, str] | None
    least: int

    @property
    def kind(self) -> DisclosureKind:
        """A sum is a value."""
        return "size" if self.summed is None else "value"


@dataclass(frozen=True)
class RowsOfSum:
    """Which of the recipient's rows add up to a sum that it learns, as far as their values say."""

    column: str
    kind: ClassVar[DisclosureKind] = "matches"


@dataclass(frozen=True)
class Decimals:
    """How many decimals the values of a column that is summed or shared have at most."""

    owner: str
    column: str
    kind: ClassVar[DisclosureKind] = "fact"


@dataclass(frozen=True)
class UniversalIds:
    """How many ids there are, and so how many keys or pairs of rows match."""

    counted: OneOf["keys", "pairs"]
    kind: ClassVar[DisclosureKind] = "size"


@dataclass(frozen=True)
class MatchingPairs:
    """How many pairs of rows match."""

    kind: ClassVar[DisclosureKind] = "size"


@dataclass(frozen=True)
class SharedPattern:
    """Which rows, in no known order, share keys. several: which of their several keys."""

    several: bool
    kind: ClassVar[DisclosureKind] = "matches"


@dataclass(frozen=True)
class RecognisedKeys:
    """Whether the other party has a key, for keys that repeat as no other of a table does."""

    kind: ClassVar[DisclosureKind] = "matches"


@dataclass(frozen=True)
class Refusal:
    """Whether keys repeat so often that the rows do not fit into memory."""

    kind: ClassVar[DisclosureKind] = "size"


@dataclass(frozen=True)
class PooledKeys:
    """Of the keys of a party that finds the matches, those that all parties have which do not pool what they see with
    it. finders: one of these."""

    finders: tuple[str, ...]
    kind: ClassVar[DisclosureKind] = "matches"


@dataclass(frozen=True)
class QuestionsBeyond:
    """Whether others have items beyond those declared, for a party that deviates. times: the number of
    these for each declared row. few: who declares fewer rows counts as one with these."""

    times: int
    few: int
    kind: ClassVar[DisclosureKind] = "matches"


@dataclass(frozen=True)
class Facts:
    """What all parties announce of themselves. limits: memory and workers too. kinds: to whom key columns' kinds are
    told."""

    limits: bool
    kinds: tuple[str, ...]
    kind: ClassVar[DisclosureKind] = "fact"


Shown = (
    MatchingKeys
    | PreparedKeys
    | HeldPublished
    | AskedRows
    | Budget
    | CommonKeys
    | RowsOfSum
    | Decimals
    | UniversalIds
    | MatchingPairs
    | SharedPattern
    | RecognisedKeys
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


def together(names: Sequence[str]) -> str:
    """Names, for people."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def sentence(disclosure: Disclosure, parties: tuple[str, ...]) -> str:
    """One thing that is learnt, and who learns it."""
    match disclosure.shown:
        case HeldPublished(owner):
            (asker,) = disclosure.recipients
            return (
                f"{asker} keeps what {owner} has prepared, which tells nothing about what it does not ask {owner}, and "
                "may ask again"
            )
        case RowsOfSum(column):
            (owner,) = disclosure.recipients
            return f"{owner} knows all values of {column}, and may find which of its rows add up to the sum"
        case RecognisedKeys():
            return (
                "if a key repeats as no other of its table does, the table's owner may find by that whether the other "
                "has it, and how often"
            )
        case PooledKeys(finders):
            finder = finders[0] if len(finders) == 1 else f"the one of {together(finders)} that finds the matches"
            return (
                f"parties that pool what they see with {finder} can learn which of its keys all remaining parties "
                "have; any others that pool what they see learn nothing more"
            )
        case QuestionsBeyond(times, few):
            return (
                "if a party deviates, it may ask about more items than it declares rows: at most "
                f"{times} times as many, or {times * few} where that is more"
            )
        case _:
            return f"{_who(disclosure.recipients, parties)} {_learnt(disclosure)}"


def _who(recipients: tuple[str, ...], parties: tuple[str, ...]) -> str:
    """The subject and its verb."""
    if len(recipients) > 1 and recipients == parties:
        return "both learn" if len(parties) == 2 else "all learn"
    return f"{together(recipients)} {'learns' if len(recipients) == 1 else 'learn'}"


def _learnt(disclosure: Disclosure) -> str:
    match disclosure.shown:
        case MatchingKeys(others, repeats):
            has = f"{others[0]} has" if len(others) == 1 else f"{together(others)} all have"
            return f"which of its own keys {has} too{_repeated(repeats)}"
        case PreparedKeys(owner):
            return f"which of its own keys {owner} had when it prepared its table"
        case AskedRows(asker):
            return f"about how many rows {asker} asks"
        case Budget(owner):
            return (
                f"{owner}'s budget and how many rows it may ask about now, and so what is left for all who ask, where "
                "that is less than --most"
            )
        case CommonKeys(None):
            return "how many keys both have"
        case CommonKeys((owner, column), least):
            enough = f" if these are {least} keys or more" if least > 1 else ""
            return f"how many keys both have, and the sum of {owner}'s {column} over the rows that have them{enough}"
        case UniversalIds(counted):
            found = "keys both have" if counted == "keys" else "pairs of rows match"
            return f"how many ids both tables have together, and so how many {found}, but not which"
        case MatchingPairs():
            return "how many pairs of rows match"
        case SharedPattern(several):
            equal = "share which of their keys" if several else "have equal keys"
            return f"which rows, in no known order, {equal}, and so how often keys repeat in each table"
        case Decimals(owner, column):
            return f"how many decimals the values of {owner}'s {column} have at most"
        case Refusal():
            return "whether keys repeat so often that the rows do not fit into memory"
        case Facts():
            return _facts(disclosure.shown, disclosure.recipients)
        case shown:
            raise AssertionError(f"{type(shown).__name__} has a sentence of its own")


def _repeated(parties: tuple[str, ...]) -> str:
    """How often the keys repeat at these parties, if at any."""
    if not parties:
        return ""
    return f", and how many rows {together(parties)} {'has' if len(parties) == 1 else 'have'} with each of these"


def _facts(facts: Facts, parties: tuple[str, ...]) -> str:
    two = len(parties) == 2
    rows = "the other's number of rows" if two else "the others' numbers of rows"
    if not facts.limits:
        return f"{rows}, and {together(facts.kinds)} the kind of each key column"
    declare = "that the other declares" if two else "that the others declare"
    lists = f"{rows} and the kind of each key column, and" if two else f"{rows}, the kind of each key column, and"
    return f"{lists} the memory and workers {declare}"
