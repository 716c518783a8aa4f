"""docs/numpy.md lists what is supported: it is made from the cases that are compared with NumPy."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from tacit.array.tracing import trace
from tacit.plan.programs.graph import Settings

from .running import declaration
from .test_numpy import CASES, VALUES

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"
START = "| program | error at most |\n|---|---|\n"


def test_the_page_lists_what_is_tested() -> None:
    text = PAGE.read_text()
    expected = text[: text.index(START)] + START + "".join(rows())
    if os.environ.get("TACIT_UPDATE_GOLDEN"):
        PAGE.write_text(expected)
    assert text == expected, "TACIT_UPDATE_GOLDEN=1 pytest tests/programs/test_page.py writes the page anew"


def rows() -> Iterator[str]:
    """A row for each case: what is computed, and the declared error for the inputs of the test."""
    tree = ast.parse((Path(__file__).parent / "test_numpy.py").read_text())
    table = next(node for node in tree.body if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CASES")
    assert isinstance(table.value, ast.Dict)
    for key, value in zip(table.value.keys, table.value.values, strict=True):
        assert isinstance(key, ast.Constant) and isinstance(value, ast.Lambda)
        shown = [ast.unparse(each) for each in (value.body.elts if isinstance(value.body, ast.Tuple) else [value.body])]
        code = ", ".join(f"`{each}`" for each in shown).replace("|", "\\|")
        yield f"| {code} | {error(str(key.value))} |\n"


def error(name: str) -> str:
    """The largest declared error of a case's results."""
    function = CASES[name]
    taken = function.__code__.co_varnames[: function.__code__.co_argcount]
    traced = trace(function, {each: declaration(VALUES[each]) for each in taken}, Settings())
    arrays = [node.array for node in traced.outputs.values()]
    largest = max((array.absolute_error for array in arrays), default=Fraction(0))
    return "exact" if largest == 0 else f"{float(largest):.1e}"
