"""DISTINCT ON: of the rows that are equal in some expressions the first one in the order of ORDER BY."""

from __future__ import annotations

from sqlglot import exp

from tacit.plan.algebra.relations import Call, Filter, Literal, Relation, SortKey, Window, WindowOutput
from tacit.plan.algebra.types import Boolean, Integer
from tacit.plan.facts.fields import column, names
from tacit.sql.ordering import Key, output_term
from tacit.sql.scope import fresh
from tacit.sql.text import Text, only


def distinct_terms(query: exp.Select, items: list[tuple[str, exp.Expr]], text: Text) -> list[Key]:
    """The expressions of DISTINCT ON, which may name output columns as ORDER BY does; none without it."""
    clause = query.args.get("distinct")
    if clause is None:
        return []
    only(clause, text, {"on"}, "DISTINCT")
    if clause.args.get("on") is None:
        return []
    if query.args.get("order") is None:
        raise text.unsupported(clause, "DISTINCT ON without ORDER BY", "say which row comes first with ORDER BY")
    return [output_term(node, items, text) for node in clause.args["on"].expressions]


def first_rows(relation: Relation, columns: list[str], order: tuple[SortKey, ...]) -> Relation:
    """The first row of those that are equal in the columns."""
    number = fresh("number", "distinct", {each.lower() for each in names(relation)})
    numbered = Window(relation, tuple(dict.fromkeys(columns)), order, (WindowOutput(number, "row_number"),))
    first = Call("eq", (column(numbered, number), Literal(1, Integer(1, 1, "BIGINT"))), Boolean(), False)
    return Filter(numbered, first)
