"""Which names a query can use, and which column of the relation built so far each of them means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from tacit.plan.algebra.expressions import subexpressions, substitute
from tacit.plan.algebra.refusals import InvalidSQL, UnknownName
from tacit.plan.algebra.relations import ColumnRef, Expr, Project, Relation
from tacit.plan.facts.fields import columns_of, fields
from tacit.sql.text import Text

AROUND = "\0"
"""Begins the names of columns of the query around a subquery, once for each level: no column's own name has it."""


@dataclass(frozen=True)
class Source:
    """One table, CTE or subquery of a FROM clause.

    columns: visible name to the column of the relation, in order. merged: names that a USING already shows from the
    left.
    """

    alias: str
    relation: Relation
    columns: tuple[tuple[str, ColumnRef], ...]
    merged: frozenset[str] = frozenset()

    def nullable(self) -> Source:
        """The source with all columns nullable."""
        columns = tuple((name, replace(column, nullable=True)) for name, column in self.columns)
        return replace(self, columns=columns)


@dataclass(frozen=True)
class Scope:
    """The sources of one SELECT, from left to right.

    common: columns that USING of a join that keeps rows shows in place of those of its sides, by lower-case name.
    around: the scope of the query that this one stands in. beside: these sources only stand before a subquery of FROM,
    which cannot see them.
    """

    sources: tuple[Source, ...] = ()
    common: tuple[tuple[str, ColumnRef], ...] = ()
    around: Scope | None = None
    beside: bool = False

    def added(self, source: Source, node: exp.Expr, text: Text) -> Scope:
        """With one more source. Its alias must be new."""
        if any(each.alias.lower() == source.alias.lower() for each in self.sources):
            raise text.invalid(node, f"two tables are called {source.alias!r} here; give one another name with AS.")
        return replace(self, sources=(*self.sources, source))

    def merging(self, names: frozenset[str]) -> Scope:
        """With the last source's columns of these names shown only once, from the left (JOIN ... USING)."""
        return replace(self, sources=(*self.sources[:-1], replace(self.sources[-1], merged=names)))

    def sharing(self, first: int, columns: dict[str, ColumnRef]) -> Scope:
        """With these columns in place of those of their (lower-case) names in all sources from the first on."""
        hidden = [replace(each, merged=each.merged | columns.keys()) for each in self.sources[first:]]
        return replace(
            self, sources=(*self.sources[:first], *hidden), common=tuple({**dict(self.common), **columns}.items())
        )

    def nullable(self, places: range) -> Scope:
        """With the columns of the sources at these places as beside rows without a match."""
        sources = [each.nullable() if place in places else each for place, each in enumerate(self.sources)]
        common = [(name, replace(column, nullable=True)) for name, column in self.common]
        return replace(self, sources=tuple(sources), common=tuple(common) if len(places) > 1 else self.common)

    def part(self, first: int, stop: int | None = None) -> Scope:
        """The sources at these places."""
        return replace(self, sources=self.sources[first:stop])

    def find(self, node: exp.Column, text: Text) -> ColumnRef:
        """The column that a name means: here, or in the nearest query around that has it."""
        found = self._around(node, text) if self._is_elsewhere(node) else self.lookup(node.name, node.table, node, text)
        if found is None:
            known = [name for scope in self._chain() for name in scope._known(node.table)]
            raise UnknownName("column", _shown(node), known, text.position(node))
        return found

    def lookup(self, name: str, table: str, node: exp.Expr, text: Text) -> ColumnRef | None:
        """The column of this name, None if there is none. More than one is an error."""
        sources = [each for each in self.sources if not table or each.alias.lower() == table.lower()]
        if table and not sources:
            known = [each.alias for scope in self._chain() for each in scope.sources]
            raise UnknownName("table", table, known, text.position(node))
        found = [
            (source, column)
            for source in sources
            for visible, column in source.columns
            if visible.lower() == name.lower() and (table or name.lower() not in source.merged)
        ]
        if not table and (shared := dict(self.common).get(name.lower())) is not None and not found:
            return shared
        if len(found) > 1:
            choices = " or ".join(f"{source.alias}.{name}" for source, _ in found)
            raise InvalidSQL(f"the column name {name!r} is ambiguous; write {choices}.", text.position(node))
        return found[0][1] if found else None

    def _is_elsewhere(self, node: exp.Column) -> bool:
        """Whether a query around has the name, and this one does not."""
        return next((scope is not self for scope in self._chain() if scope._has(node)), False)

    def _chain(self) -> Iterator[Scope]:
        """This scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.around

    def _has(self, node: exp.Column) -> bool:
        """Whether a column's name is to be looked up here."""
        if node.table:
            return any(each.alias.lower() == node.table.lower() for each in self.sources)
        return node.name.lower() in (name.lower() for name in self._known(""))

    def _around(self, node: exp.Column, text: Text) -> ColumnRef | None:
        """The column of a query around."""
        level, scope = 0, self
        while not scope._has(node):
            assert scope.around is not None
            scope = scope.around
            level += not scope.beside
        if scope.beside:
            what = f"{_shown(node)} of the same FROM in a subquery there (LATERAL)"
            raise text.unsupported(node, what, "select the column in the subquery, and join on it")
        found = scope.lookup(node.name, node.table, node, text)
        return None if found is None else replace(found, name=AROUND * level + found.name)

    def declared(self, node: exp.Column) -> str:
        """A column's name as its table or subquery writes it, in whichever case the query does."""
        sources = [each for each in self.sources if not node.table or each.alias.lower() == node.table.lower()]
        names = (visible for source in sources for visible, _ in source.columns)
        return next((name for name in names if name.lower() == node.name.lower()), node.name)

    def star(self, table: str, node: exp.Expr, text: Text) -> list[tuple[str, exp.Expr]]:
        """What * or table.* stands for: names and columns."""
        sources = [each for each in self.sources if not table or each.alias.lower() == table.lower()]
        if not sources:
            raise UnknownName("table", table, [each.alias for each in self.sources], text.position(node))
        pending, listed = {name for name, _ in self.common}, list[tuple[str, exp.Expr]]()
        for source in sources:
            for visible, _ in source.columns:
                if table or visible.lower() not in source.merged:
                    listed.append((visible, exp.column(visible, table=source.alias)))
                elif visible.lower() in pending:
                    pending.remove(visible.lower())
                    listed.append((visible, exp.column(visible)))
        return listed

    def _known(self, table: str) -> list[str]:
        sources = [each for each in self.sources if not table or each.alias.lower() == table.lower()]
        return [visible for source in sources for visible, _ in source.columns]


def is_around(name: str) -> bool:
    """Whether a name is that of a column of a query around."""
    return name.startswith(AROUND)


def seen_from_around(expr: Expr) -> Expr:
    """An expression over columns of the queries around, as the nearest of these has it."""
    return substitute(expr, {name: _nearer(name, expr) for name in columns_of(expr) if is_around(name)})


def _nearer(name: str, expr: Expr) -> ColumnRef:
    found = next(each for each in subexpressions(expr) if isinstance(each, ColumnRef) and each.name == name)
    return replace(found, name=name.removeprefix(AROUND))


def source_of(alias: str, relation: Relation, taken: set[str]) -> Source:
    """A source whose columns are renamed, where needed, so that none is called like a taken one (in any case)."""
    visible = fields(relation)
    new: list[str] = []
    for each in visible:
        new.append(fresh(each.name, alias, taken | {name.lower() for name in new}))
    if new != [each.name for each in visible]:
        outputs = tuple(
            (name, ColumnRef(each.name, each.type, each.nullable)) for name, each in zip(new, visible, strict=True)
        )
        relation = Project(relation, outputs)
    columns = tuple(
        (each.name, ColumnRef(name, each.type, each.nullable)) for name, each in zip(new, visible, strict=True)
    )
    return Source(alias, relation, columns)


def fresh(name: str, alias: str, taken: set[str]) -> str:
    """A name that is not taken (lower case): the name itself, alias_name, or one with a number."""
    candidates = [name, f"{alias}_{name}" if alias else f"{name}_2"]
    for candidate in candidates:
        if candidate.lower() not in taken:
            return candidate
    number = 2
    while f"{candidates[1]}_{number}".lower() in taken:
        number += 1
    return f"{candidates[1]}_{number}"


def _shown(node: exp.Column) -> str:
    return f"{node.table}.{node.name}" if node.table else node.name
