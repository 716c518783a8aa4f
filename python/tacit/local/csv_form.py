"""How a CSV file is written, where an owner's differs from the usual form. One set of options for queries and matches.

| option | what it is | default |
|---|---|---|
| `delimiter` | what stands between values: one character, or `tab` | `,` |
| `decimal` | what stands before the decimals of a number: `.` or `,` | `.` |
| `date_format` | how dates are written, in the letters of strftime: `%d.%m.%Y` | `%Y-%m-%d` |
| `null` | texts without quotes that stand for NULL, besides the empty value | none |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

OPTIONS = ("delimiter", "decimal", "date_format", "null")

DAY = (re.compile("%-?d"), re.compile("%-?[mbB]"), re.compile("%-?[Yy]"))
"""What a format of dates has: day, month and year."""

OF_DATES = re.compile(r"(%-?[dmyYbB]|%%|[^%])*")


class FormError(ValueError):
    """An option of a form that cannot be: which one, what is wrong with it, and what to do."""

    def __init__(self, option: str, problem: str, advice: str) -> None:
        super().__init__(f"{option}: {problem}; {advice}")
        self.option, self.problem, self.advice = option, problem, advice


@dataclass(frozen=True)
class CsvForm:
    """The form of a CSV file. date_format: None for ISO dates."""

    delimiter: str = ","
    decimal: str = "."
    date_format: str | None = None
    null: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, object]) -> CsvForm:
        """From options by their names. Raises FormError with the first mistake."""
        for name in options:
            if name not in OPTIONS:
                raise FormError(name, "there is no such option of a CSV file", f"known are {', '.join(OPTIONS)}")
        nulls = options.get("null", ())
        listed = (nulls,) if isinstance(nulls, str) else nulls
        if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
            raise FormError("null", f"is {nulls!r}", "write a text, or a list of texts")
        for each in listed:
            if "\n" in each or "\r" in each or '"' in each:
                raise FormError("null", f"has {each!r}", "write texts without quotes and line ends")
        date_format = options.get("date_format")
        return cls(
            _delimiter(options.get("delimiter", cls.delimiter)),
            _decimal(options.get("decimal", cls.decimal)),
            None if date_format is None else _date_format(date_format),
            tuple(listed),
        )


USUAL = CsvForm()
"""The form of a file of which nothing is said."""


def _delimiter(said: object) -> str:
    delimiter = "\t" if said == "tab" else said
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter.isalnum() or delimiter in "\"'\r\n.+- ":
        raise FormError("delimiter", f"is {said!r}", "write one character such as ; or |, or tab")
    return delimiter


def _decimal(said: object) -> str:
    if said not in (".", ","):
        raise FormError("decimal", f"is {said!r}", "write . or ,")
    return str(said)


def _date_format(said: object) -> str:
    if (
        not isinstance(said, str)
        or not OF_DATES.fullmatch(said)
        or not all(part.search(said.replace("%%", "")) for part in DAY)
    ):
        advice = "write day, month and year, for example %d.%m.%Y"
        raise FormError("date_format", f"is {said!r}, which is no form of a date", advice)
    return said
