"""What a stored column is read as: exactly, or refused with the first row that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from tacit.agent.faults import Fault, RunError
from tacit.local import csv_text, numbers
from tacit.local.as_offered import OfferedColumn
from tacit.local.database import quoted, text
from tacit.local.errors import DataError
from tacit.local.stored import Stored
from tacit.psi.number_columns import NumberColumn

NUMBER = "number"

CASTS = {
    NUMBER: "DECIMAL",
    "floating-point number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp with time zone": "TIMESTAMPTZ",
    "time": "TIME",
}
"""What the text of a key is read as where the parties declare that kind."""

SPELT = {"date": rf"\s*{csv_text.DAY}([ T].*)?", "timestamp": csv_text.MOMENT}
"""Texts of kinds of which DuckDB's casts read others, too: other orders of a day, and time zones, which they drop."""

FINER = r"\.[0-9]{6}[0-9]*[1-9]"
"""A time's text that a cast would round."""

OF_TIME = ("timestamp", "timestamp with time zone", "time")

MOST_SUM, LEAST_SUM = 2**63 - 1, -(2**63)
"""Sums are integers of 64 bits."""


@dataclass(frozen=True)
class TextKey:
    """A key column of texts that are read as another kind.

    decimals: the most of a text, where that kind is a number. notes: what its owner should know of it.
    """

    column: str
    kind: str
    decimals: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Exact:
    """The columns of an input, as expressions of the database that has it. offered: those that an offer declares."""

    database: duckdb.DuckDBPyConnection
    stored: Stored
    offered: Mapping[str, OfferedColumn]

    def text_key(self, column: str, kind: str) -> TextKey:
        """A column of texts as the kind that the parties declare. Raises RunError if one is not exactly of it."""
        where = f"{self.stored.name}, column {column}"
        with self.explained():
            decimals = self._decimals_of_key(where, column) if kind == NUMBER else 0
            found = TextKey(column, kind, decimals, ())
            wrong = f"{quoted(column)} IS NOT NULL AND {self._of_kind(found, 'TRY_')} IS NULL"
            if kind in SPELT and not (kind == "date" and self.stored.form.date_format):
                wrong = f"({wrong} OR NOT regexp_full_match({quoted(column)}, {text(SPELT[kind])}))"
            if kind in OF_TIME:
                wrong = f"({wrong} OR regexp_matches({quoted(column)}, {text(FINER)}))"
            if self._count(wrong):
                raise self._wrong(column, wrong, f"no {kind}, as --kind declares")
            notes = [f"{where}: its texts are read as {kind}"]
            unusual = f"{quoted(column)} IS NOT NULL AND NOT {numbers.is_usual(self._number_text(column))}"
            if kind == NUMBER and (count := self._count(unusual)):
                more = f" (and {count - 1:,} more)" if count > 1 else ""
                notes.append(
                    f"{where}: the text in row {self._first(unusual)}{more} is not as its number is usually written; "
                    "texts match as numbers here, so that 01234 is 1234"
                )
        return TextKey(column, kind, decimals, tuple(notes))

    def of_kind(self, key: TextKey) -> str:
        """A text of a key as its kind. It fails for a text that is none."""
        if key.kind != NUMBER:
            return self._of_kind(key, "")
        number = self._of_kind(key, "TRY_")
        return f"CASE WHEN {quoted(key.column)} IS NOT NULL AND {number} IS NULL THEN error('none') ELSE {number} END"

    def number(self, column: str, verb: str) -> NumberColumn:
        """A column that is computed with. verb: what is done with it.

        Raises RunError if it has a value beyond 64 bits, or if a sum of it may be beyond.
        """
        with self.explained():
            number = NumberColumn(column, self._decimals(column, verb))
            self._check_number(number, verb)
        return number

    def places(self, number: NumberColumn) -> str:
        """A column that is computed with, counted in its last decimal. It fails for a value beyond 64 bits."""
        read = self._places(number)
        return f"CASE WHEN {quoted(number.name)} IS NOT NULL AND {read} IS NULL THEN error('none') ELSE {read} END"

    @contextmanager
    def explained(self) -> Iterator[None]:
        """What DuckDB finds wrong with the rows, as a sentence. Raises RunError."""
        try:
            yield
        except duckdb.Error:
            raise self.unreadable("its rows cannot be read; save it anew") from None

    def unreadable(self, problem: str) -> RunError:
        """Why rows cannot be read: the first malformed line, or else a problem."""
        try:
            with input_faults():
                self.stored.check_lines()
        except RunError as malformed:
            return malformed
        return RunError(Fault.INPUT, f"{self.stored.name}: {problem}.")

    def _decimals_of_key(self, where: str, column: str) -> int:
        """The most decimals of the texts of a key. Raises RunError if they do not fit beside the digits of another."""
        decimals, digits = self._most(numbers.decimals, column), self._most(numbers.digits, column)
        if digits + decimals > numbers.DIGITS:
            raise RunError(
                Fault.INPUT,
                f"{where}: its numbers have up to {digits} digits before the point and {decimals} after it, more than "
                f"the {numbers.DIGITS} that are compared; store the column as text at all parties, without --kind.",
            )
        return decimals

    def _of_kind(self, key: TextKey, attempt: str) -> str:
        """A text of a key as its kind. attempt: "" fails for a text that is none, "TRY_" gives NULL; so do numbers."""
        read, form = quoted(key.column), self.stored.form
        match key.kind:
            case "number":
                return numbers.exact(self._number_text(key.column), key.decimals)
            case "date":
                read = csv_text.moment(read, form, attempt)
            case "floating-point number":
                read = self._number_text(key.column)
        return f"{attempt}CAST({read} AS {CASTS[key.kind]})"

    def _decimals(self, column: str, verb: str) -> int:
        """How many decimals a column that is computed with has. Raises RunError."""
        where, stored = f"{self.stored.name}, column {column}", self._type(column)
        found = numbers.stored_decimals(stored)
        if stored in numbers.FLOATING:
            self._check_floating(column, stored)
            found = self._most(numbers.decimals, column)
        if found is None and self.stored.is_csv and column not in self.offered:
            found = self._most(numbers.written_decimals, column)
            if found > numbers.MOST_DECIMALS:
                found = self._most(numbers.decimals, column)
        if found is None:
            counted = stored.startswith(("DATE", "TIME"))
            instead = "store a number of days or seconds" if counted else "cast it, for example to DECIMAL(18,2)"
            raise RunError(Fault.INPUT, f"{where}: it has type {stored}; {verb} integers and decimals only: {instead}.")
        if found > numbers.MOST_DECIMALS:
            most = numbers.MOST_DECIMALS
            raise RunError(Fault.INPUT, f"{where}: it has {found} decimals; {verb} numbers of {most} at most.")
        return found

    def _check_floating(self, column: str, stored: str) -> None:
        """Refuse floating-point numbers that are no decimals of few digits. Raises RunError."""
        wrong = f"{quoted(column)} IS NOT NULL AND NOT {numbers.is_decimal(quoted(column), stored)}"
        if self._count(wrong):
            problem = f"no decimal of at most {numbers.MOST_OF_FLOATING} digits after the point, stored as {stored}"
            raise self._wrong(column, wrong, problem, "round it, or store the column as DECIMAL")

    def _check_number(self, number: NumberColumn, verb: str) -> None:
        read = self._places(number)
        wrong = f"{quoted(number.name)} IS NOT NULL AND {read} IS NULL"
        counted = f"count(*) FILTER (WHERE {wrong}), sum(greatest({read}, 0)), sum(least({read}, 0))"
        ((count, above, below),) = self.database.execute(f"SELECT {counted} FROM {self.stored.relation}").fetchall()
        of = f" with {number.decimals} decimals" if number.decimals else ""
        if count:
            raise self._wrong(number.name, wrong, f"no {'number' if of else 'integer'} of 64 bits{of}")
        if verb == "sum" and ((above or 0) > MOST_SUM or (below or 0) < LEAST_SUM):
            raise RunError(
                Fault.INPUT,
                f"{self.stored.name}, column {number.name}: its values{of} add up to more than 64 bits hold, so that "
                "the sum could be wrong; sum smaller numbers, or fewer rows.",
            )

    def _places(self, number: NumberColumn) -> str:
        """A column that is computed with, counted in its last decimal; NULL where that is beyond 64 bits."""
        is_text = self._type(number.name) in ("VARCHAR", *numbers.FLOATING)
        value = self.offered[number.name].value if number.name in self.offered else quoted(number.name)
        exact = numbers.exact(self._number_text(number.name), number.decimals) if is_text else value
        return numbers.scaled(exact, number.decimals)

    def _type(self, column: str) -> str:
        """As its offer declares it, or as it is stored."""
        return self.offered[column].type if column in self.offered else self.stored.types[column]

    def _number_text(self, column: str) -> str:
        """The texts of a column's numbers, with points before their decimals."""
        if self.stored.types[column] in numbers.FLOATING:
            return f"({numbers.floating_text(quoted(column))})"
        return csv_text.pointed(quoted(column), self.stored.form)

    def _most(self, measure: Callable[[str], str], column: str) -> int:
        """The greatest measure of a column's texts that are numbers."""
        read = self._number_text(column)
        select = f"SELECT max({measure(read)}) FROM {self.stored.relation} WHERE {numbers.is_number(read)}"
        return self._one(select) or 0

    def _wrong(self, column: str, condition: str, problem: str, advice: str = "correct it") -> RunError:
        """What is wrong with the first row of which a condition holds."""
        where = f"{self.stored.name}, row {self._first(condition)}, column {column}"
        return RunError(Fault.INPUT, f"{where}: the value is {problem}; {advice}.")

    def _count(self, condition: str) -> int:
        return self._one(f"SELECT count(*) FROM {self.stored.relation} WHERE {condition}") or 0

    def _first(self, condition: str) -> int | None:
        """The first row, from 1, of which a condition holds."""
        numbered = f"SELECT row_number() OVER () AS row, * FROM {self.stored.relation}"
        return self._one(f"SELECT min(row) FROM ({numbered}) WHERE {condition}")

    def _one(self, select: str) -> int | None:
        """A query's only value."""
        ((value,),) = self.database.execute(select).fetchall()
        return None if value is None else int(value)


@contextmanager
def input_faults() -> Iterator[None]:
    """What is wrong with an owner's input, as a fault of a run."""
    try:
        yield
    except DataError as error:
        raise RunError(Fault.INPUT, str(error)) from None
