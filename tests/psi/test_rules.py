"""Owners' rules hold for matches: each refuses and allows, by offers alone, for all recipients and what is revealed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.agent.faults import RunError

from .ruled import FLOOR, HIDDEN, JOINED, MATCHED, SEEN, Ruled

BOTH = ("customers", "people")
ROW = "north: customers may be seen row by row for south (open = true)"
SIZE = "south: people may be counted exactly for north (matches)"
KEY = "south: people.ssn may be seen row by row for north (use select, matches)"


@pytest.fixture
def hidden(tmp_path: Path) -> Ruled:
    """South shows keys to nobody."""
    return Ruled.make(tmp_path)


@pytest.fixture
def matched(tmp_path: Path) -> Ruled:
    """South lets north learn which rows match, and see keys."""
    return Ruled.make(tmp_path, MATCHED, SEEN)


@pytest.mark.parametrize("join", ["inner", "left", "right", "full", "anti"])
def test_rows_need_keys_that_may_be_seen_and_matches(tmp_path: Path, join: str) -> None:
    ruled = Ruled.make(tmp_path)
    assert ruled.refused(*BOTH, join=join).startswith(
        "refused by south: select: people.ssn would be seen row by row; it may be joined; --reveal cardinality"
    )
    for table, ssn, rule in ((MATCHED, JOINED, "select"), (HIDDEN, SEEN, "matches")):
        other = ruled.again(table, ssn)
        assert other.refused(*BOTH, join=join).startswith(f"refused by south: {rule}: "), (table, ssn)
    assert ruled.again(MATCHED, SEEN).allowed(*BOTH, join=join) == [ROW, KEY, SIZE]


def test_the_sentence_of_matches(tmp_path: Path) -> None:
    assert Ruled.make(tmp_path, HIDDEN, SEEN).refused(*BOTH) == (
        "refused by south: matches: each row tells that this unit is in people; --reveal cardinality."
    )


def test_ids_need_matches_and_a_key_that_is_joined(tmp_path: Path) -> None:
    ruled = Ruled.make(tmp_path)
    assert ruled.refused(*BOTH, reveal="ids") == (
        "refused by south: matches: the number of ids tells north exactly how many keys of people are common; "
        "--reveal cardinality."
    )
    assert (
        ruled.again(MATCHED, 'use = ["filter"]')
        .refused(*BOTH, reveal="ids")
        .startswith("refused by south: join: people.ssn would be a key of joins; it may be filtered; ")
    )
    joined = "south: people.ssn may be matched for north (use join, matches)"
    assert ruled.again(MATCHED, JOINED).allowed(*BOTH, reveal="ids") == [ROW, joined, SIZE]


def test_shares_leave_the_rules_to_every_holder(tmp_path: Path) -> None:
    ruled = Ruled.make(tmp_path)
    assert "refused by south: matches: what north computes of its shares of people is bound by no rule; " in (
        ruled.refused(*BOTH, reveal="shares")
    )
    matched = ruled.again(MATCHED, JOINED)
    shares = {"reveal": "shares", "me": "south", "other": ["north"]}
    refused = matched.refused(*BOTH, columns=("salary",), **shares)
    assert refused.startswith("refused by south: select: people.salary would be seen row by row; it may be aggregated")
    found = matched.allowed(*BOTH, columns=("seat",), **shares)
    assert "south: people.seat may be seen row by row for north (use select, matches)" in found


def test_the_sizes_of_tables_with_floors_need_matches(matched: Ruled) -> None:
    assert matched.allowed(*BOTH, to="south") == [ROW, SIZE], "what south alone receives binds no rule of its own"
    hidden = matched.again(HIDDEN, SEEN)
    assert hidden.refused(*BOTH, to="south") == (
        "refused by south: sizes: north would learn the exact number of rows of people, which no floor holds back; "
        "--reveal cardinality."
    )


def test_plugins_are_bound_by_no_rule(matched: Ruled) -> None:
    assert KEY in matched.allowed(*BOTH, to="south", plugin="insecure"), "what is sent to north counts, not --to"
    hidden = matched.again(HIDDEN, SEEN)
    assert hidden.refused(*BOTH, plugin="insecure") == (
        "refused by south: matches: what a plug-in sends north of people is bound by no rule; "
        "--reveal cardinality, without --plugin."
    )


def test_recipients(tmp_path: Path) -> None:
    table = 'recipients = ["west"]\nleast_group = 10\nmatches = ["north"]\n'
    ruled = Ruled.make(tmp_path, table, SEEN)
    assert ruled.refused(*BOTH) == (
        "refused by south: recipient: north is no recipient of people; --reveal cardinality --to south."
    )


def test_until(tmp_path: Path) -> None:
    ended = Ruled.make(tmp_path, f"{MATCHED}until = 2020-01-31\n", SEEN)
    assert ended.refused(*BOTH).startswith("refused by south: until: people was offered until 2020-01-31; ")
    assert ended.again(f"{MATCHED}until = 2999-01-31\n", SEEN).allowed(*BOTH)


def test_allow_lists_the_hash_of_a_match(tmp_path: Path) -> None:
    ruled = Ruled.make(tmp_path, f'{MATCHED}allow = ["q:{"0" * 64}"]\n', SEEN)
    refused = ruled.refused(*BOTH)
    assert refused.startswith("refused by south: allow: people is offered for certain questions, and not for q:")
    (asked,) = re.findall(r"q:[0-9a-f]{64}", refused)
    listed = ruled.again(f'{MATCHED}allow = ["{asked}"]\n', SEEN)
    assert listed.allowed(*BOTH)
    for options in ({"to": "north"}, {"join": "anti"}, {"normalise": {"ssn": "name"}}, {"reveal": "ids"}):
        assert listed.refused(*BOTH, **options).startswith("refused by south: allow: "), options
    assert listed.refused("copies", "people").startswith("refused by south: allow: ")
    assert listed.allowed(*BOTH, bins=3, protocol="dh") == listed.allowed(*BOTH), "costs are no part of a question"


def test_with_names_the_columns_that_a_key_may_meet(matched: Ruled) -> None:
    assert matched.refused("copies", "people").startswith(
        "refused by south: with: people.ssn would meet copies.ssn; it may meet customers.ssn; "
    )
    assert "people.ssn would meet customers.id;" in matched.refused(*BOTH, key="customers.id=people.ssn")
    assert "people.ssn would meet a file of north that no offer names;" in matched.refused("people", other=["north"])
    free = matched.again(MATCHED, 'use = ["join", "select"]')
    for tables in (("copies", "people"), ("people",)):
        assert KEY in free.allowed(*tables, other=["north", "south"])


def test_a_closed_key(tmp_path: Path) -> None:
    ruled = Ruled.make(tmp_path, MATCHED, SEEN)
    for reveal in ("intersection", "ids", "cardinality"):
        told = ruled.refused(*BOTH, key="customers.ssn=people.vip", reveal=reveal)
        assert told.startswith("refused by south: closed: people.vip is closed; "), told


def test_columns_that_no_offer_names_are_closed(matched: Ruled) -> None:
    told = matched.refused(*BOTH, reveal="sum(south.weight)")
    assert told == "refused by south: closed: a column that is named is not offered with people; --reveal cardinality."


def test_both_sides_and_all_recipients_are_held(matched: Ruled) -> None:
    north = """
[tables.customers]
rows = 500
unique = [["ssn"]]
recipients = ["west"]
least_group = 5
columns.ssn = { type = "BIGINT", min = 1, max = 999999999, use = ["join"] }
"""
    matched.offer("north", north)
    told = matched.verdict(*BOTH).refusal
    assert told is not None
    assert {(each.owner, each.rule, each.recipient) for each in told.problems} == {
        ("north", "recipient", "south"), ("north", "select", "south"), ("north", "matches", "south"),
        ("north", "sizes", "south"),
    }  # fmt: skip


def test_more_than_two_parties(tmp_path: Path) -> None:
    tables = ("customers", "people", "members")
    every = {"other": ["south", "west"], "me": "north"}
    free = 'use = ["join", "select"]'
    ruled = Ruled.make(tmp_path, f'{FLOOR}matches = ["north", "west"]\n', free, 'matches = ["north"]\n')
    assert ruled.refused(*tables, **every, to="north").startswith(
        "refused by south: recipient: west is no recipient of people; "
    ), "west learns the number of rows"
    both = FLOOR.replace('"north"', '"north", "west"')
    ruled = ruled.again(f'{both}matches = ["north", "west"]\n', free)
    assert ruled.allowed(*tables, **every, to="north")[1:] == [
        KEY,
        "south: people may be counted exactly for north and west (matches)",
        "west: members.ssn may be seen row by row for north (use select, matches)",
    ]
    told = ruled.refused(*tables, **every)
    assert told.startswith("refused by west: select: members.ssn would be seen row by row; not all who ask may see it;")
    assert told.endswith("; --to north.")


def test_numbers_are_asked_above_floors(hidden: Ruled) -> None:
    joined = "FROM customers JOIN people ON customers.ssn = people.ssn"
    for to in ("both", "north", "south"):
        assert hidden.question(*BOTH, reveal="cardinality", to=to) == f"SELECT COUNT(*) AS keys {joined}"
    found = hidden.question(*BOTH, reveal="sum(south.salary)", to="north")
    assert found == f"SELECT COUNT(*) AS keys, SUM(people.salary) AS total {joined}"


def test_numbers_of_what_may_be_seen_are_matched(matched: Ruled) -> None:
    assert matched.question(*BOTH, reveal="cardinality") is None
    assert KEY in matched.allowed(*BOTH, reveal="cardinality")
    seat = "south: people.seat may be seen row by row for north (use select, matches)"
    assert seat in matched.allowed(*BOTH, reveal="sum(south.seat)")
    assert matched.question(*BOTH, reveal="sum(south.salary)") is not None, "a column that is aggregated has a floor"


def test_sums_are_refused_by_the_rules_of_queries(hidden: Ruled) -> None:
    for column, rule in (("bonus", "function"), ("vip", "closed")):
        told = hidden.refused(*BOTH, reveal=f"sum(south.{column})", to="north")
        assert told.startswith(f"refused by south: {rule}: ") and told.endswith("; --reveal cardinality."), told
        assert "line 1" not in told, "nobody has written a query"
    told = hidden.refused(*BOTH, reveal="sum(north.revenue)")
    assert told.startswith("refused by south: weights: values that north knows, customers.revenue, are added over rows")
    weighted = hidden.again(f'{HIDDEN}weights = ["customers.revenue"]\n', JOINED)
    assert weighted.question(*BOTH, reveal="sum(north.revenue)") is not None


@pytest.mark.parametrize(
    ("tables", "options", "change"),
    [
        (("people",), {"other": ["north"]}, "offer the table of north and name it in --tables"),
        (BOTH, {"normalise": {"ssn": "name"}}, "leave out --normalise"),
        (BOTH, {"kinds": {"ssn": "number"}}, "leave out --kind"),
        (BOTH, {"reveal": "sum(south.salary)", "least": 3, "to": "north"}, "--reveal cardinality"),
    ],
)  # fmt: skip
def test_numbers_that_no_guard_counts_are_refused(
    hidden: Ruled, tables: tuple[str, ...], options: dict[str, object], change: str
) -> None:
    free = hidden.again(HIDDEN, 'use = ["join"]')
    told = free.refused(*tables, **{"reveal": "cardinality", **options})
    assert told.startswith("refused by south: select: people.ssn would be seen row by row"), told
    assert change in told, told


def test_keys_that_repeat_are_counted_once_or_not_at_all(hidden: Ruled) -> None:
    free, tables = hidden.again(HIDDEN, 'use = ["join"]'), ("copies", "people")
    question = free.question(*tables, reveal="cardinality")
    assert question == ("SELECT COUNT(DISTINCT copies.ssn) AS keys FROM copies JOIN people ON copies.ssn = people.ssn")
    assert free.refused(*tables, reveal="sum(south.salary)", to="north").endswith("; --reveal cardinality.")
    alone = free.refused(*tables, reveal="sum(south.salary)", to="north", normalise={"ssn": "name"})
    assert alone.endswith("; leave out --normalise, and store keys in one spelling, since guards compare them as they "
                          "are.")  # fmt: skip


@pytest.mark.parametrize(
    ("tables", "options", "mistake"),
    [
        (("customers", "copies"), {}, "--tables names customers and copies, all of north; a party matches one table"),
        (("customers", "customers"), {}, "all of north; a party matches one table"),
        (("peopel",), {}, "nobody offers a table 'peopel'; perhaps you mean people"),
        (("people", "members"), {"me": "south", "other": ["north"]}, "members of west, which takes no part"),
        (BOTH, {"key": "snn"}, "customers has no column 'snn'; perhaps you mean ssn"),
        (BOTH, {"key": "people.ssn=people.vip"}, "names two columns of one table"),
        (("people",), {"me": "north", "key": "people.ssn"}, "names no column of this party's own file; add it"),
    ],
)
def test_mistakes_are_one_sentence(
    hidden: Ruled, tables: tuple[str, ...], options: dict[str, object], mistake: str
) -> None:
    with pytest.raises(RunError, match=re.escape(mistake)):
        hidden.verdict(*tables, **options)


def test_offers_alone_decide(hidden: Ruled) -> None:
    """No file of data is there, nor a key."""
    assert sorted(path.name for path in hidden.folder.iterdir()) == ["federation.toml", "offers"]
    assert hidden.refused(*BOTH)
