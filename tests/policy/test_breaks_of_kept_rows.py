"""Kept tables of an owner's open table, beside its table with rules: whose rows no agent sees, and nobody asks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tacit.agent.federation import Federation
from tacit.audit.check import judge, question
from tacit.audit.history import History
from tacit.audit.refusals import Refused
from tacit.plan.facts.catalog import Catalog, KeptColumn, KeptTable
from tacit.plan.facts.kinds import Kind
from tacit.plan.physical.placed import KeepStep
from tacit.plan.policy.refusal import PolicyRefusal
from tacit.sql import bind, compile_query

from .product import NOW, Product

NORTH = """
[tables.customers]
open = true
rows = 40
unique = [["ssn"]]
[tables.customers.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
worth = { type = "INTEGER", min = 0, max = 99 }
"""
SOUTH = """
[tables.people]
recipients = ["north"]
least_group = 10
unit = "ssn"
unique = [["ssn"]]
rows = 40
[tables.people.columns]
ssn = { type = "INTEGER", min = 0, max = 99, use = ["join"] }
salary = { type = "INTEGER", min = 0, max = 1000, use = ["aggregate"] }

[tables.staff]
open = true
rows = 40
unique = [["ssn"]]
[tables.staff.columns]
ssn = { type = "INTEGER", min = 0, max = 99 }
room = { type = "INTEGER", min = 0, max = 99 }
"""
WEST = """
[tables.rooms]
open = true
rows = 8
[tables.rooms.columns]
room = { type = "INTEGER", min = 0, max = 9 }
"""
SUM = "SELECT {} AS z, SUM(p.salary) AS s FROM people p JOIN {} k ON p.ssn = k.ssn{}"
TWICE = SUM.format("'a'", "{}", "{}") + " UNION ALL " + SUM.format("'b'", "{}", "")
PEOPLE = [{"ssn": each, "salary": 10 * each} for each in range(1, 31)]
DATA: Mapping[str, Any] = {"people": PEOPLE, "staff": [{"ssn": each, "room": each} for each in range(1, 31)]}


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Federation:
    product = Product({"north": NORTH, "south": SOUTH, "west": WEST}, tmp_path_factory.mktemp("kept"))
    return product.federation_of(DATA)


def kept_by(statement: str, catalog: Catalog) -> Catalog:
    """The catalog after a statement that keeps a table."""
    step = compile_query(statement, catalog, ("north",)).steps[-1]
    assert isinstance(step, KeepStep)
    about, kind = step.about, Kind("bits", 40, signed=False, nullable=False)
    columns = tuple(KeptColumn(e.field, kind, frozenset(e.readers), e.uses, e.repeats) for e in about.fields)
    unique, rows = tuple(map(frozenset, about.unique)), int(step.rows_bound.replace(",", ""))
    kept = KeptTable(
        step.operator.table, "1f" * 16, columns, rows, False, about.single, unique, about.owners, about.tables,
        "0" * 64, statement, about.presence, exact=about.exact, told=about.told,
    )  # fmt: skip
    return replace(catalog, kept=(*catalog.kept, kept))


def refused(questions: list[str], catalog: Catalog, federation: Federation) -> str:
    """The rule by which the rules, or south's agent, refuse the last of several questions of north; "" if none."""
    history = History()
    for sql in questions:
        try:
            compile_query(sql, catalog, ("north",))
            query = bind(sql, catalog)
            asked = question(query, ("north",), catalog, "south", federation.privates["south"].forms)
            history = history if asked is None else judge(history, asked, NOW)
        except PolicyRefusal as refusal:
            return str(refusal.rule)
        except Refused as refusal:
            return refusal.rule
    return ""


def delivered(federation: Federation) -> Catalog:
    """The catalog once south has delivered its open table."""
    kept = kept_by("CREATE TABLE found AS SELECT * FROM staff", federation.catalog).kept[0]
    delivery = replace(kept, name="south.staff", unique=(frozenset({"ssn"}),), declared="0" * 64)
    tables = tuple(replace(each, delivered=each.name == "staff") for each in federation.catalog.tables)
    return replace(federation.catalog, tables=tables, kept=(delivery,))


@pytest.fixture(scope="module")
def catalog(federation: Federation) -> Catalog:
    first = kept_by("CREATE TABLE fewer AS SELECT ssn FROM staff WHERE ssn <> 7", federation.catalog)
    return kept_by("CREATE TABLE whole AS SELECT ssn FROM staff", first)


def test_in_one_question_the_agent_sees_that_one_person_is_between_two_sums(
    catalog: Catalog, federation: Federation
) -> None:
    assert refused([TWICE.format("staff", " WHERE k.room <> 7", "staff")], catalog, federation) == "differences"


def test_two_sums_over_kept_rows_of_the_same_owner_tell_of_one_person(catalog: Catalog, federation: Federation) -> None:
    """Both are of 29 and of 30 people. Their difference is what the seventh person earns."""
    assert refused([TWICE.format("fewer", "", "whole")], catalog, federation) == "differences"


def test_so_do_two_questions(catalog: Catalog, federation: Federation) -> None:
    two = [SUM.format("'a'", each, "") for each in ("fewer", "whole")]
    assert refused(two, catalog, federation) == "differences"


def test_so_do_levels_of_groups_by_kept_columns(federation: Federation) -> None:
    kept = "CREATE TABLE marked AS SELECT ssn, CASE WHEN ssn = 7 THEN 1 ELSE 2 END AS g FROM staff"
    catalog = kept_by(kept, federation.catalog)
    sql = "SELECT k.g, SUM(p.salary) AS s FROM people p JOIN marked k ON p.ssn = k.ssn GROUP BY ROLLUP (k.g)"
    assert refused([sql], catalog, federation) == "differences"


def test_so_do_conditions_on_a_delivered_table_of_the_same_owner(federation: Federation) -> None:
    asked = TWICE.format("staff", " WHERE k.room <> 7", "staff")
    assert refused([asked], delivered(federation), federation) == "differences"


SCALAR = "(SELECT ssn FROM staff WHERE room {} (SELECT MAX(worth) FROM customers))"


@pytest.mark.parametrize("test", ["<>", "<", ">="])
def test_so_do_conditions_by_the_recipients_numbers_on_a_table_of_the_same_owner(
    federation: Federation, test: str
) -> None:
    """The agent does not know the number, so that it takes all rows of staff. North has chosen it."""
    catalog = federation.catalog
    assert refused([TWICE.format(SCALAR.format(test), "", "staff")], catalog, federation) == "differences"


def test_a_number_in_the_text_is_one_that_the_agent_knows(federation: Federation) -> None:
    staff = "(SELECT ssn FROM staff WHERE room <> 7)"
    assert refused([TWICE.format(staff, "", "staff")], federation.catalog, federation) == "differences"
