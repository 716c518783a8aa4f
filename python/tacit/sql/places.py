"""Where the subqueries of a condition stand: what the condition does with a NULL or a missing row of theirs."""

from __future__ import annotations

from sqlglot import exp

from tacit.sql.expressions import conjuncts

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren)


class Places:
    """The subqueries of conditions that keep a row only where they are TRUE."""

    def __init__(self) -> None:
        self._positive: set[int] = set()
        self._rejecting: set[int] = set()

    def tell(self, condition: exp.Expr | None) -> None:
        """Look through the condition of a WHERE, HAVING or ON."""
        if condition is None:
            return
        self._find_positive(condition)
        for each in conjuncts(condition):
            if isinstance(each, exp.Exists):
                self._rejecting.add(id(each))
            if isinstance(each, _COMPARISONS):
                self._find_rejecting(each)

    def is_positive(self, node: exp.Expr) -> bool:
        """Whether a subquery's NULL does the same as FALSE."""
        return id(node) in self._positive

    def rejects_null(self, node: exp.Expr) -> bool:
        """Whether no row stays for which a subquery is NULL, or EXISTS is FALSE."""
        return id(node) in self._rejecting

    def _find_positive(self, node: exp.Expr) -> None:
        waiting = [node]
        while waiting:
            each = waiting.pop()
            self._positive.add(id(each))
            if isinstance(each, exp.And | exp.Or | exp.Paren):
                waiting += each.iter_expressions()

    def _find_rejecting(self, node: exp.Expr) -> None:
        waiting = [node]
        while waiting:
            for each in waiting.pop().iter_expressions():
                if isinstance(each, exp.Subquery):
                    self._rejecting.add(id(each))
                elif isinstance(each, _ARITHMETIC):
                    waiting.append(each)
