"""Fixtures of the tests of matching."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .pairs import EXAMPLES, Pair


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
