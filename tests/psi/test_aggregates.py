"""`tacit psi --reveal`: how many keys match, and sums over them, without any row."""

from __future__ import annotations

import pytest

from tacit.agent.ledger import Ledger

from .pairs import Pair

A = "SELECT CASE WHEN i % 17 = 0 THEN NULL ELSE i // 2 END AS id, 'a' || i AS own FROM range(400) t(i)"
B = "SELECT i // 3 + 150 AS id, i * 1000 - 100000 AS amount FROM range(300) t(i)"


def common(pair: Pair) -> list[tuple[object, ...]]:
    return pair.rows("SELECT count(DISTINCT id), sum(amount) FROM 'b.parquet' WHERE id IN (SELECT id FROM 'a.parquet')")


@pytest.mark.parametrize("to", ["both", "a", "b"])
def test_the_number_of_common_keys(pair: Pair, to: str) -> None:
    pair.write("a", A)
    pair.write("b", B)
    ends = pair.match("--reveal", "cardinality", "--to", to)
    assert [ended.status for ended in ends] == [0, 0], ends
    said = [f"matching keys: {common(pair)[0][0]}\n" in ended.told for ended in ends]
    assert said == [to in ("a", "both"), to in ("b", "both")]
    assert list(pair.folder.glob("*matched*")) == []


def test_a_sum_over_the_common_keys(pair: Pair) -> None:
    pair.write("a", A)
    pair.write("b", B)
    ends = pair.match("--reveal", "sum(b.amount)")
    assert [ended.status for ended in ends] == [0, 0], ends
    keys, total = common(pair)[0]
    for ended in ends:
        assert f"matching keys: {keys}\nsum: {total}\n" in ended.told
        assert "a learns how many keys both have, and the sum of b's amount" in ended.told
        assert "b knows all values of amount, and may find which of its rows add up to the sum" in ended.told


def test_what_is_sent_says_nothing_of_how_many_keys_match_or_of_the_sum(pair: Pair) -> None:
    """Numbers of one digit, of many, and none that is shown."""
    sent = []
    for first, amount in ((0, 1), (10, 10**15), (200, -(10**15)), (250, 7), (900, 7)):
        pair.write("a", "SELECT i AS id FROM range(300) t(i)")
        pair.write("b", f"SELECT i + {first} AS id, {amount} AS amount FROM range(300) t(i)")
        ends = pair.match("--reveal", "sum(b.amount)", "--least", "60")
        assert [ended.status for ended in ends] == [0, 0], ends
        entries = [Ledger(pair.folder / "private" / "ledger" / f"{party}.jsonl").entries()[-1] for party in "ab"]
        sent.append([(entry["cost"]["bytes_sent"], entry["cost"]["rounds"]) for entry in entries])
    assert all(costs == sent[0] for costs in sent), sent


def test_a_sum_over_few_keys_is_not_shown(pair: Pair) -> None:
    """A sum over one key is that key's value: a party with one key could ask for anybody's."""
    pair.write("a", "SELECT 152 AS id")
    pair.write("b", "SELECT i AS id, 7000 + i AS amount FROM range(300) t(i)")
    ends = pair.match("--reveal", "sum(b.amount)")
    assert [ended.status for ended in ends] == [0, 0], ends
    for ended in ends:
        assert "matching keys: 1\nsum: not shown, fewer than 10 keys match\n" in ended.told
        assert "if these are 10 keys or more" in ended.told and "7152" not in ended.told
    shown = pair.match("--reveal", "sum(b.amount)", "--least", "1")
    assert all("matching keys: 1\nsum: 7152\n" in ended.told for ended in shown), shown
    # Both parties agree on it beforehand.
    apart = pair.match("--reveal", "sum(b.amount)", a=("--least", "1"))
    assert [ended.status for ended in apart] == [4, 4], apart
    for ended, said in zip(apart, ("1 here and 10 at b", "10 here and 1 at a"), strict=True):
        assert f"has started something else: --least is {said}; agree, and start again" in ended.told, apart


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (("--reveal", "sum(amount)"), "write intersection, cardinality, ids, shares or sum(b.COLUMN)"),
        (("--reveal", "sum(a.own)"), "it has type VARCHAR; sum integers and decimals only: cast it"),
        (("--reveal", "sum(a.other)"), "there is no column 'other' to sum"),
        (("--reveal", "sum(b.amount)", "--to", "b"), "who has no column amount learns the sum"),
        (("--reveal", "cardinality", "--bins", "3"), "leave out --join, --protocol and --bins"),
        (("--reveal", "cardinality", "--least", "3"), "--least is for sums"),
        (("--reveal", "sum(b.amount)", "--least", "0"), "--least is 0; write a number of keys from 1"),
    ],
)
def test_what_cannot_be_revealed_is_one_sentence(pair: Pair, own: tuple[str, ...], said: str) -> None:
    pair.write("a", A)
    running = pair.start("a", "--quiet", *own)
    told = running.communicate(timeout=60)[0]
    assert running.returncode == 2
    assert said in told and len(told.splitlines()) == 1
