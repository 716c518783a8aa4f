"""What is found over whole tables, in memory: numbers, universal ids or shares, and rows that more than two have.

Of what is in the place of rows, bins would tell more than the whole tells.
"""

from __future__ import annotations

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.plan.facts.catalog import Link
from tacit.psi.choice import Choice, Facts, GroupChoice, as_native, network_text
from tacit.psi.number_columns import NumberColumn, heard
from tacit.psi.parameters import SEVERAL, Parameters
from tacit.psi.report import Found

Columns = tuple[tuple[NumberColumn, ...], ...]
"""What each party computes with, in the parties' order."""

ID_COLUMN = "universal_id"
"""The column of ids in the output."""

BYTES_PER_ROW = {
    "dh-cardinality": 200,
    "private-id-ddh": 448,
    "private-id-oprf": 640,
    "multi-key-private-id": 640,
    "ps3i": 640,
    SEVERAL: 192,
}
"""What a run keeps in memory at most for each row of both tables, besides this party's own table. Of more than two
parties, for each row of a party's table and of the leader's."""

BYTES_PER_KEY = 360
"""The same for each further key of a row."""

BYTES_PER_VALUE = 32
"""The same for each column that either party shares: shares of a row, and of the pairs that it is in."""

LEAST_BYTES = 256 << 20
"""What a run of two parties keeps for whatever tables."""

LEAST_OF_SEVERAL = 64 << 20
"""The same of more than two."""


def choose_whole(parameters: Parameters, facts: Facts, expected: Link | None = None) -> Choice:
    """The protocol and its cost, from what both parties announce. Raises RunError if it does not fit into memory.

    expected: the network that this party expects, if it is not the one agreed on.
    """
    first, second = facts
    if parameters.reveal == "shares" and not first.columns and not second.columns:
        raise RunError(
            Fault.INPUT, "no party names a column to share; name some with --columns, or use --reveal cardinality."
        )
    found = _native.choose_whole(parameters.plan, (first, second), as_native(expected))
    reasons = (
        f"protocol {found['protocol']}: {_why(parameters)}",
        "1 bin, in memory: what bins of it would tell is more than what the whole tells",
    )
    sent, rows = (found["sent"][0], found["sent"][1]), (first.rows, second.rows)
    choice = Choice(found["protocol"], 1, 1, sent, found["rounds"], found["expected"], reasons, found["sender"], rows)
    check_memory(parameters, choice, _least_memory(facts), 0, columns=len(first.columns) + len(second.columns))
    return choice


def _why(parameters: Parameters) -> str:
    match parameters.reveal:
        case "shares":
            return "the one for shares"
        case "ids" if parameters.keys > 1:
            return "the one for ids by several keys"
        case "ids":
            return "as asked" if parameters.protocol != "auto" else "the one that takes the least time here"
        case _:
            return "the one for numbers in place of rows"


def choose_leader(parameters: Parameters, facts: Facts, expected: Link | None = None) -> GroupChoice:
    """Who of more than two finds the matches, from what all announce. expected: as of two.

    Raises RunError if that does not fit into memory.
    """
    rows = [each.rows for each in facts]
    found = _native.choose_leader(parameters.plan, facts, as_native(expected))
    name, leader, seconds = found["protocol"], found["leader"], found["seconds"]
    network = network_text(parameters.link)
    alone = "it alone learns the matches" if len(parameters.to) == 1 else "this way it takes the least time"
    why = (
        f"protocol {name}: the one for more than two parties, {seconds:.2f} s predicted {network}",
        f"{parameters.parties[leader]} finds the matches: {alone}",
        "1 bin, in memory: there are none on disk for more than two parties",
    )
    most = max(rows) + rows[leader]
    choice = GroupChoice(name, 1, 1, tuple(found["sent"]), found["rounds"], found["expected"], why, leader, most)
    check_memory(parameters, choice, _least_memory(facts), 0)
    return choice


def _least_memory(facts: Facts) -> int:
    return min(each.memory for each in facts)


def check_memory(
    parameters: Parameters, choice: Choice | GroupChoice, memory: int, table: int, columns: int = 0
) -> None:
    """Refuse what does not fit into ``memory`` bytes beside a party's own table of ``table`` bytes. Raises RunError.

    columns: how many both parties share together.
    """
    each = BYTES_PER_ROW[choice.protocol] + BYTES_PER_KEY * (parameters.keys - 1) + BYTES_PER_VALUE * columns
    match choice:
        case GroupChoice():
            what, everywhere = "a match of more than two parties", "at all parties"
            rows, least = choice.rows, LEAST_OF_SEVERAL
        case Choice():
            what, everywhere = f"--reveal {parameters.reveal}", "at both parties"
            rows, least = sum(choice.capacities), LEAST_BYTES
    need = least + each * rows + 2 * table
    if need > max(memory, least):
        where = everywhere if table == 0 else "here"
        raise RunError(
            Fault.INPUT,
            f"{what} works in memory and needs {need >> 20:,} MiB for these tables, more than the {memory >> 20:,} MiB "
            f"declared; declare more --memory {where}.",
        )


def reveal(
    pair: _native.Pair,
    table: _native.Binned | _native.KeyedTable,
    parameters: Parameters,
    choice: Choice,
    me: int,
    columns: Columns,
) -> Found:
    """Run what is to be revealed. me: 0 or 1, this party among the two. table: in one bin, or with its keys."""
    rows, sender = sum(choice.capacities), choice.sender == me
    if isinstance(table, _native.Binned):
        if parameters.reveal == "ids":
            ids = pair.identify(table, choice.protocol.removeprefix("private-id-"), sender)
            return Found(rows - ids.union, union=ids.union, output=lambda: ids.output(ID_COLUMN))
        numbers = pair.aggregate(table, sender)
        if numbers is None:
            return Found()
        keys, places = numbers
        return Found(keys, None if places is None else _summed(parameters, columns).value(places))
    if parameters.reveal == "ids":
        found = pair.identify_by_keys(table, sender)
        return Found(
            pairs=rows - found.union,
            union=found.union,
            repeated=found.contaminated[0 if sender else 1],
            output=lambda: found.output(ID_COLUMN),
        )
    shared = pair.share(table, sender=sender, names=share_columns(parameters, columns))
    return Found(pairs=shared.pairs, repeated=shared.contaminated[0 if sender else 1], output=shared.output)


def computed_columns(parameters: Parameters, facts: Facts) -> Columns:
    """The columns that each party computes with. Raises RunError if a peer's are none of this match."""
    columns = tuple(heard(told.columns, party) for party, told in zip(parameters.parties, facts, strict=True))
    if parameters.reveal == "sum":
        _summed(parameters, columns)
    for party, found in zip(parameters.parties, columns, strict=True):
        if parameters.reveal == "shares" and tuple(each.name for each in found) != parameters.shared_by(party):
            raise RunError(Fault.PEER, f"{party} announces other columns to share than --columns; the match has ended.")
    return columns


def _summed(parameters: Parameters, columns: Columns) -> NumberColumn:
    """The column that is summed. Raises RunError if its party announces another one."""
    party, name = parameters.summed or ("", "")
    found = columns[parameters.parties.index(party)]
    if [each.name for each in found] != [name]:
        raise RunError(Fault.PEER, f"{party} announces another column than {name} to sum; the match has ended.")
    return found[0]


def share_columns(parameters: Parameters, columns: Columns) -> list[str]:
    """The names of the columns of shares, the first party's first. Raises RunError if two are equal."""
    sides = zip(parameters.parties, columns, strict=True)
    names = [column.of_shares(party) for party, own in sides for column in own]
    if len(set(names)) < len(names):
        raise RunError(Fault.INPUT, f"two columns of shares would have one name among {', '.join(names)}; rename one.")
    return names
