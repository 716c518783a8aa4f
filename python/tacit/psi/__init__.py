"""Matching parties' tables by identifiers without showing them: private set intersection, between two at any size.

import tacit.psi

matched = tacit.psi.intersect(customers, federation="federation.toml", me="a", key=["email"])

The other parties call the same with their own tables. Arrow in, Arrow out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.psi.plugin import SharedLibrary
    from tacit.psi.tables import Matched, aggregate, answer, ask, identify, intersect, prepare, share

__all__ = [
    "Matched",
    "SharedLibrary",
    "aggregate",
    "answer",
    "ask",
    "identify",
    "intersect",
    "prepare",
    "share",
]

_HOMES = {**dict.fromkeys(__all__, "tacit.psi.tables"), "SharedLibrary": "tacit.psi.plugin"}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit.psi' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, for those who look for them."""
    return sorted(__all__)
