"""What a match's plan says of tables and shared columns: other ones are another plan, and what differs is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import Ledger
from tacit.psi.disclosures import Decimals
from tacit.psi.number_columns import NumberColumn
from tacit.psi.offered import TableKeys
from tacit.psi.parameters import Parameters
from tacit.psi.sharing import shared_columns
from tacit.psi.whole import computed_columns

from .pairs import Pair
from .ruled import Ruled
from .test_announcements import honest
from .test_approval import tacit

AB = ("a", "b")
OF_A, OF_B = TableKeys("a", "customers", ("ssn",)), TableKeys("b", "people", ("id",))
BOTH = (OF_A, OF_B)
ROWS = Parameters(AB, ("exact",), AB, tables=BOTH)
SHARES = replace(ROWS, reveal="shares", shared=(("revenue",), ("seat",)))


def others() -> Iterator[Parameters]:
    """Matches that differ in tables or in shared columns alone."""
    yield from (ROWS, SHARES)
    for tables in ((), (OF_A,), (OF_B,), (replace(OF_A, name="copies"), OF_B), (OF_A, replace(OF_B, columns=("ssn",)))):
        yield replace(ROWS, tables=tables)
        yield replace(SHARES, tables=tables)
    yield replace(ROWS, tables=(replace(OF_A, owner="b"),))
    for shared in ((), ((), ("seat",)), (("revenue",), ()), (("seat",), ("revenue",)), (("revenue",), ("seat", "vip"))):
        yield replace(SHARES, shared=shared)


def test_every_table_key_and_shared_column_is_in_the_hash() -> None:
    found = [each.plan_hash for each in others()]
    assert len(set(found)) == len(found) == 18
    assert replace(SHARES, tables=BOTH).plan_hash == SHARES.plan_hash


def test_columns_are_the_same_however_they_are_named() -> None:
    wanted = (("revenue",), ("seat", "vip"))
    for me, texts in (
        ("a", "revenue b.seat b.vip"), ("b", "a.revenue seat vip"), ("a", "customers.revenue people.seat b.vip"),
        ("b", "people.seat Customers.revenue People.vip"),
    ):  # fmt: skip
        assert shared_columns(texts.split(), me, AB, BOTH) == wanted, texts
    assert shared_columns(["x.y", "a.b.y"], "a", AB, ()) == (("x.y", "b.y"), ()), "names of columns may have points"
    assert shared_columns([], "a", AB, BOTH) == ()


def test_a_column_that_is_named_twice_is_refused() -> None:
    with pytest.raises(RunError, match="--columns names seat of b twice; leave one out") as refused:
        shared_columns(["people.seat", "b.seat"], "a", AB, BOTH)
    assert refused.value.fault is Fault.INPUT


def test_names_that_no_offer_has_are_not_told_before_all_agree() -> None:
    own = replace(SHARES, tables=(OF_B,))
    assert own.options()["--columns"] == "a.revenue, people.seat"
    told = own.told()["--columns"]
    assert told.startswith("1 of a (#") and told.endswith("), people.seat") and "revenue" not in told
    assert told != replace(own, shared=(("profit",), ("seat",))).told()["--columns"]
    assert {**own.told(), "--columns": ""} == {**own.options(), "--columns": ""}
    assert "--columns" not in ROWS.told()


def test_all_that_others_learn_of_a_shared_column_is_disclosed() -> None:
    found = [each for each in SHARES.disclosures() if isinstance(each.shown, Decimals)]
    assert [(each.recipients, each.shown) for each in found] == [
        (("b",), Decimals("a", "revenue")),
        (("a",), Decimals("b", "seat")),
    ]


@pytest.mark.parametrize("announced", [(), ("vip",), ("seat", "vip"), ("vip", "seat")])
def test_a_peer_that_announces_other_columns_is_refused(announced: tuple[str, ...]) -> None:
    def told(*names: str) -> list[str]:
        return [NumberColumn(name, 0).announced() for name in names]

    mine = honest(columns=told("revenue"))
    assert computed_columns(SHARES, (mine, honest(columns=told("seat"))))
    with pytest.raises(RunError, match="b announces other columns to share than --columns") as refused:
        computed_columns(SHARES, (mine, honest(columns=told(*announced))))
    assert refused.value.fault is Fault.PEER


def test_other_columns_of_tables_are_named(matched: Ruled) -> None:
    shares = ("--tables", "customers,people", "--key", "ssn", "--reveal", "shares", "--columns")
    ends = matched.match(north=(*shares, "people.seat"), south=(*shares, "seat,customers.revenue"))
    assert {each.status for each in ends} == {4}, ends
    assert "--columns is people.seat here and customers.revenue, people.seat at south" in ends[0].told
    assert "--columns is customers.revenue, people.seat here and people.seat at north" in ends[1].told


def test_every_owner_is_asked_about_every_column(matched: Ruled) -> None:
    shares = ("--tables", "customers,people", "--key", "ssn", "--reveal", "shares", "--columns")
    ends = matched.match(*shares, "people.salary,customers.revenue")
    assert {each.status for each in ends} == {3}, ends
    assert all("refused by south: select: people.salary would be seen row by row" in each.told for each in ends)
    ends = matched.match(*shares, "people.seat,customers.revenue")
    assert {each.status for each in ends} == {0}, ends
    said = Ledger(matched.folder / "private" / "ledger" / "north.jsonl").entries()[-1]["query"]
    assert "of customers (ssn) and people (ssn), sharing customers.revenue, people.seat, to north and south" in said


def filled(pair: Pair) -> Pair:
    pair.write("a", "SELECT i AS id, i * 2 AS x, i AS secret FROM range(0, 40) t(i)")
    pair.write("b", "SELECT i AS id, i * 3 AS y FROM range(20, 60) t(i)")
    return pair


def test_other_columns_of_files_differ_without_their_names(pair: Pair) -> None:
    ends = filled(pair).match("--reveal", "shares", a=("--columns", "secret"), b=("--columns", "y,a.x"))
    assert {each.status for each in ends} == {4}, ends
    for each in ends:
        assert "--columns is 1 of a (#" in each.told and ", 1 of b (#" in each.told, each
    assert "secret" not in ends[1].told and "#" in ends[1].told


def explained(pair: Pair, party: str, *options: str) -> str:
    own = ("--as", party, "--input", f"{party}.parquet", "--key", "id", "--output", f"{party}-matched.parquet")
    page = tacit(pair, "psi", "explain", *own, *options)
    assert page.returncode == 0, page
    return page.stdout


def test_an_approval_is_of_the_columns_of_all(pair: Pair) -> None:
    shares = ("--reveal", "shares", "--columns")
    pages = [explained(filled(pair), party, *shares, "a.x,b.y") for party in "ab"]
    assert all("As shares, of which each party gets one: a.x, b.y." in " ".join(page.split()) for page in pages)
    approved = {page.split()[-1].strip(".()") for page in pages}
    assert all("it would be refused" not in page for page in pages)
    alone = explained(pair, "a", *shares, "b.y")
    assert "protocol ps3i" in alone and "it would be refused" not in alone, "whoever shares it"
    assert len(approved) == 1 and all(len(each) == 64 for each in approved), approved
    for party in "ab":
        assert tacit(pair, "approve", *approved, "--name", party, "--yes").returncode == 0
    ends = pair.match(*shares, "a.secret,b.y", "--approved")
    assert {each.status for each in ends} == {3}, ends
    assert all("has not approved this plan" in each.told for each in ends)
    ends = pair.match(*shares, "a.x,b.y", "--approved")
    assert {each.status for each in ends} == {0}, ends


def kinds(folder: Path, party: str) -> list[str]:
    return [entry["kind"] for entry in Ledger(folder / "private" / "ledger" / f"{party}.jsonl").entries()]


def test_an_approval_counts_when_all_have_met(pair: Pair) -> None:
    (plan_hash,) = {explained(filled(pair), party).split()[-1].strip(".()") for party in "ab"}
    for party in "ab":
        assert tacit(pair, "approve", plan_hash, "--name", party, "--times", "1", "--yes").returncode == 0
    alone = pair.start("a", "--approved", "--wait", "0.1s")
    told = alone.communicate(timeout=60)[0]
    assert alone.returncode == 5 and "waited in vain for b" in told, told
    ends = pair.match("--approved", a=("--join", "left"))
    assert ends[0].status == 3, ends
    assert kinds(pair.folder, "a") == kinds(pair.folder, "b") == ["approval"]
    assert [each.status for each in pair.match("--approved")] == [0, 0]
    assert kinds(pair.folder, "a") == ["approval", "approved", "completed"]
    assert {each.status for each in pair.match("--approved")} == {3}
