"""What was answered from one table: sets of rows, and the rows that were in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from tacit.audit.atoms import Atom, atoms_of
from tacit.audit.own_data import Version
from tacit.audit.pieces import Columns
from tacit.audit.sets import RowSet
from tacit.audit.vectors import Entries, entries_of, positions

JSON = dict[str, Any]


@dataclass(frozen=True)
class Known:
    """A set that was answered. hash: of its rows, and how often each counts. asked: when, in seconds since 1970."""

    hash: str
    asked: float
    measures: Columns
    uses: Columns


@dataclass(frozen=True)
class Record:
    """The sets of one table. columns: those of which rows have hashes of values. rows: in which sets each is."""

    columns: tuple[str, ...]
    sets: tuple[Known, ...] = ()
    rows: Mapping[Version, Entries] = field(default_factory=dict)

    def since(self, begin: float) -> Record:
        """The sets that were answered since some time."""
        kept = [at for at, each in enumerate(self.sets) if each.asked >= begin]
        if len(kept) == len(self.sets):
            return self
        number = {old: new for new, old in enumerate(kept)}
        rows = {version: _moved(entries, number) for version, entries in self.rows.items()}
        return replace(self, sets=tuple(self.sets[at] for at in kept), rows={v: e for v, e in rows.items() if any(e)})

    def with_columns(self, columns: tuple[str, ...]) -> Record:
        """With hashes of these columns' values. What was no column then has no value."""
        if columns == self.columns:
            return self
        at = [self.columns.index(each) if each in self.columns else None for each in columns]
        rows = dict[Version, Entries]()
        for version, entries in self.rows.items():
            values = tuple(b"" if place is None else version.values[place] for place in at)
            changed = replace(version, values=values)
            rows[changed] = _together(rows.get(changed, ()), entries)
        return replace(self, columns=columns, rows=rows)

    def with_sets(self, found: Iterable[RowSet], versions: Mapping[int, Version], now: float) -> Record:
        """The record after some more answers. A set that is known already becomes no second one."""
        sets, rows = list(self.sets), dict(self.rows)
        for each in found:
            members = {versions[row]: times for row, times in each.rows.items()}
            hash = _hash(members)
            same = next((at for at, known in enumerate(sets) if known.hash == hash), len(sets))
            if same < len(sets):
                old = sets[same]
                sets[same] = Known(hash, now, old.measures | each.measures, old.uses | each.uses)
                continue
            sets.append(Known(hash, now, each.measures, each.uses))
            entries = {times: entries_of({same: times}) for times in {*members.values()}}
            for version, times in members.items():
                rows[version] = _together(rows.get(version, ()), entries[times])
        return replace(self, sets=tuple(sets), rows=rows)

    def atoms(self) -> list[Atom]:
        """Of all sets, whatever values rows have had."""
        return self._atoms(-1, None)

    def atoms_using(self, column: str) -> list[Atom]:
        """Of the sets that a column entered."""
        return self._atoms(self._mask(column in each.uses for each in self.sets), None)

    def atoms_measuring(self, column: str) -> list[Atom] | None:
        """Of the sums of a column, in which a row with another value is another row. None if no row has another."""
        mask, at = self._mask(column in each.measures for each in self.sets), self.columns.index(column)
        found = dict[bytes, bytes]()
        for version, entries in self.rows.items():
            if (
                any(plane & mask for plane in entries)
                and found.setdefault(version.name, version.values[at]) != version.values[at]
            ):
                return self._atoms(mask, at)
        return None

    def _mask(self, wanted: Iterable[bool]) -> int:
        return sum(yes << at for at, yes in enumerate(wanted))

    def _atoms(self, mask: int, value: int | None) -> list[Atom]:
        """value: the place of a column, of which rows with different values are different rows."""
        members = dict[tuple[bytes, bytes], tuple[Entries, bytes | None]]()
        for version, entries in self.rows.items():
            key = version.name, b"" if value is None else version.values[value]
            before = members[key][0] if key in members else ()
            members[key] = _together(before, tuple(plane & mask for plane in entries)), version.unit
        return atoms_of(members.values())

    def json(self) -> JSON:
        """As the history file has it."""
        classes = {entries: at for at, entries in enumerate(dict.fromkeys(self.rows.values()))}
        return {
            "columns": list(self.columns),
            "sets": [[s.hash, s.asked, sorted(s.measures), sorted(s.uses)] for s in self.sets],
            "classes": [[f"{plane:x}" for plane in entries] for entries in classes],
            "rows": [
                [v.name.hex(), v.unit and v.unit.hex(), [each.hex() for each in v.values], classes[entries]]
                for v, entries in self.rows.items()
            ],
        }

    @classmethod
    def of(cls, said: JSON) -> Record:
        """What ``json`` wrote."""
        classes = [tuple(int(plane, 16) for plane in entries) for entries in said["classes"]]
        sets = (Known(hash, asked, frozenset(m), frozenset(u)) for hash, asked, m, u in said["sets"])
        rows = {
            Version(bytes.fromhex(name), unit and bytes.fromhex(unit), tuple(map(bytes.fromhex, values))): classes[at]
            for name, unit, values, at in said["rows"]
        }
        return cls(tuple(said["columns"]), tuple(sets), rows)


def _together(a: Entries, b: Entries) -> Entries:
    """The sets of one row at two times: no set has both."""
    width = max(len(a), len(b))
    return tuple(x | y for x, y in zip(_wide(a, width), _wide(b, width), strict=True))


def _wide(entries: Entries, width: int) -> Iterator[int]:
    yield from entries
    yield from [0] * (width - len(entries))


def _moved(entries: Entries, number: Mapping[int, int]) -> Entries:
    return tuple(sum(1 << number[at] for at in positions(plane) if at in number) for plane in entries)


def _hash(members: Mapping[Version, int]) -> str:
    listed = sorted(v.name + b"".join(v.values) + times.to_bytes(8, "big") for v, times in members.items())
    return sha256(b"".join(listed)).hexdigest()
