"""What a match on disk leaves to resume from: a private folder with bins, results of bins, and this file about them.

Its tokens are keyed hashes of identifiers and the key is beside them: whoever reads the folder can try likely
identifiers. So it is readable by its owner only, and removed at the end.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from tacit.agent.faults import Fault, RunError

FILE = "state.json"


@dataclass(frozen=True)
class State:
    """A match whose partition into bins is complete.

    run: names the run, equal at both parties. key: of its tokens. stamp: which input was put into bins. agreed: whether
    the peer has confirmed that it has all results too.
    """

    plan_hash: str
    run: str
    key: str
    stamp: str
    columns: list[str]
    bins: int
    rows: tuple[int, int]
    counts: tuple[int, int, list[int]]
    agreed: bool = False


def folder_of(output: Path) -> Path:
    """Where the match that writes a file keeps its bins."""
    return output.parent / f".{output.name}.tacit-psi"


def read_state(folder: Path, plan_hash: bytes, stamp: str, columns: list[str]) -> State | None:
    """The state of an earlier run with the same parameters, input and columns; None if there is none to resume."""
    try:
        state = State(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    same = (state.plan_hash, state.stamp, state.columns) == (plan_hash.hex(), stamp, columns)
    return state if same else None


def write_state(folder: Path, state: State) -> None:
    """Keep a state; on disk when this returns. Raises RunError."""
    try:
        fresh = folder / f"{FILE}.fresh"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(state), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / FILE)
    except OSError as error:
        raise RunError(Fault.INPUT, f"{folder}: cannot be written ({error.strerror}).") from error


def fresh_folder(folder: Path) -> None:
    """An empty private folder. Raises RunError."""
    remove_folder(folder)
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise RunError(Fault.INPUT, f"{folder}: cannot be made ({error.strerror}).") from error


def remove_folder(folder: Path) -> None:
    """Remove a match's folder, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)


def check_disk(folder: Path, needed: int) -> None:
    """Refuse a run that the disk has no room for. Raises RunError."""
    free = shutil.disk_usage(folder.parent).free
    if free < needed:
        raise RunError(
            Fault.INPUT,
            f"{folder.parent}: {free / 1e9:.1f} GB are free, but the bins and the output need {needed / 1e9:.1f} GB; "
            "free space, or write the output to another disk.",
        )
