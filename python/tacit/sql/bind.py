"""SQL text to the typed algebra: queries with their CTEs, UNIONs and SELECTs, against a catalog."""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from tacit.plan.algebra.expressions import reference
from tacit.plan.algebra.relations import Aggregate, Expr, Project, Relation, Sort, Union
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.fields import fields, names
from tacit.sql.coercion import Mismatch, coerce, common_type
from tacit.sql.correlation import around_columns, is_correlated, refused
from tacit.sql.from_clause import Ctes, From, renamed
from tacit.sql.ordering import limited, order_terms, sorted_by
from tacit.sql.scope import Scope
from tacit.sql.select import Select
from tacit.sql.text import Text, only

SUBQUERY_PARTS = {"this", "alias", "with_", "order", "limit", "offset"}
UNION_PARTS = {"this", "expression", "distinct", "with_", "order", "limit", "offset"}


def bind(sql: str, catalog: Catalog) -> Relation:
    """The meaning of a query. The fields of the relation are the output columns, with DuckDB's names and types.

    Raises UnsupportedSQL for constructs outside the supported SQL, and other QueryErrors for queries that are wrong.
    """
    text = Text(sql)
    return bind_query(text, text.statement(), catalog)


def bind_query(text: Text, statement: exp.Expr, catalog: Catalog) -> Relation:
    """The meaning of a statement that is a query. Raises as ``bind`` does."""
    if not isinstance(statement, exp.Query):
        raise text.unsupported(statement, type(statement).__name__.upper(), "write a SELECT")
    return _Binder(text, catalog).query(statement, {})


def bind_unordered(text: Text, node: exp.Expr, catalog: Catalog) -> Relation:
    """The meaning of a query within a statement, whose rows have no order."""
    return _unsorted(_Binder(text, catalog).query(node, {}))


class _Binder:
    """Binds the queries of one text."""

    def __init__(self, text: Text, catalog: Catalog) -> None:
        self.text = text
        self.catalog = catalog

    def query(self, node: exp.Expr, ctes: Ctes, around: Scope | None = None) -> Relation:
        """Any query. ctes: the named subqueries it can see, by lower-case name. around: the query it stands in."""
        ctes = self._with(node, ctes, around)
        match node:
            case exp.Subquery():
                only(node, self.text, SUBQUERY_PARTS, "a subquery")
                return self._ordered(_unsorted(self.query(node.this, ctes, around)), node)
            case exp.Select():
                nested = partial(self._nested, ctes)
                clause = From(node, ctes, self.text, self.catalog, nested, around)
                return Select(node, clause, self.text, self.catalog).relation()
            case exp.Union():
                return self._union(node, ctes, around)
            case exp.SetOperation():
                instead = "use IN (SELECT ...) for common rows, or aggregate a UNION ALL"
                raise self.text.unsupported(node, type(node).__name__.upper(), instead)
            case _:
                raise self.text.unsupported(node, f"{type(node).__name__.upper()} as a query", "write a SELECT")

    def _nested(self, ctes: Ctes, node: exp.Expr, around: Scope | None) -> Relation:
        return _unsorted(self.query(node, ctes, around))

    def _with(self, node: exp.Expr, ctes: Ctes, around: Scope | None) -> Ctes:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
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

    def _union(self, node: exp.Union, ctes: Ctes, around: Scope | None) -> Relation:
        only(node, self.text, UNION_PARTS, "UNION")
        left, right = (_unsorted(self.query(each, ctes, around)) for each in (node.this, node.expression))
        if len(names(left)) != len(names(right)):
            sizes = f"{len(names(left))} and {len(names(right))}"
            raise self.text.invalid(
                node.expression, f"the sides of the UNION have {sizes} columns; select as many in each."
            )
        relation: Relation = self._aligned(left, right, node)
        if node.args.get("distinct"):
            relation = Aggregate(relation, names(relation), ())
        return self._ordered(relation, node)

    def _aligned(self, left: Relation, right: Relation, node: exp.Union) -> Union:
        """Both sides with the left's names and common types."""
        outputs: tuple[list[tuple[str, Expr]], list[tuple[str, Expr]]] = ([], [])
        for mine, its in zip(fields(left), fields(right), strict=True):
            a, b = reference(mine), reference(its)
            try:
                target = common_type(a, b)
                outputs[0].append((mine.name, coerce(a, target)))
                outputs[1].append((mine.name, coerce(b, target)))
            except Mismatch as error:
                raise self.text.invalid(node.expression, f"in UNION, column {mine.name!r}: {error}.") from None
        sides = (_projected(side, tuple(out)) for side, out in zip((left, right), outputs, strict=True))
        return Union(tuple(part for side in sides for part in (side.inputs if isinstance(side, Union) else (side,))))

    def _ordered(self, relation: Relation, node: exp.Query) -> Relation:
        """ORDER BY and LIMIT of a whole query, by its output columns."""
        items: list[tuple[str, exp.Expr]] = [(name, exp.column(name)) for name in names(relation)]
        terms = order_terms(node, items, self.text)
        for term in terms:
            if not term.output:
                raise self.text.unsupported(term.node, "an expression in ORDER BY here", "order by an output column")
        return limited(sorted_by(relation, node, [term.output for term in terms]), node, self.text)


def _projected(relation: Relation, outputs: tuple[tuple[str, Expr], ...]) -> Relation:
    """A projection, left out where it changes nothing."""
    same = tuple((each.name, reference(each)) for each in fields(relation))
    return relation if outputs == same else Project(relation, outputs)


def _unsorted(relation: Relation) -> Relation:
    """A subquery's order without a limit means nothing."""
    match relation:
        case Sort(input, _):
            return input
        case Project(Sort(input, _), outputs):
            return Project(input, outputs)
        case _:
            return relation
