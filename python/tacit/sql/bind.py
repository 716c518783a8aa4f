"""SQL text to the typed algebra: queries with their CTEs, set operations and SELECTs, against a catalog."""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from tacit.plan.algebra.relations import Project, Relation, Sort
from tacit.plan.algebra.trees import size
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import names
from tacit.sql.constants import values_list
from tacit.sql.correlation import around_columns, is_correlated, refused
from tacit.sql.from_clause import Ctes, From, renamed
from tacit.sql.ordering import limited, order_terms, sorted_by
from tacit.sql.scope import Scope
from tacit.sql.select import Select
from tacit.sql.set_operations import check_set_operation, set_operation
from tacit.sql.text import Text, only

MOST_OPERATORS = 1024
"""Of one query. A WITH that each step reads twice doubles them, and rules of owners are derived for each."""

MOST_BOUND = 2 * MOST_OPERATORS
"""Of all queries of one text that are bound, each with what it reads, whether anything reads it or not. It takes work
before owners' rules are asked."""

SUBQUERY_PARTS = {"this", "alias", "with_", "order", "limit", "offset"}


def bind(sql: str, catalog: Catalog) -> Relation:
    """The meaning of a query. The fields of the relation are the output columns, with DuckDB's names and types.

    Raises UnsupportedSQL for constructs outside the supported SQL, and other QueryErrors for queries that are wrong.
    """
    text = Text(sql)
    return bind_query(text, text.statement(), catalog)


def bind_query(text: Text, statement: exp.Expr, catalog: Catalog) -> Relation:
    """The meaning of a statement that is a query. Raises as ``bind`` does."""
    if not isinstance(statement, exp.Query | exp.Values):
        raise text.unsupported(statement, type(statement).__name__.upper(), "write a SELECT")
    return _Binder(text, catalog).query(statement, {})


def bind_rows(sql: str, catalog: Catalog) -> Relation:
    """The meaning of a query whose rows a program reads, in no order. Raises as ``bind`` does."""
    return _unsorted(bind(sql, catalog))


def bind_unordered(text: Text, node: exp.Expr, catalog: Catalog) -> Relation:
    """The meaning of a query within a statement, whose rows have no order."""
    return _unsorted(_Binder(text, catalog).query(node, {}))


class _Binder:
    """Binds the queries of one text. bound: their operators so far, those of a query within another one once."""

    def __init__(self, text: Text, catalog: Catalog) -> None:
        self.text = text
        self.catalog = catalog
        self.bound = 0

    def query(self, node: exp.Expr, ctes: Ctes, around: Scope | None = None, *, named: bool = True) -> Relation:
        """Any query. ctes: the named subqueries it can see, by lower-case name. around: the query it stands in.

        named: the names of its columns matter, which they do not on the right side of a set operation.
        """
        before = self.bound
        relation = self._bound(node, self._with(node, ctes, around), around, named)
        if size(relation) > MOST_OPERATORS:
            problem = f"the query has more than {MOST_OPERATORS:,} operators, where each name of a WITH counts as often"
            raise self.text.invalid(node, f"{problem} as it is read; keep a step as a table, and read that.")
        within = self.bound - before
        self.bound = before + max(size(relation), within)
        if self.bound > MOST_BOUND:
            problem = f"the steps of the query have more than {MOST_BOUND:,} operators, where each counts what it reads"
            raise self.text.invalid(node, f"{problem}; leave out steps that nothing reads, or keep one as a table.")
        return relation

    def _bound(self, node: exp.Expr, ctes: Ctes, around: Scope | None, named: bool) -> Relation:
        match node:
            case exp.Subquery():
                only(node, self.text, SUBQUERY_PARTS, "a subquery")
                return self._ordered(_unsorted(self.query(node.this, ctes, around, named=named)), node)
            case exp.Select():
                nested = partial(self._nested, ctes)
                clause = From(node, ctes, self.text, self.catalog, nested, around)
                return Select(node, clause, self.text, self.catalog, named=named).relation()
            case exp.SetOperation():
                return self._set_operation(node, ctes, around, named)
            case exp.Values():
                return values_list(node, self.text, self.catalog)
            case _:
                raise self.text.unsupported(node, f"{type(node).__name__.upper()} as a query", "write a SELECT")

    def _nested(self, ctes: Ctes, node: exp.Expr, around: Scope | None) -> Relation:
        return _unsorted(self.query(node, ctes, around))

    def _with(self, node: exp.Expr, ctes: Ctes, around: Scope | None) -> Ctes:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        if clause.args.get("recursive"):
            instead = "name each step of the recursion as a subquery of its own"
            raise self.text.unsupported(clause, "WITH RECURSIVE", instead)
        only(clause, self.text, {"expressions"}, "WITH")
        found = dict(ctes)
        for each in clause.expressions:
            only(each, self.text, {"this", "alias", "materialized"}, "WITH")
            query = self.query(each.this, found, around)
            if is_correlated(query):
                raise refused(around_columns(query)[0], "in a WITH")
            relation = _unsorted(renamed(query, each.args["alias"], self.text))
            found[each.alias.lower()] = (each.alias, relation)
        return found

    def _set_operation(self, node: exp.SetOperation, ctes: Ctes, around: Scope | None, named: bool) -> Relation:
        check_set_operation(node, self.text)
        left = _unsorted(self.query(node.this, ctes, around, named=named))
        right = _unsorted(self.query(node.expression, ctes, around, named=False))
        return self._ordered(set_operation(left, right, node, self.text), node)

    def _ordered(self, relation: Relation, node: exp.Query) -> Relation:
        """ORDER BY and LIMIT of a whole query, by its output columns."""
        items: list[tuple[str, exp.Expr]] = [(name, exp.column(name)) for name in names(relation)]
        terms = order_terms(node, items, self.text)
        for term in terms:
            if not term.output:
                raise self.text.unsupported(term.node, "an expression in ORDER BY here", "order by an output column")
        return limited(sorted_by(relation, node, [term.output for term in terms]), node, self.text)


def _unsorted(relation: Relation) -> Relation:
    """A subquery's order without a limit means nothing."""
    match relation:
        case Sort(input, _):
            return input
        case Project(Sort(input, _), outputs):
            return Project(input, outputs)
        case _:
            return relation
