"""Keys of the parties, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from .federations import PARTIES, make_keys
from .worlds import CLIENTS


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key pair for each party."""
    return make_keys(tmp_path_factory.mktemp("keys"), (*PARTIES, *CLIENTS))
