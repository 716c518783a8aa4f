"""What owners' rules say of a query, in sentences that accounts print."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Allowance:
    """An owner's rule that allows something of an answer.

    output: a column of the answer; None for which rows it has. sentence: as people read it after the owner's name, such
    as "orders.amount may be summed for north, in groups of 10 or more".
    """

    owner: str
    output: str | None
    sentence: str


@dataclass(frozen=True)
class Ruling:
    """What owners' rules say of a query that they allow.

    withheld: sentences on what is not shown, the same whatever the data are. refusing: owners that may refuse after
    looking at their data.
    """

    allowances: tuple[Allowance, ...] = ()
    withheld: tuple[str, ...] = ()
    refusing: tuple[str, ...] = ()

    def with_allowances(self, more: tuple[Allowance, ...]) -> Ruling:
        """The same, with what further rules allow."""
        return replace(self, allowances=(*self.allowances, *more))
