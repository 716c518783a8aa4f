"""Runs parties of a federation as processes on this machine, watched until all have ended.

When one fails, the others are given a moment to say what they saw and are then ended, each by its own process id.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tacit.agent.events import Event, EventReader
from tacit.agent.faults import Fault, RunError, cause
from tacit.agent.party_process import PartyTask, Process, Start, spawn

GRACE_SECONDS = 2.0
"""How long the other parties may take to report after one has failed, and again to end after they are asked to."""

Watcher = Callable[[str, Event], None]
"""Called with a party's name and each event of it."""


@dataclass
class _Child:
    party: str
    process: Process
    reader: EventReader
    entry: Event | None = None
    error: RunError | None = None


@dataclass
class ProcessTree:
    """The parties' processes of one run. tasks: what each is to do. start: how one is started."""

    tasks: Sequence[PartyTask]
    start: Start = spawn
    _children: list[_Child] = field(default_factory=list)

    def run(self, watch: Watcher) -> dict[str, Event]:
        """Start all parties and wait for them. Returns each party's ledger entry.

        Raises RunError with the cause if any party fails; then no process is left and no answer is to be used.
        """
        try:
            for task in self.tasks:
                self._children.append(self._begin(task))
            self._follow(watch)
        finally:
            self._end_all()
        errors = [child.error for child in self._children if child.error is not None]
        if errors:
            raise cause(errors)
        return {child.party: child.entry for child in self._children if child.entry is not None}

    def _begin(self, task: PartyTask) -> _Child:
        """A party's process. Its end of the pipe for events is nowhere else, so that the other end tells of its end."""
        read_end, write_end = os.pipe()
        try:
            process = self.start(task, write_end, [read_end, *(child.reader.descriptor for child in self._children)])
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        return _Child(task.party, process, EventReader(read_end))

    def _follow(self, watch: Watcher) -> None:
        """Pass events on until every party has ended, or the grace after the first failure is over."""
        deadline: float | None = None
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                selector.register(child.reader.descriptor, selectors.EVENT_READ, child)
            while selector.get_map() and (deadline is None or time.monotonic() < deadline):
                for key, _ in selector.select(timeout=0.2):
                    if not self._receive(key.data, watch):
                        selector.unregister(key.fd)
                if deadline is None and any(child.error for child in self._children):
                    deadline = time.monotonic() + GRACE_SECONDS

    def _receive(self, child: _Child, watch: Watcher) -> bool:
        """Handle what a party has said. False once it has ended."""
        events = child.reader.read()
        if events is None:
            self._note_end(child)
            return False
        for event in events:
            if event["event"] == "done":
                child.entry = event["entry"]
            elif event["event"] == "failed":
                child.error = RunError(Fault(event["fault"]), event["sentence"], child.party)
            watch(child.party, event)
        return True

    def _note_end(self, child: _Child) -> None:
        """A party's end of the pipe is closed. One that ended without saying how is an error of its own."""
        status = child.process.wait()
        if child.error is None and (child.entry is None or status != 0):
            child.error = RunError(
                Fault.INTERNAL, f"the party's process ended unexpectedly ({_manner(status)}).", child.party
            )

    def _end_all(self) -> None:
        """Leave no process behind: ask those that still run to end, then force them."""
        for child in self._children:
            if child.process.poll() is None:
                child.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        for child in self._children:
            try:
                child.process.wait(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
            os.close(child.reader.descriptor)


def _manner(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
