"""No secret in anything that a run prints, reports, records or leaves behind: no value of the data, no private key."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent.connection import connect
from tacit.agent.federation import Federation
from tacit.agent.keys import make_keys
from tacit.cli.demo.credit import QUERY, SCENARIO, tables
from tacit.cli.demo.scenario import free_ports, write_federation
from tacit.local.duckdb_engine import LocalEngine
from tacit.sql import compile_query

from .planted import PLANTED_NUMBERS, SECRETS, found_in, left_behind, traces, traces_of_key
from .rehearsal import Rehearsal, rehearse

ROWS = 20
HEADERS = {"demographics": "ssn,zip", "scores_a": "ssn,score", "scores_b": "ssn,score"}


@dataclass(frozen=True)
class World:
    """The planted federation in one folder. sources: the files that hold secrets by design."""

    federation: Federation
    sources: frozenset[Path]

    @property
    def folder(self) -> Path:
        return self.federation.path.parent

    def keys(self) -> dict[str, str]:
        return {party: self.federation.private_key(party).decode() for party in SCENARIO.parties}

    def table(self, name: str) -> Path:
        (found,) = (path for path in self.sources if path.stem == name)
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    declared = tables(ROWS)
    for table in declared:
        path = tmp_path / table.owner / f"{table.name}.csv"
        path.parent.mkdir(exist_ok=True)
        rows = [",".join(map(str, row)) for row in PLANTED_NUMBERS[table.name]]
        path.write_text("\n".join([HEADERS[table.name], *rows]) + "\n")
    write_federation(SCENARIO, declared, free_ports(3), tmp_path)
    federation = Federation.load(tmp_path / "federation.toml")
    pairs = make_keys(federation.members, federation.catalog.parties, replace=False)
    return World(federation, frozenset([*tmp_path.rglob("*.csv"), *(pair.private_key for pair in pairs.values())]))


def run_parties(world: World, queries: dict[str, str] | None = None) -> dict[str, tuple[int, bytes]]:
    """A process per party, as other processes start it. Exit status, and all it wrote: stdout, stderr and events."""
    running = {}
    for party in SCENARIO.parties:
        read_end, write_end = os.pipe()
        command = ["party", "--name", party, "--federation", str(world.federation.path), "--events", str(write_end)]
        if party == "regulator":
            command += ["--answer", str(world.folder / "answer.duckdb")]
        process = subprocess.Popen(
            [sys.executable, "-m", "tacit", *command, (queries or {}).get(party, QUERY)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(write_end,),
            env={**os.environ, "TACIT_TRACEBACK": "1", "RUST_LOG": "trace", "RUST_BACKTRACE": "full"},
        )
        os.close(write_end)
        running[party] = process, read_end
    ends = {}
    for party, (process, read_end) in running.items():
        with os.fdopen(read_end, "rb") as events:
            told = events.read()
        printed, _ = process.communicate(timeout=60)
        ends[party] = process.returncode, printed + told
    return ends


def assert_silent(world: World, outputs: dict[str, bytes]) -> None:
    """Neither the outputs nor the files that are there now hold a secret."""
    files = left_behind(world.folder, but=set(world.sources))
    assert any(path.suffix == ".jsonl" for path in files)
    contents = {**outputs, **{str(path): content for path, content in files.items()}}
    for name, content in contents.items():
        assert content or name not in outputs, name
        assert found_in(content, traces()) == [], name
        for key in world.keys().values():
            assert found_in(content, traces_of_key(key)) == [], name


def test_a_run_leaves_no_secret_in_output_events_ledger_or_files(world: World) -> None:
    ends = run_parties(world)
    assert {status for status, _ in ends.values()} == {0}, ends
    assert_silent(world, {party: output for party, (_, output) in ends.items()})


def test_a_failed_run_leaves_no_secret_either(world: World) -> None:
    ends = run_parties(world, {"bureau_b": QUERY.replace("AVG", "SUM")})
    assert all(status in (4, 5) for status, _ in ends.values())
    assert_silent(world, {party: output for party, (_, output) in ends.items()})


def test_the_search_finds_what_it_looks_for(world: World) -> None:
    for path in world.sources:
        searched = traces() if path.suffix == ".csv" else traces_of_key(path.read_text())
        assert found_in(path.read_bytes(), searched)
    for number in SECRETS:
        for width in (4, 8):
            assert found_in(b"\x01" + number.to_bytes(width, "little") + b"\x02", traces())


def test_a_wrong_value_is_quoted_to_its_owner_only(world: World) -> None:
    """The owner's sentence quotes it; the ledger, and what others are told, do not."""
    with world.table("scores_a").open("a") as file:
        file.write("887766551,90210\n")
    command = [sys.executable, "-m", "tacit", "sql", "--federation", str(world.federation.path), QUERY]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == 2
    assert b"90210 is above the declared max" in done.stderr
    assert found_in(done.stderr + done.stdout, traces()) == []
    for path, content in left_behind(world.folder, but=set(world.sources)).items():
        assert b"90210" not in content, path


def texts(thing: object) -> bytes:
    """What a thing looks like in a log, a debugger or a message."""
    return "\n".join([repr(thing), str(thing), f"{thing}", *map(repr, getattr(thing, "args", ()))]).encode()


def test_no_public_object_shows_a_secret(world: World) -> None:
    federation = world.federation
    plan = compile_query(QUERY, federation.catalog, federation.recipients)
    sessions = _native.Session.in_memory(list(plan.nodes), "[]", "[]", record=True, engine="rep3")
    objects: list[object] = [federation, plan, connect(federation.path), *sessions]
    objects += [federation.native_party(party) for party in SCENARIO.parties]
    for party in SCENARIO.parties:
        with LocalEngine(plan, party, federation.catalog) as engine:
            engine.check()
            objects += [engine, Rehearsal(federation, party, plan, print)]
            assert found_in(texts(engine), traces()) == []
    seen = rehearse(federation, plan)
    assert seen["regulator"].released
    objects += [event for each in seen.values() for event in each.events]
    objects += [message for each in seen.values() for message in each.messages]
    for thing in objects:
        content = texts(thing)
        assert found_in(content, traces()) == [], type(thing)
        for key in world.keys().values():
            assert found_in(content, traces_of_key(key)) == [], type(thing)


def test_no_native_error_quotes_a_private_key(world: World) -> None:
    key = world.keys()["regulator"]
    parties = [world.federation.native_party(party) for party in SCENARIO.parties]
    nodes = list(SCENARIO.parties)
    body = key.splitlines()
    for broken in (body[1], "\n".join([body[0], body[1][:-4], *body[2:]]), key.replace("PRIVATE", "PUBLIC"), key[:-40]):
        with pytest.raises(_native.InputError) as caught:
            _native.Session.connect(
                parties, "regulator", nodes, broken, bytes(32), "[]", "[]", connect_timeout=0.3, engine="rep3"
            )
        assert found_in(texts(caught.value), traces_of_key(key)) == []
