"""Which guards a query needs: what must be counted under MPC before anything is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.plan.algebra.relations import Aggregate, Expr, Scan
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.terms import Small

Hidden = Mapping[Scan, frozenset[str]]
"""Columns of scans of which no recipient knows where they are NULL: of tables whose owners' rules bind the query."""


@dataclass(frozen=True)
class Floor:
    """The least number of distinct units of an instance of a table behind whatever is shown.

    scan: the instance, a leaf below the aggregate; its output columns are its own. unit: columns of the owner's table
    that name a unit, whether or not the scan reads them; () if each row is a unit.
    """

    scan: Scan
    unit: tuple[str, ...]
    least: int


@dataclass(frozen=True)
class Refined:
    """An aggregation to which not all rows of a group contribute.

    aggregation: its name. conditions: over the columns of the aggregate's input; a row's contribution is decided by
    them (that an argument is not NULL, the condition of a CASE). floors: of contributors, above the group's own.
    """

    aggregation: str
    conditions: tuple[Expr, ...]
    floors: tuple[Floor, ...] = ()


@dataclass(frozen=True)
class Guard:
    """What is counted directly above an aggregate that merges units.

    floors: one for each protected instance that reaches the aggregate. small: what happens to groups below a floor;
    always "drop" below HAVING or LIMIT. complement: what is not counted must reach the floor, too. hidden: columns that
    no recipient but their owners sees, so that none knows where they are NULL. recipients: of the answer. catalog: for
    unique keys.
    """

    aggregate: Aggregate
    floors: tuple[Floor, ...]
    refined: tuple[Refined, ...]
    small: Small
    complement: bool = False
    hidden: Hidden = field(default_factory=dict, hash=False)
    recipients: tuple[str, ...] = ()
    catalog: Catalog | None = field(default=None, compare=False, repr=False)

    @property
    def unknown(self) -> Hidden:
        """Of hidden columns those that no recipient knows. It knows its own, which matters if others' units count."""
        owners = {each.scan.owner for each in self.floors}
        known = {*self.recipients} - (owners if len(owners) == 1 else set())
        return {each: columns for each, columns in self.hidden.items() if each.owner not in known}
