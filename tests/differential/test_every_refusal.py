"""Every refusal has a golden query: each call that makes one is reached by a file of refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.plan.catalogs import CATALOGS
from tests.plan.golden import cases, files

from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.catalog import Catalog
from tacit.sql import compile_query

from .asking import folder
from .federations import Declared, store
from .golden import Block, blocks
from .refusal_sites import reached, sites

TESTS = Path(__file__).parents[1]

UNREACHED = {
    "sql/__init__.py, disclosures": "a query without recipients: tests/plan/test_placing.py",
    "sql/frames.py, _bound": "DuckDB's grammar has no such frame",
    "sql/bind.py, query": "more operators than a query may have: tests/policy/test_breaks_of_kept.py",
    "sql/from_clause.py, _delivery": "a delivery that is not there: tests/differential/test_deliveries.py",
    "sql/from_clause.py, _named": "a kept table with damaged files: tests/differential/test_clients.py",
    "sql/statements.py, create_table": "a name of united tables: tests/federation/test_united.py",
    "sql/text.py, _syntax_error": "text without words, which a golden file cannot hold: tests/sql/test_refusals.py",
    "plan/facts/kinds.py, hashes": "more than 2^44 strings: tests/plan/test_bounds.py",
    "plan/facts/kinds.py, kind_of": "strings of kept tables: tests/plan/test_kept.py",
    "plan/facts/row_arrays.py, row_column": "programs read columns: tests/programs/test_rows_placing.py",
    "plan/facts/table_arrays.py, _column": "programs read columns: tests/agent/test_program_tables.py",
    "plan/facts/table_arrays.py, table_array": "programs read columns: tests/agent/test_program_tables.py",
    "plan/taking_part.py, check_engine": "an engine that is not there: tests/plan/test_placing.py",
    "plan/taking_part.py, check_party": "a party that is not there: tests/plan/test_placing.py",
    "plan/taking_part.py, check_queries": "an engine that runs programs alone: tests/programs/test_four.py",
    "plan/taking_part.py, check_recipients": "a query without recipients: tests/plan/test_placing.py",
    "plan/taking_part.py, check_kept_owners": "a kept table of a party that has left: tests/plan/test_kept.py",
    "plan/keep_program.py, keep_program": "results that are kept: tests/programs/test_keeping.py",
    "plan/keep_program.py, _check_name": "results that are kept: tests/programs/test_keeping.py",
    "plan/keep_program.py, _digits": "results that are kept: tests/programs/test_keeping.py",
    "plan/keep_program.py, _field": "results that are kept: tests/programs/test_keeping.py",
    "plan/keep_program.py, _rows": "results that are kept: tests/programs/test_keeping.py",
    "plan/place_rows.py, bound_rows": "rows beneath programs: tests/programs/test_rows_placing.py",
    "plan/place_rows.py, column": "rows beneath programs: tests/programs/test_rows_placing.py",
    "plan/place_rows.py, no_queries": "rows beneath programs: tests/programs/test_rows_placing.py",
    "plan/read_tables.py, check_named": "rows beneath programs: tests/policy/test_breaks_of_named_tables.py",
    "plan/place_rows.py, rows": "rows beneath programs: tests/programs/test_rows_placing.py",
    "plan/rules/matching.py, refuse_full_join": "asked whether it refuses; its sentence goes to nobody",
}
"""Sites that no query reaches, each with the reason."""


def test_every_refusal_has_a_golden_query(keys: Path) -> None:
    with reached() as lines:
        for query, catalog, recipients in _refused(keys):
            with suppress(QueryError):
                compile_query(query, catalog, recipients)
    found = sites()
    assert len(found) > 200
    missing = [site for site in found if not any((site.file, line) in lines for line in site.lines)]
    unknown = [str(site) for site in missing if f"{site.file}, {site.function}" not in UNREACHED]
    assert not unknown, "\n".join(["no golden file has a query that is refused here:", *unknown])
    names = {f"{site.file}, {site.function}" for site in missing}
    assert names == set(UNREACHED), "an exception that is none"


def _refused(keys: Path) -> Iterator[tuple[str, Catalog, tuple[str, ...]]]:
    """All queries of golden files that are refused, and some that are not."""
    for path in [*files(TESTS / "sql" / "golden"), *files(TESTS / "plan" / "golden")]:
        for case in cases(path):
            yield case.query, CATALOGS[case.catalog], case.recipients
    for path in sorted((TESTS / "slt").glob("*.slt")):
        yield from _of_blocks([each for each in blocks(path) if isinstance(each, Block)], keys)


def _of_blocks(found: list[Block], keys: Path) -> Iterator[tuple[str, Catalog, tuple[str, ...]]]:
    tables: dict[str, Declared] = {}
    catalog: Catalog | None = None
    for block in found:
        if block.kind == "tables":
            name, declared = block.declared()
            tables[name], catalog = declared, None
        elif block.kind == "refused":
            catalog = catalog or _catalog(tables, keys)
            yield block.first, catalog, block.recipients


def _catalog(tables: dict[str, Declared], keys: Path) -> Catalog:
    with folder() as place:
        return store(tables, place, keys).catalog
