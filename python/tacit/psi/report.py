"""What a match found and what it cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from tacit import _native
from tacit.psi.reading import Counts


@dataclass(frozen=True)
class Found:
    """What a party learnt. keys: how many both have. output: makes a reading of the rows, where there are any.

    repeated: rows of this party that share keys with several rows of the other.
    """

    keys: int | None = None
    sum: int | Decimal | None = None
    union: int | None = None
    pairs: int = 0
    repeated: int = 0
    output: Callable[[], _native.MatchedRows] | None = None


@dataclass(frozen=True)
class Report:
    """What a match found. null and invalid: rows without a key (invalid: by key column). What nobody learns is None.

    keys: how many keys both have. rate: keys for each row with a key. union: how many universal ids there are.
    repeated: rows of this party that share keys with several rows of the other, of shares and of ids by several keys.
    resumed: bins that were done before. again: how often a bin was begun again that had been begun before, over all
    attempts. may_ask: how many items each party may have asked about by deviating, in sentences.
    """

    rows: int
    null: int
    invalid: dict[str, int]
    keys: int | None
    pairs: int
    sum: int | Decimal | None
    union: int | None
    repeated: int
    rate: float | None
    bytes_sent: int
    bytes_received: int
    rounds: int
    seconds: float
    resumed: int = 0
    unconfirmed: str | None = None
    protocol: str | None = None
    again: int = 0
    may_ask: tuple[str, ...] = ()

    @classmethod
    def of(cls, counts: Counts, key: tuple[str, ...], found: Found, metrics: Mapping[str, int], begin: float) -> Report:
        """From what was counted of a party's rows and what was found. begin: when, by the monotonic clock."""
        rows, null, invalid = counts
        with_key = rows - null - sum(invalid)
        return cls(
            rows=rows,
            null=null,
            invalid=dict(zip(key, invalid, strict=False)),
            keys=found.keys,
            pairs=found.pairs,
            sum=found.sum,
            union=found.union,
            repeated=found.repeated,
            rate=None if found.keys is None or found.union is not None else found.keys / max(1, with_key),
            bytes_sent=metrics.get("bytes_sent", 0),
            bytes_received=metrics.get("bytes_received", 0),
            rounds=metrics.get("rounds", 0),
            seconds=time.monotonic() - begin,
        )
