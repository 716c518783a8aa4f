"""An owner's tables in a database of its own, with numbered rows that are told apart across questions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType

from tacit.audit.tracked import MARK, ROW
from tacit.local.as_offered import opened_table
from tacit.local.csv_form import USUAL, CsvForm
from tacit.local.database import connect, quoted
from tacit.local.errors import told
from tacit.local.macros import MACROS
from tacit.local.render import render
from tacit.local.source import data_path
from tacit.plan.algebra.relations import Opened, Relation, Scan, Slice
from tacit.plan.algebra.types import Field
from tacit.plan.facts.catalog import Table

NAME_BYTES, VALUE_BYTES = 16, 8
"""Of a hash that tells rows and units apart, and of one that tells values of a column apart."""


@dataclass(frozen=True)
class Version:
    """A row as it is at one time. name: of the row. unit: of whom it is; None for nobody's. values: hashes of columns'
    values, in the order of the columns."""

    name: bytes
    unit: bytes | None
    values: tuple[bytes, ...]


class OwnData:
    """The tables of one party that a query reads. Use it as a context. Raises DataError."""

    def __init__(self, tables: Iterable[Table], forms: Mapping[str, CsvForm]) -> None:
        self._tables = {each.name: each for each in tables}
        self._forms = forms
        self._open = ExitStack()

    def __enter__(self) -> OwnData:
        spill = self._open.enter_context(tempfile.TemporaryDirectory(prefix="tacit-"))
        self._database = self._open.enter_context(connect(temp_directory=spill))
        for macro in MACROS:
            self._database.execute(macro)
        for table in self._tables.values():
            with told(data_path(table)):
                fields = tuple(each.field for each in table.columns)
                source = opened_table(self._database, table, fields, self._forms.get(table.name, USUAL))
                numbered = f"SELECT *, row_number() OVER () AS {quoted(ROW)} FROM {quoted(source.relation)}"
                self._database.execute(f"CREATE TABLE {quoted(_numbered(table.name))} AS {numbered}").fetchall()
                source.verify_unchanged()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def rows(self, relation: Relation, fields: tuple[Field, ...]) -> list[tuple[object, ...]]:
        """The rows of a relation over these tables."""
        with told("the query"):
            return self._database.execute(render(relation, fields, self)).fetchall()

    def versions(self, table: Table, values: Iterable[str]) -> dict[int, Version]:
        """Every row of a table by its number. values: the columns of which values are told apart.

        A row is the same at another time if its unit and its first unique key are, or, in a table without unique keys,
        if all its open columns are. Of equal rows, each has a number.
        """
        unit = _unit(table)
        named = sorted({*unit, *_naming(table)})
        equal = f"row_number() OVER (PARTITION BY {', '.join(map(quoted, named)) or 'TRUE'})"
        missing = " OR ".join(f"{quoted(each)} IS NULL" for each in unit) or "FALSE"
        name = _hash([_text(quoted(each)) for each in named] + ([] if table.unique else [_text(equal)]), NAME_BYTES)
        whose = _hash([_text(quoted(each)) for each in unit], NAME_BYTES) if unit else name
        listed = [ROW_SQL, name, f"CASE WHEN {missing} THEN NULL ELSE {whose} END"]
        listed += [_hash([_text(quoted(each))], VALUE_BYTES) for each in values]
        with told(data_path(table)):
            found = self._database.execute(
                f"SELECT {', '.join(listed)} FROM {quoted(_numbered(table.name))}"
            ).fetchall()
        return {row: Version(name, unit, tuple(rest)) for row, name, unit, *rest in found}

    def digest(self, table: Table) -> str:
        """A hash of all rows of a table, whatever their order, in hexadecimal."""
        row = _hash([_text(quoted(each.field.name)) for each in table.columns], 2 * NAME_BYTES)
        rows = f"SELECT {row} AS hash FROM {quoted(_numbered(table.name))}"
        with told(data_path(table)):
            found = self._database.execute(f"SELECT sha256(string_agg(hex(hash), '' ORDER BY hash)) FROM ({rows})")
            return str(found.fetchall()[0][0])

    def scanned(self, scan: Scan) -> str:
        """Where the rows of a scan are (for ``render``)."""
        return _numbered(scan.table)

    def opened(self, opened: Opened) -> str:
        """A query is checked before anything is opened."""
        raise AssertionError(f"step {opened.step} has not been opened")

    def sliced(self, sliced: Slice) -> str:
        """A query is checked as it is asked, before it is planned."""
        raise AssertionError(f"a query has no slice of {', '.join(sliced.keys)}")


ROW_SQL = quoted(ROW)


def _numbered(table: str) -> str:
    return f"{MARK} {table}"


def _unit(table: Table) -> tuple[str, ...]:
    return table.terms.unit if table.terms else ()


def _naming(table: Table) -> Iterable[str]:
    if table.unique:
        return min(table.unique, key=sorted)
    return (each.field.name for each in table.columns if each.terms.queried)


def _text(expression: str) -> str:
    """A value as text that no other text can continue into: its length stands before it."""
    value = f"CAST({expression} AS VARCHAR)"
    return f"coalesce(strlen({value}) || ':' || {value}, 'NULL')"


def _hash(texts: list[str], length: int) -> str:
    return f"unhex(left(sha256({' || '.join(texts) or repr('')}), {2 * length}))"
