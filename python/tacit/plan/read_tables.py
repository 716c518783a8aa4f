"""The tables that a query beneath a program reads, as the program's text names them: whose they are, and their columns.

Every party makes them anew of the query and of what owners offer. A text that names others is refused.
"""

from __future__ import annotations

import json

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Relation
from tacit.plan.algebra.trees import scans
from tacit.plan.algebra.types import Boolean, Date, Decimal, Double, Field, Integer, Timestamp, Varchar, sql_name
from tacit.plan.facts.catalog import Catalog, KeptTable, Table
from tacit.plan.facts.row_arrays import read_tables
from tacit.plan.programs.queries import NamedQuery, ReadTable

MOST_SAID = 4
MOST_CHARACTERS = 100
"""Of a name or a type, in a sentence that refuses it."""


def named_query(query: str, relation: Relation, catalog: Catalog) -> NamedQuery:
    """A query as programs name it. relation: what it means."""
    read = {(each.owner, each.table) for each in scans(relation)}
    tables = sorted((each for each in catalog.tables if (each.owner, each.name) in read), key=_place)
    return NamedQuery(query, (*map(_owned, tables), *map(_kept, read_tables(relation, catalog))))


def check_named(asked: NamedQuery, relation: Relation, catalog: Catalog) -> None:
    """Refuse a text whose query reads other tables here than those that it names. Raises QueryError."""
    found = named_query(asked.query, relation, catalog).tables
    if found == asked.tables:
        return
    again = "; trace it again, and owners that list it list the new hash."
    changed = [(old, new) for old, new in zip(asked.tables, found, strict=False) if old != new]
    if len(found) != len(asked.tables) or not changed:
        read, named = _listed(found), _listed(asked.tables)
        raise QueryError(f"a query of the program reads {read}, and was traced with {named}{again}")
    old, new = changed[0]
    if new.id is not None and new.name == old.name and new.id != old.id:
        raise QueryError(f"the kept table {new.name} is not the one that the program was traced with{again}")
    if (new.name, new.owners, new.id) != (old.name, old.owners, old.id):
        of = f"{new.title} of {' and '.join(new.owners)}" if new.id is not None else new.title
        raise QueryError(f"a query of the program reads {of}, and was traced with {_said(old.title)}{again}")
    raise QueryError(f"{new.title} {_differing(old, new)}{again}")


def _listed(tables: tuple[ReadTable, ...]) -> str:
    """Some tables by their names."""
    more = f" and {len(tables) - MOST_SAID:,} more" if len(tables) > MOST_SAID else ""
    return " and ".join(_said(each.title) for each in tables[:MOST_SAID]) + more or "no table"


def _said(text: str) -> str:
    """What a program's text says of a table, in a sentence: its author may have written anything."""
    return text if text.isprintable() and len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]!r} ..."


def _differing(old: ReadTable, new: ReadTable) -> str:
    """How the columns of a table differ from those that a program was traced with."""
    before, now = dict(old.columns), dict(new.columns)
    for name in dict.fromkeys((*now, *before)):
        if name not in now:
            return f"has no column {_said(name)}, which it had when the program was traced"
        if name not in before:
            return f"has a column {name}, which it had not when the program was traced"
        if now[name] != before[name]:
            return f"has {name} as {_said(now[name])}, and the program was traced with {_said(before[name])}"
    return "has its columns in another order than when the program was traced"


def _place(table: Table) -> tuple[str, str]:
    return table.owner, table.name


def _owned(table: Table) -> ReadTable:
    columns = ((each.field.name, _kind(each.field) + " (rounded)" * each.rounded) for each in table.columns)
    return ReadTable(table.name, (table.owner,), tuple(columns))


def _kept(table: KeptTable) -> ReadTable:
    columns = tuple((each.field.name, _kind(each.field)) for each in table.columns)
    return ReadTable(table.name, tuple(sorted(table.owners)), columns, table.id)


def _kind(field: Field) -> str:
    """A column's type with its bounds, in words that no other type has. Bounds are encoded: days, microseconds."""
    name, null = sql_name(field.type), " or NULL" * field.nullable
    match field.type:
        case Boolean() | Double():
            return f"{name}{null}"
        case Integer(low, high) | Date(low, high) | Timestamp(low, high):
            return f"{name} from {low} to {high}{null}"
        case Decimal(_, scale, low, high):
            return f"{name} from {low}e-{scale} to {high}e-{scale}{null}"
        case Varchar(length, None):
            return f"{name} of {'any length' if length is None else f'{length} bytes'}{null}"
        case Varchar(_, values):
            return f"{name} of {json.dumps(values)}{null}"
