"""Where the code refuses queries: each call that makes such an error, and whether a query has reached it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

import tacit
from tacit.plan.algebra.refusals import QueryError
from tacit.sql.coercion import Mismatch

ROOT = Path(tacit.__file__).parent
ROOMS = ("sql", "plan", "plan/algebra", "plan/facts", "plan/rules", "plan/physical")
MADE_BY = frozenset(
    ("QueryError", "UnsupportedSQL", "InvalidSQL", "UnknownName", "TooWide", "Mismatch", "unsupported", "invalid")
)
"""The classes of such errors, and the methods that make them at a place of the text."""


@dataclass(frozen=True)
class Site:
    """A call that makes an error. function: the innermost one around it. lines: those of the call."""

    file: str
    function: str
    lines: range
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.lines.start}, in {self.function}: {self.text[:150]}"


def sites() -> list[Site]:
    """All of them."""
    return [site for room in ROOMS for path in sorted((ROOT / room).glob("*.py")) for site in _sites_of(path)]


@contextmanager
def reached() -> Iterator[set[tuple[str, int]]]:
    """The files and lines that have made errors since, or have called what makes one."""
    found: set[tuple[str, int]] = set()
    with pytest.MonkeyPatch.context() as patch:
        for kind in (QueryError, Mismatch):
            patch.setattr(kind, "__init__", _noting(kind.__init__, found))
        yield found


def _noting(made: Callable[..., None], found: set[tuple[str, int]]) -> Callable[..., None]:
    def init(self: object, *arguments: object) -> None:
        found.update(_callers(sys._getframe(1)))
        made(self, *arguments)

    return init


def _callers(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            yield str(path.relative_to(ROOT)), frame.f_lineno
        frame = frame.f_back


def _sites_of(path: Path) -> Iterator[Site]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in MADE_BY:
            around = [each for each in functions if node.lineno in _lines(each)]
            function = max(around, key=lambda each: each.lineno).name if around else ""
            yield Site(str(path.relative_to(ROOT)), function, _lines(node), ast.unparse(node))


def _name(called: ast.expr) -> str:
    match called:
        case ast.Name(id):
            return id
        case ast.Attribute(_, attribute):
            return attribute
        case _:
            return ""


def _lines(node: ast.FunctionDef | ast.Call) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
