"""Columns that are computed with: their names and decimals, as parties announce them to each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tacit.agent.faults import Fault, RunError
from tacit.local.numbers import MOST_DECIMALS

ANNOUNCED = re.compile(r"([0-9]{1,2}) (.+)")


@dataclass(frozen=True)
class NumberColumn:
    """A column. decimals: how many its values have, which are counted in the last of them."""

    name: str
    decimals: int

    def announced(self) -> str:
        """As parties tell each other."""
        return f"{self.decimals} {self.name}"

    def of_shares(self, owner: str) -> str:
        """What its shares are called, and by what the values in them are multiplied."""
        times = f"_x{10**self.decimals}" if self.decimals else ""
        return f"share_of_{owner}_{self.name}{times}"

    def value(self, places: int) -> int | Decimal:
        """A number of last places as a value."""
        return Decimal(places).scaleb(-self.decimals) if self.decimals else places


def heard(announced: Sequence[str], party: str) -> tuple[NumberColumn, ...]:
    """What a party has announced. Raises RunError if no honest party does."""
    found = [ANNOUNCED.fullmatch(each) for each in announced]
    columns = tuple(NumberColumn(each[2], int(each[1])) for each in found if each is not None)
    if len(columns) < len(announced) or any(each.decimals > MOST_DECIMALS for each in columns):
        raise RunError(Fault.PEER, f"{party} announces columns as no honest party does; the match has ended.")
    return columns
