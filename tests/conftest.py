"""What all tests have in common: how long generated ones search, how commands start, and what Ctrl-C means.

The default profile repeats itself, so that a change and not chance makes a test fail; the profile "nightly", which
`make nightly` sets as HYPOTHESIS_PROFILE, searches longer and elsewhere every time.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import settings

from .copies import NEW, make_copies

settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2000, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(PROFILE)

if PROFILE != "nightly":
    make_copies()

# Shells start background jobs with Ctrl-C ignored, and processes that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def the_environment_as_it_was() -> Iterator[None]:
    """A variable that a test leaves behind would reach the commands of every later test of this process.

    So would the mask of files' modes, which commands narrow for their own process.
    """
    before, mask = dict(os.environ), os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)
    after = dict(os.environ)
    os.environ.clear()
    os.environ.update(before)
    left = {name for name, _ in before.items() ^ after.items()} - {"PYTEST_CURRENT_TEST"}
    assert not left, f"left in the environment: {sorted(left)}"


@pytest.fixture
def new_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands start as users start them, each with an interpreter of its own."""
    monkeypatch.setattr(subprocess, "Popen", NEW)
