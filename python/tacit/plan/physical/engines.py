"""The engines that a federation can choose, as native code has them."""

from __future__ import annotations

from tacit import _native

NODES = dict(_native.engines())
"""Every engine with the number of its nodes. The first is for federations that name none."""

DEFAULT = next(iter(NODES))


def alternatives() -> str:
    """All engines, for people."""
    return " or ".join(f"{engine!r} with {nodes}" for engine, nodes in NODES.items())
