"""The form of questions beneath a guard: a second check, by their shape, of what ``derive`` has allowed.

A guard counts units. It holds the floor if each unit adds to an answer what owners' data alone say of it. So

1. rows that a recipient knows stand beside hidden rows by joins and conditions alone. Beneath the guard, rows of both
   are taken together within a unit only, and by what the recipient knows of that unit.
2. rows that a recipient knows, and all that is read together with them, meet one hidden column, or the unit. Each
   further column of the unit has to name its partners.
3. other hidden rows stand beside a unit's by equal columns that say which unit or row they are of, through no known
   row. Values of several inputs of a union stand beside none.
4. each hidden row stands beside one row at most of each table that a recipient knows, or its owner lists the weights.
5. values that a recipient knows are added up over hidden rows only where the owner lists them.
6. a condition, and a key of groups, is of what a recipient knows or of what is hidden. One of both is where the owner
   lets the two columns meet.
7. a column whose values are added up, or shown, is tested by intervals of itself alone, by which no value can be told
   from those beside it.
8. where rows are counted or added, and a unit has several, each condition, key and counted value reads one of their
   columns and nothing else that is hidden.

What a recipient knows is then a function of one hidden value of each row. It decides in which group a unit's rows
are, and in none how much they add. The page on rules has the same clauses, and docs/decisions/0067 says why they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Aggregation
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.terms import Function
from tacit.plan.policy.guards import Guard
from tacit.plan.policy.offers import knows, protected, wholly_open
from tacit.plan.policy.refusal import Problem, Rule
from tacit.plan.policy.shapes import (
    NO_SOURCES,
    Leaf,
    Read,
    Shape,
    Shapes,
    Source,
    Sources,
    Step,
    Value,
    closed,
    extended,
    names_a_row,
)

ADDING = ("sum", "count", "count_rows", "middle", "ranked")
"""Aggregates that change where rows are repeated."""
OFFERED: Final[dict[str, tuple[Function, ...]]] = {
    "sum": ("sum", "avg"),
    "min": ("min",),
    "max": ("max",),
    "middle": ("quantile",),
    "ranked": ("quantile",),
    "count_distinct": ("count_distinct",),
}
"""The functions of an offer of which an aggregate is one."""
OF_VALUES = ("sum", "sum_distinct", "min", "max", "middle", "ranked")
"""Aggregates that are made of values, and no numbers of rows."""


def problems_of_form(guards: Iterable[Guard], catalog: Catalog, recipients: tuple[str, ...]) -> tuple[Problem, ...]:
    """Where the rows beneath a guard are in no form that it can answer for."""
    guards = list(guards)
    aggregates = frozenset(each.aggregate for each in guards)
    found: dict[Problem, None] = {}
    for guard in guards:
        shape = Shapes(catalog, aggregates, recipients).of(guard.aggregate.input)
        for table in _ruled(shape, recipients):
            form = _Form(shape, guard, table, tuple(each for each in recipients if each != table.owner))
            found |= dict.fromkeys(form.problems())
    return tuple(found)


def _ruled(shape: Shape, recipients: tuple[str, ...]) -> list[Table]:
    tables = {each.table.name: each.table for each in _sorted_leaves(shape) if each.table is not None}
    return [each for each in tables.values() if protected(each, recipients) and not wholly_open(each, recipients)]


def _sorted_leaves(shape: Shape) -> list[Leaf]:
    """In the one order in which all parties go through them."""
    return sorted(shape.leaves, key=lambda each: each.number)


@dataclass(frozen=True)
class _Form:
    """The rows beneath a guard as the owner of one table has to see them. others: recipients but that owner."""

    shape: Shape
    guard: Guard
    table: Table
    others: tuple[str, ...]

    def problems(self) -> Iterator[Problem]:
        """What is not in the form."""
        yield from self._together()
        yield from self._tied()
        yield from self._unreached()
        yield from self._repeated()
        yield from self._weighted()
        yield from self._mixed()
        yield from self._of_several()
        yield from self._tested()
        yield from self._counted()

    @property
    def _own(self) -> list[Leaf]:
        return [each for each in _sorted_leaves(self.shape) if each.table == self.table]

    @property
    def _beside(self) -> list[Leaf]:
        """Leaves of other tables whose rows are known and stand beside rows of this one."""
        pairs = self.shape.beside
        known = [each for each in _sorted_leaves(self.shape) if each.table != self.table and self._knows_rows(each)]
        return [each for each in known if any((each, own) in pairs for own in self._own)]

    def _knows_rows(self, leaf: Leaf) -> bool:
        return leaf.table is None or any(knows(leaf.table, None, each) for each in self.others)

    def _knows(self, source: Source) -> bool:
        table = self._leaves[source[0]].table
        return table is None or any(knows(table, source[1] or None, each) for each in self.others)

    @property
    def _leaves(self) -> dict[int, Leaf]:
        return {each.number: each for each in self.shape.leaves}

    def _of_unit(self, own: Leaf) -> Sources:
        """The hidden columns of which each unit has one value."""
        named = self.table.terms.unit if self.table.terms else ()
        unit = frozenset((own.number, each) for each in named) or own.columns
        return extended(unit, self.shape.leaves - {*self._beside}, self.shape)

    def _together(self) -> Iterator[Problem]:
        known = [each for each in _sorted_leaves(self.shape) if each.table != self.table and self._knows_rows(each)]
        for step in self.shape.steps:
            own = [each for each in self._own if each in step.leaves]
            others = [each for each in known if each in step.leaves]
            if not own or not others:
                continue
            if not all(self._is_of_units(step, each, others) for each in own):
                sentence = f"{step.name} takes rows of {self.table.name} and of {_named(others[0])} together"
                yield self._problem("repeats", sentence, step.position)

    def _is_of_units(self, step: Step, own: Leaf, known: list[Leaf]) -> bool:
        """Whether rows of one unit each are taken together, beside known rows that are the same for all of them."""
        of_unit = self._of_unit(own)
        whole = all((each, own) in self.shape.beside for each in known)
        met = NO_SOURCES.union(*(each.sources for each in self._met()))
        return whole and step.by is not None and step.by <= closed(of_unit, self.shape) and met <= of_unit

    def _tied(self) -> Iterator[Problem]:
        """Known rows that meet columns of which a unit has several values, and something else beside."""
        for own in self._own:
            of_unit = self._of_unit(own)
            for read in self._met():
                several = sorted(read.sources - of_unit)
                ways = {closed(frozenset({each}), self.shape) for each in several}
                if several and (len(ways) > 1 or read.sources & of_unit):
                    sentence = f"known rows meet {self._name(several[0])} and another column beside, and so choose rows"
                    yield self._problem("weights", f"{sentence} of each unit of {self.table.name}", read.position)

    def _of_several(self) -> Iterator[Problem]:
        """Known rows that keys of joins, conditions and keys of groups tie to two hidden columns of a unit."""
        named = self.table.terms.unit if self.table.terms else ()
        keys = [Read(self.shape.columns[each].sources) for each in self.guard.aggregate.keys]
        reads = [*(each for each in self.shape.reads if each.decides), *keys]
        for own in self._own:
            unit = closed(frozenset((own.number, each) for each in named), self.shape)
            of_unit = unit | self._of_unit(own)
            for read in self._met_by(reads):
                mine = sorted(each for each in read.sources if each in of_unit or each[0] == own.number)
                ways = {closed(frozenset({each}), self.shape) for each in mine}
                others = [each for each in mine if each not in unit]
                if (
                    len(ways) > 1
                    and others
                    and not all(self._may_meet(each, self._known_with(each, reads)) for each in others)
                ):
                    sentence = f"known rows meet {self._name(others[0])} and another column of the same unit"
                    yield self._problem("filter", sentence, read.position)

    def _known_with(self, hidden: Source, reads: Iterable[Read]) -> list[Source]:
        """The known columns that are read together with a hidden one."""
        beside = {each.number for each in self._beside}
        found = {each for read in reads if hidden in read.sources for each in read.sources}
        return sorted(each for each in found if each[0] in beside and each[1])

    def _met(self) -> list[Read]:
        """Of known rows that are read together, directly or by others, the hidden columns that they meet."""
        return self._met_by(self.shape.reads)

    def _met_by(self, reads: Iterable[Read]) -> list[Read]:
        """The same of some reads."""
        found: list[tuple[frozenset[int], Read]] = []
        beside = {each.number for each in self._beside}
        for read in reads:
            numbers = frozenset(number for number, column in read.sources if number in beside and column)
            if not numbers:
                continue
            met = frozenset(each for each in read.sources if each[0] not in beside and each[1])
            joined = [each for each in found if each[0] & numbers]
            found = [each for each in found if each not in joined]
            sources = met.union(*(one.sources for _, one in joined))
            found.append((numbers.union(*(one for one, _ in joined)), Read(sources, position=read.position)))
        return [read for _, read in found]

    def _unreached(self) -> Iterator[Problem]:
        """Hidden rows that stand beside those of the table by known rows, or by a column that recipients may know."""
        for own in self._own:
            beside = [each for each in _sorted_leaves(self.shape) if (each, own) in self.shape.beside]
            left = [each for each in beside if each.table != self.table and not self._knows_rows(each)]
            sources = self._alike(own.columns)
            while entered := [each for each in left if self._is_entered(each, sources)]:
                left = [each for each in left if each not in entered]
                sources = self._alike(sources.union(*(each.columns for each in entered)))
            for each in left[:1]:
                sentence = f"{self.others[0]} chooses which rows of {_named(each)} stand beside rows of"
                yield self._problem("weights", f"{sentence} {self.table.name}", None)

    def _alike(self, sources: Sources) -> Sources:
        """With what joins make equal, and columns of unions with those of their inputs."""
        return closed(sources, replace(self.shape, equal=self.shape.equal | self.shape.alike))

    def _is_entered(self, leaf: Leaf, sources: Sources) -> bool:
        """Whether columns say which unit or row of a table it is, or are such that its owner lets hidden ones meet."""
        table = leaf.table
        assert table is not None, "shown groups are known"
        unit = frozenset((leaf.number, each) for each in (table.terms.unit if table.terms else ()))
        if names_a_row(sources, leaf) or (unit and unit <= sources):
            return True
        columns = NO_SOURCES.union(*(each.columns for each in self.shape.leaves))
        hidden = {self._name(each) for each in columns if not self._knows(each)}
        named = (each for each in table.columns if (leaf.number, each.field.name) in sources)
        return any(
            each.terms.partners is not None and each.terms.partners <= hidden and "group" not in each.terms.ways
            for each in named
        )

    def _repeated(self) -> Iterator[Problem]:
        """Known rows of which several may stand beside one hidden row."""
        adding = [each for each in self.guard.aggregate.aggregations if each.function in ADDING]
        beside = {each.number for each in self._beside}
        columns = {one for each in self.shape.leaves if each.number not in beside for one in each.columns}
        columns |= {made for made, sources in self.shape.made if all(each[0] not in beside for each in sources)}
        of_row = extended(frozenset(columns), self.shape.leaves, self.shape)
        for each in self._beside if adding else ():
            if not self._is_one(each, of_row) and not self._lists(each, "*"):
                sentence = f"{_named(each)} may count a row of {self.table.name} several times"
                yield self._problem("repeats", sentence, adding[0].position)

    def _is_one(self, leaf: Leaf, sources: Sources) -> bool:
        """Whether these columns say which row of a table there is, or which of its groups, or marks never repeat it."""
        if leaf in self.shape.marking:
            return True
        keys = (keys for leaves, keys in self.shape.unique if leaf in leaves)
        return names_a_row(sources, leaf) or any(each <= sources for each in keys)

    def _lists(self, leaf: Leaf, column: str) -> bool:
        weights = self.table.terms.weights if self.table.terms else frozenset[str]()
        return leaf.table is not None and not weights.isdisjoint(
            {f"{leaf.table.name}.*", f"{leaf.table.name}.{column}"}
        )

    def _weighted(self) -> Iterator[Problem]:
        """Known values of which an aggregate is made, over hidden rows."""
        beside = {*self._beside}
        for each in self.guard.aggregate.aggregations:
            if each.column is None or each.function not in (*OF_VALUES, "count_distinct"):
                continue
            value = self.shape.columns[each.column]
            inputs = {self._leaves[number] for number, _ in value.sources}
            if value.united and any((one, own) in self.shape.beside for one in inputs for own in self._own):
                sentence = f"values of several inputs of a UNION stand beside rows of {self.table.name}, and nothing"
                yield self._problem("floor", f"{sentence} counts how many meet each input", each.position)
            if each.function == "count_distinct" and self._is_unit(value):
                continue
            for source in sorted(value.values):
                leaf = self._leaves[source[0]]
                stands = leaf in beside or (leaf.table == self.table and source[1])
                if stands and self._knows(source) and not self._may_add(each, value, source):
                    sentence = f"values that are known, {self._name(source)}, are added over rows that"
                    yield self._problem("weights", f"{sentence} {self.table.name} decides", each.position)

    def _is_unit(self, value: Value) -> bool:
        """Whether a column is the unit, or alone unique, so that its different values are units or rows."""
        if any(value.identity is not None and names_a_row(frozenset({value.identity}), each) for each in self._own):
            return True
        named = self.table.terms.unit if self.table.terms else ()
        units = (closed(frozenset({(own.number, named[0])}), self.shape) for own in self._own if len(named) == 1)
        return value.identity is not None and any(value.identity in each for each in units)

    def _may_add(self, each: Aggregation, value: Value, source: Source) -> bool:
        """Whether the owner lists a known column, or offers this aggregate of its own one, which nobody has chosen."""
        leaf = self._leaves[source[0]]
        if self._lists(leaf, source[1]):
            return True
        table = leaf.table
        if table is None or table.owner != self.table.owner or table.terms is None or not value.rises:
            return False
        rows = (closed(own.columns, self.shape) for own in self._own)
        if leaf.table != self.table and not any(names_a_row(each, leaf) for each in rows):
            return False
        terms = next(one.terms for one in table.columns if one.field.name == source[1])
        return "aggregate" in terms.ways and not terms.functions.isdisjoint(OFFERED.get(each.function, ()))

    def _mixed(self) -> Iterator[Problem]:
        """Conditions and keys of groups that read known and hidden columns: for all but few units they may be known."""
        own = {each.number for each in self._own}
        beside = {each.number for each in self._beside}
        keys = [Read(self.shape.columns[each].sources) for each in self.guard.aggregate.keys]
        for read in (*(each for each in self.shape.reads if each.decides and not each.is_key), *keys):
            values = sorted(each for each in read.sources if each[1])
            known = [each for each in values if each[0] in beside | own and self._knows(each)]
            hidden = [each for each in sorted(read.sources - {*known}) if each[0] in own]
            if known and hidden and not all(self._may_meet(one, known) for one in hidden):
                sentence = f"one condition or key is of {self._name(hidden[0])} and of {self._name(known[0])}"
                yield self._problem("filter", f"{sentence}, which is known of each unit", read.position)

    def _may_meet(self, hidden: Source, known: list[Source]) -> bool:
        """Whether the owner names the columns that conditions may compare a column with, and these are among them."""
        table = self._leaves[hidden[0]].table if hidden[0] in self._leaves else None
        columns = table.columns if table is not None else ()
        found = next((each.terms.partners for each in columns if each.field.name == hidden[1]), None)
        return found is not None and {self._name(each) for each in known} <= found

    def _tested(self) -> Iterator[Problem]:
        own = {each.number for each in self._own}
        aggregate = self.guard.aggregate
        keys = [self.shape.columns[each] for each in aggregate.keys]
        reads = [each for each in self.shape.reads if each.decides and not each.is_interval]
        reads += [Read(each.sources) for each in keys if not each.brackets]
        for each in aggregate.aggregations:
            values = closed(frozenset(one for one in self._values(each) if one[0] in own), self.shape)
            shown = {column for number, column in values if number in own}
            for read in reads:
                touched = sorted(one for one in read.sources if one in values or (one[0] in own and one[1] in shown))
                if touched:
                    sentence = (
                        f"{self._name(touched[0])} is added up or shown, and decides by more than an interval of it"
                    )
                    yield self._problem("floor", sentence, read.position or each.position)

    def _counted(self) -> Iterator[Problem]:
        """Conditions and keys that choose, by what is hidden of a unit, how many of its rows count."""
        adding = [each for each in self.guard.aggregate.aggregations if each.function in ADDING]
        aggregate, columns = self.guard.aggregate, self.shape.columns
        keys = [Read(columns[each].sources) for each in aggregate.keys]
        counted = [(each, each.column) for each in adding if each.function == "count" and each.column is not None]
        # Guards count the units of each cell of a CASE. What windows and groups make NULL they do not.
        made = [(each, columns[name].sources) for each, name in counted]
        keys += [Read(sources, position=each.position) for each, sources in made if not all(one for _, one in sources)]
        known = {each.number for each in self._beside}
        for own in self._own if adding else ():
            near = {one.number for one, other in self.shape.beside if other == own} - known | {own.number}
            named = self.table.terms.unit if self.table.terms else ()
            unit = closed(frozenset((own.number, each) for each in named), self.shape)
            of_unit = self._of_unit(own)
            for read in (*(each for each in self.shape.reads if each.decides and not each.is_key), *keys):
                met = sorted(each for each in read.sources - unit if each[0] in near and each[1])
                several = [each for each in met if each not in of_unit]
                if several and len({closed(frozenset({each}), self.shape) for each in met}) > 1:
                    sentence = f"one condition or key is of {self._name(several[0])} and of another column, and so"
                    yield self._problem(
                        "weights", f"{sentence} chooses how many rows of each unit count", read.position
                    )

    def _values(self, each: Aggregation) -> Sources:
        if each.column is None or each.function not in OF_VALUES:
            return NO_SOURCES
        return self.shape.columns[each.column].values

    def _name(self, source: Source) -> str:
        leaf = self._leaves.get(source[0])
        table = _named(leaf) if leaf is not None else "a key"
        return f"{table}.{source[1]}" if source[1] else f"the number of rows of {table}"

    def _problem(self, rule: Rule, sentence: str, position: Position | None) -> Problem:
        return Problem(
            rule, self.table.owner, self.table.name, None, "form", sentence, self.others[0], "form", position
        )


def _named(leaf: Leaf) -> str:
    return "shown groups" if leaf.table is None else leaf.table.name
