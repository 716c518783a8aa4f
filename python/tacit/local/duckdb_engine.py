"""DuckDB as a party's engine: an in-memory database for each run. Files it spills are private and removed after."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import duckdb

from tacit.local.as_offered import opened_table
from tacit.local.checks import check_source
from tacit.local.computed import computed_columns
from tacit.local.csv_form import USUAL, CsvForm
from tacit.local.database import connect, quoted
from tacit.local.encode import decoded, encoded
from tacit.local.engine import ArrowStream
from tacit.local.errors import told
from tacit.local.keys import wrong_keys
from tacit.local.macros import MACROS
from tacit.local.program_arrays import ProgramArrays
from tacit.local.render import render
from tacit.local.size import unfiltered_rows
from tacit.local.slices import slice_query
from tacit.local.source import Source, data_path, used_fields
from tacit.local.sql_types import NO_COLUMNS
from tacit.plan.algebra.relations import Opened, Scan, Slice
from tacit.plan.algebra.trees import scans
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.fields import fields
from tacit.plan.physical.operators import Given
from tacit.plan.physical.placed import (
    ArrayStep,
    KeysStep,
    LocalStep,
    PlacedPlan,
    ReleaseStep,
    ResultStep,
    TailStep,
)

if TYPE_CHECKING:
    from tacit.local.array_values import Values


class LocalEngine:
    """A party's engine during one run of a placed plan (see ``tacit.local.engine.Engine``). Use it as a context.

    forms: of the party's CSV files, by table.
    """

    def __init__(
        self, plan: PlacedPlan, party: str, catalog: Catalog, forms: Mapping[str, CsvForm] | None = None
    ) -> None:
        self._forms = forms or {}
        self._steps = {step.id: step for step in plan.steps}
        self._owned = {table.name: table for table in catalog.tables if table.owner == party}
        self._arrays = ProgramArrays(plan, party, catalog)
        self._used = _used_columns(plan, party, self._owned, self._arrays.columns)
        self._sources: dict[str, Source] | None = None
        self._rows: dict[str, int] = {}
        self._slices: dict[Slice, str] = {}
        self._secret = secrets.token_bytes(32)
        self._spill = tempfile.TemporaryDirectory(prefix="tacit-")

    @cached_property
    def database(self) -> duckdb.DuckDBPyConnection:
        """The connection on which tails and their results live. A node without local parts never opens one."""
        opened = connect(temp_directory=self._spill.name)
        for macro in MACROS:
            opened.execute(macro)
        return opened

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Forget everything, files included."""
        if "database" in self.__dict__:
            self.database.close()
        self._spill.cleanup()

    def check(self) -> None:
        """Open and check the tables that the plan uses, and open its arrays, once. Raises DataError."""
        if self._sources is None:
            sources = {}
            for name, used in self._used.items():
                with told(data_path(self._owned[name])):
                    sources[name] = self._open(name, used)
                    self._rows[name] = check_source(self.database, sources[name])
            self._arrays.open()
            self._sources = sources

    def run(self, step: LocalStep | ArrayStep) -> int:
        """Execute a local part, after the checks, and keep its result. Returns its number of rows. Raises DataError.

        A block of an array is checked now, and read when it is encoded.
        """
        self.check()
        if isinstance(step, ArrayStep) and step.block is not None:
            return self._arrays.check(step)
        if isinstance(step, ArrayStep):
            return self._arrays.load(self.database, step, _result(step.id), self._sources or {})
        self._execute(step)
        (rows,) = self.database.execute(f"SELECT count(*) FROM {quoted(_result(step.id))}").fetchall()[0]
        return int(rows)

    def source_rows(self, local: int) -> int:
        """The most rows that a local part could have had, had none of its filters dropped any. local: its step's id."""
        step = self._steps[local]
        assert isinstance(step, LocalStep)
        return unfiltered_rows(step.relation, self._rows, self._sliced_rows)

    def encode(self, local: int, columns: Sequence[Given]) -> ArrowStream:
        """Columns of the kept result of a local part, encoded; a stream on a connection of its own. local: as above."""
        step = self._steps[local]
        if isinstance(step, ArrayStep):  # its elements are encoded
            if step.block is not None:
                self._arrays.load(self.database, step, _result(local), self._sources or {})
            listed = ", ".join(f"{quoted(column.source)} AS {quoted(column.name)}" for column in columns)
            return self.database.cursor().sql(f"SELECT {listed} FROM {quoted(_result(local))}")
        assert isinstance(step, LocalStep)
        types = {field.name: field.type for field in step.fields}
        outputs = [
            f"{encoded(column.source, types[column.source]) if column.encode == 'int' else quoted(column.source)} "
            f"AS {quoted(column.name)}"
            for column in columns
        ]
        listed = ", ".join(outputs) or NO_COLUMNS
        return self.database.cursor().sql(f"SELECT {listed} FROM {quoted(_result(local))}")

    def forget(self, local: int) -> None:
        """Drop the kept result of a local part, which was read for the last time. local: as above."""
        self.database.execute(f"DROP TABLE IF EXISTS {quoted(_result(local))}")

    def take_keys(self, step: KeysStep, opened: ArrowStream) -> str | None:
        """Keep the keys that another owner has opened, for local parts that split rows by them.

        Returns what is wrong with them; None if they are as the plan says.
        """
        self.database.register("stream", _Stream(opened))
        self._keep(_encoded(step.id), "SELECT * FROM stream")
        self.database.unregister("stream")
        if (problem := wrong_keys(self.database, _encoded(step.id), step.fields)) is not None:
            return problem
        columns = ", ".join(f"{decoded(each.name, each.type)} AS {quoted(each.name)}" for each in step.fields)
        self._keep(_opened(step.id), f"SELECT {columns} FROM {quoted(_encoded(step.id))}")
        return None

    def tail(self, step: TailStep, opened: Mapping[int, ArrowStream]) -> duckdb.DuckDBPyRelation:
        """Finish the answer in clear. The result's rows are in the answer's order; it can be read more than once."""
        self.check()
        for release, stream in opened.items():
            with told("the query"):
                self._take_in(release, stream)
        self._execute(step)
        return self.database.table(_result(step.id))

    def arrays(self, step: ResultStep, opened: Mapping[int, ArrowStream]) -> dict[str, Values]:
        """The arrays that a program has opened to this party, by their names."""
        found = {}
        for result in step.arrays:
            self.database.register("stream", _Stream(opened[result.release]))
            found[result.name] = self._arrays.result(self.database, result, "stream")
            self.database.unregister("stream")
        return found

    def scanned(self, scan: Scan) -> str:
        """Where the rows of a scan are (for ``render``)."""
        return self._source(scan.table).relation

    def opened(self, opened: Opened) -> str:
        """Where the rows of a release are (for ``render``)."""
        return _opened(opened.step)

    def sliced(self, sliced: Slice) -> str:
        """Where the rows of a slice are (for ``render``). It is computed once, by a query of its own."""
        if sliced not in self._slices:
            name = f"slice {len(self._slices) + 1}"
            rows, *keys = (render(each, fields(each), self) for each in (sliced.input, *sliced.others))
            self._keep(name, slice_query(sliced, rows, keys))
            self._slices[sliced] = name
        return self._slices[sliced]

    def _sliced_rows(self, sliced: Slice) -> int:
        """How many rows a slice has."""
        (found,) = self.database.execute(f"SELECT count(*) FROM {quoted(self.sliced(sliced))}").fetchall()[0]
        return int(found)

    def _open(self, name: str, used: frozenset[str]) -> Source:
        table = self._owned[name]
        return opened_table(self.database, table, used_fields(table, used), self._forms.get(name, USUAL))

    def _execute(self, step: LocalStep | TailStep) -> None:
        """Keep a step's result in a table of its own."""
        files = dict.fromkeys(Path(self._source(scan.table).path).name for scan in scans(step.relation))
        where = f"the query over {' and '.join(files)}" if files else "the query"
        with told(where, computed_columns(step.relation)):
            # The recipients see what the tail reads in any case.
            secret = self._secret if isinstance(step, LocalStep) else None
            self._keep(_result(step.id), render(step.relation, step.fields, self, secret))
        for scan in scans(step.relation):
            self._source(scan.table).verify_unchanged()

    def _source(self, table: str) -> Source:
        assert self._sources is not None, "tables are opened by check()"
        return self._sources[table]

    def _take_in(self, release: int, stream: ArrowStream) -> None:
        """Turn opened encodings into SQL values. The stream is read once, here."""
        step = self._steps[release]
        assert isinstance(step, ReleaseStep)
        self.database.register("stream", _Stream(stream))
        columns = ", ".join(f"{decoded(field.name, field.type)} AS {quoted(field.name)}" for field in step.fields)
        self._keep(_opened(release), f"SELECT {columns or f'TRUE AS {NO_COLUMNS}'} FROM stream")
        self.database.unregister("stream")

    def _keep(self, name: str, query: str) -> None:
        self.database.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS {query}").fetchall()


class _Stream:
    """An Arrow stream and nothing else, so that DuckDB reads it as one whatever object it comes from."""

    def __init__(self, stream: ArrowStream) -> None:
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream.__arrow_c_stream__(requested_schema)


def _used_columns(
    plan: PlacedPlan, party: str, owned: Mapping[str, Table], given: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    """The party's tables that its steps scan, with the columns they read and those that the plan may rest on.

    given: columns that programs read. A plan can rest on a key without reading it: a DISTINCT over unique rows, say, is
    not computed at all.
    """
    used: dict[str, frozenset[str]] = {**given}
    for step in plan.steps:
        match step:
            case LocalStep(_, runner, relation) if runner == party:
                found = scans(relation)
            case TailStep(_, recipients, relation) if party in recipients:
                found = scans(relation)
            case _:
                continue
        for scan in found:
            columns = frozenset(source for _, source in scan.columns)
            used[scan.table] = used.get(scan.table, frozenset()) | columns
    return {name: columns.union(owned[name].relied_on) for name, columns in used.items()}


def _result(step: int) -> str:
    return f"result {step}"


def _encoded(step: int) -> str:
    return f"encoded {step}"


def _opened(step: int) -> str:
    return f"opened {step}"
