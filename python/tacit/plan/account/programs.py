"""Programs in words: what is asked, what each result is made of, and how it is rounded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tacit.plan.account.origins import Origin
from tacit.plan.account.phrases import columns_text, listed, plain
from tacit.plan.physical.disclosure import Disclosure, OpenedArray
from tacit.plan.programs.identity import NODES, digest
from tacit.plan.programs.queries import NamedQuery, RowArray

MOST_LINES = 60
"""Operations of a program that its page has. All are in the text that ``--format json`` prints."""

MOST_NUMBERS = 8
MOST_CHARACTERS = 40
"""Of a number, and of a parameter."""


def shape_text(shape: Sequence[int]) -> str:
    """A shape for people."""
    return "one number" if not shape else "array of " + " x ".join(f"{each:,}" for each in shape)


def made_of(origins: Sequence[Origin], recipients: tuple[str, ...]) -> str:
    """What a program's result is made of, in a clause."""
    if not origins:
        return "made of nobody's array"
    return f"computed by the program from {columns_text(origins, recipients)}, any element of which may show in it"


def result_text(shown: OpenedArray) -> str:
    """A result's public facts."""
    rounded = f"; rounded to {shown.fraction} bits behind the point" if shown.fraction else ""
    return f"{shape_text(shown.shape)}, {shown.error}{rounded}"


def results(opened: Sequence[Disclosure]) -> str:
    """How much an answer has."""
    elements = sum(each.derivation.rows or 0 for each in opened)
    count = "one array" if len(opened) == 1 else f"{len(opened)} arrays"
    return f"{count} of {elements:,} {'element' if elements == 1 else 'elements'}"


def question(text: str) -> list[str]:
    """A program as a page has it: its hash, its arrays, and its operations, each by its number."""
    said = json.loads(text)
    nodes: list[dict[str, Any]] = said["nodes"]
    rounding = f"{said['fraction']} bits after the point, rounding {said['rounding']}"
    head = [f"program p:{digest(text)}", f"{len(nodes)} operations, {rounding}"]
    queries = [NamedQuery.of(each) for each in said.get("rows", [])]
    lines = [f"{place} = {_operation(node, queries)}" for place, node in enumerate(nodes[:MOST_LINES])]
    more = len(nodes) - MOST_LINES
    rest = [f"and {more:,} more operations (all of it: --format json)"] if more > 0 else []
    ends = [f"result {plain(name)} = {place}" for name, place in said["outputs"]]
    return [*head, *map(_read, queries), *lines, *rest, *ends]


def _read(query: NamedQuery) -> str:
    """Whose tables a query reads, with their columns, as the program's hash has them."""
    tables = [f"{plain(each.title)} ({', '.join(plain(name) for name, _ in each.columns)})" for each in query.tables]
    return f"{plain(query.query)} reads {listed(tables) or 'no table'}"


def _operation(node: dict[str, Any], queries: Sequence[NamedQuery]) -> str:
    args = [str(each) for each in node["args"]]
    match node["op"]:
        case "input":
            shape = " x ".join(map(str, node["shape"])) or "one number"
            if node["owner"] == NODES:
                rows = queries[node["rows"]] if "rows" in node else None
                return f"{plain(node['name'])}: {_of_rows(RowArray.of(rows, node['array']))} ({shape})"
            return f"{plain(node['name'])}: the array {plain(node['array'])} of {plain(node['owner'])} ({shape})"
        case "constant":
            few, shape = node["reals"][:MOST_NUMBERS], " x ".join(map(str, node["shape"])) or "one number"
            more = " ..." if len(few) < len(node["reals"]) else ""
            return f"public numbers ({shape}) {' '.join(map(_number, few))}{more}"
        case "known":
            return f"{args[0]}, of which is known: {node['proof']} of {node['of']}"
        case op:
            said = [f"{name} {_short(value)}" for name, value in node.items() if name not in ("op", "args")]
            return f"{op} {listed(args)}{' (' * bool(said)}{', '.join(said)}{')' * bool(said)}"


def _of_rows(array: RowArray) -> str:
    """A column of a query, with the query as it stands."""
    column = "which rows there are" if array.column is None else f"the column {plain(array.column)}"
    return f"{column} of {plain(array.rows.query)}"


def _number(real: str) -> str:
    top, _, bottom = real.partition("/")
    if not bottom:
        return top if len(top) <= MOST_CHARACTERS else f"{top[:MOST_CHARACTERS]} ..."
    bits = int(top).bit_length() - int(bottom).bit_length()
    return f"{int(top) / int(bottom):.6g}" if bits < 1000 else f"{'-' * top.startswith('-')}2^{bits}"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} ..."
