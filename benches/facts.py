"""Where and from what a bench was taken: without these a figure says nothing."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]


def facts() -> list[tuple[str, str]]:
    """Names and values, in the order in which they are printed."""
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("commit", commit()),
        ("command", shlex.join(["python", *sys.argv])),
        (
            "machine",
            f"{processor()}, {os.cpu_count()} cores, {memory():.0f} GiB, {platform.system()} {platform.release()}",
        ),
        ("versions", f"{output('rustc', '--version')}; Python {platform.python_version()}"),
        ("load", f"{os.getloadavg()[0]:.2f} before the first measurement (runnable threads, mean of one minute)"),
    ]


def commit() -> str:
    """The short hash of the sources, and whether they were changed since."""
    changed = " with uncommitted changes" if output("git", "status", "--porcelain", "--untracked-files=no") else ""
    return output("git", "rev-parse", "--short=12", "HEAD") + changed


def processor() -> str:
    """The processor's name as the system gives it."""
    for line in lines(Path("/proc/cpuinfo")):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def memory() -> float:
    """The machine's memory in GiB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def output(*command: str) -> str:
    """What a command prints; "unknown" if it cannot be run."""
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
