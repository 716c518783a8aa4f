"""What crosses between functions of the planner has fields: JSON stands at the borders of its records alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PLAN = Path(__file__).parents[2] / "python" / "tacit" / "plan"
BORDERS = {"json", "of"}
"""The methods by which a record is written as JSON and read from it."""
TEXTS = {"programs/forms.py", "programs/identity.py", "programs/reading.py", "account/programs.py"}
"""Where the text of a program on arrays is written, read, and shown to people as it stands: a border by itself."""
FOR_PROGRAMS = {"plan_json", "disclosure_json", "explain_json"}
"""What writes a whole plan for other programs, and the planner never reads."""


def loose(source: str) -> Iterator[str]:
    """The functions of a file that take or give a dictionary of anything, but for a record's own borders."""
    tree = ast.parse(source)
    methods = {id(each) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        signature = [each.annotation for each in given if each is not None] + [node.returns]
        parts = [ast.unparse(part) for each in signature if each is not None for part in ast.walk(each)]
        border = node.name in (BORDERS if id(node) in methods else FOR_PROGRAMS)
        if not border and any(part in ("JSON", "dict[str, Any]", "Mapping[str, Any]") for part in parts):
            yield node.name


def inside() -> list[Path]:
    """The files of the planner where no text of a program stands."""
    return [path for path in sorted(PLAN.rglob("*.py")) if str(path.relative_to(PLAN)) not in TEXTS]


def test_no_dictionary_of_anything_crosses_a_function_border() -> None:
    assert all((PLAN / path).exists() for path in TEXTS)
    found = {str(path.relative_to(PLAN)): list(loose(path.read_text())) for path in inside()}
    assert {path: names for path, names in found.items() if names} == {}


def test_no_field_is_a_dictionary_of_anything() -> None:
    fields = [
        f"{path.name}: {ast.unparse(node)}"
        for path in inside()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.AnnAssign) and {"JSON", "Any"} & {*map(ast.unparse, ast.walk(node.annotation))}
    ]
    # Facts of any kind are looked up by their function in one place, which gives each its type back.
    assert fields == ["once.py: found: dict[Any, tuple[Any, T]] = vars(relation).setdefault('_facts', {})"]


def test_a_dictionary_of_anything_is_found() -> None:
    source = """
class R:
    def json(self) -> JSON: ...
    def told(self, said: list[JSON]) -> None: ...
def plan_json() -> JSON: ...
def json() -> dict[str, Any]: ...
def fine(said: dict[str, int]) -> None: ...
async def many(*said: Mapping[str, Any]) -> None: ...
"""
    assert sorted(loose(source)) == ["json", "many", "told"]
