"""Amounts as people read them."""

from __future__ import annotations


def size(count: float) -> str:
    """A number of bytes, in decimal units."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def duration(seconds: float) -> str:
    """A time: milliseconds below a second."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
