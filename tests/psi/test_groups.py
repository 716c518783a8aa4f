"""`tacit psi` among more than two parties, by as many processes over TLS, against DuckDB on all tables."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars
import pyarrow
import pytest

import tacit.psi
from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import Ledger
from tacit.cli.main import main
from tacit.psi.parameters import Parameters
from tacit.psi.tables import Matched
from tacit.psi.whole import choose_leader

from .groups import Group, ends
from .test_announcements import honest

A = """SELECT CASE WHEN i % 17 = 0 THEN NULL ELSE i // 2 END AS id, 'a' || i AS own FROM range(400) t(i)"""
B = "SELECT i // 3 + 150 AS id, 'b' || i AS own FROM range(300) t(i)"
C = "SELECT i * 2 AS id, 'c' || i AS own FROM range(90) t(i)"


@pytest.fixture
def three(tmp_path: Path) -> Group:
    group = Group.of(tmp_path, "abc")
    for party, query in zip("abc", (A, B, C), strict=True):
        group.write(party, query)
    return group


def joined(group: Group, learning: str) -> list[tuple[object, ...]]:
    """The rows of the join of those that learn the matches, with keys that all parties have."""
    first = learning[0]
    sides = f"'{first}.parquet' {first}" + "".join(
        f" JOIN '{party}.parquet' {party} ON {party}.id = {first}.id" for party in learning[1:]
    )
    has = " AND ".join(f"{first}.id IN (SELECT id FROM '{party}.parquet')" for party in group.parties)
    columns = ", ".join(f"{party}.own" for party in learning)
    return group.rows(f"SELECT {columns} FROM {sides} WHERE {has} ORDER BY ALL")


@pytest.mark.parametrize("learning", ["abc", "b"])
def test_the_rows_that_all_have_are_aligned_at_all_that_learn_them(three: Group, learning: str) -> None:
    ended = three.match_all("--to", ",".join(learning))
    assert {end.status for end in ended.values()} == {0}, ended
    expected = joined(three, learning)
    assert len(expected) > 10 and three.aligned(learning) == expected
    for party, end in ended.items():
        assert (three.folder / f"{party}-matched.parquet").exists() == (party in learning)
        assert ("keys matched" in end.told) == (party in learning)
        assert f"{learning[0]} learns which of its own keys " in end.told
        assert "can learn which of its keys all remaining parties have" in end.told
        assert "finds the matches: " in end.told
    assert [path.name for path in three.folder.glob(".*")] == [], "nothing is left"


@pytest.mark.parametrize("sizes", [(7, 1, 300, 2, 40), (5, 9, 0, 3, 8)])
def test_five_parties_of_unequal_sizes(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    group = Group.of(tmp_path, "abcde")
    for party, rows in zip(group.parties, sizes, strict=True):
        group.write(party, f"SELECT i AS id, '{party}' || i AS own FROM range({rows}) t(i)")
    ended = group.match_all("--quiet")
    assert {end.status for end in ended.values()} == {0}, ended
    assert group.aligned("abcde") == [tuple(f"{party}{i}" for party in "abcde") for i in range(min(sizes))]


def test_composite_keys_normalisers_csv_and_columns(tmp_path: Path) -> None:
    group = Group.of(tmp_path, "abc")
    (tmp_path / "a.csv").write_text("mail,no,zip\nAnn@Example.org,1,8\nbob@example.org,2,9\nnonsense,3,7\n,4,6\n")
    (tmp_path / "b.csv").write_text("mail,no,zip\nann@example.ORG,1,007\nbob@example.org,5,8\n")
    group.write("c", "SELECT 'ANN@example.org' AS mail, 1.00::DECIMAL(9, 2) AS no, 5 AS zip")
    options = ("--normalise", "mail=email", "--columns", "zip", "--kind", "no=number")
    running = {party: group.start(party, *options, key="mail,no", ending="csv") for party in "ab"}
    running["c"] = group.start("c", *options, key="mail,no")
    ended = ends(running)
    assert {end.status for end in ended.values()} == {0}, ended
    assert group.aligned("abc", "zip") == [("8", "007", 5)]
    assert "column mail: the value in row 3 is not valid" in ended["a"].told


def test_some_of_a_federation_match(three: Group) -> None:
    running = {party: three.start(party, "--with", "a,b" if party == "a" else "a") for party in "ab"}
    ended = ends(running)
    assert {end.status for end in ended.values()} == {0}, ended
    assert three.aligned("ab") == three.rows(
        "SELECT a.own, b.own FROM 'a.parquet' a JOIN 'b.parquet' b ON a.id = b.id ORDER BY ALL"
    )


def test_what_is_sent_is_declared_and_depends_on_the_numbers_of_rows_alone(tmp_path: Path) -> None:
    group = Group.of(tmp_path, "abc")
    seen = []
    for first in (0, 90_000):
        for party, (start, rows) in zip("abc", ((0, 300), (first, 500), (first // 2, 200)), strict=True):
            group.write(party, f"SELECT i + {start} AS id FROM range({rows}) t(i)")
        ended = group.match_all("--quiet")
        assert {end.status for end in ended.values()} == {0}, ended
        costs = [Ledger(tmp_path / "private" / "ledger" / f"{party}.jsonl").entries()[-1]["cost"] for party in "abc"]
        seen.append([(cost["bytes_sent"], cost["bytes_received"], cost["rounds"]) for cost in costs])
    assert seen[0] == seen[1]
    parameters = Parameters(tuple("abc"), ("exact",), tuple("abc"))
    facts = [honest(rows=rows) for rows in (300, 500, 200)]
    # Before it the parties announce, agree on a key and are ready; after it they are done.
    around = [
        sent - declared for (sent, _, _), declared in zip(seen[0], choose_leader(parameters, facts).sent, strict=True)
    ]
    assert max(around) - min(around) < 20 and 2 * 64 < min(around) < 1000


def test_the_ledger_says_what_was_learnt(three: Group) -> None:
    assert {end.status for end in three.match_all("--to", "a,c").values()} == {0}
    (common,) = three.rows(
        "SELECT count(DISTINCT id) FROM 'a.parquet' WHERE id IN (FROM 'b.parquet' SELECT id) "
        "AND id IN (FROM 'c.parquet' SELECT id)"
    )[0]
    for party in "abc":
        ledger = Ledger(three.folder / "private" / "ledger" / f"{party}.jsonl")
        assert ledger.verify() == 2
        approved, completed = ledger.entries()
        assert "of a, b and c" in approved["query"] and approved["recipients"] == ["a", "c"]
        assert (completed["engine"], completed["kind"]) == ("psi/multi-party", "completed")
        told = completed["disclosures"][0]
        assert told["what"].startswith("a learns which of its own keys b and c all have too, and how many rows c has")
        assert any(each["what"].startswith("b learns whether keys repeat") for each in completed["disclosures"])
        assert told.get("rows") == (common if party in "ac" else None)


def test_tables_in_and_out(tmp_path: Path) -> None:
    group = Group.of(tmp_path, "abc")
    tables = {
        "a": pyarrow.table({"mail": ["Ann@x.org", "bob@x.org", None], "city": ["Oslo", "Bergen", "Oslo"]}),
        "b": polars.DataFrame({"mail": ["cy@x.org", "ann@X.org"], "amount": [1.5, 2.5]}),
        "c": polars.DataFrame({"mail": ["ann@x.org", "ANN@x.org"], "visit": [1, 2]}),
    }

    def match(me: str) -> Matched:
        federation = group.folder / "federation.toml"
        return tacit.psi.intersect(tables[me], federation=federation, me=me, key=["mail"], normalise={"mail": "email"})

    with ThreadPoolExecutor(3) as pool:
        first, second, third = pool.map(match, "abc")
    assert pyarrow.table(first).to_pylist() == [{"mail": "Ann@x.org", "city": "Oslo"}] * 2
    assert polars.DataFrame(second).rows() == [("ann@X.org", 2.5)] * 2
    assert sorted(polars.DataFrame(third).rows()) == [("ANN@x.org", 2), ("ann@x.org", 1)]
    assert (first.report.keys, first.report.null, first.report.rate, first.report.pairs) == (1, 1, 0.5, 2)
    with pytest.raises(RunError, match=r"leave out --join left, or name one party"):
        tacit.psi.intersect(tables["a"], federation=group.folder / "federation.toml", me="a", key=["mail"], join="left")


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (("--join", "left"), "leave out --join left, or name one party to match with, --with PARTY"),
        (("--reveal", "cardinality"), "leave out --reveal cardinality, or name one party"),
        (("--reveal", "ids"), "leave out --reveal ids"),
        (("--protocol", "vole"), "leave out --protocol,"),
        (("--bins", "4"), "leave out --bins,"),
        (("--workers", "2"), "leave out --workers,"),
        (("--plugin", "x.so"), "leave out --plugin,"),
        (("--key", "own"), "leave out the second --key"),
        (("--prepared", "x"), "this is for two parties; name the one to match with, --with PARTY"),
        (("--to", "both"), "--to is 'both'; write all, a, b or c, or several of these with commas"),
        (("--to", "a,d"), "--to is 'a,d'; write all, a, b or c"),
        (("--with", "b,d"), "there is no party 'd'; it names a, b, c"),
        (("--with", "a"), "name whom to match with, --with PARTY, other than a"),
    ],
)
def test_what_only_two_can_do_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own: tuple[str, ...], said: str
) -> None:
    Group.of(tmp_path, "abc").write("a", A)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "umask", lambda mask: 0)
    options = ["--input", "a.parquet", "--key", "id", "--output", "a-matched.parquet", "--quiet"]
    assert main(["psi", "--as", "a", *options, *own]) == 2
    told = capsys.readouterr().err
    assert said in told and len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("own", "option", "said"),
    [
        (("--to", "c"), "--to", "c"),
        (("--with", "a"), "the parties", "a and c"),
    ],
)
def test_other_options_at_one_party_are_named(three: Group, own: tuple[str, ...], option: str, said: str) -> None:
    others = {party: three.waiting(party) for party in "ab"}
    ended = ends(others | {"c": three.start("c", "--quiet", *own)})
    for party, end in ended.items():
        if party == "c":
            assert end.status == 4 and f": {option} is {said} here and a, b and c at " in end.told, ended
        elif end.status == 4:
            assert f"c has started something else: {option} is a, b and c here and {said} at c" in end.told, ended
        else:  # the other has found it first
            assert end.status == 5 and " cannot take part: c has started something else." in end.told, ended
    assert 4 in (ended["a"].status, ended["b"].status)


def test_a_missing_party_is_named(tmp_path: Path) -> None:
    group = Group.of(tmp_path, "abc", "connect_timeout = 6")
    for party in "ab":
        group.write(party, A)
    ended = ends({party: group.start(party, "--quiet") for party in "ab"})
    for end in ended.values():
        assert end.status == 5 and len(end.told.splitlines()) == 1
        assert "waited in vain for c (c: nobody listens at 127.0.0.1:" in end.told


def test_a_killed_party_is_named_by_all_others(tmp_path: Path) -> None:
    group = Group.of(tmp_path, "abc", "connect_timeout = 20\nlatency = 0.3")
    for party in "abc":
        group.write(party, "SELECT i AS id FROM range(2000) t(i)")
    running = group.start_all()
    assert running["c"].stdout is not None
    for line in running["c"].stdout:
        if line.startswith("matching"):
            break
    running["c"].send_signal(signal.SIGKILL)
    killed = time.monotonic()
    running.pop("c").communicate()
    for party, end in ends(running).items():
        assert end.status == 5, end
        assert 'party "c" is gone' in end.told.splitlines()[-1]
        assert "Traceback" not in end.told
        entries = Ledger(tmp_path / "private" / "ledger" / f"{party}.jsonl").entries()
        assert [entry["kind"] for entry in entries] == ["approved", "failed"]
    assert time.monotonic() - killed < 20


def test_wrong_data_at_one_party_is_named_at_all(three: Group) -> None:
    (three.folder / "a.csv").write_text("id,own\n1,x\nseven,y\n")
    options = ("--quiet", "--kind", "id=number")
    others = {party: three.waiting(party, "--kind", "id=number") for party in "bc"}
    ended = ends({"a": three.start("a", *options, ending="csv"), **others})
    assert ended["a"].status == 2 and "a.csv, row 2, column id: the value is no number" in ended["a"].told
    for party in "bc":
        assert ended[party].status == 5 and "a cannot take part: its own input was refused" in ended[party].told
        assert "seven" not in ended[party].told


def test_kinds_that_cannot_match_are_refused(three: Group) -> None:
    three.write("c", "SELECT DATE '2020-01-01' + i::INTEGER AS id FROM range(20) t(i)")
    ended = three.match_all("--quiet")
    assert all(end.status in (2, 5) for end in ended.values()) and 2 in [end.status for end in ended.values()]
    assert any("it is date here and number at a" in end.told or "number here and date at c" in end.told
               for end in ended.values())  # fmt: skip


def test_too_little_memory_is_said_before_anything_is_computed(three: Group) -> None:
    three.write("b", "SELECT i AS id FROM range(1000000) t(i)")
    ended = three.match_all("--quiet", own={"c": ("--memory", "240M")})
    for end in ended.values():
        assert end.status in (2, 5) and len(end.told.splitlines()) == 1, ended
    assert "works in memory and needs 247 MiB for these tables, more than the 240 MiB declared" in ended["c"].told


def test_an_output_with_too_many_rows_is_refused_by_all(tmp_path: Path) -> None:
    group = Group.of(tmp_path, "abc")
    for party in "abc":
        group.write(party, "SELECT 7 AS id, i AS own FROM range(400) t(i)")
    ended = group.match_all("--quiet", "--memory", "256M")
    for end in ended.values():
        assert end.status == 2 and len(end.told.splitlines()) == 1, ended
        assert "the output has 64,000,000 rows, more than the 16,777,216 that the declared memory allows" in end.told


def test_an_output_that_does_not_fit_is_one_sentence(tmp_path: Path) -> None:
    group = Group.of(tmp_path, "abc")
    for party in "abc":
        group.write(party, "SELECT i AS id, repeat(md5(i::VARCHAR), 20) AS own FROM range(8000) t(i)")
    running = {party: group.start(party) for party in "bc"}
    command = [sys.executable, "-m", "tacit", "psi", "--federation", "federation.toml", "--as", "a", "--quiet"]
    command += ["--input", "a.parquet", "--key", "id", "--output", "a-matched.csv"]
    small = ["bash", "-c", 'ulimit -f 1024; exec "$@"', "bash", *command]
    done = subprocess.run(small, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert {end.status for end in ends(running).values()} == {0}
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert "a-matched.csv: cannot be written" in done.stderr and "run it again at all parties" in done.stderr
    assert "Async" not in done.stderr, "a thread of DuckDB's own writes: now and then its failure never ends"
    assert list(tmp_path.glob(".tacit*")) == [] and not (tmp_path / "a-matched.csv").exists()


def test_who_leads_follows_from_the_sizes() -> None:
    def facts(*rows: int) -> list[_native.Announcement]:
        return [honest(rows=each, memory=8 << 30) for each in rows]

    parameters = Parameters(tuple("abc"), ("exact",), tuple("abc"))
    assert choose_leader(parameters, facts(1 << 20, 10, 1 << 20)).leader == 1
    assert choose_leader(Parameters(tuple("abc"), ("exact",), ("c",)), facts(1 << 20, 10, 1 << 20)).leader == 2
    with pytest.raises(RunError, match="declare more --memory at all parties") as error:
        choose_leader(parameters, facts(1 << 28, 1 << 28, 1 << 28))
    assert error.value.fault is Fault.INPUT
