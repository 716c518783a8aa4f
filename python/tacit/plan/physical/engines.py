"""The engines that a federation can choose, as native code has them."""

from __future__ import annotations

from tacit import _native

NODES = dict(_native.engines())
"""Every engine with the number of its nodes. The first is for federations that name none."""

DEFAULT = next(iter(NODES))

PROGRAMS_ALONE = frozenset({"four"})
"""Engines that run programs on arrays and no queries on tables."""

FAILS_AT_MOST = 2.0**-40
"""The largest probability of a wrong result that any engine's plan may have; native code refuses more, too."""


def alternatives() -> str:
    """All engines, for people."""
    return _listed(NODES)


def of_queries() -> dict[str, int]:
    """The engines that queries on tables run on, each with the number of its nodes."""
    return {engine: nodes for engine, nodes in NODES.items() if engine not in PROGRAMS_ALONE}


def alternatives_of_queries() -> str:
    """Those, for people."""
    return _listed(of_queries())


def _listed(engines: dict[str, int]) -> str:
    return " or ".join(f"{engine!r} with {nodes}" for engine, nodes in engines.items())
