"""The lattice of exposures: in which ways, and above which floor, a column is used for a recipient.

Ways and functions are sets; fewer of them, and a higher floor, are less. ``select`` implies all.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.plan.facts.catalog import Table
from tacit.plan.facts.terms import FUNCTIONS, WAYS, ColumnTerms, Function, Way


@dataclass(frozen=True)
class Exposure:
    """What is shown of a column: by which ways, of ``aggregate`` by which functions, of how many units at least."""

    ways: frozenset[Way] = frozenset()
    functions: frozenset[Function] = frozenset()
    floor: int = 1

    def __or__(self, other: Exposure) -> Exposure:
        """Both together."""
        floor = min(each.floor for each in (self, other) if each.ways) if self.ways or other.ways else 1
        return Exposure(self.ways | other.ways, self.functions | other.functions, floor)

    def __le__(self, other: Exposure) -> bool:
        """Whether the other one allows this one."""
        if not self.ways or "select" in other.ways:
            return True
        return self.ways <= other.ways and self.functions <= other.functions and self.floor >= other.floor


CLOSED = Exposure()
OPEN = Exposure(frozenset(WAYS), frozenset(FUNCTIONS))


def terms_of(table: Table, column: str) -> ColumnTerms:
    """What the owner allows of a column."""
    return next(each.terms for each in table.columns if each.field.name == column)


def floor_of(table: Table, *columns: str) -> int:
    """The floor of what these columns of a table enter."""
    least = 1 if table.terms is None else table.terms.least_group or 1
    return max([least, *(terms_of(table, each).least_group or 1 for each in columns)])


def offered(table: Table, column: str, recipient: str) -> Exposure:
    """What the owner of a table allows of a column towards a recipient."""
    if table.terms is None or recipient == table.owner:
        return OPEN
    terms = terms_of(table, column)
    if recipient not in table.terms.recipients:
        return CLOSED
    seen = terms.to is None or recipient in terms.to
    if "select" in terms.ways and seen:
        return OPEN
    functions = terms.functions if "aggregate" in terms.ways else frozenset[Function]()
    return Exposure(terms.queried - {"select"}, functions, floor_of(table, column))
