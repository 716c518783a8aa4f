"""What a match leaves: on disk a private folder with bins, results of bins, and this file about them, to resume from.

Against parties that may send anything, a match in memory leaves there how many bins it has begun.

Tokens are keyed hashes of identifiers: who has them and their key can try likely identifiers. So every file of the
folder is encrypted under a key that follows from the party's private key, and the folder is removed at the end.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tacit import _native
from tacit.agent.durable import sync_folder
from tacit.agent.faults import Fault, RunError
from tacit.agent.keys import derived_key
from tacit.agent.private_key import PrivateKey

FILE = "state"
IN_MEMORY = "begun-in-memory"
KEY_PURPOSE = b"tacit matches on disk 1"


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


def sealing_key(private_key: PrivateKey) -> bytes:
    """The key under which a party's files of matches are encrypted, from its private key (PEM)."""
    return derived_key(private_key, KEY_PURPOSE)


def read_state(folder: Path, key: bytes, plan_hash: bytes, stamp: str, columns: list[str]) -> State | None:
    """The state of an earlier run with the same parameters, input and columns; None if there is none to resume.

    key: of the folder's files. Raises an input error of the native module if the state is damaged, or another key's.
    """
    content = _native.read_sealed(str(folder / FILE), key, FILE)
    state = None if content is None else parsed(content)
    if state is None:
        return None
    same = (state.plan_hash, state.stamp, state.columns) == (plan_hash.hex(), stamp, columns)
    return state if same else None


def parsed(content: bytes) -> State | None:
    """The state in a file's bytes; None if they are none, whatever a disk or another program has made of them."""
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or set(told) != {field.name for field in fields(State)}:
        return None
    plan_hash, run, key, stamp, columns, bins, rows, counts, agreed = (told[field.name] for field in fields(State))
    if not (
        all(isinstance(text, str) for text in (plan_hash, run, key, stamp))
        and re.fullmatch(r"[0-9a-f]{32}", key)
        and _list_of(str, columns)
        and type(bins) is int
        and 1 <= bins <= _native.MOST_BINS
        and _list_of(int, rows)
        and len(rows) == 2
        and isinstance(counts, list)
        and len(counts) == 3
        and _list_of(int, [*counts[:2]])
        and _list_of(int, counts[2])
        and type(agreed) is bool
    ):
        return None
    numbers = (counts[0], counts[1], counts[2])
    if min((*rows, *counts[:2], *counts[2])) < 0:
        return None
    return State(plan_hash, run, key, stamp, columns, bins, (rows[0], rows[1]), numbers, agreed)


def _list_of(kind: type, value: object) -> bool:
    """Whether a value is a list of exactly this type; JSON's booleans are no numbers."""
    return isinstance(value, list) and all(type(each) is kind for each in value)


def write_state(folder: Path, key: bytes, state: State) -> None:
    """Keep a state; on disk when this returns, and so is the folder's name.

    key: of the folder's files. Raises RunError or an input error of the native module.
    """
    _write(folder, key, FILE, asdict(state))


def begun_in_memory(folder: Path, key: bytes) -> dict[str, int]:
    """How many bins were begun in memory, over all attempts, of matches that did not end, by their parameters' hash.

    key: of the folder's files. Raises an input error of the native module if the file is damaged, or another key's.
    """
    content = _native.read_sealed(str(folder / IN_MEMORY), key, IN_MEMORY)
    return {} if content is None else {str(name): int(bins) for name, bins in json.loads(content).items()}


def begin_in_memory(folder: Path, key: bytes, plan_hash: bytes, bins: int) -> None:
    """Keep that bins of a match begin in memory; on disk when this returns. Raises RunError or a native error."""
    begun = begun_in_memory(folder, key)
    begun[plan_hash.hex()] = begun.get(plan_hash.hex(), 0) + bins
    _write(folder, key, IN_MEMORY, begun)


def _write(folder: Path, key: bytes, name: str, content: object) -> None:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        _native.write_sealed(str(folder / name), key, name, json.dumps(content).encode())
        sync_folder(folder.parent)
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
    """Remove a match's folder, if it is there. Raises RunError if something of it stays."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunError(
            Fault.INPUT,
            f"{folder}: cannot be removed ({error.strerror}); it holds rows and tokens of this party, encrypted under "
            "its private key: remove it.",
        ) from None


def check_disk(folder: Path, needed: int) -> None:
    """Refuse a run that the disk has no room for. Raises RunError."""
    free = shutil.disk_usage(folder.parent).free
    if free < needed:
        raise RunError(
            Fault.INPUT,
            f"{folder.parent}: {free / 1e9:.1f} GB are free, but the bins and the output need {needed / 1e9:.1f} GB; "
            "free space, or write the output to another disk.",
        )
