"""The process of one party: what it is to do, and how it is started."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class PartyTask:
    """What a party's process is to do. private: the folder of private files. wait: for how many seconds it waits for
    others. answer: where a recipient writes its answer. addresses: of parties that are elsewhere than their federation
    file says. then_connect: what it waits for is that the others are there, not that they are all well. approved: it
    runs only what the party has approved before. parties: how many the command runs on this machine, which share its
    processors."""

    party: str
    federation: Path
    private: Path
    query: str
    recipients: tuple[str, ...] = ()
    wait: float | None = None
    answer: Path | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    then_connect: bool = False
    approved: bool = False
    parties: int = 1


class Process(Protocol):
    """A process that was started, as ``subprocess.Popen`` has it."""

    def poll(self) -> int | None:
        """The exit status, minus the signal's number if one ended it; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """The same when it has ended. Raises subprocess.TimeoutExpired."""

    def send_signal(self, sig: int) -> None:
        """Send a signal."""

    def kill(self) -> None:
        """End it by force."""


Start = Callable[[PartyTask, int, Sequence[int]], Process]
"""Starts the process of a party. Its arguments: the task; the descriptor that the process writes its events to; and
those descriptors of this process that the new one must not keep open."""


def spawn(
    task: PartyTask, events: int, _: Sequence[int] = (), program: Sequence[str] = (sys.executable, "-m", "tacit")
) -> subprocess.Popen[bytes]:
    """Start ``tacit party``. The query goes by standard input: every user of a machine can read command lines.

    program: how the ``tacit`` command is started.
    """
    command = [*program, "party", "--name", task.party]
    command += ["--federation", str(task.federation), "--private", str(task.private), "--events", str(events)]
    if task.recipients:
        command += ["--to", ",".join(task.recipients)]
    if task.wait is not None:
        command += ["--wait", str(task.wait)]
    if task.answer is not None:
        command += ["--answer", str(task.answer)]
    if task.addresses:
        command += ["--at", ",".join(f"{name}={address}" for name, address in task.addresses.items())]
    if task.then_connect:
        command += ["--then-connect"]
    if task.approved:
        command += ["--approved"]
    if task.parties > 1:
        command += ["--parties", str(task.parties)]
    process = subprocess.Popen(
        [*command, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=(events,),
        start_new_session=True,  # Ctrl-C reaches only this process, which then ends the parties in order
    )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(task.query.encode())
    return process
