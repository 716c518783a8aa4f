"""Lets ``subprocess`` start ``tacit`` commands as copies of a process that has loaded tacit already.

Most commands of tests take less time than a new interpreter takes to load tacit. A copy is a child of this process like
any other, with its own process id, signals and status. Parties that start one after the other are copies of different
processes: as with interpreters of their own, each has its own order of sets. `make nightly` makes no copies, so that
every test has run with new interpreters too.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .fork_server import MOST_DESCRIPTORS, NUMBER

NEW = subprocess.Popen
"""Makes no copies."""

PR_SET_CHILD_SUBREAPER = 36
COMMAND = [sys.executable, "-m", "tacit"]
SERVERS = 3
"""As many as a computation has parties, most often."""
OF_INTERPRETERS = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "GLIBC_")
"""How variables begin that count when an interpreter starts."""


class ForkServer:
    """A fork server of this process."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)
        self._owner = os.getpid()
        self._channel, other = socket.socketpair()
        with other:
            self.process = NEW(
                [sys.executable, Path(__file__).with_name("fork_server.py"), str(other.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=None, pass_fds=(other.fileno(),),
            )  # fmt: skip
        atexit.register(self._end)

    def copy(self, numbers: Mapping[int, int], **request: Any) -> int:
        """Make a copy. Returns its process id. numbers: this process's descriptors by what they are there."""
        text = json.dumps({"numbers": list(numbers), **request}).encode()
        with self._adopting():
            self._channel.sendall(NUMBER.pack(len(text)))
            socket.send_fds(self._channel, [text[:1]], list(numbers.values()))
            self._channel.sendall(text[1:])
            found = self._channel.recv(NUMBER.size, socket.MSG_WAITALL)
        assert found, "the fork server has ended"
        return int(NUMBER.unpack(found)[0])

    @contextlib.contextmanager
    def _adopting(self) -> Iterator[None]:
        """A process whose parent ends meanwhile becomes a child of this one."""
        self._libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        yield
        self._libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def _end(self) -> None:
        if os.getpid() == self._owner:
            self._channel.close()
            self.process.wait()


class ForkServers:
    """The fork servers of this process, which make copies in turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._variables = of_interpreters(os.environ)
        self._waiting: deque[ForkServer] = deque()

    def serve(self, environment: Mapping[str, str]) -> bool:
        """Whether a new interpreter would be the same with these variables. Copies of this process have no server."""
        return os.getpid() == self._owner and of_interpreters(environment) == self._variables

    def copy(self, numbers: Mapping[int, int], **request: Any) -> int:
        """Make a copy. Returns its process id. numbers: this process's descriptors by what they are there."""
        with self._lock:
            if not self._waiting:  # all load side by side, so that the first parties do not wait for each other's
                self._waiting.extend(ForkServer() for _ in range(SERVERS))
            self._waiting.rotate()
            return self._waiting[0].copy(numbers, **request)

    def last(self) -> int:
        """The process whose copy was the last one."""
        return self._waiting[0].process.pid


def of_interpreters(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that count when an interpreter starts, but the search path, which a copy takes over."""
    return {
        name: value for name, value in environment.items() if name.startswith(OF_INTERPRETERS) and name != "PYTHONPATH"
    }


class Popen(subprocess.Popen[Any]):
    """A process: a copy of a fork server if it is a ``tacit`` command that starts as most do."""

    servers = ForkServers()

    def _execute_child(
        self, args: Any, executable: Any, preexec_fn: Any, close_fds: bool, pass_fds: Sequence[int], cwd: Any,
        env: Mapping[str, str] | None, startupinfo: Any, creationflags: int, shell: bool, p2cread: int, p2cwrite: int,
        c2pread: int, c2pwrite: int, errread: int, errwrite: int, restore_signals: bool, gid: Any, gids: Any, uid: Any,
        umask: int, start_new_session: bool, process_group: int,
    ) -> None:  # fmt: skip
        """What subprocess calls when it has made the pipes."""
        environment = dict(os.environ if env is None else env)
        streams = {at: at if given == -1 else given for at, given in enumerate((p2cread, c2pwrite, errwrite))}
        numbers = streams | {each: each for each in pass_fds}
        others = (executable, preexec_fn, shell, gid, gids, uid, umask != -1, process_group != -1, not close_fds)
        usual = not any(others) and len(numbers) <= MOST_DESCRIPTORS and not any(map(os.isatty, streams.values()))
        if not (usual and isinstance(args, list) and args[:3] == COMMAND and self.servers.serve(environment)):
            super()._execute_child(  # type: ignore[misc]  # the types of the standard library do not have it
                args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell,
                p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite, restore_signals, gid, gids, uid, umask,
                start_new_session, process_group,
            )  # fmt: skip
            return
        self.pid = self.servers.copy(
            numbers, arguments=[str(each) for each in args[3:]], folder=str(cwd or Path.cwd()),
            environment=environment, session=start_new_session,
        )  # fmt: skip
        self._child_created = True
        self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)  # type: ignore[attr-defined]


def make_copies() -> None:
    """From now on ``subprocess`` starts commands as copies. Other systems than Linux have no such adoption.

    Nor is anything copied where the standard library starts processes by another function than this one overrides.
    """
    if sys.platform == "linux" and _parameters(Popen) == _parameters(NEW):
        subprocess.Popen = Popen  # type: ignore[misc]


def _parameters(kind: type[subprocess.Popen[Any]]) -> list[str]:
    return list(inspect.signature(kind._execute_child).parameters)  # type: ignore[attr-defined]  # as above
