"""Generated queries: SELECTs over generated relations, with everything that the supported SQL has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from . import scalars, statistics
from .chance import Chance
from .columns import Family
from .expressions import Name, Writer
from .relations import From, Relations
from .scalars import is_small
from .subqueries import Subqueries
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
        used = [table for table in self.world.tables if table.name in self.query]
        tables = "\n".join(f"tables\n{table.section}\n----\n{table.csv}" for table in used)
        return f"\n{tables}\nquery to {', '.join(self.to)}\n{self.query}\n# question {self.seed}\n"


@dataclass
class _Output:
    """An item of the SELECT list. double: whether it is a DOUBLE, which cannot be limited by. loose: see Question."""

    text: str
    name: str
    double: bool = False
    loose: bool = False


@dataclass
class _Select:
    """A SELECT: what stands before and after its list, or the whole text where no list is written.

    scope: what ORDER BY may use besides the outputs.
    """

    outputs: list[_Output]
    before: str = "SELECT "
    after: str = ""
    whole: str = ""
    scope: list[Name] = field(default_factory=list)

    def text(self, *, named: bool = True) -> str:
        """The SELECT, its outputs with names of their own or without."""
        listed = [f"{output.text} AS {output.name}" if named else output.text for output in self.outputs]
        return self.whole or f"{self.before}{', '.join(listed)}{self.after}"

    @property
    def can_be_nameless(self) -> bool:
        """Whether its outputs would have different names without AS, of which none is a whole query."""
        if self.whole or self.before != "SELECT " or any("SELECT" in output.text for output in self.outputs):
            return False
        return len({output.text.lower().rsplit(".", 1)[-1] for output in self.outputs}) == len(self.outputs)


def question(world: World, seed: str) -> Question:
    """The query of this seed over a world."""
    writer = Writer(Chance(seed))
    return _Queries(world, writer, Relations(world, writer)).question()


@dataclass
class _Queries:
    world: World
    writer: Writer
    relations: Relations

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

    def _select(self) -> _Select:
        clause = self.relations.from_clause()
        where = self._where(clause)
        match self.writer.pick(["rows", "rows", "groups", "groups", "groups", "totals", "star", "windows", "windows"]):
            case "groups":
                return self._groups(clause, where)
            case "windows" if any(name.shown for name in clause.scope):
                return self._windows(clause, where)
            case "totals":
                outputs = self._aggregates(clause.scope)
                self.writer.note("aggregates without GROUP BY", "")
                having = self._having(clause.scope) if self.writer.often(5) else ""
                return _Select(outputs, "SELECT ", f" FROM {clause.text}{where}{having}")
            case "star" if (
                " JOIN " in clause.text and self.writer.often(2) and (found := self._table_star(clause, where))
            ):
                return found
            case "star" if (
                " JOIN " not in clause.text and "," not in clause.text and all(n.shown for n in clause.scope)
            ):
                outputs = [_Output(name.text, name.bare) for name in clause.scope]
                whole = self.writer.note("*", f"SELECT * FROM {clause.text}{where}")
                return _Select(outputs, whole=whole, scope=clause.scope)
            case _:
                return self._rows(clause, where)

    def _table_star(self, clause: From, where: str) -> _Select | None:
        """All columns of one relation of several."""
        alias = clause.scope[-1].text.split(".")[0]
        names = [name for name in clause.scope if name.text.startswith(f"{alias}.")]
        ambiguous = " JOIN " not in clause.text or " USING " in clause.text or "NATURAL" in clause.text
        if ambiguous or not all(name.shown for name in names):
            return None
        whole = self.writer.note("table.*", f"SELECT {alias}.* FROM {clause.text}{where}")
        return _Select([_Output(name.text, name.bare) for name in names], whole=whole, scope=clause.scope)

    def _rows(self, clause: From, where: str) -> _Select:
        writer = self.writer
        outputs = [self._output(clause.scope) for _ in range(writer.pick([1, 2, 3, 4]))]
        distinct = writer.note("DISTINCT", "DISTINCT ") if writer.often(4) else ""
        after = f" FROM {clause.text}{where}"
        self._reuse_names(outputs, clause.scope)
        return _Select(outputs, f"SELECT {distinct}", after, scope=[] if distinct else clause.scope)

    def _windows(self, clause: From, where: str) -> _Select:
        """Columns beside window functions, and a condition on one of these."""
        writer = self.writer
        windows = [self._window(clause.scope) for _ in range(writer.pick([1, 1, 2, 3]))]
        qualify = ""
        if writer.often(3):
            number = writer.pick(["1", "2", "3"])
            kind = writer.pick(["rank()", "count(*)", "dense_rank()"])
            qualify = writer.note("QUALIFY", f" QUALIFY {kind} OVER (ORDER BY ")
            qualify += f"{writer.pick([n for n in clause.scope if n.shown]).text}) <= {number}"
        outputs = [self._column(clause.scope), *windows]
        distinct = writer.note("DISTINCT", "DISTINCT ") if writer.often(6) else ""
        window = self._named_window(clause.scope, outputs) if writer.often(4) else ""
        return _Select(outputs, f"SELECT {distinct}", f" FROM {clause.text}{where}{window}{qualify}")

    def _named_window(self, scope: Sequence[Name], outputs: list[_Output]) -> str:
        """A window with a name of its own, and functions over it."""
        writer, name = self.writer, self.relations.fresh("w")
        for _ in range(writer.pick([1, 2])):
            call = writer.pick(["count(*)", f"count({writer.pick(scope).text})", "rank()", "dense_rank()"])
            outputs.append(_Output(writer.note("named window", f"{call} OVER {name}"), self.relations.fresh("o")))
        order = writer.pick([each for each in scope if each.shown]).text
        return f" WINDOW {name} AS (PARTITION BY {writer.pick(scope).text} ORDER BY {order}{self._direction()})"

    def _window(self, scope: Sequence[Name]) -> _Output:
        """A window function. One that tells peers apart is over rows in the order of all columns that it can show."""
        writer, shown = self.writer, [name for name in scope if name.shown]
        numbers = [name for name in shown if name.family in ("whole", "decimal")]
        partition = f"PARTITION BY {writer.pick(scope).text} " if writer.often(2) else ""
        some = ", ".join(f"{writer.pick(shown).text}{self._direction()}" for _ in range(writer.pick([1, 1, 2])))
        order = f"ORDER BY {some}" if not writer.often(3) else ""
        total = f"ORDER BY {', '.join(f'{name.text}{self._direction()}' for name in writer.chance.shuffled(shown))}"
        frame = ""
        if writer.often(2):
            start, end = sorted((writer.pick([-9, -3, -1, 0, 1, 4]), writer.pick([-2, -1, 0, 1, 2, 9])))
            bounds = [self._bound(start), self._bound(end)]
            bounds[0] = writer.pick([bounds[0], bounds[0], "UNBOUNDED PRECEDING"])
            bounds[1] = writer.pick([bounds[1], bounds[1], "UNBOUNDED FOLLOWING"])
            frame, order = writer.note("ROWS frame", f" ROWS BETWEEN {bounds[0]} AND {bounds[1]}"), total
        elif order and writer.often(4):
            peers = writer.pick(["UNBOUNDED PRECEDING AND CURRENT ROW", "CURRENT ROW AND UNBOUNDED FOLLOWING"])
            frame = writer.note("RANGE frame", f" RANGE BETWEEN {peers}")
        of = writer.pick(shown).text
        shifted = f"{of}, {writer.pick([1, 1, 2, 0, 40])}{writer.pick(['', f', {of}'])}"
        calls = {
            "row_number()": total, "rank()": f"ORDER BY {some}", "dense_rank()": f"ORDER BY {some}",
            f"ntile({writer.pick([1, 3, 7])})": total, f"lag({shifted})": total, f"lead({shifted})": total,
            f"first_value({of})": total + frame, f"last_value({of})": total + frame,
            "count(*)": order + frame, f"count({of})": order + frame, f"min({of})": order + frame,
            f"max({of})": order + frame,
        }  # fmt: skip
        calls |= {f"{name}({writer.pick(numbers).text})": order + frame for name in ("sum", "avg") if numbers}
        call = writer.pick(sorted(calls))
        text = writer.note(f"{call.split('(')[0]} OVER", f"{call} OVER ({partition}{calls[call]})")
        return _Output(text, self.relations.fresh("o"), double=call.startswith("avg"))

    def _direction(self) -> str:
        return self.writer.pick(["", "", " DESC"]) + self.writer.pick(["", "", " NULLS FIRST"])

    def _bound(self, distance: int) -> str:
        if distance == 0:
            return "CURRENT ROW"
        return f"{abs(distance)} {'PRECEDING' if distance < 0 else 'FOLLOWING'}"

    def _groups(self, clause: From, where: str) -> _Select:
        writer = self.writer
        keys: list[_Output] = []
        for _ in range(writer.pick([1, 1, 2, 3])):
            key = self._output(clause.scope) if writer.often(4) else self._column(clause.scope)
            place = key.text.lstrip("-").isdigit()  # GROUP BY 1 means the first output
            if not place and key.text not in [each.text for each in keys]:
                keys.append(key)
        keys = keys or [self._column(clause.scope)]
        shown = [key for key in keys if not writer.often(6)]
        outputs = [*shown, *self._aggregates(clause.scope)]
        having = self._having(clause.scope) if writer.often(3) else ""
        listed = ", ".join(key.text for key in keys)
        form = writer.pick(["", "", "", "", "", "", "ROLLUP", "GROUPING SETS", "CUBE"])
        singly = ", ".join(f"({key.text})" for key in keys)
        sets = writer.pick([f"({listed}), ()", f"({keys[0].text}), ({listed})", f"{singly}, ()"])
        written = {f"{form}": f"{form} ({listed})", "GROUPING SETS": f"GROUPING SETS ({sets})", "": listed}[form]
        group = writer.note(form or "GROUP BY", f" GROUP BY {written}")
        if not form and len(shown) == len(keys) and writer.often(5):
            form, group = "ALL", writer.note("GROUP BY ALL", " GROUP BY ALL")
        if form not in ("", "ALL") and writer.often(2):
            outputs.append(_Output(writer.note("GROUPING", f"GROUPING({listed})"), self.relations.fresh("o")))
        elif not form and writer.often(6):
            outputs.append(self._over_groups(keys, clause.scope))
        self._reuse_names(outputs, clause.scope)
        return _Select(outputs, "SELECT ", f" FROM {clause.text}{where}{group}{having}")

    def _over_groups(self, keys: Sequence[_Output], scope: Sequence[Name]) -> _Output:
        """A window over the groups, in an order by how many rows they have."""
        writer, name = self.writer, self.relations.fresh("o")
        call = writer.pick(["RANK()", "DENSE_RANK()", "SUM(COUNT(*))", "COUNT(*)", "MAX(COUNT(*))"])
        over = f"ORDER BY COUNT({writer.pick(scope).text}){self._direction()}"
        if writer.often(3):
            over = f"PARTITION BY {keys[0].text} {over}"
        return _Output(writer.note("window over groups", f"{call} OVER ({over})"), name)

    def _union(self) -> _Select:
        """A set operation on two SELECTs with outputs of the same families."""
        writer = self.writer
        families: list[Family] = [
            writer.pick(["whole", "decimal", "flag", "date", "moment"]) for _ in range(writer.pick([1, 2]))
        ]
        sides, count = [], writer.pick([2, 2, 2, 3])
        for _ in range(count):
            clause = self.relations.from_clause()
            listed = [
                _Output(writer.expression(clause.scope, family, 1), f"o{at}") for at, family in enumerate(families)
            ]
            sides.append(_Select(listed, after=f" FROM {clause.text}{self._where(clause)}").text())
        words = [writer.pick(["UNION ALL", "UNION", "INTERSECT", "EXCEPT"]) for _ in sides]
        outputs = [_Output(f"o{at}", f"o{at}") for at, _ in enumerate(families)]
        whole = sides[0]
        for word, side in zip(words[1:], sides[1:], strict=True):
            whole += writer.note(f"{word} of queries", f" {word} ({side})" if writer.often(4) else f" {word} {side}")
        if count > 2:
            writer.note("set operations of three", "")
        return _Select(outputs, whole=whole)

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

    def _having(self, scope: Sequence[Name]) -> str:
        writer = self.writer
        numbers = [name for name in scope if name.family in ("whole", "decimal")]
        aggregates = ["COUNT(*)", f"COUNT({writer.pick(scope).text})"]
        aggregates += [f"{function}({writer.pick(numbers).text})" for function in ("SUM", "MAX", "MIN") if numbers]
        condition = f"{writer.pick(aggregates)} {writer.pick(['>', '<=', '<>'])} {writer.pick(['1', '0', '10'])}"
        return writer.note("HAVING", f" HAVING {condition}")

    def _aggregates(self, scope: Sequence[Name]) -> list[_Output]:
        return [self._aggregate(scope) for _ in range(self.writer.pick([1, 2, 3]))]

    def _aggregate(self, scope: Sequence[Name]) -> _Output:
        """An aggregate, or an expression over some."""
        writer, name = self.writer, self.relations.fresh("o")
        numbers = [each for each in scope if each.family in ("whole", "decimal")]
        # Of numbers beyond 2^53 DuckDB rounds the two middle ones before it adds them, and tacit does not.
        middling = [each for each in numbers if is_small(each)]
        shown = [each for each in scope if each.shown]
        kinds = ["COUNT(*)", "COUNT", "SUM", "COUNT(DISTINCT)", "MIN", "MAX", "AVG", "MEDIAN", "quotient", "expression"]
        kinds += ["FILTER", "BOOL_OR", "SUM(DISTINCT)", "QUANTILE_DISC", "QUANTILE_CONT"]
        if writer.often(5) and (found := self._statistic(scope, middling, name)):
            return found
        match writer.pick(kinds):
            case "COUNT":
                text = writer.note("COUNT", f"COUNT({self._any(scope)})")
            case "COUNT(DISTINCT)":
                text = writer.note("COUNT(DISTINCT)", f"COUNT(DISTINCT {writer.pick(scope).text})")
            case "SUM" if numbers:
                text = writer.note("SUM", f"SUM({writer.number(scope, writer.pick([0, 0, 2]))})")
            case "AVG" if numbers:
                return _Output(writer.note("AVG", f"AVG({writer.pick(numbers).text})"), name, double=True)
            case "MEDIAN" if middling:
                return _Output(writer.note("MEDIAN", f"MEDIAN({writer.pick(middling).text})"), name, double=True)
            case "FILTER":
                text, double = statistics.filtered(writer, scope)
                return _Output(text, name, double)
            case "BOOL_OR":
                function = writer.pick(["BOOL_OR", "BOOL_AND", "COUNT_IF"])
                text = writer.note("BOOL_OR", f"{function}({writer.flag(scope, 1)})")
            case "SUM(DISTINCT)" if numbers:
                text = writer.note("SUM(DISTINCT)", f"SUM(DISTINCT {writer.pick(numbers).text})")
            case "QUANTILE_DISC" if middling:
                share = writer.pick(["0.25", "0.9", "0.5"])
                text = writer.note("QUANTILE_DISC", f"QUANTILE_DISC({writer.pick(middling).text}, {share})")
            case "QUANTILE_CONT" if middling:
                share = writer.pick(["0.25", "0.75"])
                text = writer.note("QUANTILE_CONT", f"QUANTILE_CONT({writer.pick(middling).text}, {share})")
                return _Output(text, name, double=True)
            case "quotient" if numbers:
                text = f"SUM({writer.pick(numbers).text}) / COUNT({writer.pick(numbers).text})"
                return _Output(writer.note("division", text), name, double=True)
            case "expression" if numbers:
                number = writer.pick(numbers).text
                text = writer.pick(
                    [
                        f"COALESCE(SUM({number}), 0)",
                        f"SUM({number}) - COUNT(*)",
                        f"CASE WHEN COUNT(*) > 1 THEN MAX({number}) END",
                        f"2 * COUNT({number}) + 1",
                    ]
                )
                writer.note("expression over aggregates", "")
            case "MIN" | "MAX" as function if shown:
                text = writer.note(function, f"{function}({writer.pick(shown).text})")
            case _:
                text = writer.note("COUNT(*)", "COUNT(*)")
        return _Output(text, name)

    def _statistic(self, scope: Sequence[Name], small: Sequence[Name], name: str) -> _Output | None:
        """A less usual aggregate, if the scope has a column for it."""
        match self.writer.pick(["loose", "WITHIN GROUP", "ANY_VALUE"]):
            case "loose" if text := statistics.loose(self.writer, scope):
                return _Output(text, name, double=True, loose=True)
            case "WITHIN GROUP" if small:
                text, double = statistics.within_group(self.writer, small)
                return _Output(text, name, double, loose=double)
            case "ANY_VALUE" if text := statistics.any_value(self.writer, scope):
                return _Output(text, name)
            case _:
                return None

    def _reuse_names(self, outputs: Sequence[_Output], scope: Sequence[Name]) -> None:
        """Name outputs as columns that they are not: a plan that tells columns by their names would confuse them."""
        for output in outputs:
            free = {name.bare for name in scope} - {each.name for each in outputs}
            if free and self.writer.often(2):
                output.name = self.writer.note("output named as another column", self.writer.pick(sorted(free)))

    def _any(self, scope: Sequence[Name]) -> str:
        subject = self.writer.pick(scope)
        return (
            self.writer.expression(scope, subject.family, 1) if self.writer.often(3) and subject.shown else subject.text
        )

    def _column(self, scope: Sequence[Name]) -> _Output:
        """A column as output."""
        shown = [name for name in scope if name.shown]
        if not shown:
            return _Output("1 + 1", self.relations.fresh("o"))
        return _Output(self.writer.pick(shown).text, self.relations.fresh("o"))

    def _output(self, scope: Sequence[Name]) -> _Output:
        """An expression as output."""
        writer, name = self.writer, self.relations.fresh("o")
        shown = [each for each in scope if each.shown]
        if not shown:
            return _Output("1 + 1", name)
        if writer.often(10) and "scalar subquery" not in writer.features:
            return _Output(self._scalar(), name)
        if writer.often(12):
            return _Output(Subqueries(writer, self.relations).value(scope), name)
        if writer.often(3) and (found := scalars.output(writer, shown)):
            return _Output(found, name)
        subject = writer.pick(shown)
        if writer.often(2):
            return _Output(subject.text, name)
        return _Output(writer.expression(shown, subject.family, 2), name)

    def _order(self, select: _Select) -> tuple[tuple[int, ...], bool, str]:
        """ORDER BY, LIMIT and OFFSET: the outputs it orders by, whether they fix the order, and the text."""
        writer = self.writer
        places = list(range(len(select.outputs)))
        match writer.pick(["none", "none", "order", "order", "limit"]):
            case "limit" if not any(output.double for output in select.outputs) or writer.often(10):
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

    def _term(self, output: _Output, at: int) -> str:
        direction = self.writer.pick(["", " DESC", " ASC"])
        nulls = self.writer.pick(["", "", " NULLS FIRST", " NULLS LAST"])
        self.writer.note(nulls.strip() or "ORDER BY", "")
        place = str(at + 1) if self.writer.often(3) else output.name
        return f"{place}{direction}{nulls}"
