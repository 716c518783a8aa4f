"""Two organisations and no third: what goes wrong at one ends the run at the other, as among three."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit import _native
from tacit.cli.demo.two_hospitals import SCENARIO

from .organisations import Consortium
from .test_disagreement import assert_disagreement, ends
from .test_peers_that_vanish import computing_processes, kill_somewhere

A, B = SCENARIO.parties


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Consortium]:
    """Two organisations with all that they need."""
    with Consortium(tmp_path, scenario=SCENARIO) as found:
        yield found


@pytest.fixture
def slow_pair(tmp_path: Path) -> Iterator[Consortium]:
    """The same with a network on which the question takes some seconds, and little patience with silent peers."""
    with Consortium(tmp_path, "connect_timeout = 10\nidle_timeout = 2\nlatency = 0.02", SCENARIO) as found:
        yield found


def test_both_get_the_answer(pair: Consortium) -> None:
    found = ends(pair.start_all())
    assert [end.status for end in found.values()] == [0, 0]
    assert found[A].stdout == found[B].stdout
    assert found[A].stdout.startswith("diagnosis,readmissions,avg_nights\n")
    assert pair.kinds(A) == pair.kinds(B) == ["approved", "completed"]


@pytest.mark.parametrize("victim", SCENARIO.parties)
def test_a_killed_party_ends_the_run_for_the_other(victim: str, slow_pair: Consortium) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    kill_somewhere(slow_pair, victim, random.Random(seed).uniform(0, 1.0))


def test_a_silent_party_is_waited_for_as_long_as_configured(slow_pair: Consortium) -> None:
    running = slow_pair.start_all()
    worker = computing_processes(slow_pair, running)[B]
    stopped = time.monotonic()
    os.kill(worker, signal.SIGSTOP)
    end = running[A].end()
    assert end.status == 5
    assert "no sign of life for 2 s" in end.sentence()
    assert time.monotonic() - stopped > 1.5
    os.kill(worker, signal.SIGCONT)
    assert running[B].end().status == 5


def test_another_query_at_one_party(pair: Consortium) -> None:
    running = {A: pair.start(A), B: pair.start(B, pair.query.replace("30", "31"))}
    assert_disagreement(pair, ends(running), "has started something else: the query is #")


def test_another_declared_network_at_one_party(pair: Consortium) -> None:
    """The nodes would choose different protocols."""
    for party, latency in ((A, 0.06), (B, 0.07)):
        pair.edit(party, "[parties.", f"[link]\nlatency = {latency}\nbandwidth = 1e8\n\n[parties.", 1)
    assert_disagreement(pair, ends(pair.start_all()), "has started something else: the declared link is #")


def test_another_key_at_one_party(pair: Consortium) -> None:
    (pair.home(A) / "keys" / f"{B}.crt").write_text(_native.generate_keys(B)[1])
    assert_disagreement(pair, ends(pair.start_all()), "wrong key")


def test_an_engine_with_other_nodes_is_an_input_error_before_anybody_is_dialled(pair: Consortium) -> None:
    pair.edit(B, 'engine = "two"', 'engine = "rep3"')
    end = pair.start(B).end()
    assert end.status == 2
    assert end.sentence() == (
        "federation.toml: nodes has 2 names, but engine rep3 runs on 3; "
        'name 3 parties, for example nodes = ["a", "b", "c"].'
    )
    assert pair.kinds(B) == []
