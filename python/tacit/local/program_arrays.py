"""A party's arrays in one run of a program: those that it gives, and those that it gets.

NumPy is loaded for these alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

import duckdb

from tacit.local.errors import DataError, told
from tacit.local.source import Source
from tacit.local.table_columns import load_columns
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.table_arrays import TableArray, offered_array
from tacit.plan.physical.placed import ArrayStep, PlacedPlan, ReleaseStep, Result, ResultStep

if TYPE_CHECKING:
    from tacit.local.array_source import ArraySource
    from tacit.local.array_values import Values


class ProgramArrays:
    """Of a plan's steps those about arrays of one party. Those of queries have none."""

    def __init__(self, plan: PlacedPlan, party: str, catalog: Catalog) -> None:
        used = {each.array for each in plan.steps if isinstance(each, ArrayStep) and each.party == party}
        found = {name: offered_array(catalog, party, name) for name in sorted(used)}
        self._used = {name: each for name, each in found.items() if each is not None}
        self._gets = any(isinstance(each, ResultStep) and party in each.recipients for each in plan.steps)
        self._columns = {each.id: each.operator.columns for each in plan.steps if isinstance(each, ReleaseStep)}
        self._sources: dict[str, ArraySource] = {}

    def open(self) -> None:
        """Open the files of the arrays that the party gives. Raises DataError."""
        files = {name: each for name, each in self._used.items() if not isinstance(each, TableArray)}
        if not files and not self._gets:
            return
        if find_spec("numpy") is None:
            raise DataError("arrays", "NumPy is not installed here", "install it with pip install 'tacit[numpy]'")
        from tacit.local.array_source import open_array

        self._sources = {name: open_array(each) for name, each in files.items()}

    @property
    def columns(self) -> dict[str, frozenset[str]]:
        """The columns of tables that the party gives, by table."""
        found: dict[str, frozenset[str]] = {}
        for each in self._used.values():
            if isinstance(each, TableArray):
                found[each.table] = found.get(each.table, frozenset()).union(each.columns)
        return found

    def load(
        self, database: duckdb.DuckDBPyConnection, step: ArrayStep, relation: str, tables: Mapping[str, Source]
    ) -> int:
        """Check an array's elements, and keep them in a new table. tables: that are open and checked.

        Returns their number; raises DataError.
        """
        array = self._used[step.array]
        if isinstance(array, TableArray):
            with told(tables[array.table].path):
                return load_columns(database, tables[array.table], array, step.fraction, relation)
        from tacit.local.array_source import load_array

        source = self._sources[step.array]
        with told(source.path):
            return load_array(database, source, step.fraction, relation, step.block)

    def check(self, step: ArrayStep) -> int:
        """Check a block of an array, of which nothing is kept. Returns its number of elements; raises DataError."""
        from tacit.local.array_source import check_block

        source = self._sources[step.array]
        with told(source.path):
            return check_block(source, step.fraction, step.block)

    def result(self, database: duckdb.DuckDBPyConnection, result: Result, rows: str) -> Values:
        """An array that was opened. rows: the FROM item of what its release gave. Raises DataError."""
        from tacit.local.array_results import result_array

        (column,) = self._columns[result.release]
        with told("the result"):
            return result_array(database, rows, column, result)
