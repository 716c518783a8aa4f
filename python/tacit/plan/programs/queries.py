"""Rows of queries, as the text of a program names them: by the query, and by all tables that it reads as they are now.

An owner approves a program by the hash of its text. So the text says whose tables the query reads, and what their
columns are: the query's own text is the same where another owner has tables of these names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tacit.plan.programs.limits import MOST_QUERY
from tacit.plan.programs.refusals import ProgramError


@dataclass(frozen=True)
class ReadTable:
    """A table that a query reads. owners: its owner; of a kept table all whose data is in it, sorted.

    columns: all that it has, each with its type and bounds in words. id: of a kept table.
    """

    name: str
    owners: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    id: str | None = None

    def json(self) -> dict[str, Any]:
        """As the text of a program has it."""
        said = {"table": self.name, "owners": list(self.owners), "columns": [list(each) for each in self.columns]}
        return said if self.id is None else {**said, "kept": self.id}

    @classmethod
    def of(cls, said: Any) -> ReadTable:
        """What ``json`` wrote. Raises TypeError, ValueError, KeyError or AttributeError for anything else."""
        columns = tuple((_text(name), _text(kind)) for name, kind in said["columns"])
        id = _text(said["kept"]) if "kept" in said else None
        return cls(_text(said["table"]), tuple(map(_text, said["owners"])), columns, id)

    @property
    def title(self) -> str:
        """What it is called, with whose it is."""
        if self.id is None:
            return f"{self.owners[0]}.{self.name}" if self.owners else self.name
        return f"the kept table {self.name} ({self.id[:8]})"


@dataclass(frozen=True)
class NamedQuery:
    """A query whose rows a program reads. tables: all that it reads: owners' tables by owner and name, then kept ones.

    Arrays of the same rows have it in common.
    """

    query: str
    tables: tuple[ReadTable, ...]

    def json(self) -> dict[str, Any]:
        """As the text of a program has it."""
        return {"query": self.query, "tables": [each.json() for each in self.tables]}

    @classmethod
    def of(cls, said: Any) -> NamedQuery:
        """What ``json`` wrote. Raises ProgramError for anything else."""
        try:
            found = cls(_text(said["query"], MOST_QUERY), tuple(map(ReadTable.of, said["tables"])))
            same = found.json() == said
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            same = False
        if not same:
            raise ProgramError(f"the rows of a query are not named as tables and a text of {MOST_QUERY:,} characters.")
        return found


@dataclass(frozen=True)
class RowArray:
    """A column of a query's rows, as programs name it. column: None for which rows there are."""

    rows: NamedQuery
    column: str | None

    @property
    def text(self) -> str:
        """The column's name, on one line."""
        return json.dumps(self.column)

    @classmethod
    def of(cls, rows: NamedQuery | None, text: str) -> RowArray:
        """The column that ``text`` wrote. Raises ProgramError for another text, and without rows."""
        try:
            column = json.loads(text)
            written = column is None or type(column) is str
        except (ValueError, RecursionError):
            written = False
        if rows is None or not written or json.dumps(column) != text:
            raise ProgramError("the program reads rows that it names by no query; trace it again.")
        return cls(rows, column)


def _text(said: Any, most: int | None = None) -> str:
    if type(said) is not str or (most is not None and len(said) > most):
        raise ValueError
    return said
