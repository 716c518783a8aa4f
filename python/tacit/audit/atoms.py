"""Classes of rows that are equally often in each set: the columns of a matrix whose rows are the sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from tacit.audit.vectors import Entries, trimmed

Units = frozenset[bytes]


@dataclass(frozen=True)
class Atom:
    """Rows that are equally often in each set. entries: how often, by the sets' numbers. units: all of its units."""

    entries: Entries
    units: Units

    @property
    def sets(self) -> int:
        """Bit n says whether it is in set n."""
        return reduce(or_, self.entries, 0)


def atoms_of(members: Iterable[tuple[Entries, bytes | None]]) -> list[Atom]:
    """The atoms of rows, of which each is in some sets and has a unit, or none and so does not count."""
    classes: dict[Entries, set[bytes]] = {}
    for entries, unit in members:
        if unit is not None and (found := trimmed(entries)):
            classes.setdefault(found, set()).add(unit)
    return [Atom(entries, frozenset(units)) for entries, units in classes.items()]
