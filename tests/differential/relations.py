"""Generated relations for FROM: tables, UNION ALL, filter, DISTINCT and GROUP BY subqueries, CTEs, joins of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from . import joining, nested
from .expressions import Name, Writer
from .worlds import Table, World

KEYS = ("k", "k2", "g")


@dataclass(frozen=True)
class Relation:
    """Something to select from. text: as FROM writes it, without an alias. unique: columns that never repeat."""

    text: str
    names: tuple[Name, ...]
    unique: tuple[frozenset[str], ...] = ()

    def has(self, columns: frozenset[str]) -> bool:
        """Whether it has table columns of these names."""
        return columns <= {name.bare for name in self.names if name.origin is not None}


@dataclass
class From:
    """A FROM clause under construction. conditions: what WHERE has to say for it."""

    text: str
    scope: list[Name]
    conditions: list[str] = field(default_factory=list)


@dataclass
class Relations:
    """Draws relations over a world's tables. ctes: named subqueries written so far, and what they stand for."""

    world: World
    writer: Writer
    ctes: list[tuple[str, Relation]] = field(default_factory=list)
    _fresh: int = 0

    def fresh(self, letter: str) -> str:
        """A name that nothing has yet."""
        self._fresh += 1
        return f"{letter}{self._fresh}"

    def relation(self, depth: int) -> Relation:
        """Any relation."""
        writer = self.writer
        if self.ctes and writer.often(3):
            return writer.pick([cte for _, cte in self.ctes])
        kinds = ["sales_a", "sales_b", "people", "union", "sales", "places"]
        kinds += ["filter", "distinct", "group", "group", "limit", "nested", "nested"] if depth > 0 else []
        match writer.pick(kinds):
            case "union":
                return self._union()
            case "sales":
                return self._united()
            case "filter":
                return self._filtered(self.relation(depth - 1))
            case "distinct":
                return self._distinct(self.relation(depth - 1))
            case "group":
                return self.grouped(self.relation(depth - 1))
            case "nested":
                return self._nested(depth)
            case "limit":
                return self._limited(self.relation(depth - 1))
            case name:
                return self.table(name)

    def table(self, name: str) -> Relation:
        """A table."""
        table = self.world.table(name)
        return Relation(name, _names(table), (frozenset(table.unique),) if table.unique else ())

    def grouped(self, over: Relation, keys: Sequence[str] | None = None) -> Relation:
        """One row for each group; its keys are unique."""
        writer = self.writer
        possible = [name for name in over.names if name.bare in KEYS and name.origin is not None] or list(
            over.names[:1]
        )
        chosen = (
            [name for name in possible if name.bare in keys] if keys is not None else possible[: writer.pick([1, 2])]
        )
        outputs, names = [name.text for name in chosen], list(chosen)
        for _ in range(writer.pick([1, 2])):
            text, name = self._aggregate(over.names)
            outputs.append(text)
            names.append(name)
        having = writer.note("HAVING", " HAVING COUNT(*) > 1") if writer.often(10) else ""
        listed = ", ".join(name.text for name in chosen)
        writer.note("GROUP BY in a subquery", "")
        text = f"(SELECT {', '.join(outputs)} FROM {over.text} GROUP BY {listed}{having})"
        return Relation(text, tuple(names), (frozenset(name.bare for name in chosen),))

    def one_row(self) -> Relation:
        """A relation of exactly one row."""
        over = self.relation(1)
        text, name = self._aggregate(over.names)
        return Relation(f"(SELECT {text} FROM {over.text})", (name,))

    def cte(self) -> None:
        """Name a subquery."""
        relation = self._filtered(self.relation(1)) if self.writer.often(2) else self.grouped(self.relation(0))
        name = self.writer.note("CTE", self.fresh("c"))
        self.ctes.append((f"{name} AS {relation.text}", Relation(name, relation.names, relation.unique)))

    def from_clause(self) -> From:
        """Relations, joined along keys that are unique on one side."""
        writer = self.writer
        if writer.often(6) and (found := self._other_join()):
            return found
        first = self.relation(2)
        alias = self.fresh("r")
        clause = From(f"{first.text} {alias}", _qualified(first, alias))
        if writer.often(12):
            listed = ", ".join(name.bare for name in first.names)
            clause.text = writer.note("names of columns in FROM", f"{first.text} AS {alias}({listed})")
        joined = [first]
        for _ in range(writer.pick([0, 0, 0, 1, 1, 1, 2])):
            self._join(clause, joined)
        if writer.often(8):
            row, alias = self.one_row(), self.fresh("r")
            clause.text += writer.note("cross join with one row", f", {row.text} {alias}")
            clause.scope += _qualified(row, alias)
        return clause

    def _other_join(self) -> From | None:
        """Two tables, joined otherwise than on a unique key, if there are such."""
        writer, places, alias, other = self.writer, self.world.table("places"), self.fresh("r"), self.fresh("r")
        bounded = [each.name for each in self.world.tables if each.rows_bound is not None]
        natural = writer.often(4) or not bounded
        first = self.table(writer.pick(["people", "sales_a", "sales_b"] if natural else bounded))
        scope = _qualified(first, alias)
        if natural:
            found = joining.natural(writer, places, places.unique, other, self.fresh("n"))
        else:
            found = joining.pairs(writer, self.world, scope, other)
        return From(f"{first.text} {alias}{found.text}", [*scope, *found.names])

    def _join(self, clause: From, joined: list[Relation]) -> None:
        """Add a relation that joins with what is there, if one is found."""
        found = self._partner(clause, joined)
        if found is None:
            return
        other, keys = found
        alias = self.fresh("r")
        left = {
            key: next(name for name in clause.scope if name.bare == key and name.origin is not None) for key in keys
        }
        names = _qualified(other, alias)
        right = {key: next(name for name in names if name.bare == key) for key in keys}
        conditions = [joining.condition(self.writer, left[key], right[key]) for key in keys]
        match self.writer.pick(["ON", "ON", "USING", "comma", "outer", "outer", "half", "outer USING"]):
            case "outer USING" if len(joined) == 1:
                kind = self.writer.pick(["LEFT", "RIGHT", "FULL"])
                using = f" {kind} JOIN {other.text} {alias} USING ({', '.join(keys)})"
                clause.text += self.writer.note(f"{kind} JOIN USING", using)
            case "outer" if not clause.conditions:
                kind = self.writer.pick(["LEFT", "RIGHT", "FULL", "LEFT OUTER"])
                more = self._condition(names) + self._condition(clause.scope)
                on = " AND ".join([*conditions, *more])
                clause.text += self.writer.note(f"{kind} JOIN", f" {kind} JOIN {other.text} {alias} ON {on}")
            case "half" if not clause.conditions:
                kind = self.writer.pick(["SEMI", "ANTI"])
                if len(joined) == 1 and self.writer.often(4):
                    using = f" {kind} JOIN {other.text} {alias} USING ({', '.join(keys)})"
                    clause.text += self.writer.note(f"{kind} JOIN", using)
                    return
                on = " AND ".join([*conditions, *self._condition(names)])
                clause.text += self.writer.note(f"{kind} JOIN", f" {kind} JOIN {other.text} {alias} ON {on}")
                return
            case "USING" if len(joined) == 1:
                clause.text += self.writer.note("USING", f" JOIN {other.text} {alias} USING ({', '.join(keys)})")
            case "comma":
                clause.text += self.writer.note("comma join", f", {other.text} {alias}")
                clause.conditions += conditions
            case _:
                clause.text += f" JOIN {other.text} {alias} ON {' AND '.join(conditions)}"
        self.writer.note("JOIN on one key" if len(keys) == 1 else "JOIN on several keys", "")
        if len(joined) == 2:
            self.writer.note("JOIN of three", "")
        clause.scope += names
        joined.append(other)

    def _condition(self, names: Sequence[Name]) -> list[str]:
        """A further condition of ON, of one side's columns; most joins have none."""
        return (
            [self.writer.note("a condition of one side in ON", self.writer.flag(names, 1))]
            if self.writer.often(4)
            else []
        )

    def _partner(self, clause: From, joined: list[Relation]) -> tuple[Relation, list[str]] | None:
        """A relation and keys of which one side is unique."""
        present = frozenset(name.bare for name in clause.scope if name.origin is not None)
        for unique in joined[0].unique if len(joined) == 1 else ():
            facts = [each for each in map(self.table, ("sales_a", "sales_b")) if each.has(unique)]
            if unique <= present and facts and self.writer.often(2):
                return self.writer.pick(facts), sorted(unique)
        keys = [key for key in KEYS if key in present]
        if not keys:
            return None
        people, places = self.table("people"), self.table("places")
        options = [each for each in (people, places) if each.unique[0] <= present]
        match self.writer.pick(["table", "table", "group", "CTE"]):
            case "table" if options:
                other = self.writer.pick(options)
                return other, sorted(other.unique[0])
            case "CTE" if ctes := [cte for _, cte in self.ctes if cte.unique and cte.unique[0] <= present]:
                other = self.writer.pick(ctes)
                return (other, sorted(other.unique[0])) if other.has(other.unique[0]) else None
            case _:
                return self._self_join(keys)

    def _self_join(self, keys: list[str]) -> tuple[Relation, list[str]] | None:
        """A subquery that is grouped by the keys, over tables that may be there already."""
        wanted = frozenset(keys[: self.writer.pick([1, 2])])
        tables = [each for each in map(self.table, ("sales_a", "sales_b", "people")) if each.has(wanted)]
        if not tables:
            return None
        over = self._union() if tables[0].text == "sales_a" and self.writer.often(2) else self.writer.pick(tables)
        self.writer.note("self-join after aggregation", "")
        return self.grouped(over, sorted(wanted)), sorted(wanted)

    def _union(self) -> Relation:
        a = self.table("sales_a")
        listed = ", ".join(name.text for name in a.names)
        sides = [self.writer.pick(["sales_a", "sales_a", "sales_b"]), self.writer.pick(self.world.united[1:])]
        wheres = [f" WHERE {self.writer.flag(a.names, 1)}" if self.writer.often(8) else "" for _ in sides]
        selects = [f"SELECT {listed} FROM {side}{where}" for side, where in zip(sides, wheres, strict=True)]
        return Relation(self.writer.note("UNION ALL", f"({' UNION ALL '.join(selects)})"), a.names)

    def _united(self) -> Relation:
        """The rows of all owners that have sales, by the name that the federation gives them."""
        names = self.table("sales_a").names
        return Relation(self.writer.note("united table", "sales"), names)

    def _filtered(self, over: Relation) -> Relation:
        writer = self.writer
        names, outputs = list(over.names), [name.text for name in over.names]
        if writer.often(3):
            family = writer.pick([name.family for name in over.names])
            if family != "text":
                gone = writer.pick(names) if writer.often(2) else None
                new = Name(gone.bare if gone else self.fresh("x"), family)
                outputs = [name.text for name in names if name is not gone]
                outputs.append(f"{writer.expression(over.names, family, 2)} AS {new.text}")
                names = [*(name for name in names if name is not gone), new]
                writer.note("computed column named as the one it hides" if gone else "computed column", "")
        text = f"(SELECT {', '.join(outputs)} FROM {over.text} WHERE {writer.flag(over.names, writer.pick([0, 1, 2]))})"
        return Relation(writer.note("filter in a subquery", text), tuple(names), _unique_among(over, names))

    def _distinct(self, over: Relation) -> Relation:
        count = self.writer.pick([1, 2, 3])
        names = tuple(over.names[:count])
        text = f"(SELECT DISTINCT {', '.join(name.text for name in names)} FROM {over.text})"
        return Relation(
            self.writer.note("DISTINCT in a subquery", text), names, (frozenset(name.bare for name in names),)
        )

    def _nested(self, depth: int) -> Relation:
        """A subquery of another sort."""
        writer, sales = self.writer, [self.world.table(name) for name in ("sales_a", "sales_b")]
        match writer.pick(["window", "top", "set", "join"]):
            case "window":
                over = self.relation(depth - 1)
                found = nested.windowed(writer, over.text, over.names, self.fresh("x"))
            case "set":
                found = nested.combined(writer, [*sales, self.world.table("people")], KEYS)
            case "join":
                right = self.world.table(writer.pick(["people", "places"]))
                found = nested.joined(writer, writer.pick(sales), right, self.fresh("x"))
            case _:
                over, keys = self.relation(depth - 1), writer.pick([("k",), ("g",), ("k", "k2"), ("k", "g")])
                top = nested.top(writer, over.text, over.names, keys)
                if top is None:
                    return over
                found = top
        return Relation(found.text, found.names, (found.unique,) if found.unique else ())

    def _limited(self, over: Relation) -> Relation:
        """The head in an order without ties."""
        names = tuple(name for name in over.names if name.shown)
        if not names:
            return over
        order, listed = ", ".join(name.text for name in names), [name.text for name in names]
        numbers = [at for at, name in enumerate(names) if name.family == "whole"]
        if numbers and self.writer.often(3):
            at = self.writer.pick(numbers)
            listed[at] = self.writer.note(
                "LIMIT by a column named as another", f"7 - {names[at].text} AS {names[at].text}"
            )
            names = (*names[:at], Name(names[at].text, "whole"), *names[at + 1 :])
        limit = self.writer.pick([3, 10, 1, 5, 10, 5, 7, 0])
        text = f"(SELECT {', '.join(listed)} FROM {over.text} ORDER BY {order} LIMIT {limit})"
        return Relation(self.writer.note("LIMIT in a subquery", text), names, _unique_among(over, names))

    def _aggregate(self, names: Sequence[Name]) -> tuple[str, Name]:
        """An aggregate under a new name."""
        new = self.fresh("x")
        shown = [name for name in names if name.shown and name.family != "flag"]
        numbers = [name for name in names if name.family in ("whole", "decimal")]
        match self.writer.pick(["COUNT", "SUM", "MAX", "MIN"]):
            case "SUM" if numbers:
                name = self.writer.pick(numbers)
                return self.writer.note("SUM", f"SUM({name.text}) AS {new}"), Name(new, name.family)
            case "MIN" | "MAX" as function if shown:
                name = self.writer.pick(shown)
                return self.writer.note(function, f"{function}({name.text}) AS {new}"), Name(new, name.family)
            case _:
                return self.writer.note("COUNT(*)", f"COUNT(*) AS {new}"), Name(new, "whole")


def _names(table: Table) -> tuple[Name, ...]:
    return tuple(Name(column.name, column.family, column) for column in table.columns)


def _qualified(relation: Relation, alias: str) -> list[Name]:
    return [Name(f"{alias}.{name.bare}", name.family, name.origin) for name in relation.names]


def _unique_among(over: Relation, names: Sequence[Name]) -> tuple[frozenset[str], ...]:
    """Its unique keys of which all columns are still there."""
    left = {name.bare for name in names if name.origin is not None}
    return tuple(key for key in over.unique if key <= left)
