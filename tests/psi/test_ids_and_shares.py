"""`tacit psi --reveal ids` and `--reveal shares`: what comes out, and what is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow
import pytest

import tacit.psi
from tacit.agent.faults import RunError
from tacit.agent.ledger import Ledger
from tacit.psi.parameters import Parameters
from tacit.psi.whole import choose_whole

from .pairs import Pair

A = """SELECT CASE WHEN i % 17 = 0 THEN NULL ELSE i // 2 END AS id, 'a' || i AS own, i AS number
       FROM range(300) t(i)"""
B = "SELECT i // 3 + 100 AS id, 'b' || i AS own, i * 1000 - 100000 AS amount, i % 2 = 0 AS even FROM range(250) t(i)"
JOINED = "'a.parquet' a JOIN 'b.parquet' b ON a.id = b.id"


@pytest.mark.parametrize("protocol", ["ddh", "oprf"])
def test_ids_join_as_the_keys_do_and_are_the_same_list_at_both(pair: Pair, protocol: str) -> None:
    pair.write("a", A)
    pair.write("b", B)
    ends = pair.match("--reveal", "ids", "--protocol", protocol)
    assert [ended.status for ended in ends] == [0, 0], ends
    lists = [pair.rows(f"SELECT DISTINCT universal_id FROM '{party}-matched.parquet' ORDER BY 1") for party in "ab"]
    ((common,),) = pair.rows(f"SELECT count(DISTINCT a.id) FROM {JOINED}")
    for ended in ends:
        assert f"{len(lists[0])} ids in all, which tells the number of common keys: {common}" in ended.told
    assert lists[0] == lists[1] and len(lists[0]) == 300 + 250 - common
    for party in "ab":
        own = pair.rows(f"SELECT universal_id FROM '{party}-matched.parquet'")
        assert own == sorted(own)
        kept = f"SELECT id, own FROM '{party}-matched.parquet' WHERE own IS NOT NULL ORDER BY own"
        assert pair.rows(kept) == pair.rows(f"SELECT id, own FROM '{party}.parquet' ORDER BY own")
    by_id = "'a-matched.parquet' a JOIN 'b-matched.parquet' b USING (universal_id)"
    met = pair.rows(f"SELECT a.own, b.own FROM {by_id} WHERE a.own IS NOT NULL AND b.own IS NOT NULL ORDER BY ALL")
    assert met == pair.rows(f"SELECT a.own, b.own FROM {JOINED} ORDER BY ALL")
    disclosed = Ledger(pair.folder / "ledger" / "a.jsonl").entries()[-1]["disclosures"][0]
    assert disclosed["rows"] == common and "but not which" in disclosed["what"]


def test_unique_keys_give_rows_that_are_aligned(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,own\n1,x\n2,y\n3,z\n")
    (pair.folder / "b.csv").write_text("id,amount\n3,30\n4,40\n")
    running = [pair.start(party, "--reveal", "ids", "--columns", "id", ending="csv") for party in "ab"]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [0, 0], told
    assert sorted(pair.joint("a.id, b.id"), key=str) == [("1", None), ("2", None), ("3", "3"), (None, "4")]
    assert pair.rows("SELECT count(*) FROM 'a-matched.parquet' WHERE universal_id NOT SIMILAR TO '[0-9a-f]{32}'") == [
        (0,)
    ]


def opened(pair: Pair, columns: tuple[str, ...]) -> list[tuple[object, ...]]:
    """Both outputs' shares, added as the document says."""
    sums = [f"(a.{name}::HUGEINT + b.{name}) % 18446744073709551616" for name in columns]
    signed = [
        f"CASE WHEN {sum} >= 9223372036854775808 THEN {sum} - 18446744073709551616 ELSE {sum} END" for sum in sums
    ]
    return pair.joint(", ".join(signed))


def test_shares_add_up_to_the_columns_of_the_pairs(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B)
    ends = pair.match("--reveal", "shares", a=("--columns", "number"), b=("--columns", "amount,even"))
    assert [ended.status for ended in ends] == [0, 0], ends
    expected = pair.rows(f"SELECT a.number, b.amount, b.even::INTEGER FROM {JOINED} ORDER BY ALL")
    assert all(f"{len(expected)} pairs of rows matched" in ended.told for ended in ends)
    names = ("share_of_a_number", "share_of_b_amount", "share_of_b_even")
    assert opened(pair, names) == expected
    for party in "ab":
        described = pair.rows(f"DESCRIBE FROM '{party}-matched.parquet'")
        assert [(name, kind) for name, kind, *_ in described] == [(name, "UBIGINT") for name in names]
        likely = pair.rows(f"SELECT count(*) FROM '{party}-matched.parquet' WHERE share_of_b_even < 1000000000000")
        assert likely == [(0,)], "a share is a random number"


def test_one_party_may_share_nothing(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B)
    ends = pair.match("--reveal", "shares", b=("--columns", "amount"))
    assert [ended.status for ended in ends] == [0, 0], ends
    assert opened(pair, ("share_of_b_amount",)) == pair.rows(f"SELECT b.amount FROM {JOINED} ORDER BY ALL")


def test_from_python(pair: Pair) -> None:
    tables = [
        pyarrow.table({"mail": ["Ann@x.org", "bob@x.org", None], "n": [1, 2, 3]}),
        pyarrow.table({"mail": ["cy@x.org", "ann@X.org"], "n": [40, 50]}),
    ]
    common = {"federation": pair.folder / "federation.toml", "key": ["mail"], "normalise": {"mail": "email"}}

    def party(number: int) -> tuple[tacit.psi.Matched, tacit.psi.Matched, int | None]:
        how = {**common, "me": "ab"[number]}
        ids = tacit.psi.identify(tables[number], **how)
        shares = tacit.psi.share(tables[number], columns=["n"], **how)
        return ids, shares, tacit.psi.aggregate(tables[number], reveal="sum(b.n)", **how).sum

    with ThreadPoolExecutor(2) as threads:
        a, b = threads.map(party, (0, 1))
    assert (a[0].report.union, a[0].report.keys, a[0].report.rate) == (4, 1, None)
    rows = [pyarrow.table(end[0]).to_pylist() for end in (a, b)]
    assert [row["universal_id"] for row in rows[0]] == [row["universal_id"] for row in rows[1]]
    together = {(mine["n"], theirs["n"]) for mine, theirs in zip(*rows, strict=True)}
    assert together == {(1, 50), (2, None), (3, None), (None, 40)}
    shares = [pyarrow.table(end[1]).column("share_of_b_n").to_pylist() for end in (a, b)]
    assert (shares[0][0] + shares[1][0]) % 2**64 == 50
    assert a[2] == b[2] == 50


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (("--reveal", "ids", "--to", "b"), "gives both parties their output; leave out --to"),
        (("--reveal", "ids", "--join", "left"), "leave out --join, --plugin and --bins"),
        (("--reveal", "ids", "--protocol", "vole"), "there is no protocol 'vole'; choose auto, ddh or oprf"),
        (("--reveal", "shares", "--protocol", "ddh"), "leave out --join, --protocol and --bins"),
        (("--reveal", "shares", "--columns", "own"), "share integers only"),
        (("--reveal", "shares", "--columns", "id"), "it is part of the key; share another one"),
        (("--reveal", "ids", "--columns", "universal_id"), "it has a column universal_id already"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(pair: Pair, own: tuple[str, ...], said: str) -> None:
    pair.write("a", A.replace("i AS number", "i AS number, 1 AS universal_id"))
    running = pair.start("a", "--quiet", *own)
    told = running.communicate(timeout=60)[0]
    assert running.returncode == 2, told
    assert said in told and len(told.splitlines()) == 1


def test_values_that_are_no_integers_are_named(pair: Pair) -> None:
    (pair.folder / "a.csv").write_text("id,n\n1,5\n2,many\n")
    pair.write("b", "SELECT i AS id FROM range(20) t(i)")
    running = [
        pair.start("a", "--reveal", "shares", "--columns", "n", ending="csv"),
        pair.start("b", "--reveal", "shares"),
    ]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [2, 5], told
    assert "a.csv, row 2, column n: the value is no integer of 64 bits" in told[0]


def test_tables_too_large_for_the_memory_are_refused_by_both_alike() -> None:
    facts = {"rows": 10**8, "memory": 3 << 30, "columns": []}
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), reveal="ids")
    with pytest.raises(RunError, match=r"works in memory and needs .* MiB .*; declare more --memory at both"):
        choose_whole(parameters, (facts, facts))


@pytest.mark.parametrize(("rows", "protocol"), [(100, "private-id-ddh"), (10**6, "private-id-oprf")])
def test_the_protocol_for_ids_follows_from_the_sizes(rows: int, protocol: str) -> None:
    facts = {"rows": rows, "memory": 3 << 30, "columns": []}
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), reveal="ids")
    assert choose_whole(parameters, (facts, facts)).protocol == protocol


def test_messages_say_only_what_is_declared(pair: Pair) -> None:
    """Tables of equal sizes with as many common keys: other keys repeat or not, are NULL or not."""
    plain = ("i", "i + 200")
    crowded = ("CASE WHEN i < 250 THEN i END", "CASE WHEN i < 50 THEN i + 200 WHEN i < 70 THEN 9999 END")
    sent = []
    for first, second in (plain, crowded):
        pair.write("a", f"SELECT {first} AS id FROM range(250) t(i)")
        pair.write("b", f"SELECT {second} AS id FROM range(120) t(i)")
        ends = pair.match("--reveal", "ids")
        assert [ended.status for ended in ends] == [0, 0], ends
        entries = [Ledger(pair.folder / "ledger" / f"{party}.jsonl").entries()[-1] for party in "ab"]
        sent.append([(entry["cost"]["bytes_sent"], entry["cost"]["rounds"]) for entry in entries])
    assert sent[0] == sent[1]
