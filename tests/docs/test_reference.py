"""docs/reference.md is generated from the code and the golden files.

TACIT_UPDATE_GOLDEN=1 writes it instead of comparing.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tacit import _native
from tacit.cli.main import commands

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference.md"
ROWS = 2**20

KEY = {"repr": "bits", "width": 32, "signed": False, "nullable": False}
WORD = {"repr": "ring64", "width": 40, "signed": True, "nullable": False}
FLAG = {"repr": "bits", "width": 1, "signed": False, "nullable": False}

REFUSED = re.compile(r"^refused.*\n(?P<sql>(?:.+\n)+?)----\n(?:line \d+, column \d+: )?(?P<sentence>.+)$", re.MULTILINE)


def source(step: int, owner: str, ascending: bool = False) -> dict[str, object]:
    """An input of a 32-bit key and two numbers. ascending: sorted by the key."""
    columns = [
        {"name": name, "source": name, "encode": "int", "kind": kind}
        for name, kind in ((f"k{step}", KEY), (f"v{step}", WORD), (f"w{step}", WORD))
    ]
    order = [f"k{step}"] if ascending else []
    return {"id": step, "op": "input", "owner": owner, "columns": columns, "rows": ROWS, "sorted_by": order}


def psi() -> dict[str, object]:
    """Both inputs matched by their keys, instead of shared and joined."""
    sides = {
        name: {
            "local": number,
            "owner": owner,
            "rows": ROWS,
            "keys": [{"source": "k", "encode": "int"}],
            "columns": source(number, owner)["columns"][1:],
        }
        for number, (name, owner) in enumerate((("left", "a"), ("right", "b")), start=1)
    }
    return {"op": "psi", **sides, "right_unique": False}


def circuit_psi() -> dict[str, object]:
    """The same, nobody learning what matches."""
    return {name: member for name, member in psi().items() if name != "right_unique"} | {"op": "circuit_psi"}


def universal_ids() -> dict[str, object]:
    """A full join of the same, with nullable columns."""
    operator: dict[str, Any] = copy.deepcopy(circuit_psi()) | {"op": "universal_ids"}
    for side in ("left", "right"):
        for column in operator[side]["columns"]:
            column["kind"]["nullable"] = True
    return operator


def kept() -> dict[str, object]:
    """The first input as a kept table."""
    return {"op": "kept", "table": "t", "columns": source(1, "a")["columns"], "rows": ROWS, "padded": True}


def operators() -> list[tuple[str, dict[str, object]]]:
    """One of each operator, on inputs 1 and 2, with what to call it."""
    less = {"op": "lt", "args": [{"col": "v1"}, {"col": "w1"}], "kind": FLAG}
    product = {"op": "mul", "args": [{"col": "v1"}, {"col": "w1"}], "kind": WORD}
    total = {"name": "t", "function": "sum", "column": "v1", "kind": WORD}
    largest = {"name": "m", "function": "max", "column": "v1", "kind": WORD}
    join = {"op": "join", "left": 1, "right": 2, "left_keys": ["k1"], "right_keys": ["k2"]}
    columns = {"left_columns": ["v1", "w1"], "right_columns": ["v2", "w2"]}
    by_key = [{"column": "k1", "descending": False, "nulls_first": False}]
    group = {"op": "group_by", "input": 1, "keys": ["k1"], "groups": None}
    return [
        ("filter: one 40-bit number less than another", {"op": "filter", "input": 1, "predicate": less}),
        (
            "project: a product of two 64-bit numbers",
            {"op": "project", "input": 1, "columns": [{"name": "p", "expr": product, "kind": WORD}]},
        ),
        ("join of two such tables, unique left keys", {**join, **columns}),
        ("the same of tables that their owners sorted", {**join, **columns, "merged": True}),
        ("psi of two owners' such tables, whose rows all match", psi()),
        ("circuit_psi of two owners' such tables", circuit_psi()),
        ("universal_ids of two owners' such tables, whose rows all match", universal_ids()),
        ("group by the key, one SUM", {**group, "aggregates": [total]}),
        ("group by the key, one MAX", {**group, "aggregates": [largest]}),
        (
            "group_join of two such tables, unique left keys, one SUM",
            {**join, "op": "group_join", "left_columns": ["v1", "w1"], "aggregates": [{**total, "column": "v2"}]},
        ),
        ("distinct keys", {**group, "aggregates": []}),
        ("aggregate: SUM of all rows", {"op": "aggregate", "input": 1, "aggregates": [total]}),
        ("aggregate: MAX of all rows", {"op": "aggregate", "input": 1, "aggregates": [largest]}),
        ("sort by the key", {"op": "sort", "input": 1, "keys": by_key}),
        (
            "keep: the nodes write their shares of all columns",
            {"op": "keep", "input": 1, "table": "t", "columns": ["k1"]},
        ),
        ("kept: they take them up again", kept()),
        (
            "release of all columns",
            {"op": "release", "input": 1, "to": ["a"], "columns": ["k1", "v1"], "ordered": False},
        ),
    ]


def cost_lines() -> list[str]:
    """The declared cost of each operator."""
    lines = [
        "| operator | `rep3`: rounds | bytes a row and node, on average | `two`: rounds | bytes a row and node |",
        "|---|---|---|---|---|",
    ]
    for label, operator in operators():
        inputs = [source(step, owner, "merged" in operator) for step, owner in ((1, "a"), (2, "b"))]
        plan = json.dumps([*inputs, {"id": 3, **operator}])
        cells = [label]
        for engine, nodes in (("rep3", ["a", "b", "c"]), ("two", ["a", "b"])):
            cost = _native.cost(engine, plan, {1: ROWS, 2: ROWS, 3: ROWS}, nodes=nodes)[-1]
            cells += [str(cost["rounds"]), f"{sum(cost['bytes_sent']) / len(nodes) / ROWS:,.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def help_lines() -> list[str]:
    """The help text of every command, and of those in a group after it."""
    lines: list[str] = []
    for module in commands():
        for command in (module, *getattr(module, "COMMANDS", ())):
            name = module.NAME if command is module else f"{module.NAME} {command.NAME}"
            parser = argparse.ArgumentParser(prog=f"tacit {name}", description=command.__doc__)
            command.add_arguments(parser)
            lines += [f"### tacit {name}", "", "```text", parser.format_help().rstrip(), "```", ""]
    return lines


def refusal_lines() -> list[str]:
    """Every refusal of the golden files, with the query that causes it."""
    lines = ["| query | refused because |", "|---|---|"]
    for found in REFUSED.finditer((ROOT / "tests" / "slt" / "refusals.slt").read_text()):
        sql = " ".join(found["sql"].split()).replace("|", "\\|")
        sentence = found["sentence"].replace("|", "\\|")
        lines.append(f"| `{sql}` | {sentence} |")
    return lines


def reference() -> str:
    """The whole document."""
    return "\n".join(
        [
            "# Reference",
            "",
            "Generated from the code and the golden files of the tests; a test compares them.",
            "",
            "## Commands",
            "",
            *help_lines(),
            "## Declared costs of operators",
            "",
            f"{ROWS:,} rows (two such tables for the join), a key of 32 bits and two 64-bit numbers,",
            "the size declared, so that validity is secret. The meter shows the same in a run. What `two` sends",
            "includes making its transfers: the first steps of a query make some that later ones use. Its rounds are",
            "those that are waited for: transfers are made ahead, in rounds of a second session.",
            "",
            *cost_lines(),
            "",
            "## What is refused, and what to write instead",
            "",
            *refusal_lines(),
            "",
        ]
    )


def test_the_reference_is_what_the_code_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    found = reference()
    if os.environ.get("TACIT_UPDATE_GOLDEN") == "1":
        REFERENCE.write_text(found)
    assert REFERENCE.read_text() == found
