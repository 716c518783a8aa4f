"""Disclosures as data: what parties learn besides their own inputs, and what it derives from.

Permits follow from disclosures, and the sentences that people read do (tacit.plan.account.sentences).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from tacit.plan.facts.catalog import DisclosureRule
from tacit.plan.facts.sizes import Counted
from tacit.plan.facts.sources import Use
from tacit.plan.physical.operators import Named
from tacit.plan.physical.record import Record
from tacit.plan.rules.push_up import Beyond

PermitKind = OneOf["answer", "value", "size", "matches", "keys", "count"]
DisclosureKind = OneOf["answer", "value", "keys", "size", "matches", "bound"]


@dataclass(frozen=True)
class Permit(Record):
    """What the native session checks when a site opens or tells something.

    columns: those that are opened, with their kinds. rows: no more, valid or not; None where no bound is known.
    """

    site: str
    kind: PermitKind
    recipients: tuple[str, ...]
    columns: tuple[Named, ...] = ()
    rows: int | None = None


@dataclass(frozen=True)
class Site:
    """Where something is disclosed: a step by its operator, and the side of it, if only one side is shown."""

    step: int
    op: str
    side: OneOf["left", "right"] | None = None

    @property
    def name(self) -> str:
        """As permits name it."""
        return f"{self.step}.{self.op}" + ("" if self.side is None else f"/{self.side}")


@dataclass(frozen=True)
class AnnouncedRows:
    """How many rows an owner's part has: the sum of what is counted."""

    owner: str
    counted: tuple[Counted, ...]


@dataclass(frozen=True)
class ArrayRows:
    """How many elements an owner's array has, as its offer says."""

    owner: str
    array: str


@dataclass(frozen=True)
class CountedRows:
    """How many rows a step under MPC leaves. op: the step's operator. sides: whose tables' rows decide it."""

    step: int
    op: str
    sides: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def owners(self) -> tuple[str, ...]:
        """Whose rows decide it."""
        return tuple(owner for owner, _ in self.sides)


@dataclass(frozen=True)
class Matched:
    """Rows of one owner's tables that are matched with another's. groups: how often they are grouped before."""

    owner: str
    tables: tuple[str, ...]
    groups: int


@dataclass(frozen=True)
class MatchingRows:
    """Which of an owner's rows match others by pairs of keys. repeats: and how many others each of them matches."""

    own: Matched
    others: Matched
    keys: tuple[tuple[str, str], ...]
    repeats: bool


@dataclass(frozen=True)
class NumberOfMatches:
    """How many rows match others by pairs of keys."""

    rows: Matched
    others: Matched
    keys: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class NumberOfIds:
    """How many rows a full join has, and so how many keys both sides have."""

    left: Matched
    right: Matched
    keys: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class OpenedColumns:
    """The values of columns. columns: with their kinds. outputs: the answer, which is computed from them.

    beyond: columns that the answer does not imply. bound: a formula of the most rows.
    """

    columns: tuple[Named, ...]
    outputs: tuple[str, ...]
    beyond: tuple[Beyond, ...]
    bound: str


@dataclass(frozen=True)
class OpenedArray:
    """The elements of an array that a program computes, cut by floor after their bits behind the point.

    columns: the one that is opened, with its kind. dtype, fraction: as of a tacit.plan.physical.placed.Result. error:
    how far a number may be from that of real arithmetic on the true inputs, in words.
    """

    name: str
    columns: tuple[Named, ...]
    shape: tuple[int, ...]
    dtype: str
    fraction: int
    error: str


@dataclass(frozen=True)
class OpenedBound:
    """One bit: whether any bound that a program checks does not hold. It ends the run.

    columns: the one that is opened, with its kind. checks: how many arrays are checked.
    """

    columns: tuple[Named, ...]
    checks: int


@dataclass(frozen=True)
class OpenedRows:
    """How many rows the nodes open, the ones that do not count included, which only the nodes know before."""


@dataclass(frozen=True)
class KeptRows:
    """How many rows a kept table has, which its description says to whoever may read that. The nodes know it before."""

    table: str


@dataclass(frozen=True)
class SeenKeys:
    """The values of the keys of a step's inputs in each row that counts, in an order that no node knows.

    columns: as they are opened, with their kinds. sides: how many keys there are of each input.
    """

    columns: tuple[Named, ...]
    sides: tuple[int, ...]


@dataclass(frozen=True)
class KeyValues:
    """The different values, or combinations of values, that key columns of an owner's tables have together.

    columns: as they are opened, with their kinds. keys: of each, the columns of tables that it has the values of.
    """

    owner: str
    columns: tuple[Named, ...]
    keys: tuple[tuple[str, ...], ...]


Shown = (
    AnnouncedRows
    | ArrayRows
    | CountedRows
    | KeyValues
    | MatchingRows
    | NumberOfMatches
    | NumberOfIds
    | OpenedArray
    | OpenedBound
    | OpenedColumns
    | OpenedRows
    | KeptRows
    | SeenKeys
)


@dataclass(frozen=True)
class Derivation:
    """What is shown derives from these sources, through these operators (tacit.plan.facts.lineage).

    values: of each column that is opened. presence: of which rows there are, how many, and in which order. rows: no
    more are shown; None where no number is. floor: each row that is opened stands for this many rows of tables at
    least, by the query's own conditions (tacit.plan.facts.floors); None where they do not say. outputs: as values, of
    each column of the answer, which its recipients compute from what is opened.
    """

    values: tuple[tuple[str, tuple[Use, ...]], ...]
    presence: tuple[Use, ...]
    rows: int | None
    floor: int | None = None
    outputs: tuple[tuple[str, tuple[Use, ...]], ...] = ()


@dataclass(frozen=True)
class Disclosure:
    """One thing that parties learn besides their own inputs. rules: what allows it."""

    recipients: tuple[str, ...]
    site: Site
    shown: Shown
    derivation: Derivation
    rules: tuple[DisclosureRule, ...]

    @property
    def kind(self) -> DisclosureKind:
        """What it is: "answer" (the query's own result) or "value" (opened values beyond the answer). "keys": values of
        columns by which rows are sliced, or that one party sees in a random order. "size": a number of rows. "matches":
        which rows match. "bound": whether a bound that is checked does not hold.
        """
        match self.shown:
            case OpenedColumns(beyond=beyond):
                return "value" if beyond else "answer"
            case OpenedArray():
                return "answer"
            case OpenedBound():
                return "bound"
            case (
                AnnouncedRows()
                | ArrayRows()
                | CountedRows()
                | NumberOfMatches()
                | NumberOfIds()
                | OpenedRows()
                | KeptRows()
            ):
                return "size"
            case KeyValues():
                return "keys"
            case MatchingRows():
                return "matches"
            case SeenKeys():
                return "keys"

    @property
    def permit(self) -> Permit | None:
        """The right to show this and nothing else, as the native session checks it. None if no session shows it."""
        if isinstance(self.shown, KeptRows):
            return None
        with_columns = OpenedColumns | OpenedArray | OpenedBound | KeyValues | SeenKeys
        columns = self.shown.columns if isinstance(self.shown, with_columns) else ()
        return Permit(self.site.name, self._permitted, self.recipients, columns, self.derivation.rows)

    @property
    def _permitted(self) -> PermitKind:
        match self.shown:
            case KeyValues() | OpenedBound():
                return "value"
            case CountedRows():
                return "count"
            case _:
                assert self.kind != "bound", "its permit is that of a value"
                return self.kind
