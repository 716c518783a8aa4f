"""`tacit psi --reveal ids` and `--reveal shares`: what comes out, and what is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow
import pytest

import tacit.psi
from tacit.agent.faults import RunError
from tacit.agent.ledger import Ledger
from tacit.plan.facts.catalog import Link
from tacit.psi.parameters import Parameters
from tacit.psi.whole import check_memory, choose_whole

from .pairs import Pair
from .test_announcements import honest

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
    disclosed = Ledger(pair.folder / "private" / "ledger" / "a.jsonl").entries()[-1]["disclosures"][0]
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
    ends = pair.match("--reveal", "shares", "--columns", "a.number,b.amount,b.even")
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
    ends = pair.match("--reveal", "shares", "--columns", "b.amount")
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
        shares = tacit.psi.share(tables[number], columns=["a.n", "b.n"], **how)
        return ids, shares, tacit.psi.aggregate(tables[number], reveal="sum(b.n)", least=1, **how).sum

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


@pytest.mark.parametrize(("others", "repeated"), [("'k'", 7), ("'z'", 0)])
def test_who_recognises_a_key_by_how_often_it_repeats_was_told_before(pair: Pair, others: str, repeated: int) -> None:
    """k alone stands in seven rows of a: the rows of a with several counterparts tell whether b has it."""
    pair.write("a", "SELECT 'k' AS id FROM range(7) UNION ALL SELECT 'c' || i FROM range(20) t(i)")
    pair.write("b", f"SELECT {others} AS id, 1 AS n FROM range(3) UNION ALL SELECT 'c' || i, 2 FROM range(5) t(i)")
    ends = pair.match("--reveal", "shares", "--columns", "b.n")
    assert [ended.status for ended in ends] == [0, 0], ends
    assert ("(7 rows of this party share keys with several of the other)" in ends[0].told) == (repeated == 7)
    said = "if a key repeats as no other of its table does, the table's owner may find by that whether the other has it"
    for party, ended in zip("ab", ends, strict=True):
        approved = Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()[0]["disclosures"]
        assert any(each["what"].startswith(said) for each in approved), approved
        assert f"- {said}" in ended.told and "but not which" not in ended.told, ended.told


@pytest.mark.parametrize("dropped", [(), ("--drop-contaminated", "both")])
def test_more_pairs_than_memory_allows_end_the_match_at_both(pair: Pair, dropped: tuple[str, ...]) -> None:
    """One key in 3,000 rows of each table: nine million pairs, where 300 MB are declared."""
    for party in "ab":
        pair.write(party, f"SELECT '' AS id, i AS {party}_n FROM range(3000) t(i)")
    ends = pair.match("--reveal", "shares", "--columns", "a.a_n,b.b_n", "--memory", "300M", *dropped)
    if dropped:
        assert [ended.status for ended in ends] == [0, 0], ends
        assert all("0 rows written" in ended.told for ended in ends), ends
        return
    for ended in ends:
        assert ended.status == 2 and "up to 9,000,000 pairs of rows match, more than the 6,553,600 that" in ended.told
        assert "declare more --memory at both parties" in ended.told and list(pair.folder.glob("*matched*")) == []


PEOPLE_A = """SELECT CASE WHEN i % 3 > 0 THEN i // 2 END AS id, i AS number,
              CASE WHEN i % 5 > 0 THEN 'p' || (i * 7 % 40) END AS phone FROM range(60) t(i)"""
PEOPLE_B = """SELECT CASE WHEN i % 4 > 0 THEN i // 3 + 10 END AS id, CASE WHEN i % 3 > 0 THEN 'p' || i END AS phone,
              i * 100 AS amount FROM range(50) t(i)"""
EITHER = "SELECT a.number, b.amount FROM 'a.parquet' a JOIN 'b.parquet' b ON a.id = b.id OR a.phone = b.phone"
OF_SHARES = ("--reveal", "shares", "--columns", "a.number,b.amount")


def test_ids_by_several_keys_pair_each_row_once_by_the_first_key_that_is_shared(pair: Pair) -> None:
    pair.write("a", PEOPLE_A)
    pair.write("b", PEOPLE_B)
    ends = pair.match("--key", "phone", "--reveal", "ids")
    assert [ended.status for ended in ends] == [0, 0], ends
    by_id = "'a-matched.parquet' a JOIN 'b-matched.parquet' b USING (universal_id)"
    found = pair.rows(f"SELECT a.number, b.amount FROM {by_id} WHERE number IS NOT NULL AND amount IS NOT NULL")
    numbers, amounts = {number for number, _ in found}, {amount for _, amount in found}
    assert len(numbers) == len(amounts) == len(found) > 10
    assert set(found) <= set(pair.rows(EITHER))
    by_id_alone = set(pair.rows("SELECT a.number, b.amount FROM 'a.parquet' a JOIN 'b.parquet' b USING (id)"))
    first = by_id_alone & set(found)
    taken = ({number for number, _ in first}, {amount for _, amount in first})
    assert all(number in taken[0] or amount in taken[1] for number, amount in by_id_alone), "the first key goes first"
    assert all(number in numbers or amount in amounts for number, amount in pair.rows(EITHER)), "nothing is left over"
    several = pair.rows(f"SELECT count(*) FROM (SELECT number FROM ({EITHER}) GROUP BY ALL HAVING count(*) > 1)")[0][0]
    assert f"number of pairs that match: {len(found)} ({several} rows of this party share keys with" in ends[0].told
    disclosed = [
        each["what"] for each in Ledger(pair.folder / "private" / "ledger" / "a.jsonl").entries()[-1]["disclosures"]
    ]
    assert any("share which of their keys" in what for what in disclosed)


@pytest.mark.parametrize("drop", [(), ("a",), ("b",), ("a", "b")])
def test_rows_with_several_counterparts_are_counted_or_dropped(pair: Pair, drop: tuple[str, ...]) -> None:
    pair.write("a", PEOPLE_A)
    pair.write("b", PEOPLE_B)
    options = ("--drop-contaminated", drop[0] if len(drop) == 1 else "both") if drop else ()
    ends = pair.match("--key", "phone", *OF_SHARES, *options)
    assert [ended.status for ended in ends] == [0, 0], ends
    columns = {"a": "number", "b": "amount"}
    kept = " AND ".join(f"count(*) OVER (PARTITION BY {columns[party]}) = 1" for party in drop) or "true"
    counted = f"SELECT *, {kept} AS kept FROM ({EITHER})"
    expected = pair.rows(f"SELECT number, amount FROM ({counted}) WHERE kept ORDER BY ALL")
    assert len(expected) > 0 and opened(pair, ("share_of_a_number", "share_of_b_amount")) == expected
    several = pair.rows(f"SELECT count(*) FROM (SELECT amount FROM ({EITHER}) GROUP BY ALL HAVING count(*) > 1)")[0][0]
    assert f"{len(expected)} pairs of rows matched ({several} rows of this party share keys with" in ends[1].told


def test_pairs_one_shares_each_row_once(pair: Pair) -> None:
    pair.write("a", PEOPLE_A)
    pair.write("b", PEOPLE_B)
    ends = pair.match("--key", "phone", *OF_SHARES, "--pairs", "one")
    assert [ended.status for ended in ends] == [0, 0], ends
    found = opened(pair, ("share_of_a_number", "share_of_b_amount"))
    assert len({number for number, _ in found}) == len({amount for _, amount in found}) == len(found) > 10
    assert set(found) <= set(pair.rows(EITHER))


def test_several_keys_from_python(pair: Pair) -> None:
    tables = [
        pyarrow.table({"mail": ["a@x.org", None], "last": ["Li", "Ng"], "year": [1990, 1991], "n": [1, 2]}),
        pyarrow.table({"mail": ["A@x.org", "b@x.org"], "last": ["Ek", "ng"], "year": [1970, 1991], "n": [10, 20]}),
    ]
    how = {
        "federation": pair.folder / "federation.toml",
        "key": [["mail"], ["last", "year"]],
        "normalise": {"mail": "email", "last": "name"},
    }

    def party(number: int) -> tuple[tacit.psi.Matched, tacit.psi.Matched]:
        me = "ab"[number]
        ids = tacit.psi.identify(tables[number], me=me, **how)
        return ids, tacit.psi.share(tables[number], me=me, columns=["a.n", "b.n"], pairs="one", **how)

    with ThreadPoolExecutor(2) as threads:
        a, b = threads.map(party, (0, 1))
    assert (a[0].report.union, a[0].report.pairs, a[0].report.keys, a[0].report.repeated) == (2, 2, None, 0)
    rows = [pyarrow.table(end[0]).to_pylist() for end in (a, b)]
    assert {(mine["n"], theirs["n"]) for mine, theirs in zip(*rows, strict=True)} == {(1, 10), (2, 20)}
    shares = [pyarrow.table(end[1]).to_pylist() for end in (a, b)]
    names = ("share_of_a_n", "share_of_b_n")
    sums = {tuple((mine[n] + theirs[n]) % 2**64 for n in names) for mine, theirs in zip(*shares, strict=True)}
    assert sums == {(1, 10), (2, 20)}
    with pytest.raises(RunError, match="both columns and keys"):
        tacit.psi.identify(tables[0], me="a", federation=how["federation"], key=["mail", ["last"]])


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (("--key", "own"), "are for --reveal ids and --reveal shares; write the columns of one key as"),
        (("--key", "own", "--reveal", "cardinality"), "are for --reveal ids and --reveal shares"),
        (("--key", "own", "--reveal", "ids", "--protocol", "ddh"), "by several keys have a protocol of their own"),
        (("--pairs", "one"), "--pairs and --drop-contaminated are for --reveal shares"),
        (("--reveal", "ids", "--drop-contaminated", "a"), "are for --reveal shares; leave them out"),
        (("--reveal", "shares", "--drop-contaminated", "c"), "--drop-contaminated is 'c'; write both, a or b"),
        (("--reveal", "shares", "--pairs", "one", "--drop-contaminated", "a"), "leave out --pairs or"),
        (("--reveal", "ids", "--to", "b"), "gives both parties their output; leave out --to"),
        (("--reveal", "ids", "--join", "left"), "leave out --join, --plugin and --bins"),
        (("--reveal", "ids", "--protocol", "vole"), "there is no protocol 'vole'; choose auto, ddh or oprf"),
        (("--reveal", "shares", "--protocol", "ddh"), "leave out --join, --protocol and --bins"),
        (("--reveal", "shares", "--columns", "own"), "share integers and decimals only"),
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


@pytest.mark.parametrize("value", ["many", "2.5.1", "1e3", "0x10", "1_000", "9223372036854775808"])
def test_values_that_are_no_integers_are_named(pair: Pair, value: str) -> None:
    (pair.folder / "a.csv").write_text(f"id,n\n1,5\n2,{value}\n")
    pair.write("b", "SELECT i AS id FROM range(20) t(i)")
    other = pair.waiting("b", "--reveal", "shares", "--columns", "a.n", "--kind", "id=number")
    running = [pair.start("a", "--reveal", "shares", "--columns", "n", "--kind", "id=number", ending="csv"), other]
    told = [each.communicate(timeout=60)[0] for each in running]
    assert [each.returncode for each in running] == [2, 5], told
    assert "a.csv, row 2, column n: the value is no integer of 64 bits" in told[0]


def test_tables_too_large_for_the_memory_are_refused_by_both_alike() -> None:
    facts = honest(rows=10**8, memory=3 << 30)
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), reveal="ids")
    with pytest.raises(RunError, match=r"works in memory and needs .* MiB .*; declare more --memory at both"):
        choose_whole(parameters, (facts, facts))


def test_a_peer_that_shares_very_many_columns_is_refused() -> None:
    few, many = (
        honest(rows=10**5, memory=3 << 30, columns=[f"0 n{at}" for at in range(count)]) for count in (1, 60_000)
    )
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), reveal="shares")
    choose_whole(parameters, (few, few))
    with pytest.raises(RunError, match=r"works in memory and needs .* MiB .*; declare more --memory at both"):
        choose_whole(parameters, (few, many))


def test_a_table_too_large_for_its_owners_memory_is_refused_there() -> None:
    facts = honest(rows=10**5, memory=2 << 30, columns=["0 n"])
    for parameters in (
        Parameters(("a", "b"), ("exact",), ("a", "b"), reveal="shares"),
        Parameters(("a", "b"), ("exact", "exact"), ("a", "b"), reveal="ids", widths=(1, 1)),
    ):
        choice = choose_whole(parameters, (facts, facts))
        check_memory(parameters, choice, 2 << 30, 10**7)
        with pytest.raises(RunError, match=r"needs .* MiB .*, more than the 2,048 MiB .*; declare more --memory here"):
            check_memory(parameters, choice, 2 << 30, 10**9)


@pytest.mark.parametrize(
    ("rows", "bandwidth", "protocol"),
    [(100, None, "private-id-ddh"), (10**6, None, "private-id-oprf"), (10**6, 1e6, "private-id-ddh")],
)
def test_the_protocol_for_ids_follows_from_the_sizes_and_the_declared_network(
    rows: int, bandwidth: float | None, protocol: str
) -> None:
    facts = honest(rows=rows, memory=3 << 30)
    link = None if bandwidth is None else Link(0.00005, bandwidth)
    parameters = Parameters(("a", "b"), ("exact",), ("a", "b"), reveal="ids", link=link)
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
        entries = [Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()[-1] for party in "ab"]
        sent.append([(entry["cost"]["bytes_sent"], entry["cost"]["rounds"]) for entry in entries])
    assert sent[0] == sent[1]
