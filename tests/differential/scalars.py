"""Generated calls of functions, casts and intervals: what an owner or a recipient computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expressions import Name, Writer

UNITS = ("day", "month", "year", "quarter", "week")
INTERVALS = ("INTERVAL '1' MONTH", "INTERVAL '3' DAY", "INTERVAL '2' YEAR", "INTERVAL '90' MINUTE")


def number(writer: Writer, scope: Sequence[Name]) -> str | None:
    """A number that a function makes of columns; None if there is none for the function that was drawn."""
    numbers, small = _of(scope, "whole", "decimal"), [each for each in scope if is_small(each)]
    texts, days, flags = _of(scope, "text"), _narrow(scope, "date"), _of(scope, "flag")
    kinds = [
        *(["ROUND", "IFNULL", "rest"] if numbers else []), *(["IF"] if flags and numbers else []),
        *(["CAST to a number", "rounded quotient"] if small else []),
        *(["EXTRACT", "DATE_DIFF", "DATE_DIFF", "days"] if days else []),
        *(["POSITION", "LENGTH"] if texts else []),
    ]  # fmt: skip
    if not kinds:
        return None
    match writer.pick(kinds):
        case "EXTRACT":
            part = writer.pick(["YEAR", "MONTH", "DAY", "DOW", "WEEK", "QUARTER", "DOY"])
            return writer.note("EXTRACT", f"EXTRACT({part} FROM {writer.pick(days).text})")
        case "LENGTH":
            return writer.note("LENGTH", f"LENGTH({writer.pick(texts).text})")
        case "rest":
            sign = writer.pick(["%", "//"])
            if small and writer.often(2):
                by = f"NULLIF({writer.pick(small).text}, 0)"
                form = f"({writer.pick(small).text} {sign} {by})"
                return writer.note(sign, writer.note("division by a column", form))
            return writer.note(sign, f"({writer.pick(numbers).text} {sign} {writer.pick(['3', '7', '-4'])})")
        case "days":
            return writer.note("date - date", f"({writer.pick(days).text} - {writer.pick(days).text})")
        case "ROUND":
            of = writer.pick(numbers).text
            form = writer.pick([f"ROUND({of}, 1)", f"ROUND({of})", f"FLOOR({of})", f"CEIL({of})", f"TRUNC({of})"])
            return writer.note("ROUND and its like", form)
        case "CAST to a number":
            type_ = writer.pick(["BIGINT", "HUGEINT", "DECIMAL(18,2)", "INTEGER"])
            return writer.note("CAST to a number", f"CAST({writer.pick(small).text} AS {type_})")
        case "rounded quotient":
            by = f"NULLIF({writer.pick(small).text}, 0)"
            type_ = writer.pick(["BIGINT", "HUGEINT"])
            return writer.note("rounded quotient", f"CAST({writer.pick(small).text} / {by} AS {type_})")
        case "DATE_DIFF":
            other = writer.pick([writer.pick(days).text, "DATE '2020-02-10'"])
            return writer.note("DATE_DIFF", f"DATE_DIFF('{writer.pick(UNITS)}', {writer.pick(days).text}, {other})")
        case "POSITION":
            return writer.note("POSITION", f"POSITION('a' IN {writer.pick(texts).text})")
        case "IF":
            one, other = writer.pick(numbers).text, writer.pick([writer.pick(numbers).text, "0"])
            return writer.note("IF", f"IF({writer.pick(flags).text}, {one}, {other})")
        case _:
            return writer.note("IFNULL", f"IFNULL({writer.pick(numbers).text}, {writer.pick(['0', '-1'])})")


def output(writer: Writer, scope: Sequence[Name]) -> str | None:
    """A function of any sort."""
    texts = _of(scope, "text")
    match writer.pick(["number", "number", "day", "moment", "flag", "text"]):
        case "day":
            return day(writer, scope)
        case "number":
            return number(writer, scope)
        case "moment":
            return moment(writer, scope)
        case "flag":
            return flag(writer, scope, writer.flag(scope, 0))
        case _:
            return text(writer, writer.pick(texts)) if texts else None


def day(writer: Writer, scope: Sequence[Name]) -> str | None:
    """A day that is made of another."""
    narrow, moments = _narrow(scope, "date"), _narrow(scope, "moment")
    if (narrow or moments) and (writer.often(2) or not narrow):
        return writer.note("LAST_DAY", f"LAST_DAY({writer.pick([*narrow, *moments]).text})")
    if not narrow:
        return None
    of = writer.pick(narrow).text
    return writer.note("date + days", f"({of} {writer.pick('+-')} {writer.pick(['1', '30', '365'])})")


def moment(writer: Writer, scope: Sequence[Name]) -> str | None:
    """A moment that is made of a day or another moment."""
    narrow = [*_narrow(scope, "date"), *_narrow(scope, "moment")]
    if not narrow:
        return None
    of = writer.pick(narrow).text
    if writer.often(2):
        return writer.note("DATE_TRUNC", f"DATE_TRUNC('{writer.pick(UNITS)}', {of})")
    return writer.note("INTERVAL", f"({of} {writer.pick('+-')} {writer.pick(INTERVALS)})")


def flag(writer: Writer, scope: Sequence[Name], test: str) -> str | None:
    """A condition on strings, or on the value of another one."""
    texts = _of(scope, "text")
    if texts and not writer.often(3):
        of = writer.pick(texts).text
        form = writer.pick([
            f"{of} ILIKE 'A%'", f"starts_with({of}, 'a')", f"contains({of}, 'b')", f"ends_with({of}, 'e')",
            f"{of} SIMILAR TO 'a.*'", f"{of} LIKE '%!%%' ESCAPE '!'", f"{of} NOT ILIKE '%X%'",
        ])  # fmt: skip
        return writer.note("condition on a string", f"({form})")
    return writer.note("IS TRUE", f"({test} IS {writer.pick(['TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE', 'UNKNOWN'])})")


def text(writer: Writer, name: Name) -> str:
    """A string that is made of one."""
    form = writer.pick([
        "UPPER({})", "LOWER({})", "TRIM({})", "REVERSE({})", "RIGHT({}, 2)", "LEFT({}, 1)", "LTRIM({})",
        "SUBSTRING({} FROM 2 FOR 2)", "{} || 'x'", "REPLACE({}, 'a', 'b')", "CONCAT({}, '-')",
    ])  # fmt: skip
    return writer.note("function of a string", form.format(name.text))


def is_small(name: Name) -> bool:
    """Whether it is a column of whole numbers of at most 32 bits, which a DOUBLE has exactly."""
    return name.origin is not None and name.origin.sql in ("TINYINT", "SMALLINT", "INTEGER")


def _of(scope: Sequence[Name], *families: str) -> list[Name]:
    return [each for each in scope if each.family in families]


def _narrow(scope: Sequence[Name], family: str) -> list[Name]:
    """Days or moments far from the ends of the calendar."""
    return [each for each in _of(scope, family) if each.origin and "bounds of a type" not in each.origin.features]
