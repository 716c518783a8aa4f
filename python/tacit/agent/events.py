"""What a party's process tells the one that started it: JSON lines on a pipe, one event a line.

| event | members | when |
|---|---|---|
| `phase` | `phase`: "loading", "connecting", "computing", "finishing" | at the start of each |
| `waiting` | `missing`: the parties that are not ready | whenever that changes |
| `metrics` | `steps`: name to {rows, TRAFFIC of `reporter`, seconds, finished} | several times a second |
| `done` | `entry`: the party's ledger entry (with `unrecorded`: why the ledger lacks it) | last, after success |
| `failed` | `fault`, `sentence` | last, after a failure |

Events carry public facts only: names, row counts, bytes, rounds and times.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import Any

Event = dict[str, Any]
EventSink = Callable[[Event], None]


class EventPipe:
    """Writes events to a file descriptor. Several threads may write."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Write one event. Raises BrokenPipeError when the reader is gone."""
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            while line:
                line = line[os.write(self._descriptor, line) :]


class EventReader:
    """Reads events from a file descriptor as they come."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._rest = b""

    def read(self) -> list[Event] | None:
        """The events that have arrived (perhaps none yet whole); None at the end. Blocks while nothing has."""
        chunk = os.read(self.descriptor, 1 << 16)
        if not chunk:
            return None
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines]
