"""The table of prices that the parties of a federation share: ``prices.toml`` beside the federation file.

Protocols are chosen by it, so all parties have the same one; it is part of what they compare before a run. Without a
file the default holds, which is in native code.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from tacit import _native
from tacit.agent.faults import Fault, RunError

FILE = "prices.toml"


def shared_prices(federation: Path) -> str | None:
    """The table beside a federation file, as JSON; None if there is none. Raises RunError."""
    path = federation.parent / FILE
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(Fault.INPUT, f"{path}: cannot be read ({error.strerror}); make it readable.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RunError(Fault.INPUT, f"{path}: is not TOML: {error}; take docs/examples/prices.toml.") from None
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), default=str)
    try:
        _native.measured(text)
    except _native.InputError as error:
        raise RunError(Fault.INPUT, f"{path}: {error}.") from None
    return text
