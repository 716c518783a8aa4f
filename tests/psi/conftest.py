"""Fixtures of the tests of matching."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .pairs import EXAMPLES, Pair
from .ruled import MATCHED, SEEN, Ruled


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair.make(tmp_path)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of a plug-in in C, compiled."""
    path = tmp_path_factory.mktemp("plugin") / "insecure_order.so"
    source = EXAMPLES / "insecure_order.c"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", path, source], check=True)
    return path


@pytest.fixture
def hidden(tmp_path: Path) -> Ruled:
    """South shows keys to nobody."""
    ruled = Ruled.make(tmp_path)
    ruled.fill()
    return ruled


@pytest.fixture
def matched(tmp_path: Path) -> Ruled:
    """South lets north learn which rows match, and see keys."""
    ruled = Ruled.make(tmp_path, MATCHED, SEEN)
    ruled.fill()
    return ruled
