"""A party's process that a ``tacit`` command has started: what it does, and how one is made from the command itself.

The parties of ``tacit sql`` are copies of its process, made before it has a second thread: each would otherwise load
everything anew, which takes longer than a small question. Every party still reads its files and compiles for itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tacit.agent.connection import connect
from tacit.agent.diagnosis import diagnose
from tacit.agent.events import EventPipe
from tacit.agent.faults import Fault
from tacit.agent.party import PartyRun
from tacit.agent.party_process import PartyTask
from tacit.cli.traces import show_traceback_if_asked

PAUSE_SECONDS = 0.01
"""Between two looks at a process that is to end."""


def run_task(task: PartyTask, events: int) -> int:
    """Be the party, and tell everything to the process that started this one, errors too. Returns the exit status."""
    os.umask(0o077)  # whatever a party writes is its own
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    emit = EventPipe(events)
    try:
        federation = connect(task.federation, party=task.party, private=task.private)
        plan = federation.plan(task.query, task.recipients)
        PartyRun(
            federation.federation.at(task.addresses), task.party, plan, emit, task.answer, task.wait, task.then_connect,
            task.approved, task.parties,
        ).run()  # fmt: skip
    except BrokenPipeError:
        return 1
    except (Exception, KeyboardInterrupt) as error:
        show_traceback_if_asked()
        found = diagnose(error)
        emit({"event": "failed", "fault": found.fault.value, "sentence": found.sentence})
        return found.fault.exit_status
    return 0


class Forked:
    """A copy of this process."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._status: int | None = None

    def poll(self) -> int | None:
        """The exit status, minus the signal's number if one ended it; None while it runs."""
        if self._status is None:
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if ended else None
        return self._status

    def wait(self, timeout: float | None = None) -> int:
        """The same when it has ended. Raises subprocess.TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("a party", timeout or 0.0)
            time.sleep(PAUSE_SECONDS)
        return status

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it is known to have ended."""
        if self.poll() is None:
            os.kill(self._pid, sig)

    def kill(self) -> None:
        """End it by force."""
        self.send_signal(signal.SIGKILL)


def fork(task: PartyTask, events: int, foreign: Sequence[int]) -> Forked:
    """Start a party as a copy of this process, which must have one thread and no database.

    A copy draws no number that another one draws: all randomness is the operating system's.
    """
    pid = os.fork()
    if pid:
        return Forked(pid)
    status = Fault.INTERNAL.exit_status
    try:
        os.setsid()  # Ctrl-C reaches only the command, which then ends the parties in order
        _call_it(task.party)
        for descriptor in foreign:
            os.close(descriptor)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        status = run_task(task, events)
    finally:
        os._exit(status)  # nothing that the command would do at its end is for a copy to do


def _call_it(party: str) -> None:
    """Let lists of processes show the party's name, or its end, in place of the command's."""
    with suppress(OSError):  # only Linux has such a file
        Path("/proc/self/comm").write_text(party[-15:])
