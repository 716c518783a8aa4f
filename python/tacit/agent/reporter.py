"""Collects a party's figures step by step and reports them while a run goes on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tacit import _native
from tacit.agent.events import EventSink

INTERVAL_SECONDS = 0.2

TRAFFIC = ("rounds", "rounds_ahead", "bytes_sent", "bytes_received")
"""What the session's meter knows of a step."""


class Reporter:
    """One party's figures. Use as a context: while it is open, a thread emits them a few times a second."""

    def __init__(self, emit: EventSink) -> None:
        self._emit = emit
        self._steps: dict[str, dict[str, Any]] = {}
        self._session: _native.Session | None = None
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._report, name="reporter", daemon=True)

    def __enter__(self) -> Reporter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def attach(self, session: _native.Session) -> None:
        """From now on, take bytes and rounds from the session's meter."""
        with self._lock:
            self._session = session

    def phase(self, name: str) -> None:
        """Tell that the party enters a phase."""
        self._emit({"event": "phase", "phase": name})

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, Any]]:
        """Time one step. The caller sets ``rows`` of the yielded figures if it knows them."""
        figures = {"rows": None, **dict.fromkeys(TRAFFIC, 0), "seconds": 0.0, "finished": False}
        with self._lock:
            self._steps[name] = figures
        start = time.monotonic()
        yield figures
        with self._lock:
            figures["seconds"] = time.monotonic() - start
            figures["finished"] = True

    def figures(self) -> dict[str, dict[str, Any]]:
        """A copy of all steps' figures so far, with what the session has metered."""
        with self._lock:
            if self._session is not None:
                for metered in self._session.metrics():
                    self._add_traffic(metered)
            return {name: dict(figures) for name, figures in self._steps.items()}

    def _add_traffic(self, metered: dict[str, Any]) -> None:
        step = self._steps.get(metered["step"])
        if step is not None:
            step.update({key: metered[key] for key in TRAFFIC})

    def _report(self) -> None:
        last: dict[str, dict[str, Any]] = {}
        while not self._stop.wait(INTERVAL_SECONDS):
            now = self.figures()
            if now != last and not self._tell(now):
                return
            last = now

    def _tell(self, steps: dict[str, dict[str, Any]]) -> bool:
        """Emit figures. If nobody listens any more, stop the run: its answer could not be delivered."""
        try:
            self._emit({"event": "metrics", "steps": steps})
        except BrokenPipeError:
            os.kill(os.getpid(), signal.SIGTERM)
            return False
        return True
