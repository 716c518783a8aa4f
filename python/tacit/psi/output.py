"""Writing the joint rows: batch after batch through DuckDB, to a file that appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb

from tacit import _native
from tacit.agent.durable import whole_file
from tacit.agent.faults import Fault, RunError
from tacit.agent.own_files import check_not_own, check_place
from tacit.local.database import text

FORMATS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER"}


def check_output(path: Path | None, me: str, gets_rows: bool, inputs: Mapping[str, Path]) -> None:
    """Refuse what could only fail after the match, and an output over an input. gets_rows: whether this party does.

    inputs: own files, by what they are. Raises RunError.
    """
    if path is None:
        if gets_rows:
            raise RunError(Fault.INPUT, f"{me} gets rows: name the file for them with --output.")
        return
    if path.suffix.lower() not in FORMATS:
        raise RunError(Fault.INPUT, f"{path}: name it .parquet or .csv.")
    check_place(path)
    check_not_own(path, inputs)


class Readings:
    """Exports an Arrow stream as often as it is asked for: DuckDB reads the schema before the rows."""

    def __init__(self, rows: Callable[[], _native.MatchedRows]) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream."""
        return self._rows().__arrow_c_stream__(requested_schema)


def write_rows(
    database: duckdb.DuckDBPyConnection, rows: Callable[[], _native.MatchedRows], path: Path, kept: str
) -> int:
    """Write the rows of a reading. kept: what is left to do if that fails. Returns how many rows there are.

    Raises RunError if the file cannot be written; then nothing is left of it.
    """
    database.register("matched", Readings(rows))
    try:
        with whole_file(path) as whole:
            copied = database.execute(f"COPY (FROM matched) TO {text(str(whole))} ({FORMATS[path.suffix.lower()]})")
            ((count,),) = copied.fetchall()
    except (duckdb.IOException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(" .")
        raise RunError(Fault.INPUT, f"{path}: cannot be written ({reason}); {kept}.") from None
    finally:
        database.unregister("matched")
    return int(count)
