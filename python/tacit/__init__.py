"""tacit: SQL over several organisations' tables that reveals the agreed answer and nothing else.

import tacit

federation = tacit.connect("federation.toml")
federation.sql("SELECT zip, COUNT(*) AS people FROM demographics GROUP BY zip").to_polars()

What goes wrong is a tacit.Error, of a kind that says whose fault it is: InputError, PolicyError, PeerError,
PeerGoneError, CheatingError, WithheldError, InterruptedRunError or InternalError. Its text is one sentence that says
what to do, and its exit_status is that of the command.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.agent.answer import Answer
    from tacit.agent.connection import Connection, connect
    from tacit.agent.explanation import Explanation
    from tacit.agent.faults import (
        CheatingError,
        InputError,
        InternalError,
        InterruptedRunError,
        PeerError,
        PeerGoneError,
        PolicyError,
        WithheldError,
    )
    from tacit.agent.faults import RunError as Error
    from tacit.array.declared import Declared
    from tacit.array.namespace import bound
    from tacit.array.program import program

    __version__: str

__all__ = [
    "Answer",
    "CheatingError",
    "Connection",
    "Declared",
    "Error",
    "Explanation",
    "InputError",
    "InternalError",
    "InterruptedRunError",
    "PeerError",
    "PeerGoneError",
    "PolicyError",
    "WithheldError",
    "__version__",
    "bound",
    "connect",
    "program",
]

_HOMES = {
    **dict.fromkeys((name for name in __all__ if name.endswith("Error")), "tacit.agent.faults"),
    "Answer": "tacit.agent.answer",
    "Connection": "tacit.agent.connection",
    "Declared": "tacit.array.declared",
    "Explanation": "tacit.agent.explanation",
    "bound": "tacit.array.namespace",
    "connect": "tacit.agent.connection",
    "program": "tacit.array.program",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, so that importing one room does not load all others."""
    from importlib import import_module

    if name == "__version__":
        from tacit import _native

        return _native.version()
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), "RunError" if name == "Error" else name)


def __dir__() -> list[str]:
    """The public names, and the rooms that are loaded."""
    return sorted({*__all__, *(name for name, value in globals().items() if isinstance(value, ModuleType))})
