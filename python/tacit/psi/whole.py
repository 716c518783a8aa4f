"""What is revealed in place of the rows that match: numbers, universal ids, or shares.

One instance over whole tables, in memory: what bins of it would tell is more than what the whole tells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.psi.choice import Choice, Facts
from tacit.psi.parameters import Parameters

ID_COLUMN = "universal_id"
"""The column of ids in the output."""

BYTES_PER_ROW = {
    "dh-cardinality": 200,
    "private-id-ddh": 448,
    "private-id-oprf": 640,
    "multi-key-private-id": 640,
    "ps3i": 640,
}
"""What a run keeps in memory at most for each row of both tables, besides this party's own table."""

BYTES_PER_KEY = 360
"""The same for each further key of a row."""

BYTES_PER_VALUE = 32
"""The same for each column that either party shares: shares of a row, and of the pairs that it is in."""

LEAST_BYTES = 256 << 20
"""What a run keeps for whatever tables."""


@dataclass(frozen=True)
class Found:
    """What a party learnt. keys: how many both have. output: makes a reading of the rows, where there are any.

    repeated: rows of this party that share keys with several rows of the other.
    """

    keys: int | None = None
    sum: int | None = None
    union: int | None = None
    pairs: int = 0
    repeated: int = 0
    output: Callable[[], _native.MatchedRows] | None = None


def choose_whole(parameters: Parameters, facts: Facts) -> Choice:
    """The protocol and its cost, from what both parties announce. Raises RunError if it does not fit into memory."""
    if parameters.reveal == "shares" and not facts[0].columns and not facts[1].columns:
        raise RunError(
            Fault.INPUT, "no party names a column to share; name some with --columns, or use --reveal cardinality."
        )
    best = _chosen(parameters, facts)
    memory = min(each.memory for each in facts)
    check_memory(parameters, best, memory, 0, columns=sum(len(each.columns) for each in facts))
    return best


def check_memory(parameters: Parameters, choice: Choice, memory: int, table: int, columns: int = 0) -> None:
    """Refuse what does not fit into ``memory`` bytes beside a party's own table of ``table`` bytes. Raises RunError.

    columns: how many both parties share together.
    """
    each = BYTES_PER_ROW[choice.protocol] + BYTES_PER_KEY * (parameters.keys - 1) + BYTES_PER_VALUE * columns
    need = LEAST_BYTES + each * sum(choice.capacities) + 2 * table
    if need > max(memory, LEAST_BYTES):
        where = "at both parties" if table == 0 else "here"
        raise RunError(
            Fault.INPUT,
            f"--reveal {parameters.reveal} works in memory and needs {need >> 20:,} MiB for these tables, more than "
            f"the {memory >> 20:,} MiB declared; declare more --memory {where}.",
        )


def _chosen(parameters: Parameters, facts: Facts) -> Choice:
    asked = parameters.reveal == "ids" and parameters.protocol != "auto"
    numbers = parameters.reveal not in ("ids", "shares")
    found = _native.choose_whole(parameters.plan, facts)
    if numbers:
        why = "the one for numbers in place of rows"
    elif parameters.reveal == "shares":
        why = "the one for shares"
    elif parameters.keys > 1:
        why = "the one for ids by several keys"
    else:
        why = "as asked" if asked else "the one that takes the least time here"
    reasons = (
        f"protocol {found['protocol']}: {why}",
        "1 bin, in memory: what bins of it would tell is more than what the whole tells",
    )
    sent, rows = (found["sent"][0], found["sent"][1]), (facts[0].rows, facts[1].rows)
    return Choice(
        found["protocol"], 1, 1, sent, found["rounds"], found["seconds"], reasons, found["sender"], rows
    )  # fmt: skip


def reveal(
    pair: _native.Pair,
    table: _native.Binned | _native.KeyedTable,
    parameters: Parameters,
    choice: Choice,
    me: int,
    facts: Facts,
) -> Found:
    """Run what is to be revealed. me: 0 or 1, this party among the two. table: in one bin, or with its keys."""
    rows, sender = facts[0].rows + facts[1].rows, choice.sender == me
    if isinstance(table, _native.Binned):
        if parameters.reveal == "ids":
            ids = pair.identify(table, choice.protocol.removeprefix("private-id-"), sender)
            return Found(rows - ids.union, union=ids.union, output=lambda: ids.output(ID_COLUMN))
        numbers = pair.aggregate(table, sender)
        return Found() if numbers is None else Found(*numbers)
    if parameters.reveal == "ids":
        found = pair.identify_by_keys(table, sender)
        return Found(
            pairs=rows - found.union,
            union=found.union,
            repeated=found.contaminated[0 if sender else 1],
            output=lambda: found.output(ID_COLUMN),
        )
    shared = pair.share(table, sender=sender, names=share_columns(parameters, facts))
    return Found(pairs=shared.pairs, repeated=shared.contaminated[0 if sender else 1], output=shared.output)


def share_columns(parameters: Parameters, facts: Facts) -> list[str]:
    """The names of the columns of shares, the first party's first. Raises RunError if two are equal."""
    sides = zip(parameters.parties, facts, strict=True)
    names = [f"share_of_{party}_{column}" for party, told in sides for column in told.columns]
    if len(set(names)) < len(names):
        raise RunError(Fault.INPUT, f"two columns of shares would have one name among {', '.join(names)}; rename one.")
    return names
