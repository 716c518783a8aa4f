"""What can be seen of a run while it runs, and how it is stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pyarrow as pa
import pytest

from tacit import _native

from .plans import NODES, Plan, bits

SORT_KEYS = [{"column": "x", "descending": False, "nulls_first": False}]


def sorting(rows: int) -> Plan:
    """A plan whose sort takes a while."""
    plan = Plan()
    shared = plan.input("a", pl.select(x=pl.int_range(rows, 0, -1)), {"x": bits(32)}, rows=rows)
    plan.add("sort", input=shared, keys=SORT_KEYS)
    return plan


def test_metrics_are_polled_from_another_thread_during_an_operator() -> None:
    plan = sorting(200_000)
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        runs = [threads.submit(plan.drive, session) for session in sessions]
        seen = set()
        while not all(run.done() for run in runs):
            start = time.monotonic()
            for step in sessions[0].metrics():
                if step["step"] == "2.sort":
                    seen.add(step["rounds"])
            assert time.monotonic() - start < 10
            time.sleep(0.002)
        for run in runs:
            run.result()
    assert len(seen) > 3, "rounds counted up while the sort ran"
    final = {step["step"]: step for step in sessions[0].metrics()}
    assert max(seen) <= final["2.sort"]["rounds"]
    assert final["1.input"]["bytes_sent"] == 200_000 // 8 * 33
    assert final["2.sort"]["seconds"] > 0


def test_nested_metrics_add_up() -> None:
    plan = sorting(1000)
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    with ThreadPoolExecutor(len(NODES)) as threads:
        list(threads.map(plan.drive, sessions))
    whole = {step["step"]: step for step in sessions[1].metrics()}
    parts = [step for step in sessions[1].metrics(nested=True) if step["step"].split("/")[0] == "2.sort"]
    assert len(parts) > 1
    for key in ("bytes_sent", "bytes_received", "rounds"):
        assert sum(part[key] for part in parts) == whole["2.sort"][key]


def test_the_transcript_has_sizes_and_what_was_opened_but_no_shares() -> None:
    plan = Plan()
    plan.release(plan.input("b", pa.table({"x": [3]}), {"x": bits(8)}, rows=1), ["x"])
    sessions = _native.Session.in_memory(
        NODES, json.dumps(plan.permits()), json.dumps(plan.operators), record=True, engine="rep3"
    )
    with ThreadPoolExecutor(len(NODES)) as threads:
        list(threads.map(plan.drive, sessions))
    recipient, owner, third = (session.transcript() for session in sessions)
    sent = [entry for entry in owner if entry.get("direction") == "sent"]
    assert {"step", "round", "peer", "direction", "bytes"} == sent[0].keys()
    assert {entry["peer"] for entry in sent} <= set(NODES)
    assert not any("opened" in entry for entry in [*owner, *third])
    (opened,) = (entry for entry in recipient if "opened" in entry)
    assert opened["step"].startswith("2.release")
    assert isinstance(opened["opened"], bytes)


def test_without_recording_there_is_no_transcript() -> None:
    (session, *_) = _native.Session.in_memory(NODES, "[]", "[]", engine="rep3")
    assert session.transcript() == []


def wait_for_step(session: _native.Session, step: str) -> None:
    """Wait until a session has begun a step."""
    while not any(each["step"] == step for each in session.metrics()):
        time.sleep(0.001)


def test_a_second_thread_cannot_drive_a_busy_session() -> None:
    plan = sorting(100_000)
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    # The owner waits for nobody, so its peers wait for it.
    waiting = threading.Thread(target=lambda: sessions[1].input(1, None))
    waiting.start()
    wait_for_step(sessions[1], "1.input")
    with pytest.raises(_native.InputError, match="one thread"):
        sessions[1].input(1, None)
    sessions[0].input(1, plan.data[1][1])
    waiting.join()


def test_an_abort_from_another_thread_ends_a_waiting_operator() -> None:
    plan = sorting(10)
    sessions = _native.Session.in_memory(NODES, json.dumps(plan.permits()), json.dumps(plan.operators), engine="rep3")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(sessions[1].input, 1, None)
        wait_for_step(sessions[1], "1.input")
        sessions[1].abort("enough")
        with pytest.raises(_native.InputError, match="enough"):
            waiting.result(timeout=60)
    with pytest.raises(_native.PeerGoneError, match="enough"):
        plan.drive(sessions[2])


INTERRUPTED = """
import json, signal, sys, threading, time
import polars as pl
from tacit import _native

nodes = ["a", "b", "c"]
rows = 3_000_000
kind = {"repr": "bits", "width": 60, "signed": False, "nullable": False}
columns = [{"name": "x", "source": "x", "encode": "int", "kind": kind}]
share = json.dumps({"id": 1, "op": "input", "owner": "a", "columns": columns, "rows": rows})
keys = [{"column": "x", "descending": False, "nulls_first": False}]
sort = json.dumps({"id": 2, "op": "sort", "input": 1, "keys": keys})
sessions = _native.Session.in_memory(nodes, "[]", f"[{share}, {sort}]", engine="rep3")
failures = []

def drive(session, data):
    try:
        session.input(1, data)
        session.run(2)
    except _native.PeerGoneError as error:
        failures.append((session.me, str(error)))

def tell():
    while not any(step["step"] == "2.sort" for step in sessions[2].metrics()):
        time.sleep(0.01)
    print("sorting", flush=True)

data = [pl.select(x=pl.int_range(rows)), None]
threads = [threading.Thread(target=drive, args=pair) for pair in zip(sessions, data)]
threads.append(threading.Thread(target=tell))
for thread in threads:
    thread.start()
try:
    drive(sessions[2], None)
except KeyboardInterrupt:
    print("interrupted", flush=True)
for thread in threads:
    thread.join()
assert sorted(me for me, _ in failures) == ["a", "b"], failures
# Each hears it from c, or from the other, who heard it first and says so.
assert all('party "c" ended the run' in text and "it was interrupted" in text for _, text in failures), failures
print("peers know", flush=True)
"""


def test_ctrl_c_ends_a_long_operator_and_the_peers_learn_it() -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "sorting\n"
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 20
        assert process.stdout.readline() == "peers know\n"
    assert process.returncode == 0


def test_other_python_threads_run_while_an_operator_runs() -> None:
    plan = sorting(300_000)
    session = _native.Session.clear(NODES, "[]", json.dumps(plan.operators))
    session.input(1, plan.data[1][1])
    ticks = 0
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(session.run, 2)
        while not running.done():
            ticks += 1
            time.sleep(0.001)
        running.result()
    assert ticks > 3
