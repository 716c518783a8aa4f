"""Amounts as people read them."""

from __future__ import annotations


def size(count: float) -> str:
    """A number of bytes, in decimal units."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"


def memory(count: float) -> str:
    """A number of bytes of memory, in binary units."""
    gib = count / (1 << 30)
    return f"{gib:.1f} GiB" if gib >= 1 else f"{max(1, round(count / (1 << 20))):,} MiB"


def duration(seconds: float) -> str:
    """A time: milliseconds below a second."""
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
