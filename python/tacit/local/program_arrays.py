"""A party's arrays in one run of a program: those that it gives, and those that it gets.

NumPy is loaded for these alone.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import duckdb

from tacit.local.errors import DataError, told
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.placed import ArrayStep, PlacedPlan, ReleaseStep, Result, ResultStep

if TYPE_CHECKING:
    from tacit.local.array_source import ArraySource
    from tacit.local.array_values import Values


class ProgramArrays:
    """Of a plan's steps those about arrays of one party. Those of queries have none."""

    def __init__(self, plan: PlacedPlan, party: str, catalog: Catalog) -> None:
        self._owned = {each.name: each for each in catalog.arrays if each.owner == party}
        self._used = {each.array for each in plan.steps if isinstance(each, ArrayStep) and each.party == party}
        self._gets = any(isinstance(each, ResultStep) and party in each.recipients for each in plan.steps)
        self._columns = {each.id: each.operator.columns for each in plan.steps if isinstance(each, ReleaseStep)}
        self._sources: dict[str, ArraySource] = {}

    def open(self) -> None:
        """Open the files of the arrays that the party gives. Raises DataError."""
        if not self._used and not self._gets:
            return
        if find_spec("numpy") is None:
            raise DataError("arrays", "NumPy is not installed here", "install it with pip install 'tacit[numpy]'")
        from tacit.local.array_source import open_array

        self._sources = {name: open_array(self._owned[name]) for name in sorted(self._used)}

    def load(self, database: duckdb.DuckDBPyConnection, step: ArrayStep, relation: str) -> int:
        """Check an array's elements, and keep them in a new table. Returns their number; raises DataError."""
        from tacit.local.array_source import load_array

        source = self._sources[step.array]
        with told(source.path):
            return load_array(database, source, step.fraction, relation)

    def result(self, database: duckdb.DuckDBPyConnection, result: Result, rows: str) -> Values:
        """An array that was opened. rows: the FROM item of what its release gave. Raises DataError."""
        from tacit.local.array_results import result_array

        (column,) = self._columns[result.release]
        with told("the result"):
            return result_array(database, rows, column, result)
