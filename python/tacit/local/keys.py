"""Keys that another owner has opened: whether they are as its offer and the plan say, before they are used."""

from __future__ import annotations

import duckdb

from tacit.local.database import quoted
from tacit.plan.algebra.bounds import encoded_range
from tacit.plan.algebra.types import Boolean, Field, Varchar


def wrong_keys(database: duckdb.DuckDBPyConnection, table: str, columns: tuple[Field, ...]) -> str | None:
    """What is wrong with keys, in words that follow "has given keys"; None if nothing is. table: of their encodings."""
    listed = ", ".join(quoted(each.name) for each in columns)
    outside = " OR ".join(filter(None, map(_outside, columns))) or "FALSE"
    ((rows, different, wrong),) = database.execute(
        f"SELECT (SELECT count(*) FROM {quoted(table)}), (SELECT count(*) FROM (SELECT DISTINCT {listed} FROM "
        f"{quoted(table)}) AS t), (SELECT count(*) FROM {quoted(table)} WHERE {outside})"
    ).fetchall()
    if different < rows:
        return "that repeat"
    return "that its offer does not allow" if wrong else None


def _outside(column: Field) -> str | None:
    """A condition that holds for encodings that no value of a column has."""
    value, bounds = quoted(column.name), encoded_range(column.type)
    match column.type:
        case Boolean():
            return None
        case Varchar(int(most), None):
            return f"octet_length(encode({value})) > {most}"
        case _:
            return None if bounds is None else f"{value} < {bounds[0]} OR {value} > {bounds[1]}"
