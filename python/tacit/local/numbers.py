"""Texts and columns as exact numbers, in DuckDB's SQL: its own casts round, and read 1e3, 1_000 and 0x10.

A floating-point number counts as the decimal that is written for it, if that has few digits after the point. So 0.1 is
a tenth, as it is in a CSV file. One of more digits is most often the outcome of arithmetic, and no exact number.
"""

from __future__ import annotations

import re

from tacit.local.database import text

DIGITS = 38
"""Of a number with all its decimals."""

MOST_DECIMALS = 18
"""Of a number that is computed with, in 64 bits."""

FLOATING = ("FLOAT", "DOUBLE")
"""DuckDB's types of floating-point numbers."""

MOST_OF_FLOATING = 6
"""Decimals of a floating-point number that counts as a decimal."""

NUMBER = r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)\s*"
"""A number's text."""

SPELLING = r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?"
"""The one text of a number that is the usual one."""

INTEGER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BOOLEAN")
DECIMAL = re.compile(r"DECIMAL\(\d+,(\d+)\)")


def is_number(value: str) -> str:
    """Whether a text is a number."""
    return f"regexp_full_match({value}, {text(NUMBER)})"


def is_usual(value: str) -> str:
    """Whether a text is the usual one of its number."""
    return f"regexp_full_match({value}, {text(SPELLING)})"


def floating_text(value: str) -> str:
    """The shortest text of a floating-point number; of a small one, that with six decimals."""
    small = f"printf('%.{MOST_OF_FLOATING}f', {value})"
    return f"CASE WHEN abs({value}) < 0.001 THEN {small} ELSE CAST({value} AS VARCHAR) END"


def is_decimal(value: str, stored: str) -> str:
    """Whether a number of a floating-point type is what a text of at most six decimals is read as."""
    written = floating_text(value)
    few = f"{is_number(written)} AND {decimals(written)} <= {MOST_OF_FLOATING}"
    return f"({few} AND TRY_CAST({written} AS {stored}) = {value})"


def decimals(value: str) -> str:
    """How many decimals a number's text has, without zeros at the end."""
    fraction = text(r"\.([0-9]*?)0*\s*$")
    return f"strlen(regexp_extract({value}, {fraction}, 1))"


def written_decimals(value: str) -> str:
    """How many decimals a number's text has, zeros at the end included."""
    fraction = text(r"\.([0-9]*)\s*$")
    return f"strlen(regexp_extract({value}, {fraction}, 1))"


def digits(value: str) -> str:
    """How many digits a number's text has before the point, without zeros in front."""
    whole = text(r"^\s*[+-]?0*([0-9]*)")
    return f"strlen(regexp_extract({value}, {whole}, 1))"


def exact(value: str, scale: int) -> str:
    """A text as a decimal of ``scale`` decimals; NULL if it is no number, or has too many digits.

    It is exact for texts of no more decimals.
    """
    return f"CASE WHEN {is_number(value)} THEN TRY_CAST({value} AS DECIMAL({DIGITS}, {scale})) END"


def scaled(decimal: str, scale: int) -> str:
    """A decimal of ``scale`` decimals, counted in its last place: an integer of 64 bits; NULL if it is beyond."""
    return f"TRY_CAST(replace(CAST({decimal} AS VARCHAR), '.', '') AS BIGINT)" if scale else whole(decimal)


def whole(value: str) -> str:
    """A number without decimals as an integer of 64 bits; NULL if it is beyond."""
    return f"TRY_CAST({value} AS BIGINT)"


def stored_decimals(stored: str) -> int | None:
    """How many decimals a DuckDB type has; None if it is none of exact numbers."""
    if INTEGER.fullmatch(stored):
        return 0
    found = DECIMAL.fullmatch(stored)
    return None if found is None else int(found[1])
