"""Which columns leave a match as shares. All parties name those of all, so that each approves the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from tacit.agent.faults import Fault, RunError
from tacit.psi.offered import Keys

Shared = tuple[tuple[str, ...], ...]
"""Of each party, in their order, the names of the columns that it shares; nothing where nobody shares any."""

DIGITS = 4
"""Hexadecimal digits of the hash that stands for names which are not public."""


def shared_columns(texts: Sequence[str], me: str, parties: Sequence[str], tables: Keys) -> Shared:
    """What ``--columns`` names: COLUMN of this party, PARTY.COLUMN, or TABLE.COLUMN of an offer. Raises RunError.

    tables: those that are matched.
    """
    owners = {each.name.lower(): each.owner for each in tables} | {party: party for party in parties}
    found: dict[str, list[str]] = {party: [] for party in parties}
    for text in texts:
        owner, column = _parted(text, me, owners)
        if column in found[owner]:
            raise RunError(Fault.INPUT, f"--columns names {column} of {owner} twice; leave one out.")
        found[owner].append(column)
    return tuple(map(tuple, found.values())) if texts else ()


def named(shared: Shared, parties: Sequence[str], tables: Keys) -> str:
    """The columns by their names."""
    names = _names(parties, tables)
    return ", ".join(
        f"{names[party]}.{column}" for party, own in zip(parties, shared, strict=bool(shared)) for column in own
    )


def told(shared: Shared, parties: Sequence[str], tables: Keys) -> str:
    """The same as parties compare it before they have agreed: names that no offer has stay with who wrote them."""
    return ", ".join(_told(shared, parties, tables))


def _told(shared: Shared, parties: Sequence[str], tables: Keys) -> Iterator[str]:
    names, offered = _names(parties, tables), {each.owner for each in tables}
    for party, own in zip(parties, shared, strict=bool(shared)):
        if party in offered:
            yield from (f"{names[party]}.{column}" for column in own)
        elif own:
            yield f"{len(own)} of {party} (#{sha256(json.dumps(own).encode()).hexdigest()[:DIGITS]})"


def _names(parties: Sequence[str], tables: Keys) -> Mapping[str, str]:
    """What each party's columns are named by: its table where an offer has it."""
    return {party: party for party in parties} | {each.owner: each.name for each in tables}


def _parted(text: str, me: str, owners: Mapping[str, str]) -> tuple[str, str]:
    """Whose column a text names, and its name."""
    name, dot, column = text.partition(".")
    owner = owners.get(name) or owners.get(name.lower()) if dot else None
    return (me, text) if owner is None else (owner, column)
