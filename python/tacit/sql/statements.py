"""Statements about kept tables: CREATE TABLE ... AS SELECT, which keeps a query's rows as shares, and DROP TABLE; and
those of `tacit deliver`: DELIVER TABLE, which keeps an owner's whole table, and WITHDRAW TABLE."""

from __future__ import annotations

import re

from sqlglot import exp

from tacit.plan.account.serialise import declaration_hash
from tacit.plan.algebra.refusals import InvalidSQL, UnknownName
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.deliveries import delivery_name
from tacit.plan.physical.placed import DropStep, PlacedPlan
from tacit.plan.place import KeptAs, place_kept
from tacit.plan.rules.sequence import Trace
from tacit.sql.bind import bind_unordered
from tacit.sql.from_clause import scan
from tacit.sql.joins import is_single_row
from tacit.sql.text import Text, only

DELIVERY = re.compile(r"\s*(?P<verb>DELIVER|WITHDRAW)\s+TABLE\s+(?P<table>[^\s;]+)\s*;?\s*", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
"""What a kept table may be called: it names files too."""
DELIVERED = re.compile(rf"{NAME.pattern}\.{NAME.pattern}")
"""A delivery's own name, OWNER.TABLE."""


def create_table(node: exp.Create, text: Text, catalog: Catalog, trace: Trace) -> PlacedPlan:
    """The plan of CREATE [OR REPLACE] TABLE name AS SELECT ..."""
    if node.kind != "TABLE":
        raise text.unsupported(node, f"CREATE {node.kind}", "write CREATE TABLE name AS SELECT")
    if node.args.get("exists"):
        raise text.unsupported(node, "IF NOT EXISTS", "write CREATE TABLE, or CREATE OR REPLACE TABLE")
    only(node, text, {"this", "kind", "expression", "replace"}, "CREATE TABLE")
    if not isinstance(node.this, exp.Table) or node.expression is None:
        instead = "write CREATE TABLE name AS SELECT ..., which names the columns too"
        raise text.unsupported(node, "a list of columns in CREATE TABLE", instead)
    name = _name(node.this, text)
    replace = bool(node.args.get("replace"))
    if _is(name, [table.name for table in catalog.tables]):
        raise text.invalid(node.this, f"an owner offers a table {name!r}; choose another name.")
    if _is(name, [table.name for table in catalog.united]):
        raise text.invalid(node.this, f"{name!r} names several owners' tables together; choose another name.")
    if not replace and _is(name, _kept(catalog)):
        advice = "write CREATE OR REPLACE TABLE, or DROP TABLE first"
        raise text.invalid(node.this, f"there is a kept table {name!r} already; {advice}.")
    relation = bind_unordered(text, node.expression, catalog)
    return place_kept(relation, catalog, KeptAs(name, replace, is_single_row(relation)), text.sql, trace)


def drop_table(node: exp.Drop, text: Text, catalog: Catalog) -> PlacedPlan:
    """The plan of DROP TABLE [IF EXISTS] name."""
    if node.args.get("kind") != "TABLE":
        raise text.unsupported(node, f"DROP {node.args.get('kind')}", "write DROP TABLE name")
    only(node, text, {"tables", "kind", "exists"}, "DROP TABLE")
    tables = node.args["tables"]
    if len(tables) != 1:
        raise text.unsupported(tables[1], "several tables in DROP TABLE", "drop them one by one")
    name = _name(tables[0], text)
    if _is(name, [table.name for table in catalog.tables]) and not _is(name, _kept(catalog)):
        raise text.invalid(tables[0], f"{name!r} is an owner's table; only kept tables can be dropped.")
    if not node.args.get("exists") and not _is(name, _kept(catalog)):
        if not _kept(catalog):
            raise text.invalid(tables[0], f"there is no kept table {name!r}, nor any other.")
        raise UnknownName("kept table", name, _kept(catalog), text.position(tables[0]))
    step = DropStep(1, name, catalog.nodes)
    return PlacedPlan(text.sql, catalog.engine, catalog.nodes, (), (step,), ())


def delivery(sql: str, catalog: Catalog, trace: Trace) -> PlacedPlan | None:
    """The plan of DELIVER TABLE name or WITHDRAW TABLE name; None for any other text."""
    found = DELIVERY.fullmatch(sql)
    if found is None:
        return None
    withdraws = found["verb"].upper() == "WITHDRAW"
    if withdraws and DELIVERED.fullmatch(found["table"]):  # also of an owner that offers it no more
        return PlacedPlan(sql, catalog.engine, catalog.nodes, (), (DropStep(1, found["table"], catalog.nodes),), ())
    table = next((each for each in catalog.tables if each.name.lower() == found["table"].lower()), None)
    if table is None:
        raise UnknownName("table", found["table"], [each.name for each in catalog.tables], None)
    name = delivery_name(table)
    if withdraws:
        return PlacedPlan(sql, catalog.engine, catalog.nodes, (), (DropStep(1, name, catalog.nodes),), ())
    if not table.delivered:
        advice = f"it would have to say delivered = true in [tables.{table.name}] of its offer"
        raise InvalidSQL(f"{table.owner} does not offer {table.name} for delivery; {advice}.")
    kept = KeptAs(name, replace=True, single=False, declared=declaration_hash(table))
    return place_kept(scan(table), catalog, kept, sql, trace)


def _kept(catalog: Catalog) -> list[str]:
    """The names of all kept tables, also of those that cannot be read."""
    return [table.name for table in catalog.kept] + [name for name, _ in catalog.broken]


def _name(node: exp.Table, text: Text) -> str:
    only(node, text, {"this"}, "the table's name")
    if not NAME.fullmatch(node.name):
        raise text.invalid(node, f"{node.name!r} cannot name a kept table; use letters, digits and _, at most 100.")
    return str(node.name)


def _is(name: str, known: list[str]) -> bool:
    return name.lower() in [each.lower() for each in known]
