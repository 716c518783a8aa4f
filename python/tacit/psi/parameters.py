"""What the two parties of a match agree on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.psi.agreement import Agreement, Column
from tacit.psi.disclosures import (
    AskedRows,
    Budget,
    ColumnNames,
    CommonKeys,
    Disclosure,
    Facts,
    HeldPublished,
    MatchingKeys,
    MatchingPairs,
    PreparedKeys,
    QuestionsBeyond,
    RecognisedKeys,
    RowsOfSum,
    SharedPattern,
    Source,
    UniversalIds,
    parts,
)

CASTS = {
    "number": "DECIMAL(38, 9)",
    "floating-point number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMPTZ",
    "time": "TIME",
}
"""What the text of a key is read as where the parties declare that kind."""

JOINS = ("inner", "left", "right", "full", "anti")
UNBALANCED = "unbalanced"
"""The protocol of prepared tables: one party answers what the other asks."""

MALICIOUS = "vole-malicious"
"""The protocol against parties that may send anything."""

MOST_ASKED = 4
"""Under it: items for each declared row that a party may ask about at most by deviating; a run with more is refused."""

FEW_ROWS = 100
"""Under it: a party that declares fewer rows counts as one that declares these."""

REVEALS = ("intersection", "cardinality", "ids", "shares")
"""What may be revealed, besides sums."""

LEAST = 10
"""Keys that have to match for a sum to be shown, unless the parties say otherwise: a sum over one key is its value, and
offices of statistics publish no cell of fewer than three to ten persons."""

PAIRS = ("all", "one")
"""Which pairs of rows that share a key are shared: all of them, or each row in one at most."""


@dataclass(frozen=True)
class Parameters(Agreement):
    """Equal at both parties. parties: the first is the left one of joins. normalisers: one for each key column.

    to: the parties that learn the matches. bins: None lets both choose by the same rule. plugin: the name of a protocol
    from elsewhere, or None. reveal: one of REVEALS, or "sum" of the column ``summed`` of a party. widths: how many key
    columns each key has, the most important key first; empty if there is one key. pairs: one of PAIRS. dropped: the
    parties whose rows are left out if they share keys with several rows of the other. least: how many keys have to
    match for a sum to be shown.
    """

    parties: tuple[str, str]
    join: str = "inner"
    protocol: str = "auto"
    bins: int | None = None
    plugin: str | None = None
    reveal: str = "intersection"
    summed: tuple[str, str] | None = None
    widths: tuple[int, ...] = ()
    pairs: str = "all"
    dropped: tuple[str, ...] = ()
    least: int = LEAST

    def __post_init__(self) -> None:
        if self.join not in JOINS:
            raise RunError(Fault.INPUT, f"there is no join {self.join!r}; choose {_listed(JOINS)}.")
        if self.protocol == UNBALANCED and (self.join, self.reveal, self.bins, len(self.to)) != (
            "inner", "intersection", None, 1,
        ):  # fmt: skip
            raise RunError(
                Fault.INPUT,
                "a prepared table tells one party, --to PARTY, which of its keys match; leave out --join, --reveal and "
                "--bins.",
            )
        if self.join != "inner" and len(self.to) == 1:
            raise RunError(
                Fault.INPUT, f"a {self.join} join needs both parties to learn the matches; leave out --to or --join."
            )
        if self.least != LEAST and self.summed is None:
            raise RunError(Fault.INPUT, "--least is for sums, --reveal 'sum(PARTY.COLUMN)'; leave it out.")
        self._check_keys()
        if self.reveal != "intersection":
            self._check_reveal()
        if self.protocol != "auto" and self.plugin is None:
            names = [*(name for name, _ in _native.matching_protocols()), UNBALANCED]
            if self.reveal == "ids":
                names = _native.ids_methods()
            if self.protocol not in names:
                raise RunError(
                    Fault.INPUT, f"there is no protocol {self.protocol!r}; choose {_listed(('auto', *names))}."
                )

    def _check_keys(self) -> None:
        if self.keys > 1 and self.reveal not in ("ids", "shares"):
            raise RunError(
                Fault.INPUT,
                "several keys, of which one is enough, are for --reveal ids and --reveal shares; write the columns of "
                "one key as --key COLUMN,COLUMN.",
            )
        if self.keys > 1 and self.reveal == "ids" and self.protocol != "auto":
            raise RunError(Fault.INPUT, "ids by several keys have a protocol of their own; leave out --protocol.")
        if self.reveal != "shares" and (self.pairs, self.dropped) != ("all", ()):
            raise RunError(Fault.INPUT, "--pairs and --drop-contaminated are for --reveal shares; leave them out.")
        if self.pairs not in PAIRS:
            raise RunError(Fault.INPUT, f"pairs is {self.pairs!r}; choose {_listed(PAIRS)}.")
        if self.pairs == "one" and self.dropped:
            raise RunError(
                Fault.INPUT, "with --pairs one no row is in several pairs; leave out --pairs or --drop-contaminated."
            )

    def _check_reveal(self) -> None:
        chosen = self.protocol if self.reveal != "ids" else "auto"
        if (self.join, chosen, self.bins, self.plugin) != ("inner", "auto", None, None):
            options = "--join, --plugin and --bins" if self.reveal == "ids" else "--join, --protocol and --bins"
            raise RunError(Fault.INPUT, f"--reveal {self.reveal} has a protocol of its own; leave out {options}.")
        if self.gives_rows and not self.both_learn:
            raise RunError(Fault.INPUT, f"--reveal {self.reveal} gives both parties their output; leave out --to.")
        if self.least < 1:
            raise RunError(Fault.INPUT, f"--least is {self.least}; write a number of keys from 1.")
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
    def both_learn(self) -> bool:
        """Whether both parties learn the matches."""
        return len(self.to) == 2

    @property
    def malicious(self) -> bool:
        """Whether the protocol is the one against parties that may send anything."""
        return self.plugin is None and self.protocol == MALICIOUS

    @property
    def keys(self) -> int:
        """How many keys a row has."""
        return max(1, len(self.widths))

    def by_key(self, columns: Sequence[Column]) -> list[list[Column]]:
        """What belongs to the key columns, in one list for each key, the most important key first."""
        rest = iter(columns)
        return [[next(rest) for _ in range(width)] for width in self.widths or (len(columns),)]

    @property
    def gives_rows(self) -> bool:
        """Whether the output is a table."""
        return self.reveal in ("intersection", "ids", "shares")

    @property
    def keeps_keyless(self) -> bool:
        """Whether rows without a key have a part in the output, or in hiding how many there are."""
        return self.join != "inner" or self.reveal in ("ids", "shares")

    def reveals(self) -> str | dict[str, Any]:
        """What is revealed and by which rules, as the plan says it."""
        match self.reveal:
            case _ if self.protocol == UNBALANCED:
                return "prepared"
            case "ids":
                return {"ids": {"protocol": self.protocol}}
            case "shares":
                return {"shares": {"pairs": "one" if self.pairs == "one" else {"all": {"dropped": self.dropped}}}}
            case "cardinality" | "sum":
                return {"numbers": {"summed": self.summed, "least": self.least}}
        rows = {"join": self.join, "protocol": self.protocol, "bins": self.bins, "plugin": self.plugin}
        return {"rows": rows}

    def what(self) -> str:
        """What is asked for, in a word or two."""
        return f"{self.join} join" if self.reveal == "intersection" else self.reveal

    def protocol_name(self) -> str:
        """The protocol that runs; ``auto`` where it is chosen from what both announce."""
        if self.plugin is not None:
            return self.plugin
        match self.reveal:
            case "ids" if self.keys > 1:
                return "multi-key-private-id"
            case "ids":
                return "private-id" if self.protocol == "auto" else f"private-id-{self.protocol}"
            case "shares":
                return "ps3i"
            case "cardinality" | "sum":
                return "dh-cardinality"
        return self.protocol

    def disclosures(self) -> tuple[Disclosure, ...]:
        """What each party learns besides its own data."""
        if self.protocol == UNBALANCED:
            return self._of_prepared()
        facts = Disclosure(
            self.parties, Facts(limits=True, kinds=self.parties), parts(self.parties, "rows", "keys", "declarations")
        )
        return (*self._learnt(), facts, *self._learnt_by_deviating())

    def _of_prepared(self) -> tuple[Disclosure, ...]:
        (asker,) = self.to
        (owner,) = (party for party in self.parties if party != asker)
        published, keys = parts((owner,), "rows", "keys"), parts(self.parties, "keys")
        return (
            Disclosure((asker,), PreparedKeys(owner), keys),
            Disclosure((asker,), HeldPublished(owner), published),
            Disclosure((owner,), AskedRows(asker), parts((asker,), "rows")),
            Disclosure((asker,), Budget(owner), parts((owner,), "declarations")),
            Disclosure(self.parties, Facts(limits=False, kinds=(asker,)), parts(self.parties, "rows", "keys")),
        )

    def _learnt(self) -> tuple[Disclosure, ...]:
        match self.reveal:
            case "ids" | "shares":
                return self._learnt_of_all_rows()
            case "cardinality" | "sum":
                return self._learnt_numbers()
        keys = parts(self.parties, "keys")
        others = {party: tuple(name for name in self.parties if name != party) for party in self.to}
        return tuple(
            Disclosure((party,), MatchingKeys(other, other if self.both_learn else ()), keys)
            for party, other in others.items()
        )

    def _learnt_numbers(self) -> tuple[Disclosure, ...]:
        keys = parts(self.parties, "keys")
        summed = () if self.summed is None else (Source(self.summed[0], "columns", self.summed[1]),)
        who = [self.receiver, *(name for name in self.to if name != self.receiver)]
        told = [Disclosure((name,), CommonKeys(self.summed, self.least), (*keys, *summed)) for name in who]
        if self.summed is not None and self.summed[0] in who:
            owner, column = self.summed
            told.append(Disclosure((owner,), RowsOfSum(column), (*keys, *summed)))
        return tuple(told)

    def _learnt_by_deviating(self) -> tuple[Disclosure, ...]:
        if not self.malicious:
            return ()
        keys = parts(self.parties, "keys")
        return (Disclosure(self.parties, QuestionsBeyond(MOST_ASKED, FEW_ROWS), keys),)

    def _learnt_of_all_rows(self) -> tuple[Disclosure, ...]:
        """Both learn it, of all keys."""
        keys = parts(self.parties, "rows", "keys")
        if self.reveal == "ids" and self.keys == 1:
            return (Disclosure(self.parties, UniversalIds("keys"), keys),)
        found = UniversalIds("pairs") if self.reveal == "ids" else MatchingPairs()
        told = [
            Disclosure(self.parties, each, keys) for each in (found, SharedPattern(self.keys > 1), RecognisedKeys())
        ]
        if self.reveal == "shares":
            told.append(Disclosure(self.parties, ColumnNames(), parts(self.parties, "columns")))
        return tuple(told)


def recipients(parties: tuple[str, ...], to: str) -> tuple[str, ...]:
    """Who learns the matches: ``all``, between two parties also ``both``, or parties' names. Raises RunError."""
    everybody = ("all",) if len(parties) > 2 else ("both", "all")
    if to in everybody:
        return parties
    names = {name.strip() for name in to.split(",")}
    if names <= set(parties):
        return tuple(party for party in parties if party in names)
    several = ", or several of these with commas" if len(parties) > 2 else ""
    raise RunError(Fault.INPUT, f"--to is {to!r}; write {_listed((everybody[0], *parties))}{several}.")


def keys_of(keys: Sequence[Sequence[str]]) -> tuple[list[str], tuple[int, ...]]:
    """The columns of all keys, one key after another, and how many each has, if there are several."""
    return [column for key in keys for column in key], tuple(map(len, keys)) if len(keys) > 1 else ()


def dropped(parties: tuple[str, str], whose: str | None) -> tuple[str, ...]:
    """Whose contaminated rows are left out: ``both``, a party's name, or None for nobody's. Raises RunError."""
    if whose is None:
        return ()
    if whose == "both" or whose in parties:
        return parties if whose == "both" else (whose,)
    raise RunError(Fault.INPUT, f"--drop-contaminated is {whose!r}; write both, {parties[0]} or {parties[1]}.")


def revealed(text: str, parties: tuple[str, str]) -> tuple[str, tuple[str, str] | None]:
    """What is revealed, and the column to sum, from ``sum(PARTY.COLUMN)`` or a word. Raises RunError."""
    if text in REVEALS:
        return text, None
    found = re.fullmatch(r"sum\((\w+)\.(.+)\)", text)
    if found is None or found[1] not in parties:
        raise RunError(Fault.INPUT, f"--reveal is {text!r}; write {_listed((*REVEALS, f'sum({parties[1]}.COLUMN)'))}.")
    return "sum", (found[1], found[2])


def normalisers(key: Sequence[str], declared: Sequence[str]) -> tuple[str, ...]:
    """The normaliser of each key column from texts like ``email=email`` or ``phone=phone:DE``. Raises RunError."""
    chosen = dict.fromkeys(key, "exact")  # A column may be in several keys.
    for text in declared:
        column, equals, name = text.partition("=")
        if not equals or column not in chosen:
            raise RunError(
                Fault.INPUT, f"--normalise {text!r}: write COLUMN=NORMALISER with a key column, {_listed(tuple(key))}."
            )
        chosen[column] = name
    return tuple(chosen[column] for column in key)


def kinds_of(key: Sequence[str], declared: Mapping[str, str]) -> tuple[str, ...]:
    """The kind that each key column's texts are read as, "" for none; empty if that is all. Raises RunError."""
    for column, kind in declared.items():
        if column not in key:
            raise RunError(Fault.INPUT, f"--kind {column}={kind}: name a key column, {_listed(tuple(key))}.")
        if kind not in CASTS:
            raise RunError(
                Fault.INPUT, f"--kind {column}={kind}: there is no such kind; write {_listed(tuple(CASTS))}."
            )
    return tuple(declared.get(column, "") for column in key) if declared else ()


def kinds_declared(key: Sequence[str], declared: Sequence[str]) -> tuple[str, ...]:
    """The same from texts like ``id=number``. Raises RunError."""
    named = {}
    for text in declared:
        column, _, kind = text.partition("=")
        named[column] = kind
    return kinds_of(key, named)


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
