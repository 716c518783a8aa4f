"""Generated queries: SELECTs over generated relations, with everything that the supported SQL has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import scalars
from .aggregating import Aggregates
from .chance import Chance
from .columns import Family, literal
from .expressions import Name, Writer
from .relations import From, Relations
from .selects import Output, Select
from .subqueries import Subqueries
from .windowing import Windows
from .worlds import World


@dataclass(frozen=True)
class Question:
    """A query over a world.

    order: outputs (from 0) that the result is ordered by, as far as the outputs show it. total: the order has no ties
    but between equal rows, so that it fixes the whole result. features: what the query and the data contain. loose:
    outputs that are compared in a few digits.
    """

    world: World
    seed: str
    query: str
    to: tuple[str, ...]
    order: tuple[int, ...] = ()
    total: bool = False
    features: frozenset[str] = frozenset()
    loose: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        """As a block of an .slt file, ready to be kept."""
        together = self.world.united if "united table" in self.features else ()
        used = [table for table in self.world.tables if table.name in self.query or table.name in together]
        tables = "\n".join(f"tables\n{table.section}\n----\n{table.csv}" for table in used)
        return f"\n{tables}\nquery to {', '.join(self.to)}\n{self.query}\n# question {self.seed}\n"


def question(world: World, seed: str) -> Question:
    """The query of this seed over a world."""
    writer = Writer(Chance(seed))
    relations = Relations(world, writer)
    windows, aggregates = Windows(writer, relations.fresh), Aggregates(writer, relations.fresh)
    return _Queries(world, writer, relations, windows, aggregates).question()


@dataclass
class _Queries:
    world: World
    writer: Writer
    relations: Relations
    windows: Windows
    aggregates: Aggregates

    def question(self) -> Question:
        writer = self.writer
        for _ in range(writer.pick([0, 0, 0, 1, 2])):
            self.relations.cte()
        select = self._union() if writer.often(8) else self._select()
        order, total, tail = self._order(select)
        ctes = ", ".join(text for text, _ in self.relations.ctes)
        with_ = f"WITH {ctes} " if ctes else ""
        named = bool(tail) or not select.can_be_nameless or not writer.often(3)
        if not named:
            writer.note("outputs without names", "")
        query = f"{with_}{select.text(named=named)}{tail}"
        to = self._recipients()
        features = frozenset(writer.features | self.world.features | self._of_recipients(to))
        loose = frozenset(at for at, output in enumerate(select.outputs) if output.loose)
        return Question(self.world, writer.chance.seed, query, to, order, total, features, loose)

    def _recipients(self) -> tuple[str, ...]:
        """Mostly one, who may own nothing."""
        parties = self.world.members.parties
        some = self.writer.chance.several(parties, 1, self.writer.pick([1, 1, 1, 2, len(parties)]))
        return tuple(each for each in parties if each in some)

    def _of_recipients(self, to: tuple[str, ...]) -> set[str]:
        who = self.world.members
        found = {"several recipients"} if len(to) > 1 else set()
        found |= {"recipient that owns nothing"} if set(to) - set(who.owners) else set()
        return found | ({"recipient that is no node"} if set(to) & set(who.clients) else set())

    def _select(self) -> Select:
        clause = self.relations.from_clause()
        where = self._where(clause)
        match self.writer.pick(["rows", "rows", "groups", "groups", "groups", "totals", "star", "windows", "windows"]):
            case "groups":
                return self._groups(clause, where)
            case "windows" if any(name.shown for name in clause.scope):
                return self._windows(clause, where)
            case "totals":
                outputs = self.aggregates.several(clause.scope)
                self.writer.note("aggregates without GROUP BY", "")
                having = self.aggregates.having(clause.scope) if self.writer.often(5) else ""
                return Select(outputs, "SELECT ", f" FROM {clause.text}{where}{having}")
            case "star" if (
                " JOIN " in clause.text and self.writer.often(2) and (found := self._table_star(clause, where))
            ):
                return found
            case "star" if (
                " JOIN " not in clause.text and "," not in clause.text and all(n.shown for n in clause.scope)
            ):
                outputs = [Output(name.text, name.bare) for name in clause.scope]
                whole = self.writer.note("*", f"SELECT * FROM {clause.text}{where}")
                return Select(outputs, whole=whole, scope=clause.scope)
            case _:
                return self._rows(clause, where)

    def _table_star(self, clause: From, where: str) -> Select | None:
        """All columns of one relation of several."""
        alias = clause.scope[-1].text.split(".")[0]
        names = [name for name in clause.scope if name.text.startswith(f"{alias}.")]
        ambiguous = " JOIN " not in clause.text or " USING " in clause.text or "NATURAL" in clause.text
        if ambiguous or not all(name.shown for name in names):
            return None
        whole = self.writer.note("table.*", f"SELECT {alias}.* FROM {clause.text}{where}")
        return Select([Output(name.text, name.bare) for name in names], whole=whole, scope=clause.scope)

    def _rows(self, clause: From, where: str) -> Select:
        writer = self.writer
        outputs = [self._output(clause.scope) for _ in range(writer.pick([1, 2, 3, 4]))]
        # What an owner or a recipient computes is refused beneath it.
        plain = not any("(" in output.text for output in outputs) or writer.often(4)
        distinct = writer.note("DISTINCT", "DISTINCT ") if plain and writer.often(3) else ""
        after = f" FROM {clause.text}{where}"
        self._reuse_names(outputs, clause.scope)
        return Select(outputs, f"SELECT {distinct}", after, scope=[] if distinct else clause.scope)

    def _windows(self, clause: From, where: str) -> Select:
        """Columns beside window functions, and a condition on one of these."""
        writer = self.writer
        windows = self.windows.several(clause.scope, writer.pick([1, 1, 2, 3]))
        qualify = ""
        if writer.often(3):
            number = writer.pick(["1", "2", "3"])
            kind = writer.pick(["rank()", "count(*)", "dense_rank()"])
            qualify = writer.note("QUALIFY", f" QUALIFY {kind} OVER (ORDER BY ")
            qualify += f"{writer.pick([n for n in clause.scope if n.shown]).text}) <= {number}"
        outputs = [self._column(clause.scope), *windows]
        distinct = writer.note("DISTINCT", "DISTINCT ") if writer.often(6) else ""
        window = self.windows.named(clause.scope, outputs) if writer.often(4) else ""
        return Select(outputs, f"SELECT {distinct}", f" FROM {clause.text}{where}{window}{qualify}")

    def _groups(self, clause: From, where: str) -> Select:
        writer = self.writer
        keys: list[Output] = []
        for _ in range(writer.pick([1, 1, 2, 3])):
            key = self._output(clause.scope) if writer.often(4) else self._column(clause.scope)
            place = key.text.lstrip("-").isdigit()  # GROUP BY 1 means the first output
            if not place and key.text not in [each.text for each in keys]:
                keys.append(key)
        keys = keys or [self._column(clause.scope)]
        shown = [key for key in keys if not writer.often(6)]
        outputs = [*shown, *self.aggregates.several(clause.scope)]
        having = self.aggregates.having(clause.scope) if writer.often(3) else ""
        listed = ", ".join(key.text for key in keys)
        form = writer.pick(["", "", "", "", "", "", "ROLLUP", "GROUPING SETS", "CUBE"])
        singly = ", ".join(f"({key.text})" for key in keys)
        sets = writer.pick([f"({listed}), ()", f"({keys[0].text}), ({listed})", f"{singly}, ()"])
        written = {f"{form}": f"{form} ({listed})", "GROUPING SETS": f"GROUPING SETS ({sets})", "": listed}[form]
        group = writer.note(form or "GROUP BY", f" GROUP BY {written}")
        if not form and len(shown) == len(keys) and writer.often(5):
            form, group = "ALL", writer.note("GROUP BY ALL", " GROUP BY ALL")
        if form not in ("", "ALL") and (known := [n for n in clause.scope if n.text in [key.text for key in keys]]):
            outputs += [Output(self._of_key(writer.pick(known)), self.relations.fresh("o"))] if writer.often(2) else []
        if form not in ("", "ALL") and writer.often(2):
            outputs.append(Output(writer.note("GROUPING", f"GROUPING({listed})"), self.relations.fresh("o")))
        elif not form and writer.often(6):
            outputs.append(self.windows.over_groups(keys, clause.scope))
        self._reuse_names(outputs, clause.scope)
        return Select(outputs, "SELECT ", f" FROM {clause.text}{where}{group}{having}")

    def _of_key(self, key: Name) -> str:
        """What is made of a key, which is NULL where its set lacks it."""
        if key.origin is None:
            return self.writer.note("expression of a key", f"{key.text} IS NULL")
        value = literal(self.writer.pick(key.origin.values))
        form = self.writer.pick([f"COALESCE({key.text}, {value})", f"{key.text} IS NOT DISTINCT FROM {value}"])
        return self.writer.note("expression of a key", form)

    def _union(self) -> Select:
        """A set operation on two SELECTs with outputs of the same families."""
        writer = self.writer
        families: list[Family] = [
            writer.pick(["whole", "decimal", "flag", "date", "moment"]) for _ in range(writer.pick([1, 2]))
        ]
        sides, count = [], writer.pick([2, 2, 2, 3])
        for _ in range(count):
            clause = self.relations.from_clause()
            listed = [
                Output(writer.expression(clause.scope, family, 1), f"o{at}") for at, family in enumerate(families)
            ]
            sides.append(Select(listed, after=f" FROM {clause.text}{self._where(clause)}").text())
        words = [writer.pick(["UNION ALL", "UNION", "INTERSECT", "EXCEPT"]) for _ in sides]
        outputs = [Output(f"o{at}", f"o{at}") for at, _ in enumerate(families)]
        whole = sides[0]
        for word, side in zip(words[1:], sides[1:], strict=True):
            whole += writer.note(f"{word} of queries", f" {word} ({side})" if writer.often(4) else f" {word} {side}")
        if count > 2:
            writer.note("set operations of three", "")
        return Select(outputs, whole=whole)

    def _where(self, clause: From) -> str:
        writer = self.writer
        conditions = []
        if writer.often(3):
            conditions.append(writer.flag(clause.scope, writer.pick([0, 1, 2, 3])))
        if writer.often(12):
            conditions.append(self._membership(clause))
        if writer.often(4):
            conditions.append(Subqueries(writer, self.relations).condition(clause.scope))
        if writer.often(14) and (numbers := [name for name in clause.scope if name.family in ("whole", "decimal")]):
            conditions.append(f"{writer.pick(numbers).text} {writer.pick(['<', '>=', '='])} {self._scalar()}")
        found = [each for each in conditions if each]
        if len(found) > 1 and writer.often(2):
            found = [f"({writer.note('OR', ' OR ').join(found)})"]
        found = [*clause.conditions, *found]
        return f" WHERE {' AND '.join(found)}" if found else ""

    def _membership(self, clause: From) -> str:
        """column IN (SELECT ...)."""
        keys = [name for name in clause.scope if name.bare in ("k", "g") and name.origin is not None]
        if not keys:
            return ""
        key = self.writer.pick(keys)
        tables = [self.relations.table(each) for each in ("people", "places", "sales_a", "sales_b")]
        table = self.writer.pick([each for each in tables if each.has(frozenset({key.bare}))])
        where = f" WHERE {self.writer.flag(table.names, 1)}" if self.writer.often(2) else ""
        return self.writer.note("IN (SELECT)", f"{key.text} IN (SELECT {key.bare} FROM {table.text}{where})")

    def _scalar(self) -> str:
        """A scalar subquery that gives a number."""
        over = self.relations.relation(1)
        numbers = [name for name in over.names if name.family in ("whole", "decimal")]
        of = f"{self.writer.pick(['MAX', 'MIN', 'SUM'])}({self.writer.pick(numbers).text})" if numbers else "COUNT(*)"
        return self.writer.note("scalar subquery", f"(SELECT {of} FROM {over.text})")

    def _reuse_names(self, outputs: Sequence[Output], scope: Sequence[Name]) -> None:
        """Name outputs as columns that they are not: a plan that tells columns by their names would confuse them."""
        for output in outputs:
            free = {name.bare for name in scope} - {each.name for each in outputs}
            if free and self.writer.often(2):
                output.name = self.writer.note("output named as another column", self.writer.pick(sorted(free)))

    def _column(self, scope: Sequence[Name]) -> Output:
        """A column as output."""
        shown = [name for name in scope if name.shown]
        if not shown:
            return Output("1 + 1", self.relations.fresh("o"))
        return Output(self.writer.pick(shown).text, self.relations.fresh("o"))

    def _output(self, scope: Sequence[Name]) -> Output:
        """An expression as output."""
        writer, name = self.writer, self.relations.fresh("o")
        shown = [each for each in scope if each.shown]
        if not shown:
            return Output("1 + 1", name)
        if writer.often(10) and "scalar subquery" not in writer.features:
            return Output(self._scalar(), name)
        if writer.often(12):
            return Output(Subqueries(writer, self.relations).value(scope), name)
        if writer.often(4) and (found := scalars.output(writer, shown)):
            return Output(found, name)
        subject = writer.pick(shown)
        if writer.often(2):
            return Output(subject.text, name)
        return Output(writer.expression(shown, subject.family, 2), name)

    def _order(self, select: Select) -> tuple[tuple[int, ...], bool, str]:
        """ORDER BY, LIMIT and OFFSET: the outputs it orders by, whether they fix the order, and the text."""
        writer = self.writer
        places = list(range(len(select.outputs)))
        match writer.pick(["none", "none", "order", "order", "limit"]):
            case "limit" if not any(output.double for output in select.outputs) or writer.often(3):
                order = writer.chance.shuffled(places)
                terms = ", ".join(self._term(select.outputs[at], at) for at in order)
                count = writer.pick([3, 1, 100, 10, 2, 5, 10, 3, 0])
                limit = writer.note("LIMIT", f" LIMIT {count}") if not writer.often(5) else ""
                offset = (
                    writer.note("OFFSET", f" OFFSET {writer.pick([1, 1, 2, 1, 1, 2, 50])}")
                    if writer.often(3) or not limit
                    else ""
                )
                return tuple(order), True, f" ORDER BY {terms}{limit}{offset}"
            case "order" if select.scope and writer.often(3) and (shown := [n for n in select.scope if n.shown]):
                terms = f"{writer.pick(shown).text}, {writer.pick(shown).text} DESC"
                return (), False, writer.note("ORDER BY what is not selected", f" ORDER BY {terms}")
            case "order":
                order = writer.chance.shuffled(places)[: writer.pick([1, 2])]
                terms = ", ".join(self._term(select.outputs[at], at) for at in order)
                return tuple(order), len(order) == len(places), writer.note("ORDER BY", f" ORDER BY {terms}")
            case _:
                return (), False, ""

    def _term(self, output: Output, at: int) -> str:
        direction = self.writer.pick(["", " DESC", " ASC"])
        nulls = self.writer.pick(["", "", " NULLS FIRST", " NULLS LAST"])
        self.writer.note(nulls.strip() or "ORDER BY", "")
        place = str(at + 1) if self.writer.often(3) else output.name
        return f"{place}{direction}{nulls}"
