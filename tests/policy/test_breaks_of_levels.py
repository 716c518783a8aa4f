"""What GROUPING says of sets that are sums of the finest one's groups."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from tacit.plan.algebra.relations import Literal, Project, Relation
from tacit.plan.algebra.trees import children, constants
from tacit.plan.algebra.types import Integer
from tacit.plan.facts.fields import field_of
from tacit.plan.policy.check import check
from tacit.plan.policy.levels import with_sums_of_groups
from tacit.sql import bind

from .product import Product
from .properties import surface
from .properties.surface import NORTH
from .rendered import Rendered

CUBED = (
    "SELECT c.segment AS k, p.city AS l, COUNT(*) AS n, GROUPING(c.segment, p.city) AS level "
    "FROM customers c JOIN people p ON c.ssn = p.ssn GROUP BY CUBE (c.segment, p.city)"
)
NUMBERED = f"SELECT level, COUNT(*) AS sets, SUM(n) AS n FROM ({CUBED}) x GROUP BY level"
PERSON = {
    "vip": True, "since": date(2020, 1, 1), "salary": 1, "bonus": None, "age": 30, "smokes": False, "email": "x",
}  # fmt: skip
DATA = {
    "people": [{"ssn": each, "city": "ab"[each // 4], **PERSON} for each in range(1, 7)],
    "customers": [{"ssn": each, "segment": "st"[each // 4], "worth": 1} for each in range(1, 7)],
    "stays": [],
    "copies": [],
}


def levels_of(relation: Relation) -> list[Integer]:
    """The types that GROUPING has, in all operators."""
    found = [type_ for each in children(relation) for type_ in levels_of(each)]
    if isinstance(relation, Project):
        for name, value in relation.outputs:
            if name == "grouping" and not isinstance(value, Literal):
                type_ = field_of(relation, name).type
                assert isinstance(type_, Integer)
                found.append(type_)
    return found


def test_the_bounds_of_grouping_have_all_of_its_values(tmp_path: Path) -> None:
    """One set's own constant was taken for all: a plan has no bits for what is beyond."""
    catalog = Product(surface.offers(3), tmp_path).federation.catalog
    found = levels_of(with_sums_of_groups(bind(CUBED, catalog), "north"))
    assert found
    assert {(each.low, each.high) for each in found} == {(0, 3)}


def test_the_plan_numbers_sets_as_the_rules_do(tmp_path: Path) -> None:
    product = Product(surface.offers(3), tmp_path)
    subject = Rendered(product.federation.catalog)
    for sql in (CUBED, NUMBERED):
        expected = sorted(map(repr, subject.answer(sql, NORTH, DATA).rows))
        assert len(expected) > 3
        assert sorted(map(repr, product.answer(sql, NORTH, DATA).rows)) == expected


def test_numbers_of_sets_are_nodes_constants(tmp_path: Path) -> None:
    """A party that neither computes nor has data in the query had to take part, and shared these numbers."""
    catalog = Product(surface.offers(3), tmp_path).federation.catalog
    four = replace(catalog, parties=("archive", *catalog.parties), nodes=catalog.nodes)
    assert "archive" not in four.nodes
    summed = check(bind(CUBED, four), four, NORTH, date(2026, 6, 1)).relation
    found = constants(summed)
    assert found
    assert {each.party for each in found} <= {*four.nodes}
