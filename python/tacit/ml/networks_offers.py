"""What an owner offers of a network's parameters: files of arrays, and their declarations with rounded bounds."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor, log2, sqrt
from pathlib import Path
from typing import Any

import numpy

from tacit.array.declared import Declared

Named = Mapping[str, Any]

BITS = 2
"""Bits behind the leading one that a declared bound keeps: it tells no more of the parameters."""


def rounded_up(number: float) -> Fraction:
    """The next number above with few bits, so that a bound tells little of what it bounds. 1 for zero."""
    if number == 0:
        return Fraction(1)
    place = Fraction(2) ** (floor(log2(number)) - BITS)
    return ceil(Fraction(number) / place) * place


def declared(parameters: Named) -> dict[str, Declared]:
    """What is public of parameters: shapes, and rounded bounds of their numbers and of the norms of their rows."""
    found = {}
    for name, value in parameters.items():
        most = rounded_up(float(numpy.abs(value).max(initial=0)))
        norm = None
        if numpy.ndim(value) > 1:
            norm = rounded_up(sqrt(float((numpy.asarray(value) ** 2).sum(axis=-1).max(initial=0))))
        found[name] = Declared(tuple(numpy.shape(value)), "float64", -most, most, norm)
    return found


CLOSED = 'use = ["program"]'
"""The terms of an array that no program may compute on, until its owner adds one's hash."""


def offers(parameters: Named, terms: str = CLOSED) -> str:
    """The sections of an owner's offer (offers/NAME.toml). terms: the lines of each that allow programs."""
    lines = []
    for name, each in declared(parameters).items():
        lines += [f"[arrays.{name}]", f"shape = {list(each.shape)}", 'dtype = "float64"']
        lines += [f"min = {float(each.min or 0)!r}", f"max = {float(each.max or 0)!r}"]
        lines += [] if each.row_norm is None else [f"row_norm = {float(each.row_norm)!r}"]
        lines += [terms, ""]
    return "\n".join(lines)


def private_files(parameters: Named) -> str:
    """The sections of an owner's private file (private/NAME.toml) for arrays that ``save`` writes beside it."""
    return "\n".join(f'[arrays.{name}]\npath = "{name}.npy"\n' for name in parameters)


def save(parameters: Named, folder: str | Path) -> list[Path]:
    """Write each array to NAME.npy in a folder, which only its owner should read."""
    paths = []
    for name, value in parameters.items():
        paths.append(Path(folder) / f"{name}.npy")
        numpy.save(paths[-1], numpy.asarray(value, dtype=float))
    return paths
