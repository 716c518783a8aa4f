"""The operands of a function of SQL, bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sqlglot import exp

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Expr
from tacit.sql.coercion import Mismatch
from tacit.sql.text import Text, only

IGNORED = {"safe", "coalesce", "ignore_nulls", "date_part_boundary", "input_type_preserved"}
"""What the parser remembers of DuckDB's own meaning."""


class Binding(Protocol):
    """Binds the operands."""

    text: Text

    def bind(self, node: exp.Expr) -> Expr:
        """A typed expression."""

    def condition(self, node: exp.Expr) -> Expr:
        """A typed condition."""


Bind = Callable[[Binding, exp.Expr, Position | None], Expr]


def operands(binding: Binding, node: exp.Expr, *names: str, optional: str | None = None) -> list[Expr]:
    """The bound operands of these names, and one that may be missing; a node with others is refused."""
    said = (binding.text.written_name(node) or node.key).upper()
    only(node, binding.text, {*names, *IGNORED, *([optional] if optional else [])}, said)
    if any(not isinstance(node.args.get(name), exp.Expr) for name in names):
        raise Mismatch(f"{said} takes more than this; write {len(names)} arguments")
    more = [optional] if optional and node.args.get(optional) is not None else []
    return [binding.bind(node.args[name]) for name in (*names, *more)]
