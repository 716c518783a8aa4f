"""Tables of a match that owners offer: which they are, which of their columns are keys, and where this party's own is.

A file that no offer names has no rules: its party decides by starting the match. The file of a table with rules is
matched as that table, or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members
from tacit.agent.federation_offers import read_any_offers
from tacit.plan.account.terms_text import is_open
from tacit.plan.algebra.types import Date, Timestamp, Type, sql_name
from tacit.plan.facts.catalog import Table
from tacit.psi.disclosures import together


@dataclass(frozen=True)
class TableKeys:
    """A table that an offer names, with its columns of all keys, one key after another."""

    owner: str
    name: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.columns)})"


Keys = tuple[TableKeys, ...]
"""Tables that are matched, in the parties' order."""


@dataclass(frozen=True)
class Named:
    """What ``--tables`` and ``--key`` name. own: this party's table, None if it brings a file that no offer names.

    keys: this party's own columns of each key. tables: of all tables that are named. moments: own key columns of days
    that another table has moments for.
    """

    own: Table | None
    keys: list[list[str]]
    tables: Keys
    moments: frozenset[str] = frozenset()


UNNAMED = Named(None, [], ())
"""What options name that name no table."""


def offers(members: Members) -> tuple[Table, ...]:
    """All tables that owners offer; none where all parties only match files. Raises RunError."""
    return read_any_offers(members.path.parent / "offers", tuple(members.parties)).tables


def named(members: Members, me: str, tables: Sequence[str], keys: Sequence[Sequence[str]]) -> Named:
    """The tables and keys that options name. Raises RunError."""
    found = _tables(members, tables)
    by_table = {each.name: [[_column(part, each, found) for part in key] for key in keys] for each in found}
    own = next((each for each in found if each.owner == me), None)
    mine = by_table[own.name] if own is not None else [[_of_file(part, found) for part in key] for key in keys]
    flat = {name: tuple(column for key in of_table for column in key) for name, of_table in by_table.items()}
    for table in found:
        for column in flat[table.name]:
            _known(column, table)
    moments = frozenset[str]() if own is None else _moments(own, found, flat)
    named_keys = tuple(TableKeys(each.owner, each.name, flat[each.name]) for each in found)
    return Named(own, mine, named_keys, moments)


def owner_of(members: Members, table: str) -> str:
    """Whose table it is. Raises RunError if nobody offers it."""
    return _tables(members, [table])[0].owner


def own_file(members: Members, table: Table) -> Path:
    """The file of this party's own table. Raises RunError if its private file names none."""
    private = members.private(table.owner)
    if table.name not in private.tables:
        problem = f"{private.path}: it does not say where the table {table.name} is"
        raise RunError(Fault.INPUT, f'{problem}; add [tables.{table.name}] with path = "FILE".')
    return private.tables[table.name]


def table_of(members: Members, me: str, path: Path) -> Table | None:
    """The table with rules of which a file holds the rows, by whatever path or link it is named. Raises RunError."""
    files = members.private(me).tables
    found = [offered_by(members, me, name) for name, file in files.items() if _same(path, file)]
    return next((each for each in found if not is_open(each, tuple(members.parties))), None)


def declared(table: Table, columns: Sequence[str]) -> list[str]:
    """As what columns are offered; nothing of one that is not."""
    known = {column.field.name: column for column in table.columns}
    found = [known[name] for name in columns if name in known]
    return [f"{sql_name(each.field.type)}{', rounded' if each.rounded else ''}" for each in found]


def made_of(members: Members, me: str, path: Path) -> Table | None:
    """The table with rules of which an earlier file had the rows. Raises RunError if that cannot be told any more."""
    if not path.exists() and any(not is_open(offered_by(members, me, each), tuple(members.parties))
                                 for each in members.private(me).tables):  # fmt: skip
        problem = f"{path}: is not there any more, and may have held a table of {me} with rules"
        raise RunError(Fault.POLICY, f"{problem}; prepare it anew.")
    return table_of(members, me, path)


def offered_by(members: Members, owner: str, name: str) -> Table:
    """A table as it is offered now. What is not offered any more is closed. Raises RunError."""
    for table in offers(members):
        if (table.owner, table.name) == (owner, name):
            return table
    problem = f"{owner} offers no table {name}"
    raise RunError(Fault.POLICY, f"{problem}; declare it in offers/{owner}.toml, or remove it from the private file.")


def check_unnamed(members: Members, me: str, path: Path) -> None:
    """Refuse the file of a table with rules where the table is not named. Raises RunError."""
    table = table_of(members, me, path)
    if table is not None:
        problem = f"{path}: holds {me}'s table {table.name}, which has rules"
        raise RunError(Fault.POLICY, f"{problem}; name the table, --tables {table.name}, at all parties.")


def _tables(members: Members, names: Sequence[str]) -> list[Table]:
    """The named tables, in the parties' order, of each party one at most."""
    known = {each.name.lower(): each for each in offers(members)} if names else {}
    found = []
    for name in names:
        if name.lower() not in known:
            near = get_close_matches(name.lower(), known, n=1)
            hint = f"perhaps you mean {known[near[0]].name}" if near else "`tacit tables` lists all"
            raise RunError(Fault.INPUT, f"--tables: nobody offers a table {name!r}; {hint}.")
        found.append(known[name.lower()])
    for owner in {each.owner for each in found}:
        own = [each.name for each in found if each.owner == owner]
        if len(own) > 1:
            raise RunError(
                Fault.INPUT, f"--tables names {together(own)}, all of {owner}; a party matches one table, name one."
            )
    parties = list(members.parties)
    return sorted(found, key=lambda each: parties.index(each.owner))


def _column(text: str, table: Table, tables: Sequence[Table]) -> str:
    """What a part of a key, like ``ssn`` or ``customers.id=people.ssn``, is in one table."""
    qualified, plain = _parts(text, tables)
    return qualified.get(table.name, plain or text)


def _of_file(text: str, tables: Sequence[Table]) -> str:
    """What it is in a file that no offer names."""
    qualified, plain = _parts(text, tables)
    if plain is None and qualified:
        problem = f"--key {text} names no column of this party's own file"
        raise RunError(Fault.INPUT, f"{problem}; add it, like {text}=COLUMN.")
    return plain or text


def _parts(text: str, tables: Sequence[Table]) -> tuple[dict[str, str], str | None]:
    """The columns that are named with their tables, and the one that is named without."""
    if not tables:
        return {}, text
    qualified: dict[str, str] = {}
    plain: str | None = None
    for part in text.split("="):
        name, dot, column = part.partition(".")
        table = next((each.name for each in tables if dot and each.name.lower() == name.lower()), None)
        if (plain if table is None else qualified.get(table)) is not None:
            raise RunError(Fault.INPUT, f"--key {text} names two columns of one table; write one of each.")
        if table is None:
            plain = part
        else:
            qualified[table] = column
    return qualified, plain


def _known(column: str, table: Table) -> None:
    """Refuse a column that its owner does not offer."""
    columns = [each.field.name for each in table.columns]
    if column not in columns:
        near = get_close_matches(column, columns, n=1)
        hint = f"perhaps you mean {near[0]}" if near else f"{table.owner} offers {', '.join(columns)}"
        raise RunError(Fault.INPUT, f"--key: {table.name} has no column {column!r}; {hint}.")


def _moments(own: Table, tables: Sequence[Table], keys: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Own key columns of days that stand beside moments. keys: of each table, in one order."""
    beside = zip(*([_type(table, column) for column in keys[table.name]] for table in tables), strict=True)
    return frozenset(
        column
        for column, types in zip(keys[own.name], beside, strict=True)
        if isinstance(_type(own, column), Date) and any(isinstance(each, Timestamp) for each in types)
    )


def _type(table: Table, name: str) -> Type:
    return next(column.field.type for column in table.columns if column.field.name == name)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return False
