"""The answer of a query, as the recipient gets it: rows in order, with plan, disclosures and cost behind it."""

from __future__ import annotations

import errno
import html
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import duckdb

from tacit.agent.cost import Cost
from tacit.agent.durable import whole_file
from tacit.agent.faults import Fault, RunError
from tacit.agent.proof import Proof
from tacit.local.database import connect, quoted, text
from tacit.plan import learnt
from tacit.plan.account.notebook import learnt_html
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.placed import PlacedPlan

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

SHOWN_ROWS = 20
"""Rows that a notebook shows; the rest is counted."""

FORMATS = {"csv": "FORMAT csv, HEADER", "json": "FORMAT json, ARRAY true", "parquet": "FORMAT parquet"}
"""File formats of ``write``, as DuckDB's COPY options."""


class Columns(Protocol):
    """A kept table, of which programs read columns (a tacit.agent.federated_rows.KeptRows)."""

    def array(self, *columns: str) -> Any:
        """Columns side by side."""

    def padded_array(self, *columns: str) -> tuple[Any, Any]:
        """The same, and which rows there are."""


class Answer:
    """The rows of an answer. Exports the Arrow PyCapsule stream, so that any Arrow library reads it without a copy
    step.

    plan: the placed plan that all parties ran. cost: predicted and actual, step by step.
    """

    def __init__(
        self, database: duckdb.DuckDBPyConnection, plan: PlacedPlan, cost: Cost, proof: Proof | None = None
    ) -> None:
        """database: a connection whose table ``answer`` holds the rows in order. proof: who has signed the run."""
        self._database = database
        self.plan = plan
        self.cost = cost
        self._proof = proof
        self._kept: Callable[[str], Columns] | None = None

    @classmethod
    def load(cls, path: Path, plan: PlacedPlan, cost: Cost, proof: Proof | None = None) -> Answer:
        """Take over an answer that ``save_answer`` wrote. The file is not needed afterwards."""
        database = connect()
        database.execute(f"ATTACH {text(str(path))} AS saved (READ_ONLY)")
        database.execute("CREATE TABLE answer AS FROM saved.answer")
        database.execute("DETACH saved")
        return cls(database, plan, cost, proof)

    @classmethod
    def of_statement(cls, tables: list[tuple[str, int | None]], plan: PlacedPlan, cost: Cost) -> Answer:
        """What a statement about kept tables has done: their names and public numbers of rows."""
        database = connect()
        database.execute("CREATE TABLE answer (kept_table VARCHAR, rows BIGINT)")
        for row in tables:
            database.execute("INSERT INTO answer VALUES (?, ?)", row)
        return cls(database, plan, cost)

    @property
    def disclosures(self) -> tuple[Disclosure, ...]:
        """Everything that any party learnt besides its own input, as data."""
        return self.plan.disclosures

    @property
    def learnt(self) -> tuple[str, ...]:
        """The same in sentences, also about parties that learnt nothing."""
        return learnt(self.plan)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return [name for name, *_ in self._rows().description]

    def __len__(self) -> int:
        (count,) = self._database.cursor().execute("SELECT COUNT(*) FROM answer").fetchall()[0]
        return int(count)

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as Python values (int, float, Decimal, date, str, bool or None)."""
        return self._rows().fetchall()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream. Whole numbers beyond 64 bits come as decimal128(38, 0)."""
        return self._rows().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as a pyarrow Table."""
        try:
            import pyarrow
        except ImportError as error:
            raise _missing("to_arrow", "pyarrow", "arrow") from error
        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame with Arrow types: whole numbers and decimals stay exact beside NULLs."""
        try:
            import pandas
            import pyarrow
        except ImportError as error:
            raise _missing("to_pandas", "pandas and pyarrow", "pandas") from error
        frame: pandas.DataFrame = pyarrow.table(self).to_pandas(types_mapper=pandas.ArrowDtype)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars DataFrame."""
        try:
            import polars
        except ImportError as error:
            raise _missing("to_polars", "polars", "polars") from error
        return polars.DataFrame(self)

    def array(self, *columns: str) -> Any:
        """Of a statement that has made a kept table: columns of that, side by side, as an array for programs.

        Raises a tacit.InputError where nothing was kept, or some of its rows may not be there.
        """
        return self._table().array(*columns)

    def padded_array(self, *columns: str) -> tuple[Any, Any]:
        """The same with as many rows as there can be, and a bit for each row that there is. Other rows are zero."""
        return self._table().padded_array(*columns)

    def of_kept(self, kept: Callable[[str], Columns]) -> Answer:
        """The same, that finds the kept table of its statement. kept: by its name."""
        self._kept = kept
        return self

    def _table(self) -> Columns:
        if self._kept is None:
            problem = "the rows of this answer were opened, and programs read rows that nobody sees"
            raise RunError(Fault.INPUT, f"{problem}; take `rows` of the federation with the same query.")
        ((name, _),) = self.rows()
        return self._kept(name)

    def write(self, path: Path | str, format: str | None = None) -> None:
        """Write the rows to a file: csv, json (an array of objects) or parquet; by default as the file's name ends.

        A certificate is written beside it, FILE.tacit.json, which `tacit verify FILE` checks. The file appears whole or
        not at all. Raises ValueError for an unknown format, OSError if it cannot be written.
        """
        self.write_rows(Path(path), format)
        if self._proof is not None:
            self._proof.certify(Path(path))

    def write_rows(self, path: Path, format: str | None = None) -> None:
        """The same without a certificate."""
        options = FORMATS.get(format or path.suffix.removeprefix("."))
        if options is None:
            raise ValueError(
                f"{path}: unknown format; name the file .csv, .json or .parquet, or say which format you want."
            )
        with whole_file(path) as whole:
            try:
                self._database.cursor().execute(f"COPY ({self._portable()}) TO {text(str(whole))} ({options})")
            except duckdb.IOException as error:
                raise OSError(errno.EIO, str(error).splitlines()[0].rstrip(" ."), str(path)) from error

    def __repr__(self) -> str:
        return str(self._rows())

    def _repr_html_(self) -> str:
        return table_html(self._rows(), len(self)) + learnt_html(self.learnt)

    def _rows(self) -> duckdb.DuckDBPyRelation:
        return self._database.cursor().sql("FROM answer")

    def _portable(self) -> str:
        """The rows with 128-bit integers as decimals: Parquet would round them to floating point."""
        return "SELECT * REPLACE (" + wide + ") FROM answer" if (wide := self._wide_columns()) else "FROM answer"

    def _wide_columns(self) -> str:
        types = self._database.cursor().execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = 'answer' AND data_type = 'HUGEINT'"
        )
        names = [quoted(name) for (name,) in types.fetchall()]
        return ", ".join(f"{name}::DECIMAL(38, 0) AS {name}" for name in names)


def save_answer(relation: duckdb.DuckDBPyRelation, path: Path, database: duckdb.DuckDBPyConnection) -> None:
    """Write a recipient's rows, a relation of the database, to a new DuckDB file: it keeps every type and the order."""
    database.execute(f"ATTACH {text(str(path))} AS saved")
    relation.create("saved.answer")
    database.execute("DETACH saved")


def _missing(method: str, package: str, extra: str) -> ImportError:
    return ImportError(f"{method}() needs {package}: install it with `pip install 'tacit[{extra}]'`.")


def table_html(relation: duckdb.DuckDBPyRelation, count: int) -> str:
    """The first rows of a relation for a notebook. count: how many it has."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in relation.columns)
    rows = "".join(_html_row(row) for row in relation.limit(SHOWN_ROWS).fetchall())
    rest = f"<p>and {count - SHOWN_ROWS:,} more rows</p>" if count > SHOWN_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}"


def _html_row(row: tuple[Any, ...]) -> str:
    cells = "".join(f"<td>{'' if value is None else html.escape(str(value))}</td>" for value in row)
    return f"<tr>{cells}</tr>"
