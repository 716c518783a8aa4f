"""Loops over the elements of vectors, rewritten to operations on whole vectors.

Condition: the loop is over range(...) with a step of one. Each statement of its body assigns or adds to one element
z[i], or adds to a sum. What stands to the right reads vectors at i alone, none that the loop assigns, and has no calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tacit.plan.programs.refusals import ProgramError

SUM = "_tacit_sum"
PLACES = "_tacit_places"
MAKERS = ("zeros", "ones", "empty")
OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop, ast.expr_context)


class Vectors(ast.NodeTransformer):
    """Rewrites the loops of a program. vectors: names of arrays with one axis, from declarations and np.zeros(n)."""

    def __init__(self, vectors: set[str], private: set[str]) -> None:
        self.vectors = vectors
        self.private = private
        self.rewrites: list[str] = []

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Learn which names are vectors: those made with one length, until they are assigned something else."""
        for target in node.targets:
            if isinstance(target, ast.Name):
                (self.vectors.add if _makes_vector(node.value) else self.vectors.discard)(target.id)
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        """A loop over elements as statements on vectors; other loops stay, with what is inside rewritten."""
        bounds = _range(node)
        index = node.target.id if isinstance(node.target, ast.Name) else ""
        if bounds is None or not node.body or not all(self._fits(each, index, node.body) for each in node.body):
            self.generic_visit(node)
            return node
        if not any(self._is_private(each) for each in node.body):
            return node
        self.rewrites.append(f"line {node.lineno}: the loop over {index} is computed on whole vectors")
        return [_vectorised(each, index, bounds) for each in node.body]

    def _is_private(self, statement: ast.stmt) -> bool:
        return any(isinstance(each, ast.Name) and each.id in self.private for each in ast.walk(statement))

    def _fits(self, statement: ast.stmt, index: str, body: list[ast.stmt]) -> bool:
        match statement:
            case ast.Assign([target], value):
                known = self._is_element(target, index)
            case ast.AugAssign(ast.Name() as target, ast.Add() | ast.Sub(), value):
                known = target.id not in self.vectors and index in _names(value)
            case ast.AugAssign(target, ast.Add() | ast.Sub() | ast.Mult(), value):
                known = self._is_element(target, index)
            case _:
                return False
        written = {name for each in body for name in _written(each)}
        return known and not written & _names(value) and self._is_elementwise(value, index)

    def _is_element(self, expression: ast.AST, index: str) -> bool:
        match expression:
            case ast.Subscript(ast.Name(name), ast.Name(place)):
                return name in self.vectors and place == index
            case _:
                return False

    def _is_elementwise(self, value: ast.AST, index: str) -> bool:
        if self._is_element(value, index) or isinstance(value, ast.Constant):
            return True
        if isinstance(value, ast.Subscript | ast.Name) or not isinstance(value, OPERATORS):
            return False
        return all(
            self._is_elementwise(each, index) for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)
        )


def _makes_vector(value: ast.expr) -> bool:
    """Whether an expression is np.zeros(n) or the like, with one length."""
    match value:
        case ast.Call(ast.Attribute(_, name), [ast.Constant(int()) | ast.Call(ast.Name("len"))], []):
            return name in MAKERS
        case _:
            return False


def _range(node: ast.For) -> tuple[ast.expr, ast.expr] | None:
    """The first index of a loop over a range, and the one behind the last."""
    if node.orelse:
        return None
    match node.iter:
        case ast.Call(ast.Name("range"), [stop], []):
            return ast.Constant(0), stop
        case ast.Call(ast.Name("range"), [start, stop], []):
            return start, stop
        case _:
            return None


def _names(value: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}


def _written(statement: ast.stmt) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    for target in targets:
        name = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(name, ast.Name):
            yield name.id


def _vectorised(statement: ast.stmt, index: str, bounds: tuple[ast.expr, ast.expr]) -> ast.stmt:
    changed = _Slices(index, bounds).visit(statement)
    if isinstance(changed, ast.AugAssign) and isinstance(changed.target, ast.Name):
        changed.value = ast.copy_location(ast.Call(ast.Name(SUM, ast.Load()), [changed.value], []), statement)
    found = ast.copy_location(changed, statement)
    assert isinstance(found, ast.stmt)
    return found


class _Slices(ast.NodeTransformer):
    """x[i] as the elements that the loop reads."""

    def __init__(self, index: str, bounds: tuple[ast.expr, ast.expr]) -> None:
        self.index, self.bounds = index, bounds

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        where = ast.Call(ast.Name(PLACES, ast.Load()), [ast.Name(_name(node.value), ast.Load()), *self.bounds], [])
        node.slice = ast.copy_location(where, node.slice)
        return node


def _name(vector: ast.expr) -> str:
    assert isinstance(vector, ast.Name), "elements of vectors are read by name"
    return vector.id


def places(vector: Any, start: int, stop: int) -> slice:
    """The elements that a loop from start to before stop reads one by one."""
    if stop <= start:
        return slice(0, 0)
    if start < 0 or stop > len(vector):
        there = f"a vector that has 0 to {len(vector) - 1}"
        raise ProgramError(f"a loop reads elements {start} to {stop - 1} of {there}; change its range.")
    return slice(start, stop)
