"""The text of a CSV file: how DuckDB reads it, what its header says, which texts are not exactly a value of a type.

A file is UTF-8 with values in double quotes where they need them, and a header. An empty value without quotes is NULL.
Delimiter, decimal mark, dates and further texts for NULL are as its form says (``tacit.local.csv_form``). DuckDB's own
casts round '2.5' to an INTEGER, drop the time from a date and the zone from a timestamp; here such values are errors.
"""

from __future__ import annotations

import csv
import mmap
import re
from collections.abc import Iterable
from pathlib import Path

from tacit.local.csv_form import USUAL, CsvForm
from tacit.local.database import file, text
from tacit.local.errors import DataError
from tacit.local.rounded import Rounded, rounded, unlike_number
from tacit.plan.algebra.types import Date, Decimal, Integer, Timestamp, Type, Varchar, sql_name

OPTIONS = (
    "header = true, auto_detect = false, quote = '\"', escape = '\"', strict_mode = true, allow_quoted_nulls = false"
)


LONGEST_QUOTE = 40
"""Characters of a wrong value that an error quotes."""


LINE_ENDS = {b"\r\n": "CR LF", b"\n": "LF", b"\r": "CR"}

Marks = frozenset[str]
"""Which characters occur in a file at all. Most files need no closer look at their values: without a point anywhere no
number has a fraction."""

PLAIN_DAY = "[1-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
"""A date from the year 1000 on as DuckDB writes it, for GLOB, which costs less than to write the date or to match."""

DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
MIDNIGHT = rf"\s*{DAY}[ T]00:00(:00(\.0*)?)?\s*"
"""The text of a date with a time that says nothing."""

MOMENT = rf"\s*{DAY}([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{{1,6}}0*)?)?)?\s*"
"""The text of a moment to the microsecond, without a time zone."""


def reader(path: str, columns: int, more: str = "", form: CsvForm = USUAL) -> str:
    """The FROM item that reads all columns as text, under the names that ``at`` gives."""
    listed = ", ".join(f"'{at(index)}': 'VARCHAR'" for index in range(columns))
    options = f"{OPTIONS}, delim = {text(form.delimiter)}"
    if form.null:
        options += f", nullstr = [{', '.join(map(text, ('', *form.null)))}]"
    return f"read_csv({file(path)}, {options}, columns = {{{listed}}}{more})"


def at(index: int) -> str:
    """The name of a column by its place in the file; the header's own names may be empty or repeat."""
    return f"column{index}"


def header(path: str, form: CsvForm = USUAL) -> list[str]:
    """The names of the columns. Raises DataError."""
    # Text after the header may be broken: that is found later, with its line.
    with Path(path).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        try:
            names = next(csv.reader(file, delimiter=form.delimiter), [])
            "".join(names).encode()
        except (UnicodeEncodeError, csv.Error):
            raise DataError(path, "the first line is not CSV in UTF-8", "save the file as CSV, UTF-8") from None
    if not names:
        raise DataError(path, "the file has no header", "name the columns in its first line")
    return names


def marks(path: str, types: Iterable[Type | Rounded], form: CsvForm = USUAL) -> Marks:
    """Which of the characters that matter to values of the types are in the file after its header.

    A decimal mark counts as a point, whatever it is.
    """
    wanted = frozenset().union(*(_telling(type_) for type_ in types))
    with Path(path).open("rb") as file:
        start = len(file.readline())
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            written = {mark: form.decimal if mark == "." else mark for mark in wanted}
            return frozenset(mark for mark in wanted if content.find(written[mark].encode(), start) >= 0)


def _telling(type_: Type | Rounded) -> Marks:
    match type_:
        case Integer() | Decimal():
            return frozenset(".eE")
        case Varchar():
            return frozenset("\0")
        case _:
            return frozenset()


def pointed(value: str, form: CsvForm) -> str:
    """A number's text with a point before its decimals. A point of a text with a decimal comma makes it no number."""
    return value if form.decimal == "." else f"translate({value}, '.,', '?.')"


def moment(value: str, form: CsvForm, attempt: str = "") -> str:
    """A date's text, or the moment that it says in a form of its own; attempt: see ``typed``."""
    return value if form.date_format is None else f"{attempt}strptime({value}, {text(form.date_format)})"


def typed(value: str, type_: Type | Rounded, form: CsvForm = USUAL, attempt: str = "") -> str:
    """A text as a value of a type. attempt: "" fails for a text that is none, "TRY_" gives NULL."""
    match type_:
        case Date():
            value = moment(value, form, attempt)
        case Integer() | Decimal():
            value = pointed(value, form)
        case Rounded():
            return rounded(pointed(value, form), type_, attempt)
    return f"{attempt}CAST({value} AS {sql_name(type_)})"


def inexact(value: str, type_: Type | Rounded, marks: Marks, form: CsvForm = USUAL) -> str | None:
    """The condition that a text which can be cast to a type is not exactly a value of it; None: it always is one."""
    value = pointed(value, form) if isinstance(type_, Integer | Decimal | Rounded) else value
    present = marks & _telling(type_)
    match type_:
        case Integer() if present:
            return _unless(_contains(value, present), value, r"\s*[+-]?[0-9]+\.?0*\s*")
        case Decimal(_, scale) if present:
            # The point is looked for in long texts only.
            long = (
                f"CASE WHEN strlen({value}) - instr({value}, '.') > {scale} THEN contains({value}, '.') ELSE FALSE END"
            )
            suspect = [long, _contains(value, present - {"."})] if present - {"."} else [long]
            return _unless(" OR ".join(suspect), value, rf"\s*[+-]?[0-9]*\.[0-9]{{0,{scale}}}0*\s*")
        case Date() if form.date_format is None:
            lost = _unless(_respelt(value, type_), value, MIDNIGHT)
            return f"(CASE WHEN {value} GLOB {text(PLAIN_DAY)} THEN FALSE ELSE {lost} END)"
        case Timestamp():
            return _unless(_respelt(value, type_), value, MOMENT)
        case Rounded():
            return unlike_number(value)
        case _:
            return None


def _respelt(value: str, type_: Type) -> str:
    """Whether a day or moment is not written as DuckDB writes it."""
    return f"CAST(TRY_CAST({value} AS {sql_name(type_)}) AS VARCHAR) <> trim({value})"


def _contains(value: str, characters: Marks) -> str:
    return " OR ".join(f"contains({value}, {text(each)})" for each in sorted(characters))


def wrong(value: str, type_: Type | Rounded, marks: Marks, form: CsvForm = USUAL) -> str:
    """The condition that a text is no value of a type. NULL is not wrong."""
    uncastable = f"({value} IS NOT NULL AND {typed(value, type_, form, 'TRY_')} IS NULL)"
    lost = inexact(value, type_, marks, form)
    return uncastable if lost is None else f"({uncastable} OR {lost})"


def line_number(path: str, byte: int) -> int:
    """The line, from 1, that the byte (from 0) is in."""
    lines = 1
    with Path(path).open("rb") as file:
        while byte > 0 and (chunk := file.read(min(byte, 1 << 20))):
            lines += chunk.count(b"\n")
            byte -= len(chunk)
    return lines


def unreadable(path: str) -> DataError:
    """What is wrong with a file that DuckDB finds no lines in: most often its lines end in different ways."""
    first, line, quotes = None, 1, 0
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for found in re.finditer(rb'"|\r\n|\r|\n', content):
            if found[0] == b'"':
                quotes += 1
            elif quotes % 2 == 0:  # not within a value
                first = first or found[0]
                if found[0] != first:
                    problem = (
                        f"line {line} ends with {LINE_ENDS[found[0]]}, but those before it with {LINE_ENDS[first]}"
                    )
                    return DataError(path, problem, "save the file with one kind of line ends")
                line += 1
    return DataError(path, "the file is not CSV", "put values that contain a comma or a quote in double quotes")


def _unless(suspect: str, value: str, pattern: str) -> str:
    """Suspect and not of the pattern; the cheap test comes first, the pattern is for the few."""
    return f"(CASE WHEN {suspect} THEN NOT regexp_full_match({value}, {text(pattern)}) ELSE FALSE END)"


def problem(value: str, type_: Type | Rounded) -> str:
    """What is wrong with a text that is no value of a type."""
    shown = repr(value if len(value) <= LONGEST_QUOTE else value[:LONGEST_QUOTE] + "...")
    if isinstance(type_, Rounded):
        return f"{shown} is not a number between the declared min and max"
    return f"{shown} is not {'an' if sql_name(type_)[0] in 'AEIOU' else 'a'} {sql_name(type_)}"
