"""tacit: SQL over several organisations' tables that reveals the agreed answer and nothing else.

import tacit

federation = tacit.connect("federation.toml")
federation.sql("SELECT zip, COUNT(*) AS people FROM demographics GROUP BY zip").to_polars()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.agent.answer import Answer
    from tacit.agent.connection import Connection, connect

__all__ = ["Answer", "Connection", "connect"]

_HOMES = {"Answer": "tacit.agent.answer", "Connection": "tacit.agent.connection", "connect": "tacit.agent.connection"}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, so that importing one room does not load all others."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
