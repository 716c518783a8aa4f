"""Arrays in offers: their shape, NumPy type and bounds, and which programs may compute on them (docs/federation.md)."""

from __future__ import annotations

import math
import re
from datetime import date
from fractions import Fraction
from math import prod
from typing import Final, cast

from tacit.agent.federation_column_terms import listed
from tacit.agent.federation_section import Section, either, shown
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.terms import ArrayTerms, Way

INTEGERS: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
FLOATS: Final = ("float16", "float32", "float64")
DTYPES: Final = ("bool", *INTEGERS, *FLOATS)
ARRAY_ENTRIES: Final = ("shape", "dtype", "min", "max", "row_norm", "use", "allow", "programs", "recipients", "until")
PROGRAM = re.compile(r"p:[0-9a-f]{64}")
MOST_ELEMENTS: Final = 1 << 33
LARGEST: Final = 1 << 126
"""No bound is beyond: no ring holds such a number."""


def read_array(section: Section, owner: str, parties: tuple[str, ...]) -> OfferedArray:
    """A section ``[arrays.NAME]``. Raises FederationError with the first mistake."""
    shape, dtype = _shape(section), section.choice("dtype", DTYPES)
    low, high = _bounds(section, dtype)
    norm = _row_norm(section, shape, dtype)
    terms = _terms(section, parties)
    section.close()
    return OfferedArray(section.name, owner, shape, dtype, low, high, norm, terms)


def _shape(section: Section) -> tuple[int, ...]:
    value = section.optional("shape")
    if value is None:
        raise section.error("has no shape", "add the length of each axis, for example shape = [1000, 10]")
    if not isinstance(value, list) or not all(type(each) is int and each > 0 for each in value):
        advice = "write the length of each axis, all from 1, for example [1000, 10]"
        raise section.error(f"shape is {shown(value)}", advice)
    if prod(value) >= MOST_ELEMENTS:
        advice = f"offer it in several arrays of fewer than {MOST_ELEMENTS:,} elements"
        raise section.error(f"shape is {value}, which has {prod(value):,} elements", advice)
    return tuple(value)


def _bounds(section: Section, dtype: str) -> tuple[Fraction | None, Fraction | None]:
    """min and max: needed of numbers that may be fractions, and by default those of the type of integers."""
    if dtype == "bool":
        for entry in ("min", "max"):
            if section.has(entry):
                raise section.error(f"has {entry}, and its dtype is bool", f"remove {entry}")
        return None, None
    for entry in ("min", "max"):
        if dtype in FLOATS and not section.has(entry):
            raise section.error(f"has no {entry}", f"declare what is commonly known, for example {entry} = 4")
    low, high = _bound(section, "min", dtype), _bound(section, "max", dtype)
    if low is not None and high is not None and low > high:
        raise section.error("min is above max", "exchange them")
    return low, high


def _bound(section: Section, entry: str, dtype: str) -> Fraction | None:
    value = section.optional(entry)
    if value is None:
        return None
    found = _number(section, entry, value)
    if dtype in INTEGERS:
        if found.denominator != 1:
            raise section.error(f"{entry} is {shown(value)}, and its dtype is {dtype}", "write a whole number")
        least, most = _range(dtype)
        if not least <= found <= most:
            problem = f"{entry} is {shown(value)}, which {dtype} cannot hold"
            raise section.error(problem, f"write a number from {least} to {most}")
    return found


def _number(section: Section, entry: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise section.error(f"{entry} is {shown(value)}", "write a number without quotes, for example 4 or 0.5")
    if abs(value) >= LARGEST:
        raise section.error(f"{entry} is {shown(value)}", "write a number below 2^126")
    return Fraction(value)


def _range(dtype: str) -> tuple[int, int]:
    """The least and the greatest number of a type of integers."""
    bits = int(dtype.lstrip("uint"))
    return (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


def _row_norm(section: Section, shape: tuple[int, ...], dtype: str) -> Fraction | None:
    value = section.optional("row_norm")
    if value is None:
        return None
    if not shape or dtype == "bool":
        raise section.error("has row_norm, but no rows of numbers", "remove row_norm")
    found = _number(section, "row_norm", value)
    if found <= 0:
        raise section.error(f"row_norm is {shown(value)}", "write a number above 0")
    return found


def _terms(section: Section, parties: tuple[str, ...]) -> ArrayTerms:
    ways = section.names("use", default=())
    section.all_known("use", ways, ("program",), "way to use an array")
    recipients = section.names("recipients", default=())
    section.all_known("recipients", recipients, parties, "party")
    programs = _programs(section)
    for entry in ("allow", "programs"):
        if section.has(entry) and not ways:
            raise section.error(f"has {entry}, but no use", f'add use = ["program"], or remove {entry}')
    return ArrayTerms(frozenset(cast(Way, each) for each in ways), frozenset(recipients), programs, _until(section))


def _programs(section: Section) -> frozenset[str] | None:
    """The hashes of programs; None for any."""
    section.not_both("allow", "programs", 'keep allow, or programs = "any" to let every program compute on it')
    names = listed(section, "allow")
    for name in names or ():
        if not PROGRAM.fullmatch(name):
            advice = "write p: and the 64 hexadecimal digits of its hash, which the refusal of a program says"
            raise section.error(f"allow names {name!r}, which is no program", advice)
    opened = section.optional("programs")
    if opened not in (None, "any"):
        raise section.error(f"programs is {shown(opened)}", f"write {either(['any'])}, or list programs in allow")
    return None if opened else frozenset(names or ())


def _until(section: Section) -> date | None:
    value = section.optional("until")
    if value is not None and type(value) is not date:
        raise section.error(f"until is {shown(value)}", "write a date without quotes, for example 2027-01-31")
    return value
