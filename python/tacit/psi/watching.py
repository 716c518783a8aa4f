"""How far a match is, told while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from tacit import _native

Told = Callable[[Mapping[str, int], int], None]
"""Takes metrics, and how many bins there are."""


class Watching:
    """While it is open, tells a few times a second how far a run is."""

    def __init__(self, pair: _native.Pair | _native.Group, watch: Told, bins: int, before: int) -> None:
        self._pair, self._watch, self._bins, self._before = pair, watch, bins, before
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, name="progress", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._tell()

    def _look(self) -> None:
        while not self._stop.wait(0.2):
            self._tell()

    def _tell(self) -> None:
        metrics = dict(self._pair.metrics())
        metrics["bins"] += self._before
        self._watch(metrics, self._bins)
