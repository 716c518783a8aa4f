"""Memory of the party processes that this process has started, directly or through others."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

INTERVAL_SECONDS = 0.05


class PeakMemory:
    """While open, watches all parties' processes below this one. peaks: a party's largest resident memory, in
    bytes, since the start of its process, as of a moment before its end."""

    def __init__(self) -> None:
        self.peaks: dict[str, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL_SECONDS):
            for process in descendants(os.getpid()):
                name, peak = party(process), high_water(process)
                if name is not None:
                    self.peaks[name] = max(peak, self.peaks.get(name, 0))


def descendants(process: int) -> list[int]:
    """The processes below a process."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*"):
        for child in text(task / "children").split():
            found += [int(child), *descendants(int(child))]
    return found


def party(process: int) -> str | None:
    """The name of the party that a process is; None for another process. Of one that its command has forked, as the
    list of processes has it: the last 15 characters."""
    words = text(Path(f"/proc/{process}/cmdline")).split("\0")
    if "party" in words and "--name" in words:
        return words[words.index("--name") + 1]
    name, parent = _called(process), _parent(process)
    is_fork = parent is not None and text(Path(f"/proc/{parent}/cmdline")).split("\0") == words
    return name if is_fork and name != _called(parent or 0) else None


def _called(process: int) -> str:
    return text(Path(f"/proc/{process}/comm")).strip()


def _parent(process: int) -> int | None:
    lines = text(Path(f"/proc/{process}/status")).splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("PPid:")), None)


def high_water(process: int) -> int:
    """Largest resident memory of a process, in bytes; 0 if it has ended."""
    for line in text(Path(f"/proc/{process}/status")).splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


def text(path: Path) -> str:
    """A file of /proc; empty if its process has ended meanwhile."""
    try:
        return path.read_text()
    except OSError:
        return ""
