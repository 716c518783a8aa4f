"""What is wrong with a query, in a sentence that says where and what to write instead: the user's own errors."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable
from difflib import get_close_matches

Position = tuple[int, int]


def shown_in_notebooks(error: BaseException) -> list[str]:
    """The lines of an error under a cell: its sentence alone, or the traceback if TACIT_TRACEBACK is set."""
    if os.environ.get("TACIT_TRACEBACK"):
        return traceback.format_exception(error)
    return [f"{type(error).__name__}: {error}"]


class QueryError(Exception):
    """A query that cannot be answered as it is written.

    position: line and column in the query's text, both from 1, or None where no place in the text is to blame.
    column: the column to blame where its place is not known.
    """

    def __init__(self, sentence: str, position: Position | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.position = position
        self.column: str | None = None

    def __str__(self) -> str:
        where = "" if self.position is None else f"line {self.position[0]}, column {self.position[1]}: "
        return where + self.sentence

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show of it."""
        return shown_in_notebooks(self)

    def at(self, position: Position | None, column: str | None = None) -> QueryError:
        """The same error at a place, or about a column, unless it has one already."""
        if self.position is None and self.column is None:
            self.position, self.column = position, column
        return self


class UnsupportedSQL(QueryError):
    """A construct outside the supported SQL. construct: its name. instead: what to write, from a verb on."""

    def __init__(self, construct: str, instead: str, position: Position | None = None) -> None:
        super().__init__(f"{construct} is not supported; {instead}.", position)
        self.construct = construct
        self.instead = instead


class InvalidSQL(QueryError):
    """Text that is not a query, or one whose types, names or groups contradict each other."""


class UnknownName(QueryError):
    """A table or column that does not exist, with the nearest names that do."""

    def __init__(self, what: str, name: str, known: Iterable[str], position: Position | None = None) -> None:
        names = sorted(set(known))
        near = get_close_matches(name.lower(), [each.lower() for each in names], n=3, cutoff=0.5)
        shown = [each for each in names if each.lower() in near] or names
        advice = f"did you mean {_either(shown[:6])}?" if names else "nothing here has a name; write constants."
        super().__init__(f"there is no {what} {name!r}; {advice}", position)


class TooWide(QueryError):
    """A value whose public bounds allow more than 128 bits."""

    def __init__(self, what: str, bits: int) -> None:
        super().__init__(
            f"{what} may need {bits} bits by the declared bounds, more than 128; declare tighter min and max for its "
            "columns, and rows for its tables."
        )


def _either(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)
