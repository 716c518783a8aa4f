"""What all parties of a match agree on before anything leaves: a plan, which native code compares and holds them to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.plan.facts.catalog import Link
from tacit.psi.disclosures import (
    AskedRows,
    Budget,
    CommonKeys,
    Decimals,
    Disclosure,
    Facts,
    HeldPublished,
    MatchingKeys,
    MatchingPairs,
    PooledKeys,
    PreparedKeys,
    QuestionsBeyond,
    RecognisedKeys,
    Refusal,
    RowsOfSum,
    SharedPattern,
    Source,
    UniversalIds,
    parts,
    together,
)
from tacit.psi.offered import Keys
from tacit.psi.sharing import Shared, named, told

JOINS = ("inner", "left", "right", "full", "anti")

UNBALANCED = "unbalanced"
"""The protocol of prepared tables: one party answers what the other asks."""

MALICIOUS = "vole-malicious"
"""The protocol against parties that may send anything."""

SEVERAL = "multi-party"
"""The protocol of more than two parties."""

MOST_ASKED = 4
"""Against parties that may deviate: items for each declared row that one may ask about; a run with more is refused."""

FEW_ROWS = 100
"""Against them: a party that declares fewer rows counts as one that declares these."""

REVEALS = ("intersection", "cardinality", "ids", "shares")
"""What may be revealed, besides sums."""

LEAST = 10
"""Keys that have to match for a sum to be shown, unless the parties say otherwise: a sum over one key is its value, and
offices of statistics publish no cell of fewer than three to ten persons."""

PAIRS = ("all", "one")
"""Which pairs of rows that share a key are shared: all of them, or each row in one at most."""

Column = TypeVar("Column")


@dataclass(frozen=True)
class Parameters:
    """Equal at all parties. parties: in the federation file's order; the first is the left one of joins.

    normalisers: one for each key column. to: the parties that learn the matches. bins: None lets all choose by the same
    rule. plugin: the name of a protocol from elsewhere, or None. reveal: one of REVEALS, or "sum" of the column
    ``summed`` of a party. widths: how many key columns each key has, the most important key first; empty if there is
    one key. pairs: one of PAIRS. dropped: the parties whose rows are left out if they share keys with several rows of
    the other. least: how many keys have to match for a sum to be shown. kinds: for each key column what its texts are
    read as at all parties, "" for nothing else; empty if that holds for all. No party reads a key as anything that
    another one announces. tables: those of offers that are matched, with their key columns. shared: of each party the
    columns that leave it as shares; empty if there are none. prices: the table of prices that all share, as JSON; None
    for the default. link: the network by which protocols are chosen, as the federation file declares it; None if it
    does not.

    More than two parties find the rows whose keys all of them have, and nothing else.
    """

    parties: tuple[str, ...]
    normalisers: tuple[str, ...]
    to: tuple[str, ...]
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
    kinds: tuple[str, ...] = field(default=(), kw_only=True)
    tables: Keys = field(default=(), kw_only=True)
    shared: Shared = field(default=(), kw_only=True)
    prices: str | None = field(default=None, kw_only=True, repr=False)
    link: Link | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for mistake in self._mistakes():
            raise RunError(Fault.INPUT, mistake)

    def _mistakes(self) -> Iterator[str]:
        """What is wrong, in the words of the options that say it. Native code refuses what no option says."""
        prepared, one_learns = self.protocol == UNBALANCED, len(self.to) == 1
        if self.join not in JOINS:
            yield f"there is no join {self.join!r}; choose {listed(JOINS)}."
        if prepared and (self.join, self.reveal, self.bins, one_learns) != ("inner", "intersection", None, True):
            yield (
                "a prepared table tells one party, --to PARTY, which of its keys match; leave out --join, --reveal and "
                "--bins."
            )
        if self.join != "inner" and one_learns:
            yield f"a {self.join} join needs both parties to learn the matches; leave out --to or --join."
        if self.least != LEAST and self.summed is None:
            yield "--least is for sums, --reveal 'sum(PARTY.COLUMN)'; leave it out."
        yield from self._mistaken_keys()
        if self.reveal != "intersection":
            yield from self._mistaken_reveal()
        names = _native.ids_methods()
        if self.reveal != "ids":
            names = [*(name for name, _ in _native.matching_protocols()), UNBALANCED]
        if self.plugin is None and self.protocol not in ("auto", *names):
            yield f"there is no protocol {self.protocol!r}; choose {listed(('auto', *names))}."

    def _mistaken_keys(self) -> Iterator[str]:
        if self.keys > 1 and self.reveal not in ("ids", "shares"):
            yield (
                "several keys, of which one is enough, are for --reveal ids and --reveal shares; write the columns of "
                "one key as --key COLUMN,COLUMN."
            )
        if self.keys > 1 and self.reveal == "ids" and self.protocol != "auto":
            yield "ids by several keys have a protocol of their own; leave out --protocol."
        if self.reveal != "shares" and (self.pairs, self.dropped) != ("all", ()):
            yield "--pairs and --drop-contaminated are for --reveal shares; leave them out."
        if self.pairs not in PAIRS:
            yield f"pairs is {self.pairs!r}; choose {listed(PAIRS)}."
        if self.pairs == "one" and self.dropped:
            yield "with --pairs one no row is in several pairs; leave out --pairs or --drop-contaminated."

    def _mistaken_reveal(self) -> Iterator[str]:
        chosen = self.protocol if self.reveal != "ids" else "auto"
        if (self.join, chosen, self.bins, self.plugin) != ("inner", "auto", None, None):
            options = "--join, --plugin and --bins" if self.reveal == "ids" else "--join, --protocol and --bins"
            yield f"--reveal {self.reveal} has a protocol of its own; leave out {options}."
        if self.gives_rows and not self.all_learn:
            yield f"--reveal {self.reveal} gives both parties their output; leave out --to."
        if self.least < 1:
            yield f"--least is {self.least}; write a number of keys from 1."
        if self.summed is not None and self.to == (self.summed[0],):
            yield f"who has no column {self.summed[1]} learns the sum over it; write --to both, or the other."

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
            "tables": [
                {"owner": each.owner, "name": each.name, "keys": self.by_key(each.columns)} for each in self.tables
            ],
            "keys": self.by_key(columns),
            "reveals": self._reveals(),
            "prices": self.prices,
            "link": None if self.link is None else (self.link.latency, self.link.bandwidth),
        }
        return _native.MatchPlan(json.dumps(described))

    def _reveals(self) -> str | dict[str, Any]:
        """What is revealed and by which rules, as the plan says it."""
        match self.reveal:
            case _ if self.several:
                return "common"
            case _ if self.protocol == UNBALANCED:
                return "prepared"
            case "ids":
                return {"ids": {"protocol": self.protocol}}
            case "shares":
                pairs = "one" if self.pairs == "one" else {"all": {"dropped": self.dropped}}
                return {"shares": {"pairs": pairs, "columns": [self.shared_by(party) for party in self.parties]}}
            case "cardinality" | "sum":
                return {"numbers": {"summed": self.summed, "least": self.least}}
        rows = {"join": self.join, "protocol": self.protocol, "bins": self.bins, "plugin": self.plugin}
        return {"rows": rows}

    @property
    def plan_hash(self) -> bytes:
        """32 bytes that are equal exactly if the plans and the versions of tacit are."""
        return self.plan.hash

    @property
    def several(self) -> bool:
        """Whether there are more than two parties."""
        return len(self.parties) > 2

    @property
    def all_learn(self) -> bool:
        """Whether all parties learn the matches."""
        return len(self.to) == len(self.parties)

    @property
    def malicious(self) -> bool:
        """Whether the protocol is the one against parties that may send anything."""
        return self.plugin is None and self.protocol == MALICIOUS

    @property
    def keys(self) -> int:
        """How many keys a row has."""
        return max(1, len(self.widths))

    def shared_by(self, party: str) -> tuple[str, ...]:
        """The columns that leave a party as shares."""
        return dict(zip(self.parties, self.shared, strict=False)).get(party, ())

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

    def what(self) -> str:
        """What is asked for, in a word or two."""
        return f"{self.join} join" if self.reveal == "intersection" else self.reveal

    def protocol_name(self) -> str:
        """The protocol that runs; ``auto`` where it is chosen from what all announce."""
        match self.reveal:
            case _ if self.several:
                return SEVERAL
            case _ if self.plugin is not None:
                return self.plugin
            case "ids" if self.keys > 1:
                return "multi-key-private-id"
            case "ids":
                return "private-id" if self.protocol == "auto" else f"private-id-{self.protocol}"
            case "shares":
                return "ps3i"
            case "cardinality" | "sum":
                return "dh-cardinality"
        return self.protocol

    def options(self) -> dict[str, str]:
        """What all parties have to say alike, by the options that say it, without what is not said."""
        by_key = [f"{len(key)} column{'s' if len(key) > 1 else ''}" for key in self.by_key(self.normalisers)]
        rows, link = self.reveal == "intersection", self.link
        said = {
            "the parties": together(self.parties),
            "--tables": together(list(map(str, self.tables))) if self.tables else "",
            "--prepared": "given" if self.protocol == UNBALANCED else "",
            "--key": together(by_key),
            "--normalise": ", ".join(self.normalisers),
            "--kind": ", ".join(kind or "none" for kind in self.kinds),
            "--reveal": self.reveal if self.summed is None else f"sum({'.'.join(self.summed)})",
            "--columns": named(self.shared, self.parties, self.tables),
            "--to": together(self.to),
            "--join": self.join if rows else "",
            "--protocol": self.protocol if rows or self.reveal == "ids" else "",
            "--plugin": self.plugin or "",
            "--bins": ("auto" if self.bins is None else str(self.bins)) if rows else "",
            "--pairs": self.pairs if self.reveal == "shares" else "",
            "--drop-contaminated": " and ".join(self.dropped),
            "--least": "" if self.summed is None else str(self.least),
            "[link] of the federation file": "" if link is None else f"{link.latency} s, {link.bandwidth} B/s",
            "prices.toml": "" if self.prices is None else sha256(self.prices.encode()).hexdigest()[:12],
        }
        return {name: value for name, value in said.items() if value}

    def told(self) -> dict[str, str]:
        """The same as it is told to the others before all have agreed: public."""
        said = self.options()
        return said | {"--columns": told(self.shared, self.parties, self.tables)} if self.shared else said

    def disclosures(self) -> tuple[Disclosure, ...]:
        """What each party learns besides its own data."""
        if self.protocol == UNBALANCED:
            return self._of_prepared()
        facts = Disclosure(
            self.parties, Facts(limits=True, kinds=self.parties), parts(self.parties, "rows", "keys", "declarations")
        )
        if self.several:
            return (*self._learnt_rows(), *self._learnt_of_others(), facts)
        return (*self._learnt(), facts, *self._learnt_by_deviating())

    def _learnt(self) -> tuple[Disclosure, ...]:
        match self.reveal:
            case "ids" | "shares":
                return self._learnt_of_all_rows()
            case "cardinality" | "sum":
                return self._learnt_numbers()
        return self._learnt_rows()

    def _learnt_rows(self) -> tuple[Disclosure, ...]:
        """Each recipient learns which of its keys all have, and how often the other recipients have them."""
        keys = parts(self.parties, "keys")
        others = {party: tuple(name for name in self.parties if name != party) for party in self.to}
        return tuple(
            Disclosure((party,), MatchingKeys(other, tuple(name for name in other if name in self.to)), keys)
            for party, other in others.items()
        )

    def _learnt_of_others(self) -> tuple[Disclosure, ...]:
        """Of more than two. Keys that repeat at several recipients can make more rows than fit; all see a match end."""
        untold = tuple(name for name in self.parties if name not in self.to)
        refusal = (Disclosure(untold, Refusal(), parts(self.parties, "rows", "keys")),)
        pooled = Disclosure(self.parties, PooledKeys(self.to), parts(self.parties, "keys"))
        return (*(refusal if untold and len(self.to) > 1 else ()), pooled)

    def _learnt_numbers(self) -> tuple[Disclosure, ...]:
        """Who computes the numbers learns them first: the party without the column that is summed."""
        derived, first = parts(self.parties, "keys"), self.to[0]
        if self.summed is not None:
            derived = (*derived, Source(self.summed[0], "columns", self.summed[1]))
            first = next(name for name in self.parties if name != self.summed[0])
        who = [first, *(name for name in self.to if name != first)]
        learnt = [Disclosure((name,), CommonKeys(self.summed, self.least), derived) for name in who]
        if self.summed is not None and self.summed[0] in who:
            owner, column = self.summed
            learnt.append(Disclosure((owner,), RowsOfSum(column), derived))
        if self.summed is not None:
            learnt.append(self._decimals(*self.summed))
        return tuple(learnt)

    def _learnt_of_all_rows(self) -> tuple[Disclosure, ...]:
        """Both learn it, of all keys."""
        keys = parts(self.parties, "rows", "keys")
        if self.reveal == "ids" and self.keys == 1:
            return (Disclosure(self.parties, UniversalIds("keys"), keys),)
        found = UniversalIds("pairs") if self.reveal == "ids" else MatchingPairs()
        learnt = [
            Disclosure(self.parties, each, keys) for each in (found, SharedPattern(self.keys > 1), RecognisedKeys())
        ]
        return (*learnt, *(self._decimals(party, each) for party in self.parties for each in self.shared_by(party)))

    def _decimals(self, owner: str, column: str) -> Disclosure:
        """What all others learn of a column that is computed with."""
        others = tuple(name for name in self.parties if name != owner)
        return Disclosure(others, Decimals(owner, column), (Source(owner, "columns", column),))

    def _learnt_by_deviating(self) -> tuple[Disclosure, ...]:
        if not self.malicious:
            return ()
        keys = parts(self.parties, "keys")
        return (Disclosure(self.parties, QuestionsBeyond(MOST_ASKED, FEW_ROWS), keys),)

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


def listed(names: Sequence[str]) -> str:
    """Names to choose from, for people."""
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
