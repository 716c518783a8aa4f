"""What one party asks of a match, by the command or from Python, and the parameters that follow."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.prices import shared_prices
from tacit.local.csv_form import USUAL, CsvForm, FormError
from tacit.local.engine import ArrowStream
from tacit.plan.facts.catalog import Table
from tacit.psi.disclosures import together
from tacit.psi.exact import CASTS
from tacit.psi.offered import UNNAMED, Keys, Named, check_unnamed, named, own_file
from tacit.psi.parameters import LEAST, REVEALS, Parameters, listed
from tacit.psi.sharing import Shared, shared_columns
from tacit.psi.source import OwnTable, Source, open_source
from tacit.psi.start import matching


@dataclass(frozen=True)
class Limits:
    """This party's own: memory, workers, and whether bins are matched again that the other may have results of."""

    memory: int = 3 << 30
    workers: int | None = None
    repeat_bins: bool = False

    def __post_init__(self) -> None:
        most = _native.MOST_WORKERS
        if self.workers is not None and not 1 <= self.workers <= most:
            raise RunError(Fault.INPUT, f"--workers is {self.workers}; write a number from 1 to {most}.")

    def offered(self) -> int:
        """How many workers this party offers. Two parties on one machine of two cores keep both busy with one each."""
        return self.workers or max(1, (os.cpu_count() or 1) // 2)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A party's options; `tacit psi --help` says what each is for. Errors call them as they are called there.

    me: this party. keys: the columns of each key, the most important key first. normalise and kinds: by key column.
    plugin: its name. csv: how a CSV file is written. shared: columns that leave as shares, of all parties.
    named: what ``tables`` and keys name, by ``resolved``.
    """

    me: str
    keys: Sequence[Sequence[str]]
    other: str | Sequence[str] | None = None
    normalise: Mapping[str, str] | None = None
    kinds: Mapping[str, str] | None = None
    to: str = "all"
    reveal: str = "intersection"
    join: str = "inner"
    protocol: str = "auto"
    plugin: str | None = None
    bins: int | None = None
    pairs: str = "all"
    drop: str | None = None
    least: int = LEAST
    limits: Limits = field(default=Limits())
    csv: Mapping[str, object] | None = None
    tables: Sequence[str] = ()
    shared: Sequence[str] = ()
    named: Named = UNNAMED

    def resolved(self, members: Members) -> Request:
        """The same with this party's own columns as keys, where options name tables of offers. Raises RunError."""
        found = named(members, self.me, self.tables, self.keys)
        return replace(self, keys=found.keys, named=found)

    @property
    def key(self) -> list[str]:
        """The columns of all keys, one key after another."""
        return [column for key in self.keys for column in key]

    def parameters(self, members: Members) -> Parameters:
        """What all parties agree on, if the others ask for the same. Raises RunError."""
        parties = matching(members, self.me, self.other)
        for option in self.options() if len(parties) > 2 else ():
            raise RunError(
                Fault.INPUT,
                f"{together(parties)} can only find the rows whose keys all of them have; leave out {option}, "
                "or name one party to match with, --with PARTY.",
            )
        reveal, summed = _revealed(self.reveal, parties)
        return Parameters(
            parties,
            self.normalisers(),
            _recipients(parties, self.to),
            self.join,
            self.protocol,
            self.bins,
            self.plugin,
            reveal,
            summed,
            tuple(map(len, self.keys)) if len(self.keys) > 1 else (),
            self.pairs,
            _dropped(parties, self.drop),
            self.least,
            kinds=self.key_kinds(),
            tables=self.matched(parties),
            shared=self.sharing(parties),
            prices=shared_prices(members.path),
            link=members.link,
        )

    def matched(self, parties: tuple[str, ...]) -> Keys:
        """The tables of offers with their keys. Raises RunError if one belongs to a party that takes no part."""
        for each in self.named.tables:
            if each.owner not in parties:
                problem = f"--tables names {each.name} of {each.owner}"
                raise RunError(Fault.INPUT, f"{problem}, which takes no part in this match.")
        return self.named.tables

    def sharing(self, parties: tuple[str, ...]) -> Shared:
        """Of each party the columns that leave it as shares. Raises RunError."""
        return shared_columns(self.shared, self.me, parties, self.named.tables) if self.reveal == "shares" else ()

    def open(self, data: str | Path | ArrowStream | None, columns: Sequence[str] | None, members: Members) -> Source:
        """This party's own table. columns: the payload, by default all; of shares, those that are shared.

        data: None where an offer names the table, whose file the private file knows. Raises RunError.
        """
        if self.reveal == "shares":
            parties = matching(members, self.me, self.other)
            columns = dict(zip(parties, self.sharing(parties), strict=False)).get(self.me, ())
        own, form = self.named.own, self.form(members)
        if own is not None and data is not None:
            raise RunError(Fault.INPUT, f"{self._known(own)}; leave out --input.")
        if own is not None:
            data = own_file(members, own)
        if data is None:
            raise RunError(Fault.INPUT, "name this party's own table with --input, and its key columns with --key.")
        if isinstance(data, str):
            data = Path(data)
        if own is None and isinstance(data, Path):
            check_unnamed(members, self.me, data)
        table = None if own is None else OwnTable(
            replace(own, path=str(data)), self._computed(members, columns), self.named.moments
        )  # fmt: skip
        source = open_source(data, self.key, columns, self.limits.memory, self.key_kinds(), form, table)
        self._check_spelt(source)
        return source

    def _check_spelt(self, source: Source) -> None:
        """Refuse to spell what is no text. Raises RunError."""
        for column, how, kind in zip(source.key, self.normalisers(), source.kinds(), strict=True):
            if how != "exact" and kind != "text":
                problem = f"{source.name}, column {column}: it is {kind}, and --normalise {column}={how} spells texts"
                raise RunError(Fault.INPUT, f"{problem} alike; leave out --normalise at all parties.")

    def _computed(self, members: Members, columns: Sequence[str] | None) -> Sequence[str]:
        """Own columns that are computed with: those that are shared, or the one that is summed."""
        if self.reveal == "shares":
            return columns or ()
        if self.reveal in REVEALS:
            return ()
        _, summed = _revealed(self.reveal, matching(members, self.me, self.other))
        return (summed[1],) if summed is not None and summed[0] == self.me else ()

    def _known(self, own: Table) -> str:
        """Why no option says where the own table is, or how its file is written."""
        return f"--tables names {own.name}, whose file the private file of {self.me} knows"

    def form(self, members: Members) -> CsvForm:
        """How a CSV file is written: as options say it, or the private file of a table. Raises RunError."""
        own = self.named.own
        if own is not None and self.csv:
            raise RunError(Fault.INPUT, f"{self._known(own)}; write csv = {{ ... }} there, and leave out --csv.")
        if own is not None:
            return members.private(self.me).forms.get(own.name, USUAL)
        try:
            return CsvForm.of(self.csv or {})
        except FormError as error:
            raise RunError(Fault.INPUT, f"--csv {error}.") from None

    def normalisers(self) -> tuple[str, ...]:
        """The normaliser of each key column. Raises RunError."""
        chosen = self.normalise or {}
        for column, how in chosen.items():
            if column not in self.key or not how:
                raise RunError(
                    Fault.INPUT,
                    f"--normalise '{column}={how}': write COLUMN=NORMALISER with a key column, {listed(self.key)}.",
                )
        return tuple(chosen.get(column, "exact") for column in self.key)

    def key_kinds(self) -> tuple[str, ...]:
        """The kind that each key column's texts are read as, "" for none; empty if that is all. Raises RunError."""
        declared = self.kinds or {}
        for column, kind in declared.items():
            if column not in self.key:
                raise RunError(Fault.INPUT, f"--kind {column}={kind}: name a key column, {listed(self.key)}.")
            if kind not in CASTS:
                known = listed(tuple(CASTS))
                raise RunError(Fault.INPUT, f"--kind {column}={kind}: there is no such kind; write {known}.")
            if column in (self.normalise or {}):
                problem = f"--normalise {column} spells texts alike, but --kind {column}={kind} reads none"
                raise RunError(Fault.INPUT, f"{problem}; leave one of them out.")
        return tuple(declared.get(column, "") for column in self.key) if declared else ()

    def options(self) -> list[str]:
        """The options used of those that are for the rows or numbers of two tables, and for nothing else."""
        used = {
            f"--reveal {self.reveal}": self.reveal != "intersection",
            f"--join {self.join}": self.join != "inner",
            "--protocol": self.protocol != "auto",
            "--plugin": self.plugin is not None,
            "--bins": self.bins is not None,
            "--workers": self.limits.workers is not None,
            "--pairs": self.pairs != "all",
            "--drop-contaminated": self.drop is not None,
            "--least": self.least != LEAST,
            "--repeat-bins": self.limits.repeat_bins,
            "the second --key": len(self.keys) > 1,
        }
        return [option for option, given in used.items() if given]


def _recipients(parties: tuple[str, ...], to: str) -> tuple[str, ...]:
    """Who learns the matches: ``all``, between two parties also ``both``, or parties' names. Raises RunError."""
    everybody = ("all",) if len(parties) > 2 else ("both", "all")
    if to in everybody:
        return parties
    names = {name.strip() for name in to.split(",")}
    if names <= set(parties):
        return tuple(party for party in parties if party in names)
    several = ", or several of these with commas" if len(parties) > 2 else ""
    raise RunError(Fault.INPUT, f"--to is {to!r}; write {listed((everybody[0], *parties))}{several}.")


def _dropped(parties: tuple[str, ...], whose: str | None) -> tuple[str, ...]:
    """Whose contaminated rows are left out: ``both``, a party's name, or None for nobody's. Raises RunError."""
    if whose is None:
        return ()
    if whose == "both" or whose in parties:
        return parties if whose == "both" else (whose,)
    raise RunError(Fault.INPUT, f"--drop-contaminated is {whose!r}; write {listed(('both', *parties))}.")


def _revealed(text: str, parties: tuple[str, ...]) -> tuple[str, tuple[str, str] | None]:
    """What is revealed, and the column to sum, from ``sum(PARTY.COLUMN)`` or a word. Raises RunError."""
    if text in REVEALS:
        return text, None
    found = re.fullmatch(r"sum\((\w+)\.(.+)\)", text)
    if found is None or found[1] not in parties:
        raise RunError(Fault.INPUT, f"--reveal is {text!r}; write {listed((*REVEALS, f'sum({parties[1]}.COLUMN)'))}.")
    return "sum", (found[1], found[2])
