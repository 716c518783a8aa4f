"""Whose fault an error is."""

from __future__ import annotations

import os
import subprocess

import duckdb
import pytest

from tacit import _native
from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import Fault


def test_a_signal_that_ends_a_local_query_is_an_interruption() -> None:
    """The signal comes from another process: DuckDB keeps this one's other threads from running.

    One thread computes, so that it is the one that hears of the signal: others may go on to the end of the query.
    """
    connection = duckdb.connect(config={"threads": 1})
    with pytest.raises((RuntimeError, KeyboardInterrupt)) as caught:
        sender = subprocess.Popen(["sh", "-c", f"sleep 1; kill -INT {os.getpid()}"])
        connection.sql("SELECT COUNT(*) FROM range(100000000000) WHERE range % 7 = 3").fetchall()
    assert sender.wait() == 0
    assert diagnose(caught.value).fault == Fault.INTERRUPTED


def test_other_errors_of_the_runtime_are_of_tacit() -> None:
    assert diagnose(RuntimeError("a value")).fault == Fault.INTERNAL


def test_peers_are_told_the_kind_of_a_fault_and_no_other() -> None:
    assert {fault: fault.reason_for_peers for fault in Fault} == {
        Fault.INPUT: "its own input was refused",
        Fault.POLICY: "its policy refused",
        Fault.WITHHELD: "a checked bound does not hold",
        Fault.PEER: "a peer misbehaved",
        Fault.CHEATING: "a peer cheated",
        Fault.PEER_GONE: "it lost a peer",
        Fault.INTERRUPTED: "it was interrupted",
        Fault.INTERNAL: "it failed",
    }
    with pytest.raises(_native.InputError, match='there is no kind of fault "misbehaved"'):
        _native.reason_for_peers("misbehaved")
