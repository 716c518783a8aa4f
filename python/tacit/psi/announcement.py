"""What the parties of a match tell each other of themselves before anything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tacit.agent.faults import Fault, RunError

ANNOUNCED = ("rows", "memory", "workers", "kinds", "resume", "columns")

MOST_ROWS = 1 << 36
"""More than any table that disks hold."""


def heard(message: bytes, peer: str, keys: int) -> dict[str, Any]:
    """A peer's announcement, in which nothing is believed that could not be. Raises RunError."""
    try:
        told: dict[str, Any] = json.loads(message)
        rows, memory, workers, kinds, resume, columns = (told[name] for name in ANNOUNCED)
        numbers = all(type(number) is int for number in (rows, memory, workers))
        fits = numbers and 0 <= rows <= MOST_ROWS and memory > 0 and workers > 0
        fits = fits and len(kinds) == keys and all(isinstance(name, str) for name in [*kinds, *columns])
        fits = fits and isinstance(columns, list)
        if resume is not None:
            fits = fits and len(bytes.fromhex(resume["done"])) == resume["bins"] and isinstance(resume["run"], str)
        if fits:
            return told
    except (ValueError, KeyError, TypeError):
        pass
    raise RunError(Fault.PEER, f"party {peer!r} announces what no honest party announces; nothing was sent.")


def same_run(mine: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None, bins: int) -> bool:
    """Whether both parties hold the same run, in the bins that would be chosen now."""
    if mine is None or theirs is None:
        return False
    return bool(mine["run"] == theirs["run"] and mine["bins"] == theirs["bins"] == bins)
