"""docs/placed-plan.md lists operators, values and their parts as the planner's classes define them.

TACIT_UPDATE_GOLDEN=1 writes the tables instead of comparing.
"""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import get_args

import pytest

from tacit.plan.facts.kinds import Encoding
from tacit.plan.physical import operators, values
from tacit.plan.physical.disclosure import Permit, PermitKind
from tacit.plan.physical.operators import OPERATORS
from tacit.plan.physical.record import Record

PAGE = Path(__file__).parents[2] / "docs" / "placed-plan.md"
CHOICES = {"Encoding": Encoding, "PermitKind": PermitKind}
WORDS = {"int": "number", "str": "name", "bool": "true or false", "None": "null", "Kind": "a kind", "Value": "a value"}


def parts() -> list[type[Record]]:
    """Parts of operators and of permits, by their names. What local engines are given does not cross to native code."""
    classes = [each for _, each in inspect.getmembers(operators, inspect.isclass) if issubclass(each, Record)]
    own = [each for each in classes if each.__module__ == operators.__name__ and not each.__name__.startswith("_")]
    return [each for each in own if each not in OPERATORS and each is not operators.Given]


def operator_table() -> str:
    rows = [f"| `{each.op}` | {members(each)} | {told(each)} |" for each in OPERATORS]
    return "\n".join(["| op | members | output |", "|---|---|---|", *rows])


def part_table() -> str:
    rows = [f"| {each.__name__} | {members(each)} | {told(each)} |" for each in [*parts(), Permit]]
    return "\n".join(["| part | members | what it is |", "|---|---|---|", *rows])


def value_table() -> str:
    rows = [f"| {each.__name__} | {told(each)} |" for each in get_args(values.Value)]
    return "\n".join(["| value | what it is |", "|---|---|", *rows])


TABLES = {"operators": operator_table, "parts": part_table, "values": value_table}


def told(of: type[Record]) -> str:
    """A class's documentation on one line. Code is in single marks on the page."""
    return " ".join((inspect.getdoc(of) or "").split()).replace("``", "`").replace("None", "null")


def members(of: type[Record]) -> str:
    """The members of a class's object, with what they hold."""
    return ". ".join(f"`{each.name}`: {held(each)}" for each in fields(of) if each.name != "id")


def held(member: Field[object]) -> str:
    """What a member holds, and what it is where nobody says."""
    text = str(member.type)
    written = re.fullmatch(r"OneOf\[(.*)\]", text)
    choices = re.findall(r"\w+", written[1]) if written else [*get_args(CHOICES.get(text))]
    if choices:
        shown = " or ".join(f"`{each}`" for each in choices)
    else:
        shown = re.sub(r"tuple\[(\w+), \.\.\.\]", r"list of \1", text).replace(" | ", " or ")
        shown = re.sub(r"\w+", lambda word: WORDS.get(word[0], word[0]), shown)
    if member.default is MISSING:
        return shown
    default = {None: "null", (): "none"}.get(member.default, str(member.default).lower())  # type: ignore[call-overload]
    return f"{shown}; {default} if left out"


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_those_of_the_classes(name: str) -> None:
    page, pattern = PAGE.read_text(), re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert pattern.search(page), f"the page has no table of {name}"
    found = pattern.sub(lambda marks: f"{marks[1]}{TABLES[name]()}\n{marks[2]}", page)
    if os.environ.get("TACIT_UPDATE_GOLDEN") == "1":
        PAGE.write_text(found)
    assert PAGE.read_text() == found
