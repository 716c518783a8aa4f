"""Three organisations, and their end after every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .organisations import Consortium


@pytest.fixture
def consortium(tmp_path: Path) -> Iterator[Consortium]:
    """Three organisations with all that they need."""
    with Consortium(tmp_path) as found:
        yield found


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Consortium]:
    """The same with a network on which the question takes some seconds, and little patience with silent peers."""
    with Consortium(tmp_path, "connect_timeout = 10\nidle_timeout = 2\nlatency = 0.012") as found:
        yield found
