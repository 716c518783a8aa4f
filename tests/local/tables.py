"""Small plans over real files, for the tests of the local engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from tacit.local.duckdb_engine import LocalEngine
from tacit.plan.algebra.relations import Relation, Scan
from tacit.plan.algebra.types import Field, Type
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.fields import fields
from tacit.plan.physical.operators import Given
from tacit.plan.physical.placed import LocalStep, PlacedPlan, Step

OWNER = "owner"


def table(name: str, path: Path, columns: Mapping[str, Type | tuple[Type]], **facts: Any) -> Table:
    """A table of the owner. A type in a tuple is that of a nullable column."""
    return Table(
        name, OWNER, tuple(Column(field(name, type_)) for name, type_ in columns.items()), path=str(path), **facts
    )


def field(name: str, type_: Type | tuple[Type]) -> Field:
    """A field; a type in a tuple means that it is nullable."""
    return Field(name, type_[0], True) if isinstance(type_, tuple) else Field(name, type_, False)


def scan(source: Table, *columns: str) -> Scan:
    """A scan of some columns (all, if none is named)."""
    found = [each.field for each in source.columns if not columns or each.field.name in columns]
    return Scan(source.name, OWNER, tuple((each.name, each.name) for each in found), tuple(found), source.rows)


def plan(*steps: Step) -> PlacedPlan:
    """A placed plan of these steps."""
    return PlacedPlan("", "rep3", ("owner", "b", "c"), (OWNER,), steps, ())


def catalog(*tables: Table) -> Catalog:
    """A catalog of these tables."""
    return Catalog(("owner", "b", "c"), "rep3", ("owner", "b", "c"), tables)


def local(relation: Relation) -> LocalStep:
    """The relation as the plan's first step."""
    return LocalStep(1, OWNER, relation, fields(relation))


def engine(relation: Relation, *tables: Table) -> LocalEngine:
    """An engine for a plan that runs the relation as its first step."""
    return LocalEngine(plan(local(relation)), OWNER, catalog(*tables))


def rows(relation: Relation, *tables: Table) -> list[tuple[Any, ...]]:
    """The result of a relation, in its order."""
    return typed_rows(relation, *tables)[0]


def typed_rows(relation: Relation, *tables: Table) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The result of a relation, in its order, and its DuckDB types."""
    with engine(relation, *tables) as opened:
        opened.run(local(relation))
        result = opened.database.table("result 1")
        return result.fetchall(), [str(each) for each in result.types]


def as_integers(relation: Relation) -> tuple[Given, ...]:
    """All columns of a relation, encoded as integers, under their own names."""
    return tuple(Given(each.name, each.name, "int") for each in fields(relation))


def write(path: Path, text: str) -> Path:
    """A file with this text."""
    path.write_bytes(text.encode())
    return path


def parquet(path: Path, query: str) -> Path:
    """A Parquet file with the rows of a query."""
    with duckdb.connect() as database:
        database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path
