"""What `tacit psi` finds, by two processes over TLS, against DuckDB on both tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.ledger import Ledger

from .pairs import Pair

A = """SELECT CASE WHEN i % 17 = 0 THEN NULL ELSE i // 2 END AS id, 'a' || i AS own, i AS number
       FROM range(400) t(i)"""
B = "SELECT i // 3 + 150 AS id, 'b' || i AS own FROM range(300) t(i)"


def expected(pair: Pair, join: str) -> list[tuple[object, ...]]:
    sides = "'a.parquet' a {} JOIN 'b.parquet' b ON a.id = b.id"
    return pair.rows(f"SELECT a.own, b.own FROM {sides.format(join)} ORDER BY ALL")


@pytest.mark.parametrize("join", ["inner", "left", "right", "full"])
def test_rows_are_aligned_and_are_those_of_the_join(pair: Pair, join: str) -> None:
    pair.write("a", A)
    pair.write("b", B)
    for ended in pair.match("--join", join, "--protocol", "dh"):
        assert ended.status == 0, ended.told
    assert pair.joint("a.own, b.own") == expected(pair, join)
    assert pair.rows("SELECT count(*) FROM 'a-matched.parquet' WHERE number IS NULL AND own IS NOT NULL") == [(0,)]
    assert [path.name for path in pair.folder.glob(".*")] == [], "nothing is left"


def test_anti_gives_each_party_its_own_rows_without_a_match(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B)
    assert [ended.status for ended in pair.match("--join", "anti")] == [0, 0]
    for party, other in (("a", "b"), ("b", "a")):
        lonely = pair.rows(
            f"SELECT own FROM '{party}.parquet' x WHERE NOT EXISTS "
            f"(FROM '{other}.parquet' y WHERE x.id = y.id) ORDER BY own"
        )
        assert pair.rows(f"SELECT own FROM '{party}-matched.parquet' ORDER BY own") == lonely


@pytest.mark.parametrize("protocol", ["auto", "vole-compact", "vole-malicious"])
def test_bins_on_disk_find_the_same(pair: Pair, protocol: str) -> None:
    pair.write("a", "SELECT i AS id, 'a' || i AS own FROM range(20000) t(i)")
    pair.write("b", "SELECT i + 15000 AS id, 'b' || i AS own FROM range(30000) t(i)")
    for ended in pair.match("--bins", "7", "--memory", "3M", "--workers", "1", "--protocol", protocol):
        assert ended.status == 0, ended.told
        assert "GB of disk" in ended.told
    assert pair.joint("a.own, b.own") == pair.rows(
        "SELECT 'a' || i, 'b' || (i - 15000) FROM range(15000, 20000) t(i) ORDER BY ALL"
    )


def test_only_one_party_learns(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B)
    ends = pair.match("--to", "b")
    assert [ended.status for ended in ends] == [0, 0], ends
    assert not (pair.folder / "a-matched.parquet").exists() or pair.rows("FROM 'a-matched.parquet'") == []
    found = pair.rows("SELECT own FROM 'b-matched.parquet' ORDER BY own")
    assert found == pair.rows("SELECT own FROM 'b.parquet' WHERE id IN (SELECT id FROM 'a.parquet') ORDER BY own")
    assert "b learns which of its own keys a has too" in ends[0].told
    assert "b receives: it alone learns the matches" in ends[1].told


def test_composite_keys_normalisers_and_csv(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text(
        "mail,name,zip\nAnn@Example.org,JÜRGEN  Straße,1\nbob@example.org,Bob,2\nnonsense,Cy,3\n,Dan,4\n"
    )
    (pair.folder / "b.csv").write_text("mail,name,zip\nann@example.ORG,jürgen strasse,007\nbob@example.org,Bobby,8\n")
    options = ("--normalise", "mail=email,name=name", "--columns", "zip")
    ends = pair.match(*options, key="mail,name", ending="csv")
    assert [ended.status for ended in ends] == [0, 0], ends
    assert pair.joint("a.zip, b.zip") == [("1", "007")]
    assert "column mail: the value in row 3 is not valid" in ends[0].told


def test_a_text_key_is_read_as_both_parties_declare(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,own\n1,x\n02,y\n30,z\n")
    pair.write("b", "SELECT (i * 1.0)::DECIMAL(9, 2) AS id, i FROM range(20) t(i)")
    running = [pair.start("a", "--kind", "id=number", ending="csv"), pair.start("b", "--kind", "id=number")]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [0, 0], told
    assert pair.joint("a.own, b.i") == [("x", 1), ("y", 2)]
    assert "a.csv, column id: its texts are read as number" in told[0]
    for party in "ab":
        approved = Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()[0]
        assert "(exact as number)" in approved["query"]


@pytest.mark.parametrize("protocol", ["vole-malicious", "dh"])
def test_no_peer_decides_which_texts_are_equal(pair: Pair, protocol: str) -> None:
    """b stores a day where a has times of that day: one question would be about all of them."""
    (pair.folder / "a.csv").write_text("seen,own\n2024-05-01 10:11:12,x\n2024-05-01 22:00:00,y\n2024-05-02,z\n")
    pair.write("b", "SELECT DATE '2024-05-01' AS seen")
    options = ("--protocol", protocol)
    running = [pair.start("a", *options, key="seen", ending="csv"), pair.start("b", *options, key="seen")]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert 2 in [each.returncode for each in running] and {each.returncode for each in running} <= {2, 5}, told
    said = "column seen: it is {} here and {} at {}; declare --kind seen=date at all parties, or store it as one kind."
    assert said.format("text", "date", "b") in told[0] or said.format("date", "text", "a") in told[1], told
    assert not any((pair.folder / f"{party}-matched.parquet").exists() for party in "ab")


def test_a_kind_that_one_party_declares_alone_is_another_match(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,own\n1,x\n")
    pair.write("b", "SELECT 1 AS id")
    running = [pair.start("a", ending="csv"), pair.start("b", "--kind", "id=number")]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [4, 4], told


def test_the_ledger_says_what_was_learnt(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B)
    assert [ended.status for ended in pair.match()] == [0, 0]
    ledger = Ledger(pair.folder / "private" / "ledger" / "a.jsonl")
    assert ledger.verify() == 2
    approved, completed = ledger.entries()
    assert (approved["kind"], completed["kind"]) == ("approved", "completed")
    (common,) = pair.rows("SELECT count(DISTINCT id) FROM 'a.parquet' WHERE id IN (SELECT id FROM 'b.parquet')")[0]
    assert completed["disclosures"][0]["rows"] == common
    assert completed["cost"]["bytes_sent"] > 0


@pytest.mark.parametrize("plugin", ["python", "library"])
def test_a_plug_in_runs_the_bins(pair: Pair, plugin: str, library: Path) -> None:
    pair.write("a", A)
    pair.write("b", B)
    name = "insecure_hashes:InsecureHashes" if plugin == "python" else str(library)
    ends = pair.match("--plugin", name, "--bins", "3")
    assert [ended.status for ended in ends] == [0, 0], ends
    assert pair.joint("a.own, b.own") == expected(pair, "inner")


def test_what_is_sent_depends_on_the_numbers_of_rows_alone(pair: Pair) -> None:
    sent = []
    for first in (0, 2500, 90_000):
        pair.write("a", "SELECT i AS id FROM range(3000) t(i)")
        pair.write("b", f"SELECT i + {first} AS id FROM range(5000) t(i)")
        assert [ended.status for ended in pair.match("--bins", "4")] == [0, 0]
        entries = [Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()[-1] for party in "ab"]
        sent.append([(entry["cost"]["bytes_sent"], entry["cost"]["rounds"]) for entry in entries])
    assert sent[0] == sent[1] == sent[2]


def test_all_choose_by_the_link_of_the_federation_file_whatever_one_simulates(pair: Pair) -> None:
    pair.write("a", "SELECT i AS id FROM range(300) t(i)")
    pair.write("b", "SELECT i AS id FROM range(200, 300) t(i)")
    (pair.folder / "private" / "b.toml").write_text("[network]\nconnect_timeout = 20\nlatency = 0.03\n")
    undeclared = pair.match()
    assert [ended.status for ended in undeclared] == [0, 0], undeclared
    chosen = ["\n".join(line for line in ended.told.splitlines() if "protocol" in line) for ended in undeclared]
    assert "on a fast network, as no other is declared" in chosen[0] and chosen[0] == chosen[1]
    with (pair.folder / "federation.toml").open("a") as file:
        file.write("\n[link]\nlatency = 0.02\nbandwidth = 2e6\n")
    declared = pair.match()
    assert [ended.status for ended in declared] == [0, 0], declared
    assert all("at 20 ms one way and 2 MB/s" in ended.told for ended in declared)
