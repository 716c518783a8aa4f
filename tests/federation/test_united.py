"""United tables: one name for the rows of several owners' tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.agent.faults import RunError
from tacit.agent.federation import Federation
from tacit.cli.main import main
from tacit.plan.account.serialise import plan_json
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.algebra.relations import Scan, Union
from tacit.plan.facts.catalog import UnitedTable
from tacit.plan.facts.uniqueness import unique_keys
from tacit.plan.physical.operators import Join
from tacit.plan.physical.placed import SecureStep
from tacit.plan.rules.simplify import simplify
from tacit.sql import compile_query
from tacit.sql.bind import bind

from .offers import MEMBERSHIP

OFFER = """\
[tables.orders_{owner}]
open = true
unique = [["nr"]]
rows = 10
columns.nr = {{ type = "INTEGER", min = {low}, max = {high}{more} }}
columns.price = "{price}"
"""


def load(
    folder: Path,
    line: str = 'orders = ["orders_north", "orders_south"]',
    south: tuple[int, int] = (100, 199),
    price: str = "BIGINT",
    more: str = "",
) -> Federation:
    """Two owners of orders. line: in the section. south: the bounds of its numbers. price: its type there."""
    (folder / "offers").mkdir(exist_ok=True)
    (folder / "federation.toml").write_text(f"{MEMBERSHIP}\n[united]\n{line}\n")
    offers = {"north": (0, 99, "BIGINT"), "south": (*south, price)}
    for owner, (low, high, type_) in offers.items():
        text = OFFER.format(owner=owner, low=low, high=high, price=type_, more=more)
        (folder / "offers" / f"{owner}.toml").write_text(text)
    return Federation.load(folder / "federation.toml")


def test_queries_read_all_tables_together(tmp_path: Path) -> None:
    catalog = load(tmp_path).catalog
    assert catalog.united == (UnitedTable("orders", ("orders_north", "orders_south")),)
    text = "SELECT SUM(price) FROM"
    written = f"{text} (SELECT * FROM orders_north UNION ALL SELECT * FROM orders_south) t"
    assert simplify(bind(f"{text} Orders", catalog)) == simplify(bind(written, catalog))
    plan = compile_query(f"{text} orders", catalog, ("north",))
    assert "united" not in plan_json(plan)["catalog"]


@pytest.mark.parametrize("south, unique", [((100, 199), True), ((99, 199), False), ((-9, 199), False)])
def test_keys_are_unique_where_bounds_are_apart(south: tuple[int, int], unique: bool, tmp_path: Path) -> None:
    catalog = load(tmp_path, south=south).catalog
    united = Union(tuple(Scan(t.name, t.owner, (("nr", "nr"),), (t.columns[0].field,), t.rows) for t in catalog.tables))
    assert (frozenset({"nr"}) in unique_keys(united, catalog)) == unique
    plan = compile_query("SELECT COUNT(*) FROM orders o JOIN orders p ON o.nr = p.nr", catalog, ("north",))
    steps = (step.operator for step in plan.steps if isinstance(step, SecureStep))
    assert [each.repeats for each in steps if isinstance(each, Join)] == [1 if unique else 2]


def test_null_is_a_value_that_parts_may_share(tmp_path: Path) -> None:
    catalog = load(tmp_path, more=", nullable = true").catalog
    united = Union(tuple(Scan(t.name, t.owner, (("nr", "nr"),), (t.columns[0].field,), t.rows) for t in catalog.tables))
    assert unique_keys(united, catalog) == frozenset()


@pytest.mark.parametrize(
    "line, price, sentence",
    [
        ('orders = ["orders_north"]', "BIGINT", "orders names 1 table; name at least two tables, or query the one"),
        ('orders = ["orders_north", "orders_sout"]', "BIGINT", "no owner's table; perhaps you mean orders_south"),
        ('ORDERS_SOUTH = ["orders_north", "orders_south"]', "BIGINT", "is a name of south's table too; rename one"),
        ("orders = 3", "BIGINT", "orders is 3; write a list of names"),
        ('orders = ["orders_north", "orders_north"]', "BIGINT", "orders names 'orders_north' twice"),
        ('orders = ["orders_north", "orders_south"]', "HUGEINT", "differ in the type of price; their owners declare"),
    ],
)
def test_mistakes(line: str, price: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(RunError) as caught:
        load(tmp_path, line, price=price)
    assert sentence in str(caught.value) and "[united]" in str(caught.value)


def test_its_name_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="'orders' names several owners' tables together"):
        compile_query("CREATE TABLE orders AS SELECT nr FROM orders_north", load(tmp_path).catalog, ())


def test_it_is_listed_with_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load(tmp_path)
    assert main(["tables", "--federation", str(tmp_path / "federation.toml"), "--format", "json"]) == 0
    listed = {each["table"]: each for each in json.loads(capsys.readouterr().out)}
    assert listed["orders"]["held_by"] == "north + south"
    assert listed["orders"]["made_of"] == ["orders_north", "orders_south"]
    assert listed["orders"]["rows"] == 20
