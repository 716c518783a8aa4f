"""Rows of queries and of kept tables as arrays of programs, from Python. Nobody sees them, and nothing runs for them.

    young = federation.rows("SELECT age, bmi FROM people WHERE age < 40")
    x, there = young.padded_array("age", "bmi")

The query becomes a part of each program that is called with them, as what it is computed of. All parties read it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy

from tacit.agent.diagnosis import as_run_error
from tacit.agent.faults import Fault, RunError
from tacit.agent.owned import OwnedArray
from tacit.array.declared import Declared
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, KeptTable
from tacit.plan.facts.fields import names
from tacit.plan.facts.row_arrays import RowColumn
from tacit.plan.facts.table_arrays import is_number
from tacit.plan.place_rows import Rows, bound_rows, place_rows
from tacit.plan.programs.identity import NODES, Source
from tacit.plan.programs.queries import NamedQuery, RowArray
from tacit.plan.read_tables import named_query
from tacit.sql import bind_rows

PRESENT = "there"
"""What the bits that say which rows there are are called among the inputs of a program."""


@dataclass(frozen=True)
class RowsArray(OwnedArray):
    """Columns of the rows of a query, side by side. parts: each column, and what is public of its numbers."""

    parts: tuple[tuple[RowArray, RowColumn], ...] = ()

    def inputs(self, argument: str) -> dict[str, tuple[Declared, Source]]:
        """A vector of each column, as the nodes have it: the numbers of a DECIMAL are whole."""
        rows = self.shape[:1]
        return {
            _input(argument, part): (
                Declared(rows, each.dtype, each.low, each.high),
                Source(NODES, part.text, part.rows),
            )
            for part, each in self.parts
        }

    def assembled(self, argument: str, given: Mapping[str, Any]) -> Any:
        """The array, made of these vectors."""
        columns = [_number(given[_input(argument, part)], each, self.offered.dtype) for part, each in self.parts]
        return columns[0] if len(columns) == 1 else numpy.stack(columns, axis=1)

    @property
    def name(self) -> str:
        """Which columns of which query."""
        return self.offered.name


def _input(argument: str, part: RowArray) -> str:
    return f"{argument}.{PRESENT if part.column is None else part.column}"


def _number(given: Any, column: RowColumn, dtype: str) -> Any:
    if column.dtype == "bool" and dtype != "bool":
        return given.astype("int8")
    return given / 10**column.scale if column.scale else given


@dataclass(frozen=True)
class QueryRows:
    """The rows of a query. asked: as programs name it. number: how many there are at most, which is public."""

    asked: NamedQuery
    rows: Rows
    number: int

    @property
    def query(self) -> str:
        """The query's text."""
        return self.asked.query

    @as_run_error()
    def array(self, *columns: str) -> RowsArray:
        """Columns side by side: of one column a vector, of several a matrix; by default all of them.

        The rows are in no order that is promised, and in the same order in all arrays of the query. Raises a
        tacit.InputError where some may not be there: ``padded_array`` takes them.
        """
        if not self.rows.exact:
            raise QueryError(
                f"how many rows the query gives is hidden below {self.number:,}; write x, valid = "
                "....padded_array(...), which says which rows there are."
            )
        return self._array(columns)

    @as_run_error()
    def padded_array(self, *columns: str) -> tuple[RowsArray, RowsArray]:
        """The same with as many rows as there can be, and a bit for each row that there is. Other rows are zero."""
        return self._array(columns), self._made((None,))

    def _array(self, columns: Sequence[str]) -> RowsArray:
        found = tuple(columns) or names(self.rows.relation)
        if len(set(found)) != len(found):
            raise QueryError("a column of the query is named twice; name each once.")
        return self._made(found)

    def _made(self, columns: Sequence[str | None]) -> RowsArray:
        parts = tuple((RowArray(self.asked, each), self.rows.column(each)) for each in columns)
        listed = "which rows there are" if columns == (None,) else ", ".join(map(str, columns))
        shape = (self.number,) if len(parts) == 1 else (self.number, len(parts))
        dtype = _dtype([each for _, each in parts])
        bounds = [_bounds(each) for _, each in parts]
        low, high = (None, None) if dtype == "bool" else (min(a for a, _ in bounds), max(b for _, b in bounds))
        return RowsArray(OfferedArray(f"{listed} of {self.query}", NODES, shape, dtype, low, high), parts)

    def __repr__(self) -> str:
        most = "" if self.rows.exact else "at most "
        return f"{self.query}: {most}{self.number:,} rows of {', '.join(names(self.rows.relation))}, not yet revealed"


def _dtype(columns: Sequence[RowColumn]) -> str:
    if all(each.dtype == "bool" for each in columns):
        return "bool"
    return "float64" if any(each.scale for each in columns) else "int64"


def _bounds(column: RowColumn) -> tuple[Fraction, Fraction]:
    if column.low is None or column.high is None:
        return Fraction(0), Fraction(1)
    return column.low / 10**column.scale, column.high / 10**column.scale


@as_run_error()
def query_rows(query: str, catalog: Catalog, recipients: tuple[str, ...]) -> QueryRows:
    """The rows of a query. Raises RunError for one that no program reads."""
    asked = named_query(query, bind_rows(query, catalog), catalog)
    rows = bound_rows(asked, catalog, lambda text: bind_rows(text, catalog))
    return QueryRows(asked, rows, place_rows({asked: rows}, catalog, recipients, query).rows(asked))


@dataclass(frozen=True)
class KeptRows:
    """A kept table, of which the nodes hold shares, and whose columns programs may read."""

    table: KeptTable
    catalog: Catalog
    recipients: tuple[str, ...]

    def array(self, *columns: str) -> RowsArray:
        """Columns side by side, by default all that programs can read. See ``QueryRows.array``."""
        return self._rows(columns).array()

    def padded_array(self, *columns: str) -> tuple[RowsArray, RowsArray]:
        """The same, and a bit for each row that there is. See ``QueryRows.padded_array``."""
        return self._rows(columns).padded_array()

    def _rows(self, columns: Sequence[str]) -> QueryRows:
        numbers = (each.field for each in self.table.columns if is_number(each.field) and not each.field.nullable)
        listed = ", ".join(map(_quoted, columns or [each.name for each in numbers]))
        if not listed:
            raise RunError(
                Fault.INPUT,
                f"no column of the kept table {self.table.name} has numbers without NULL, as programs read them.",
            )
        return query_rows(f"SELECT {listed} FROM {_quoted(self.table.name)}", self.catalog, self.recipients)

    def __repr__(self) -> str:
        columns = ", ".join(each.field.name for each in self.table.columns)
        return f"the kept table {self.table.name}: {columns}"


def kept_rows(name: str, catalog: Catalog, recipients: tuple[str, ...]) -> KeptRows:
    """A kept table by its name. Raises RunError if there is none that can be read."""
    broken = {table.lower(): problem for table, problem in catalog.broken}
    if name.lower() in broken:
        raise RunError(Fault.INPUT, broken[name.lower()])
    found = {each.name.lower(): each for each in catalog.kept if each.declared is None}
    if name.lower() not in found:
        known = f"there is {', '.join(each.name for each in found.values())}" if found else "there is none"
        raise RunError(Fault.INPUT, f"the nodes keep no table {name!r}; {known}.")
    return KeptRows(found[name.lower()], catalog, recipients)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
