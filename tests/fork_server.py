"""The fork server of tests: a process that has loaded tacit, and copies itself for each ``tacit`` command.

It imports and does nothing else: it has one thread and no database, and has drawn no number. A copy gets what a new
interpreter would get from who starts it: arguments, descriptors, folder, session, environment and search path. What it
does not do again is to load modules, which takes longer than most commands of tests.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import json
import os
import pkgutil
import runpy
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import tacit

NUMBER = struct.Struct("!I")
"""The length of a request, and the process that answers it."""

LATE = ("sqlglot.dialects.duckdb", "zoneinfo", "csv", "tempfile")
"""What modules of tacit, or those that they use, load when they need it."""

MOST_DESCRIPTORS = 32
BEYOND = 100
"""No test passes a descriptor with such a number."""


def load() -> None:
    """Import all modules of tacit, and keep the collector of garbage from them, so that copies share their memory."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy starts threads when it is imported
    for module in pkgutil.walk_packages(tacit.__path__, "tacit."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for name in LATE:
        import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "copies would lack threads"
    atexit.register(mute)
    gc.collect()
    gc.freeze()


def mute() -> None:
    """Send to nowhere what duckdb's binding prints at the very end of objects that the collector has left.

    It is the first that is registered to run at the end, and therefore runs last.
    """
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    ctypes.c_void_p.in_dll(libc, "stderr").value = libc.fopen(os.devnull.encode(), b"w")


def serve(channel: socket.socket) -> bool:
    """Copy this process for each request. Returns True in a copy, and False once the tests have ended."""
    while head := channel.recv(NUMBER.size, socket.MSG_WAITALL):
        text, descriptors, _, _ = socket.recv_fds(channel, 1, MOST_DESCRIPTORS)
        text += channel.recv(NUMBER.unpack(head)[0] - 1, socket.MSG_WAITALL)
        reader, writer = os.pipe()
        if not (between := os.fork()):
            if pid := os.fork():
                os.write(writer, NUMBER.pack(pid))
                os._exit(0)
            channel.close()
            os.close(reader)
            os.close(writer)
            become(json.loads(text), descriptors)
            return True
        os.waitpid(between, 0)  # from now on the copy is a child of the tests
        channel.sendall(os.read(reader, NUMBER.size))
        for descriptor in (reader, writer, *descriptors):
            os.close(descriptor)
    return False


def become(request: Mapping[str, Any], descriptors: Sequence[int]) -> None:
    """Be as a new interpreter would be for this command."""
    moved = [fcntl.fcntl(each, fcntl.F_DUPFD, BEYOND) for each in descriptors]
    for each in descriptors:
        os.close(each)
    for each, number in zip(moved, request["numbers"], strict=True):
        os.dup2(each, number)
        os.close(each)
    if request["session"]:
        os.setsid()
    os.chdir(request["folder"])
    old = search_path()
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[: 1 + len(old)] = [str(Path.cwd()), *search_path()]
    sys.argv[1:] = request["arguments"]


def search_path() -> list[str]:
    """What the environment adds to it."""
    return [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]


if __name__ == "__main__":
    load()
    with socket.socket(fileno=int(sys.argv[1])) as served:
        copied = serve(served)
    if copied:
        runpy.run_module("tacit", run_name="__main__", alter_sys=True)
