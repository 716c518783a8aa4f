"""Whose fault an error is."""

from __future__ import annotations

import signal
import threading

import duckdb
import pytest

from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import Fault


def test_a_signal_that_ends_a_local_query_is_an_interruption() -> None:
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(RuntimeError) as caught:
        duckdb.sql("SELECT COUNT(*) FROM range(100000000000) WHERE range % 7 = 3").fetchall()
    timer.join()
    assert diagnose(caught.value).fault == Fault.INTERRUPTED


def test_other_errors_of_the_runtime_are_of_tacit() -> None:
    assert diagnose(RuntimeError("a value")).fault == Fault.INTERNAL
