"""What the parties of a match tell each other of themselves before anything else."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from tacit.agent.faults import Fault, RunError
from tacit.psi.prepared_file import MOST_BUDGET, MOST_PREPARED
from tacit.psi.source import KIND_NAMES

ANNOUNCED = ("rows", "memory", "workers", "kinds", "resume", "columns", "latency", "bandwidth")

NUMBERS = struct.Struct("<Q?q")
"""How many keys match, whether a sum is shown, and the sum or 0: as many bytes whatever they are."""

MOST_LATENCY = 60.0
"""Seconds; nobody waits longer for a message."""

MOST_ROWS = 1 << 36
"""More than any table that disks hold."""


def heard(message: bytes, peer: str, keys: int) -> dict[str, Any]:
    """A peer's announcement, in which nothing is believed that could not be. Raises RunError."""
    try:
        told = _told(message)
        rows, memory, workers, kinds, resume, columns, latency, bandwidth = (told[name] for name in ANNOUNCED)
        numbers = all(type(number) is int for number in (rows, memory, workers))
        fits = numbers and 0 <= rows <= MOST_ROWS and memory > 0 and workers > 0
        fits = fits and len(kinds) == keys and all(kind in KIND_NAMES for kind in kinds)
        fits = fits and all(isinstance(name, str) for name in columns)
        fits = fits and isinstance(columns, list)
        fits = fits and _is_number(latency) and 0 <= latency <= MOST_LATENCY
        fits = fits and (bandwidth is None or (_is_number(bandwidth) and bandwidth >= 1))
        if resume is not None:
            fits = fits and len(bytes.fromhex(resume["done"])) == resume["bins"] and isinstance(resume["run"], str)
        if fits:
            return told
    except (ValueError, KeyError, TypeError):
        pass
    raise dishonest(peer)


@dataclass(frozen=True)
class Asked:
    """Who asks about a prepared table. rows: how many it asks about. has: names the published set it has, if any."""

    rows: int
    has: str | None


@dataclass(frozen=True)
class Offered:
    """A prepared table. most: rows that may be asked about now. published: names its set. token_key: in hexadecimal."""

    rows: int
    most: int
    budget: int
    kinds: list[str]
    published: str
    token_key: str


def asked(message: bytes, peer: str) -> Asked:
    """What a peer announces that asks about a prepared table. Raises RunError."""
    told = _told(message)
    rows, has = told.get("rows"), told.get("has")
    if type(rows) is not int or not 0 <= rows <= MOST_ROWS or not (has is None or isinstance(has, str)):
        raise dishonest(peer)
    return Asked(rows, has)


def offered(message: bytes, peer: str, keys: int) -> Offered:
    """What a peer announces of its prepared table, asked about by ``keys`` key columns. Raises RunError."""
    told = _told(message)
    rows, most, budget = (told.get(name) for name in ("rows", "most", "budget"))
    kinds, published, token_key = (told.get(name) for name in ("kinds", "published", "token_key"))
    if (
        type(rows) is int
        and type(most) is int
        and type(budget) is int
        and 0 <= rows < MOST_PREPARED
        and 0 <= most <= budget
        and 1 <= budget <= MOST_BUDGET
        and isinstance(kinds, list)
        and len(kinds) == keys
        and all(kind in KIND_NAMES for kind in kinds)
        and isinstance(published, str)
        and isinstance(token_key, str)
        and re.fullmatch(r"[0-9a-f]{32}", token_key) is not None
    ):
        return Offered(rows, most, budget, kinds, published, token_key)
    raise dishonest(peer)


def run_name(message: bytes, peer: str) -> str:
    """The name that the first party gives a run: 32 hexadecimal digits. Raises RunError."""
    if re.fullmatch(rb"[0-9a-f]{32}", message) is None:
        raise dishonest(peer)
    return message.decode()


def told_numbers(keys: int, total: int | None) -> bytes:
    """What the receiver tells the other: how many keys match, and the sum, if there is one to show."""
    return NUMBERS.pack(keys, total is not None, total or 0)


def numbers(message: bytes, peer: str) -> tuple[int, int | None]:
    """What ``told_numbers`` has said. Raises RunError."""
    if len(message) != NUMBERS.size:
        raise dishonest(peer)
    keys, shown, total = NUMBERS.unpack(message)
    if told_numbers(keys, total if shown else None) != message:
        raise dishonest(peer)
    return keys, total if shown else None


def dishonest(peer: str) -> RunError:
    """The refusal of what cannot be."""
    return RunError(Fault.PEER, f"party {peer!r} announces what no honest party announces; nothing was sent.")


def _is_number(value: object) -> bool:
    try:
        return type(value) in (int, float) and isfinite(cast(float, value))
    except OverflowError:  # a whole number that no float reaches
        return False


def _told(message: bytes) -> dict[str, Any]:
    """What a message names; nothing if it is no announcement."""
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def same_run(mine: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None, bins: int) -> bool:
    """Whether both parties hold the same run, in the bins that would be chosen now."""
    if mine is None or theirs is None:
        return False
    return bool(mine["run"] == theirs["run"] and mine["bins"] == theirs["bins"] == bins)
