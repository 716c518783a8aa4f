"""The check of a program's source: what its text alone shows to be refused, or to be written better.

A name is private if it is an argument, or is assigned from what has a private name in it. Shapes are public.
Two forms are rewritten: `a if condition else b` to np.where, and loops over elements of vectors to whole vectors.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import tacit.array.namespace as namespace
from tacit.array import teaching
from tacit.array.lines import cell
from tacit.array.vectors import PLACES, SUM, Vectors, places
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.source_lines import Line

PUBLIC_OF = ("shape", "ndim", "size", "dtype")
PUBLIC_CALLS = ("len", "range", "isinstance", "type")
WHERE = "_tacit_where"


@dataclass(frozen=True)
class Checked:
    """A program after its check. function: as it is traced. rewrites: what was changed, each with its line."""

    function: Callable[..., Any]
    rewrites: tuple[str, ...]


def checked(function: Callable[..., Any], vectors: Iterable[str], public: Iterable[str] = ()) -> Checked:
    """The function, rewritten; refused where a private value would decide which way it goes.

    vectors: the names of its arguments with one axis. public: of arguments that are not private.
    """
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text).body[0]
    except (OSError, SyntaxError):
        return Checked(function, ())  # Tracing refuses what it cannot do, without the lines of this check.
    if not isinstance(tree, ast.FunctionDef):
        return Checked(function, ())
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    private, of = _private_names(tree, public), cell(function.__code__)
    _Refusals(private, of).visit(tree)
    choices, loops = _Choices(private), Vectors(set(vectors), private)
    changed = loops.visit(choices.visit(tree))
    rewrites = tuple(f"{of}, {each}" if of else each for each in (*choices.rewrites, *loops.rewrites))
    return Checked(_compiled(changed, function) if rewrites else function, rewrites)


def _compiled(tree: ast.FunctionDef, function: Callable[..., Any]) -> Callable[..., Any]:
    tree.decorator_list, tree.returns = [], None
    for each in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
        each.annotation = None
    # Defaults were computed where the function stands: they are taken from it below.
    tree.args.defaults = [ast.Constant(None) for _ in tree.args.defaults]
    tree.args.kw_defaults = [default and ast.Constant(None) for default in tree.args.kw_defaults]
    module = ast.fix_missing_locations(ast.Module([tree], []))
    closure = inspect.getclosurevars(function)
    names: dict[str, Any] = {**getattr(function, "__globals__", {}), **closure.nonlocals, WHERE: namespace.where}
    names |= {SUM: namespace.sum, PLACES: places}
    exec(compile(module, function.__code__.co_filename, "exec"), names)
    found = names[tree.name]
    assert inspect.isfunction(found) and inspect.isfunction(function)
    found.__defaults__, found.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return found


def _private_names(tree: ast.FunctionDef, public: Iterable[str]) -> set[str]:
    """The names that may stand for private values: arguments without a default, and what is made of them."""
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    open_ = len(tree.args.defaults)
    private = {each.arg for each in (arguments[:-open_] if open_ else arguments)} - {*public}
    before: set[str] = set()
    while before != private:
        before = set(private)
        for node in ast.walk(tree):
            private |= _assigned(node, private)
    return private


def _assigned(node: ast.AST, private: set[str]) -> set[str]:
    match node:
        case ast.Assign(targets, value) if is_private(value, private):
            return {name for target in targets for name in _targets(target)}
        case ast.AugAssign(target, _, value) | ast.AnnAssign(target, _, value) if value and is_private(value, private):
            return set(_targets(target))
        case ast.NamedExpr(target, value) if is_private(value, private):
            return set(_targets(target))
        case _:
            return set()


def _targets(target: ast.expr) -> Iterable[str]:
    match target:
        case ast.Name(name):
            yield name
        case ast.Tuple(parts) | ast.List(parts):
            for each in parts:
                yield from _targets(each)
        case ast.Subscript(value) | ast.Starred(value):
            yield from _targets(value)


def is_private(expression: ast.expr, private: set[str]) -> bool:
    """Whether an expression has a private name in it, other than for its shape."""
    match expression:
        case ast.Name(name):
            return name in private
        case ast.Attribute(_, name) if name in PUBLIC_OF:
            return False
        case ast.Call(ast.Name(name)) if name in PUBLIC_CALLS:
            return False
        case ast.Compare(_, [ast.Is() | ast.IsNot(), *_]):
            return False
        case ast.Lambda():
            return False
        case _:
            return any(
                is_private(each, private) for each in ast.iter_child_nodes(expression) if isinstance(each, ast.expr)
            )


class _Refusals(ast.NodeVisitor):
    """Refuses what would reveal a private value, with its line. cell: the notebook's cell that has it, if any."""

    def __init__(self, private: set[str], cell: str) -> None:
        self.private = private
        self.cell = cell

    def _refuse(self, expression: ast.expr, sentence: str) -> None:
        if is_private(expression, self.private):
            raise ProgramError(sentence, Line(expression.lineno, self.cell))

    def visit_If(self, node: ast.If) -> None:
        self._refuse(
            node.test, f"the private condition `{ast.unparse(node.test)}` decides which way: {teaching.BRANCH}"
        )
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._refuse(node.test, teaching.LOOP)
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._refuse(node.test, teaching.BRANCH)

    def visit_For(self, node: ast.For) -> None:
        self._refuse(node.iter, teaching.ITERATE)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        sign = "&" if isinstance(node.op, ast.And) else "|"
        for each in node.values:
            self._refuse(
                each, teaching.WORDS.format(better=f" {sign} ".join(f"({ast.unparse(x)})" for x in node.values))
            )
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._refuse(node.operand, teaching.WORDS.format(better=f"~({ast.unparse(node.operand)})"))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) > 1:
            self._refuse(node, teaching.CHAIN)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        for each in node.args:
            if name in ("float", "int", "bool", "complex", "print", "str"):
                self._refuse(each, teaching.NUMBER)
            if name in ("min", "max", "sum", "sorted", "any", "all", "list"):
                self._refuse(each, teaching.BUILTIN.format(name=name, better="sort" if name == "sorted" else name))
        self.generic_visit(node)


class _Choices(ast.NodeTransformer):
    """Rewrites choices on private conditions to np.where: both sides are computed, as nobody may see which is taken."""

    def __init__(self, private: set[str]) -> None:
        self.private = private
        self.rewrites: list[str] = []

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if not is_private(node.test, self.private):
            return node
        self.rewrites.append(f"line {node.lineno}: `{ast.unparse(node)}` is computed as np.where(condition, a, b)")
        call = ast.Call(ast.Name(WHERE, ast.Load()), [node.test, node.body, node.orelse], [])
        return ast.copy_location(call, node)
