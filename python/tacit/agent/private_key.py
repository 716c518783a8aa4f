"""A party's private key in this process's memory: for as short a time as possible."""

from __future__ import annotations

import os
from pathlib import Path


class PrivateKey(bytearray):
    """A private key, as PEM, at its own machine: erased as soon as nobody holds it any more, and never printed."""

    @classmethod
    def read(cls, path: Path) -> PrivateKey:
        """Read a file. Raises OSError."""
        with path.open("rb", buffering=0) as file:
            key = cls(os.fstat(file.fileno()).st_size)
            read = file.readinto(key)
        del key[read:]
        return key

    def __repr__(self) -> str:
        return "PrivateKey(secret)"

    __str__ = __repr__

    def __del__(self) -> None:
        self[:] = bytes(len(self))
