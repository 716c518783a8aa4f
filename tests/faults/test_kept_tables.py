"""Kept tables of two organisations: parts that are missing, damaged or of different runs, changed keys, full disks,
and parties that are killed. Each ends in one sentence, before any share is used, and nothing that was kept is lost."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit import _native, connect
from tacit.agent.diagnosis import diagnose
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.kept_store import KeptStore
from tacit.agent.key_change import check_replaceable
from tacit.cli.demo.two_hospitals import SCENARIO
from tacit.cli.main import main
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.physical.placed import KeptStep

from .organisations import Consortium, End
from .test_disagreement import ends
from .test_peers_that_vanish import computing_processes

A, B = SCENARIO.parties
KEEP = "CREATE TABLE stays AS SELECT d.diagnosis, a.nights FROM discharges d JOIN admissions a ON d.pid = a.pid"
LONG = """CREATE OR REPLACE TABLE stays AS WITH
x AS (SELECT * FROM discharges UNION ALL SELECT * FROM discharges UNION ALL SELECT * FROM discharges),
y AS (SELECT * FROM x UNION ALL SELECT * FROM x UNION ALL SELECT * FROM x UNION ALL SELECT * FROM x)
SELECT * FROM y UNION ALL SELECT * FROM y UNION ALL SELECT * FROM y UNION ALL SELECT * FROM y"""
READ = "SELECT COUNT(*) AS n FROM stays"
INPUT, PEER = 2, 4


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Consortium]:
    """Two organisations that keep a table, for all tests in their order."""
    with Consortium(tmp_path_factory.mktemp("pair"), scenario=SCENARIO) as found:
        assert [end.status for end in ask(found, KEEP).values()] == [0, 0]
        yield found


def ask(pair: Consortium, query: str) -> dict[str, End]:
    """Both organisations' ends after a query."""
    return ends({party: pair.start(party, query) for party in pair.parties})


def part(pair: Consortium, party: str) -> Path:
    """The file of a party's part."""
    return pair.private(party) / "kept" / party / "stays.kept"


def assert_refused(pair: Consortium, *words: str, query: str = READ) -> None:
    """What A's process says when it plans a query and takes up its shares, in this process."""
    federation = connect(pair.federation(A), party=A)
    with pytest.raises((QueryError, RunError, _native.InputError)) as caught:
        plan = federation.plan(query)
        assert plan.catalog is not None
        assert isinstance(plan.steps[0], KeptStep)
        KeptStore(federation.federation, A).read(plan.catalog.kept[0], plan.steps[0].operator)
    found = diagnose(caught.value)
    assert found.fault is Fault.INPUT
    assert all(word in found.sentence for word in words), found.sentence


def test_parts_are_kept_apart_and_read_together(pair: Consortium) -> None:
    assert part(pair, A).stat().st_mode & 0o777 == 0o600
    assert not (pair.private(A) / "kept" / B).exists()
    found = ask(pair, READ)
    assert [end.status for end in found.values()] == [0, 0]
    assert found[A].stdout == found[B].stdout
    assert [entry["kind"] for entry in pair.ledger(B)] == ["approved", "completed"] * 2
    kept, read = pair.ledger(B)[1]["kept"], pair.ledger(B)[2]["reads"]
    assert read == [{"table": "stays", "id": kept["id"], "plan_hash": pair.ledger(B)[1]["plan_hash"]}]
    assert pair.ledger(A)[1]["kept"] == kept
    taken = ask(pair, KEEP)
    assert [end.status for end in taken.values()] == [INPUT, INPUT]
    assert "there is a kept table 'stays' already" in taken[A].sentence()


def test_a_part_that_is_missing_or_damaged_is_refused_before_anybody_is_dialled(pair: Consortium) -> None:
    intact = part(pair, A).read_bytes()
    changed = bytearray(intact)
    changed[-10] ^= 1
    part(pair, A).write_bytes(changed)
    before = pair.kinds(A)
    end = pair.start(A, READ).end()
    assert end.status == INPUT
    assert (
        "stays.kept: is damaged (its content was changed); put a copy back, or drop the table and make"
        in end.sentence()
    )
    assert pair.kinds(A) == before
    part(pair, A).write_bytes(intact[:-1])
    assert_refused(pair, "stays.kept: is damaged (it has")
    part(pair, A).write_bytes(b"tacit")
    assert_refused(pair, "stays.kept: is damaged (it is cut off)")
    shutil.copy(part(pair, B), part(pair, A))
    assert_refused(pair, "encrypted under another private key")
    part(pair, A).unlink()
    assert_refused(pair, "there is no table 'stays'")
    part(pair, A).with_name("other.kept").write_bytes(intact)
    says = "other.kept: is a file of the kept table 'stays'"
    assert_refused(pair, says, query=READ.replace("stays", "other"))
    part(pair, A).with_name("other.kept").rename(part(pair, A))
    private_key = pair.private(A) / f"{A}.key"
    pem = private_key.read_text()
    private_key.write_bytes(_native.generate_keys(A)[0])
    assert_refused(pair, "encrypted under another private key", "put that key back")
    private_key.write_text(pem)


def test_a_key_that_opens_kept_tables_is_not_replaced(pair: Consortium, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["keys", "--force", "--name", A, "--federation", str(pair.federation(A))]
    key, intact = pair.private(A) / f"{A}.key", part(pair, A).read_bytes()
    before = key.read_bytes()
    assert main(command) == INPUT
    told = capsys.readouterr().err
    assert f"a new key of {A} would make its kept tables unreadable: stays; DROP TABLE them first" in told
    assert key.read_bytes() == before and part(pair, A).read_bytes() == intact
    members = Federation.load(pair.federation(A)).members
    shutil.copy(part(pair, B), part(pair, A))
    check_replaceable(members, A)  # another key's part is unreadable already
    part(pair, A).write_bytes(intact)
    with pytest.raises(RunError, match="Nothing was replaced"):
        check_replaceable(members, A)


def test_parts_of_different_runs_are_not_put_together(pair: Consortium) -> None:
    older = part(pair, A).read_bytes()
    ask(pair, KEEP.replace("CREATE", "CREATE OR REPLACE"))
    part(pair, A).write_bytes(older)
    found = ask(pair, READ)
    told = [end for end in found.values() if end.status == PEER]
    assert told
    for end in told:
        assert "do not have shares of one run: stays (" in end.sentence()
        assert "DROP TABLE what differs and make it again" in end.sentence()
    for party in pair.parties:
        failed = pair.ledger(party)[-1]
        assert (failed["kind"], failed["cost"]["bytes_sent"], failed["disclosures"]) == ("failed", 0, [])
    assert part(pair, A).read_bytes() == older
    # Each drops its own part without the other.
    assert [end.status for end in ask(pair, "DROP TABLE stays").values()] == [0, 0]
    for party in pair.parties:
        assert pair.ledger(party)[-1]["dropped"]["table"] == "stays"
        assert not part(pair, party).exists()


def test_who_sees_all_parts_says_which_is_missing(tmp_path: Path) -> None:
    with Consortium(tmp_path, scenario=SCENARIO) as found:
        home = found.folder / "drafts"

        def sql(query: str) -> End:
            command = [sys.executable, "-m", "tacit", "sql", "--quiet", "--output", "csv", query]
            done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False, timeout=60)
            return End(done.returncode, done.stdout, done.stderr)

        def limited(query: str, largest_file: int) -> End:
            """On a nearly full disk."""
            command = [sys.executable, "-m", "tacit", "sql", "--quiet", query]
            limits = (largest_file, largest_file)
            done = subprocess.run(
                command,
                cwd=home,
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),
            )
            return End(done.returncode, done.stdout, done.stderr)

        end = limited(LONG, 5000)
        assert end.status == INPUT
        assert "cannot be written (File too large)" in end.sentence()
        assert [file for file in (home / "private" / "kept").rglob("*") if file.is_file()] == []
        assert sql(KEEP).stdout == "kept_table,rows\nstays,20\n"
        before = {file: file.read_bytes() for file in (home / "private" / "kept").rglob("*.kept")}
        shutil.rmtree(home / "private" / "ledger")
        end = limited(LONG, 5000)
        assert end.status == INPUT
        assert "cannot be written (File too large)" in end.sentence()
        assert {file: file.read_bytes() for file in (home / "private" / "kept").rglob("*") if file.is_file()} == before
        (home / "private" / "kept" / B / "stays.kept").unlink()
        sentence = sql(READ).sentence()
        assert f"has a part at {A} but none at {B}; put that back, or DROP TABLE stays and make it again." in sentence
        assert sql("DROP TABLE stays").stdout == "kept_table,rows\nstays,\n"
        assert "there is no kept table 'stays'" in sql("DROP TABLE stays").sentence()


def test_a_party_killed_while_it_keeps_leaves_no_half_table(tmp_path: Path) -> None:
    """Whatever is under the table's name at either party is whole, and the next run clears away what is not."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    with Consortium(tmp_path, "connect_timeout = 10\nidle_timeout = 2\nlatency = 0.02", SCENARIO) as slow:
        running = {party: slow.start(party, KEEP) for party in slow.parties}
        worker = computing_processes(slow, running)[B]
        time.sleep(random.Random(seed).uniform(0, 2))
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
        ends(running)
        for party in slow.parties:
            store = KeptStore(Federation.load(slow.federation(party)), party)
            for found in store.parts():
                assert found.table is not None
                assert _native.KeptFile.open(str(found.path), store.key()).header
        again = {party: slow.start(party, KEEP.replace("CREATE", "CREATE OR REPLACE")) for party in slow.parties}
        assert [end.status for end in ends(again).values()] == [0, 0]
        for party in slow.parties:
            assert [file.name for file in (slow.private(party) / "kept" / party).iterdir()] == ["stays.kept"]
