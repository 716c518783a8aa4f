"""The table of prices that parties share: what it may say, and that all have the same."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit import _native
from tacit.agent.faults import RunError
from tacit.agent.prices import shared_prices
from tacit.plan import plan_hash
from tacit.plan.facts.catalog import Link
from tacit.plan.physical.cost import predict, total
from tacit.psi.choice import choose
from tacit.psi.parameters import Parameters
from tacit.sql import compile_query

from .catalogs import CREDIT, HEALTH

DEFAULT = Path(__file__).parents[2] / "docs" / "examples" / "prices.toml"


def beside(folder: Path, text: str) -> str | None:
    (folder / "prices.toml").write_text(text)
    return shared_prices(folder / "federation.toml")


def announced(rows: int) -> _native.Announcement:
    return _native.Announcement(rows=rows, memory=1 << 32, workers=1, kinds=["text"])


def matched(prices: str | None, reveal: str = "intersection") -> _native.MatchPlan:
    return Parameters(("a", "b"), ("exact",), ("a", "b"), reveal=reveal, prices=prices).plan


def table(**change: Any) -> str:
    return json.dumps(tomllib.loads(DEFAULT.read_text()) | change)


def test_without_a_file_the_default_holds(tmp_path: Path) -> None:
    assert shared_prices(tmp_path / "federation.toml") is None


def test_the_example_is_the_default(tmp_path: Path) -> None:
    prices = beside(tmp_path, DEFAULT.read_text())
    assert prices is not None and _native.measured(prices) == _native.measured()
    groups = "SELECT pid, COUNT(*) AS n FROM (SELECT pid FROM diagnoses_a) AS d GROUP BY pid ORDER BY n LIMIT 3"
    two = replace(HEALTH, engine="two", nodes=("hospital_a", "hospital_b"))
    for query, catalog, to in (
        ("SELECT SUM(s.score) AS t FROM demographics d JOIN scores_a s ON d.ssn = s.ssn", CREDIT, "regulator"),
        (groups, two, "hospital_b"),
    ):
        plan = compile_query(query, catalog, (to,))
        assert predict(replace(plan, catalog=replace(catalog, prices=prices))) == predict(plan)
    for rows in (10, 5_000, 1 << 20):
        both = (announced(rows), announced(rows))
        assert _native.choose_bins(matched(prices), both) == _native.choose_bins(matched(None), both)
        for reveal in ("ids", "shares", "cardinality"):
            whole = _native.choose_whole(matched(None, reveal=reveal), both)
            assert whole == _native.choose_whole(matched(prices, reveal=reveal), both)


def test_every_price_of_the_example_is_the_default() -> None:
    example = tomllib.loads(DEFAULT.read_text())
    for price in example["matching"].values():
        price.setdefault("further", 0.0)
    assert example == json.loads(_native.default_prices())


def test_protocols_follow_the_prices() -> None:
    matching = tomllib.loads(DEFAULT.read_text())["matching"]
    slow_curve = table(matching=matching | {"dh": {"begin": 0.003, "item": 1e-3}})
    facts = announced(100)
    plain = Parameters(("a", "b"), ("exact",), ("a", "b"))
    shared = replace(plain, prices=slow_curve)
    assert choose(plain, (facts, facts)).protocol == "dh" and choose(shared, (facts, facts)).protocol == "vole"
    assert plain.plan_hash != shared.plan_hash, "parties with different prices do not match"


def test_the_plan_hash_covers_the_prices() -> None:
    query = "SELECT COUNT(*) AS n FROM demographics"
    plans = [compile_query(query, replace(CREDIT, prices=prices), ("bureau_a",)) for prices in (None, table())]
    assert plan_hash(plans[0]) != plan_hash(plans[1])


def test_circuits_are_garbled_by_the_prices() -> None:
    two = tomllib.loads(DEFAULT.read_text())["two"]
    dear = table(two=two | {"work": two["work"] | {"garbled_and": 1_000_000_000}})
    far = replace(HEALTH, engine="two", nodes=("hospital_a", "hospital_b"), link=Link(0.06, 1e8))
    both = "SELECT pid FROM diagnoses_a UNION ALL SELECT pid FROM diagnoses_b"
    plan = compile_query(f"SELECT pid, COUNT(*) AS n FROM ({both}) AS d GROUP BY pid", far, ("hospital_b",))
    costs = [total(predict(replace(plan, catalog=replace(far, prices=prices)))) for prices in (None, dear)]
    assert costs[0].garbled > 0 and costs[1].garbled == 0
    assert costs[0].circuits == costs[1].circuits, "the same could be"


@pytest.mark.parametrize(
    ("pattern", "new", "told"),
    [
        (r"^and = .*\n", "", ", [two.work]: has no and; add and = ...."),
        (r"^and = .*\n", "and = 0.5\n", ", [two.work]: and is 0.5; write a whole number."),
        (r"^switch = .*\n", "switch = 99_000_000_000_000\n", ": the table of prices is not as it should be: "
         "switch is said to take 99000000000000 ps, more than ten seconds; docs/platform-engineer.md tells its form."),
        (r"^dh = .*\n", "", ", [matching.dh]: has no begin; add begin = ...."),
        (r"^dh = .*\n", "dh = { begin = 1 }\n", ", [matching.dh]: has no item; add item = ...."),
        (r"^dh = ", "magic = { begin = 1, item = 1 }\ndh = ", ", [matching]: there is no entry 'magic'; known here"),
        (r"^dh = .*\n", "dh = { begin = -1, item = 1 }\n", ", [matching.dh]: begin is -1; write a number from 0."),
        (r"^dh = .*\n", "dh = { begin = 1, item = nan }\n", ", [matching.dh]: item is nan; write a number from 0."),
        (r"^dh = .*\n", "dh = { begin = 1, item = 11 }\n", ": the table of prices is not as it should be: "
         "a price of dh is not from 0 to 10 seconds; docs/platform-engineer.md tells its form."),
        (r"^machine = .*\n", "", ": has no machine; add machine = ...."),
        (r"^machine = .*\n", "machine = 1\n", ": machine is 1; write a text in quotes."),
        (r"^date = .*\n", "date = 2026-11-22\n", ": date is 2026-11-22; write a text in quotes."),
        (r"^date = .*\n", "dated = '2026'\n\\g<0>", ": there is no entry 'dated'; known here are date, machine, "),
        (r"^join = .*\n", "", ", [rep3.rows]: has no join; add join = ...."),
        (r"^join = .*\n", "joins = 1\n\\g<0>", ", [rep3.rows]: there is no entry 'joins'; known here are aggregate, "),
        (r"^join = .*\n", f"join = {10**30}\n", ", [rep3.rows]: join has more than 64 bits; write a smaller number."),
        (r"^\[two\.work\]\n", "[two.works]\n", ", [two.work]: has no base_ots; add base_ots = ...."),
        (r"^date = .*\n", "date = \n", ": is not TOML: invalid value (at line 3, column 8)."),
    ],
)  # fmt: skip
def test_another_table_is_refused_in_a_sentence(tmp_path: Path, pattern: str, new: str, told: str) -> None:
    text = re.sub(pattern, new, DEFAULT.read_text(), flags=re.MULTILINE)
    assert text != DEFAULT.read_text()
    with pytest.raises(RunError) as error:
        beside(tmp_path, text)
    found = str(error.value).removeprefix(str(tmp_path / "prices.toml"))
    assert found == told if told.endswith(".") else found.startswith(told)
