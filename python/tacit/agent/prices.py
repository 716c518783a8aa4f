"""The table of prices that the parties of a federation share: ``prices.toml`` beside the federation file.

Protocols are chosen by it, so all parties have the same one; it is part of what they compare before a run. Without a
file the default holds, which is in native code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_section import Section, read_section

FILE = "prices.toml"
OPTIONAL = "further"
"""The price that protocols with one key have not: 0 by default."""
LARGEST = 2**63 - 1
"""TOML's largest whole number."""


def shared_prices(federation: Path) -> str | None:
    """The table beside a federation file, as JSON; None if there is none. Raises RunError."""
    path = federation.parent / FILE
    if not path.exists():
        return None
    told = read_section(path, "make it readable")
    _check(told, json.loads(_native.default_prices()))
    text = json.dumps(dict(told.items()), sort_keys=True, separators=(",", ":"))
    try:
        _native.measured(text)
    except _native.InputError as error:
        raise RunError(Fault.INPUT, f"{path}: {error}.") from None
    return text


def _check(section: Section, default: Mapping[str, Any]) -> None:
    """Refuse a table that has not what the default has, or more. What the numbers may be is for native code to say."""
    for name, value in default.items():
        if isinstance(value, dict):
            _check(section.section(name), value)
        elif isinstance(value, str):
            section.text(name)
        elif name != OPTIONAL and not section.has(name):
            raise section.error(f"has no {name}", f"add {name} = ...")
        elif isinstance(value, float):
            section.number(name, value)
        elif (section.count(name, least=0) or 0) > LARGEST:
            raise section.error(f"{name} has more than 64 bits", "write a smaller number")
    section.close()
