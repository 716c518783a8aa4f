"""What is on disk after a failure: files that appear whole or not at all, and names that survive a loss of power."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk: a file's name is there after a loss of power once that was done.

    Raises OSError.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name to write a file under, which takes its own name at the end, or is removed after a failure.

    Raises OSError.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".tacit-") as folder:
        whole = Path(folder) / "whole"
        yield whole
        whole.replace(path)
