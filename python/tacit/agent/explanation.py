"""Accounts of queries and tables of a federation as Python shows them: lines in a console, a page in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterator

from tacit.plan.account.arrays_text import elements_text, shape_text
from tacit.plan.algebra.types import Field, sql_name
from tacit.plan.facts.catalog import Catalog


class Explanation(str):
    """What `tacit explain` prints. A text, of which a notebook shows the lines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        shown = (html.escape(line) for line in self.splitlines())
        # A section's title is what begins at the left.
        lines = (f"<b>{line}</b>" if line and not line.startswith(" ") else line for line in shown)
        return "<pre>" + "\n".join(lines) + "</pre>"


def tables_text(catalog: Catalog, file: str) -> str:
    """Who computes, and a line for each table. file: the federation file."""
    lines = [f"  {table}, {of}, {rows}: {columns}" for table, of, rows, columns in _tables(catalog)]
    return "\n".join([_federation(catalog, file), *lines])


def tables_html(catalog: Catalog, file: str) -> str:
    """The same as a table."""
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in _tables(catalog))
    head = "".join(f"<th>{title}</th>" for title in ("table", "of", "rows", "columns"))
    caption = html.escape(_federation(catalog, file))
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _federation(catalog: Catalog, file: str) -> str:
    return f"{file}: {', '.join(catalog.nodes)} compute (engine {catalog.engine})"


def _tables(catalog: Catalog) -> Iterator[tuple[str, str, str, str]]:
    """Name, owner, number of rows and columns of each table."""
    for table in catalog.tables:
        rows = "rows announced" if table.bound is None else f"at most {table.bound:,} rows"
        yield table.name, table.owner, rows, _columns([column.field for column in table.columns])
    for array in catalog.arrays:
        yield array.name, array.owner, shape_text(array), elements_text(array)
    for kept in catalog.kept:
        if kept.declared is None:  # a delivery is the owner's table again
            yield kept.name, "kept by the nodes", f"{kept.rows:,} rows", _columns([each.field for each in kept.columns])


def _columns(fields: list[Field]) -> str:
    return ", ".join(f"{field.name} {sql_name(field.type)}" for field in fields)
