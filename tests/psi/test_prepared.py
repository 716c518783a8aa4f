"""`tacit psi --prepare` and `--prepared`: a large table is prepared once and asked about many times."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pytest

import tacit.psi
from tacit import _native
from tacit.agent.faults import RunError
from tacit.agent.ledger import Ledger
from tacit.agent.private_key import PrivateKey
from tacit.psi.prepared_file import Description, held, read_prepared, write_prepared

from .pairs import Ended, Pair

A = "SELECT CASE WHEN i % 10 <> 0 THEN i // 2 END AS id, 'a' || i AS own FROM range(3000) t(i)"
B = "SELECT i // 2 + {} AS id, 'b' || i AS own FROM range(40) t(i)"


def prepare(pair: Pair, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tacit", "psi", "--as", "a", "--input", "a.parquet", "--key", "id"]
    command += ["--prepare", "a.prepared", *options]
    return subprocess.run(command, cwd=pair.folder, capture_output=True, text=True, timeout=60, check=False)


def query(pair: Pair, *answering: str) -> tuple[Ended, Ended]:
    """One query of b, which keeps what a publishes."""
    command = [sys.executable, "-m", "tacit", "psi", "--as", "a", "--prepared", "a.prepared", *answering]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    running = [
        subprocess.Popen(command, cwd=pair.folder, **pipes),  # type: ignore[call-overload]
        pair.start("b", "--prepared", "b.published"),
    ]
    told = [each.communicate(timeout=60)[0] for each in running]
    first, second = (Ended(each.returncode, text) for each, text in zip(running, told, strict=True))
    return first, second


def found(pair: Pair) -> bool:
    """Whether b's output is its rows with keys of a."""
    expected = pair.rows("SELECT own FROM 'b.parquet' WHERE id IN (SELECT id FROM 'a.parquet') ORDER BY own")
    return pair.rows("SELECT own FROM 'b-matched.parquet' ORDER BY own") == expected and expected != []


def sent(pair: Pair, party: str) -> int:
    return int(Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()[-1]["cost"]["bytes_sent"])


def test_one_preparation_serves_many_queries_until_the_budget_is_used_up(pair: Pair) -> None:
    pair.write("a", A)
    prepared = prepare(pair, "--budget", "100")
    assert prepared.returncode == 0, prepared
    assert "offline, once" in prepared.stderr and "100 rows may be asked about in all" in prepared.stderr
    path = pair.folder / "a.prepared"
    assert path.stat().st_mode & 0o777 == 0o600
    pair.write("b", B.format(0))
    ends = query(pair, "--most", "39")
    assert [ended.status for ended in ends] == [3, 3], ends
    assert "a answers at most 39 rows now" in ends[1].told
    for number, first in enumerate((1490, 100)):
        pair.write("b", B.format(first))
        ends = query(pair, "--most", "40")
        assert [ended.status for ended in ends] == [0, 0], ends
        assert found(pair)
        assert ("is sent now, to be kept" in ends[0].told) == (number == 0)
        assert ("is here already" in ends[1].told) == (number == 1)
        assert (sent(pair, "a") > 10_000) == (number == 0), "what is published is sent once"
        assert f"{100 - 40 * (number + 1)} rows of the budget are left" in ends[0].told
        assert "b learns which of its own keys a had when it prepared its table" in ends[1].told
    assert (pair.folder / "b.published").stat().st_mode & 0o777 == 0o600
    ends = query(pair)
    assert [ended.status for ended in ends] == [3, 3], ends
    assert "20 of the budget of 100 are left" in ends[0].told
    assert "a answers at most 20 rows now; ask about fewer" in ends[1].told


def test_a_table_prepared_anew_is_sent_anew(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B.format(1490))
    assert prepare(pair).returncode == 0 and [ended.status for ended in query(pair)] == [0, 0]
    before = pair.rows("FROM 'b-matched.parquet'")
    pair.write("a", A.replace("range(3000)", "range(3010)"))
    assert prepare(pair).returncode == 0
    ends = query(pair)
    assert "is sent now, to be kept" in ends[1].told
    assert found(pair) and pair.rows("FROM 'b-matched.parquet'") != before


def test_what_a_query_costs_depends_on_the_numbers_of_rows_alone(pair: Pair) -> None:
    pair.write("a", A)
    assert prepare(pair).returncode == 0
    costs = []
    for keys in ("i", "CASE WHEN i > 5 THEN 90000 END"):
        (pair.folder / "b.published").unlink(missing_ok=True)
        pair.write("b", f"SELECT {keys} AS id FROM range(30) t(i)")
        ends = query(pair)
        assert [ended.status for ended in ends] == [0, 0], ends
        costs.append((sent(pair, "a"), sent(pair, "b")))
    assert len(set(costs)) == 1


@pytest.mark.parametrize("content", [b"", b"id,own\n1,x\n", b"tacit prepared 3" + bytes(64), b"tacitSE"[:6]])
def test_a_file_that_holds_nothing_published_is_not_asked_with_nor_replaced(pair: Pair, content: bytes) -> None:
    held = pair.folder / "b.published"
    held.write_bytes(content)
    pair.write("b", B.format(0))
    asks = pair.start("b", "--prepared", "b.published", "--quiet")
    told = asks.communicate(timeout=60)[0]
    assert asks.returncode == 2 and "b.published: holds nothing that a party has published" in told, told
    assert len(told.splitlines()) == 1 and held.read_bytes() == content


@pytest.fixture
def prepared(pair: Pair) -> Path:
    """A file of the right form."""
    path = pair.folder / "a.prepared"
    about = Description(30, 7, ["number"], ["exact"], "5e" * 16, None, None, ["id"])
    write_prepared(path, private_key(pair, "a"), about, b"12345", bytes(_native.published_bytes(30, 7)))
    return path


def private_key(pair: Pair, party: str) -> PrivateKey:
    return PrivateKey.read(pair.folder / "private" / f"{party}.key")


def test_from_python(pair: Pair) -> None:
    table, few = pyarrow.table({"id": range(50)}), pyarrow.table({"id": [7, 70], "own": ["x", "y"]})
    common = {"federation": pair.folder / "federation.toml"}
    tacit.psi.prepare(table, pair.folder / "a.prepared", me="a", key=["id"], budget=5, **common)
    with ThreadPoolExecutor(2) as threads:
        for left in (3, 1):
            answered = threads.submit(tacit.psi.answer, pair.folder / "a.prepared", me="a", **common)
            found = tacit.psi.ask(few, pair.folder / "b.published", me="b", key=["id"], **common)
            assert pyarrow.table(found).to_pylist() == [{"id": 7, "own": "x"}]
            assert (found.report.keys, answered.result().keys) == (1, None)
            assert 5 - read_prepared(pair.folder / "a.prepared", private_key(pair, "a")).answered == left


def test_a_changed_file_and_a_foreign_one_are_refused(pair: Pair, prepared: Path) -> None:
    key, whole = private_key(pair, "a"), prepared.read_bytes()
    assert read_prepared(prepared, key).secret == b"12345"
    with pytest.raises(RunError, match="damaged, or another party has made it"):
        read_prepared(prepared, private_key(pair, "b"))
    for place in (20, 60, len(whole) // 2, len(whole) - 50, len(whole) - 1):
        prepared.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(RunError, match="damaged"):
            read_prepared(prepared, key)
    for length in (0, 10, 40, len(whole) - 40):
        prepared.write_bytes(whole[:length])
        with pytest.raises(RunError, match=r"damaged|is no prepared table"):
            read_prepared(prepared, key)


def test_a_prepared_tables_secrets_are_encrypted(prepared: Path) -> None:
    whole = prepared.read_bytes()
    assert all(secret not in whole for secret in (b"12345", b"5e" * 16, b"^" * 16, b"token_key"))


def test_the_account_survives_a_record_that_was_cut_off(pair: Pair, prepared: Path) -> None:
    key = private_key(pair, "a")
    read_prepared(prepared, key).record(key, 12)
    with prepared.open("ab") as file:
        file.write(b"cut off")
    file_read = read_prepared(prepared, key)
    assert file_read.answered == 12
    file_read.record(key, 15)
    assert read_prepared(prepared, key).answered == 15
    prepared.write_bytes(prepared.read_bytes()[:-1] + b"?")
    with pytest.raises(RunError, match="damaged"):
        read_prepared(prepared, key)


def test_two_processes_do_not_answer_from_one_file(prepared: Path) -> None:
    with held(prepared), pytest.raises(RunError, match="another process is answering"), held(prepared):
        pass


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (("--prepared", "a.parquet"), "is no prepared table; make one with --prepare"),
        (("--prepared", "nothing"), "there is no such file"),
        (("--prepared", "a.prepared", "--reveal", "ids"), "has no use for --reveal"),
        (("--prepared", "a.prepared", "--budget", "7"), "has no use for --budget"),
        (("--prepared", "a.prepared", "--most", "0"), "--most is 0"),
        (("--prepared", "a.prepared", "--kind", "id=number"), "as they were prepared; leave out --kind, or name"),
        (("--prepared", "a.prepared", "--normalise", "id=email"), "leave out --normalise, or name"),
        (("--prepared", "a.prepared", "--key", "id", "--output", "x.csv"), "leave out --key, or name"),
        (("--prepared", "a.prepared", "--columns", "id"), "leave out --columns, or name"),
        (("--prepared", "a.prepared", "--output", "x.csv"), "leave out --output, or name"),
        (("--input", "a.parquet", "--key", "id", "--prepare", "x", "--budget", "0"), "--budget is 0"),
        (("--input", "a.parquet", "--prepare", "x"), "its key columns with --key"),
        (("--input", "a.parquet", "--key", "id", "--prepare", "x", "--memory", "1K"), "declare more --memory"),
        (("--input", "a.parquet", "--key", "id", "--protocol", "unbalanced", "--to", "a", "--output", "x.csv"),
         "name one with --prepared"),
        ((), "name this party's own table with --input"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(pair: Pair, own: tuple[str, ...], said: str) -> None:
    pair.write("a", A)
    command = [sys.executable, "-m", "tacit", "psi", "--quiet", "--as", "a", *own]
    done = subprocess.run(command, cwd=pair.folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_what_does_not_fit_into_the_memory_is_refused(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B.format(10))
    assert prepare(pair).returncode == 0
    command = [sys.executable, "-m", "tacit", "psi", "--as", "a", "--prepared", "a.prepared", "--quiet"]
    refused = subprocess.run([*command, "--memory", "64K"], cwd=pair.folder, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "answering from it needs" in refused.stderr
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    answering = subprocess.Popen(command, cwd=pair.folder, **pipes)  # type: ignore[call-overload]
    asking = pair.start("b", "--prepared", "b.published", "--memory", "64K", "--quiet")
    told = [each.communicate(timeout=60)[0] for each in (answering, asking)]
    assert asking.returncode == 2 and "asking about it needs" in told[1], told
    assert answering.returncode != 0 and not (pair.folder / "b.published").exists()
