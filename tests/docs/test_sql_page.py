"""docs/sql.md is generated from the golden files: each construct with a query that runs on all engines as DuckDB does.

TACIT_UPDATE_GOLDEN=1 writes it instead of comparing. A construct without a golden query fails the test.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.differential.golden import Block, blocks

from .sql_constructs import SECTIONS, Construct

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "sql.md"
HEAD = """\
# The SQL that runs

Generated from the golden files of the tests (`tests/slt`); a test compares them. Every query below has DuckDB's answer,
names and types included, in clear, among three nodes, and in the nightly suite between two. What is refused is refused
before anything is shared, with its place in the text and with what to write instead.
"""
PLACE = re.compile(r"^line \d+, column \d+: ")


def _golden() -> list[Block]:
    files = sorted((ROOT / "tests" / "slt").glob("*.slt"))
    return [block for file in files for block in blocks(file) if isinstance(block, Block)]


def _in_one_line(sql: str) -> str:
    return " ".join(sql.split())


def _example(construct: Construct, queries: list[str]) -> str:
    """The shortest golden query that has the construct."""
    found = [query for query in queries if re.search(construct.pattern, query, re.IGNORECASE)]
    assert found, f"no golden query has {construct.name}"
    return min(found, key=lambda query: (len(query), query))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _page() -> str:
    golden = _golden()
    queries = [_in_one_line(block.first) for block in golden if block.kind == "query"]
    lines = [HEAD]
    for title, constructs in SECTIONS:
        lines += [f"## {title}", "", "| construct | for example |", "|---|---|"]
        lines += [f"| {_cell(each.name)} | `{_cell(_example(each, queries))}` |" for each in constructs]
        lines.append("")
    lines += ["## What is refused", "", "| query | refused because |", "|---|---|"]
    refused = {
        (_in_one_line(block.first), PLACE.sub("", _in_one_line(block.second)))
        for block in golden
        if block.kind == "refused"
    }
    lines += [f"| `{_cell(query)}` | {_cell(sentence)} |" for query, sentence in sorted(refused)]
    return "\n".join(lines) + "\n"


def test_the_page_is_what_the_golden_files_say() -> None:
    found = _page()
    if os.environ.get("TACIT_UPDATE_GOLDEN") == "1":
        PAGE.write_text(found)
    assert PAGE.read_text() == found
