"""What subqueries add to a relation: columns of one more row, of the row with equal keys, or whether there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tacit.plan.algebra.refusals import Position
from tacit.plan.algebra.relations import Broadcast, ColumnRef, Expr, Join, KeptSides, Mark, Project, Relation
from tacit.plan.algebra.types import Boolean
from tacit.plan.facts.fields import column, columns_of, names
from tacit.sql.correlation import keyed
from tacit.sql.joins import same_encoding
from tacit.sql.scope import fresh


@dataclass(frozen=True)
class Beside:
    """Every row gets the columns of the one row of a relation."""

    relation: Relation
    outer: tuple[Expr, ...] = ()

    def added(self, input: Relation, keys: tuple[str, ...]) -> Relation:
        return Broadcast(input, self.relation)


@dataclass(frozen=True)
class Matched:
    """Every row gets the columns of the row whose keys equal ``outer``. kept: "none" leaves out rows without one."""

    relation: Relation
    keys: tuple[str, ...]
    outer: tuple[Expr, ...]
    kept: KeptSides
    position: Position | None = field(default=None, compare=False)

    def added(self, input: Relation, keys: tuple[str, ...]) -> Relation:
        return Join(self.relation, input, self.keys, keys, self.position, self.kept)


@dataclass(frozen=True)
class Marked:
    """Every row gets a BOOLEAN: whether a row of the relation has keys that equal ``outer``."""

    relation: Relation
    keys: tuple[str, ...]
    outer: tuple[Expr, ...]
    name: str
    position: Position | None = field(default=None, compare=False)

    def added(self, input: Relation, keys: tuple[str, ...]) -> Relation:
        return Mark(input, self.relation, keys, self.keys, self.name, self.position)


Attachment = Beside | Matched | Marked


class Attached:
    """The attachments of one SELECT, each once. taken: lower-case names that new columns cannot have."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.known: dict[Attachment, dict[str, str]] = {}
        self.made: dict[str, Attachment] = {}

    def beside(self, relation: Relation) -> dict[str, ColumnRef]:
        """The columns of a one-row relation, by their names in it."""
        return self._columns(Beside(relation), names(relation), False)

    def matched(self, each: Matched) -> dict[str, ColumnRef]:
        """The columns of the row with equal keys, by their names in its relation."""
        return self._columns(each, names(each.relation), each.kept != "none")

    def marked(self, relation: Relation, keys: tuple[str, ...], outer: tuple[Expr, ...], at: Position | None) -> Expr:
        """Whether a row of the relation has equal keys."""
        plain = Marked(Project(relation, tuple((key, column(relation, key)) for key in keys)), keys, outer, "", at)
        if plain not in self.known:
            name = self._fresh("found")
            new = {key: self._fresh(key) for key in keys}
            self.known[plain] = {"": name}
            self.made[name] = Marked(_renamed(plain.relation, new), tuple(new.values()), outer, name, at)
        return ColumnRef(self.known[plain][""], Boolean(), False, at)

    def takes_rows(self, expr: Expr) -> bool:
        """Whether an expression uses a column of the query's own rows, be it in the correlation of a subquery."""
        return any(
            name not in self.made or any(map(self.takes_rows, self.made[name].outer)) for name in columns_of(expr)
        )

    def added(
        self, relation: Relation, used: Iterable[str], over: Callable[[Expr], Expr] = lambda each: each
    ) -> Relation:
        """The relation with those of its new columns that are used. over: outer ones as it has them."""
        for each in self._needed(set(used) - set(names(relation))):
            keys = tuple(over(same_encoding(outer)) for outer in each.outer)
            relation, found = keyed(relation, list(keys), self.taken)
            self.taken |= {name.lower() for name in found}
            relation = each.added(relation, found)
        return relation

    def _needed(self, used: set[str]) -> list[Attachment]:
        """The attachments with these columns, and those that they use themselves, in the order they were made."""
        wanted = {self.made[name] for name in used if name in self.made}
        for each in reversed(list(dict.fromkeys(self.made.values()))):
            if each in wanted:
                inner = {name for outer in each.outer for name in columns_of(outer)}
                wanted |= {self.made[name] for name in inner if name in self.made}
        return [each for each in dict.fromkeys(self.made.values()) if each in wanted]

    def _columns(self, each: Beside | Matched, found: tuple[str, ...], missing: bool) -> dict[str, ColumnRef]:
        if each not in self.known:
            self.known[each] = {name: self._fresh(name) for name in found}
            new = self.known[each]
            made = replace(each, relation=_renamed(each.relation, new))
            if isinstance(made, Matched):
                made = replace(made, keys=tuple(new[key] for key in made.keys))
            self.made |= dict.fromkeys(new.values(), made)
        kept = self.known[each]
        return {name: _nullable(column(each.relation, name), kept[name], missing) for name in found}

    def _fresh(self, name: str) -> str:
        found = fresh(name, "subquery", self.taken)
        self.taken.add(found.lower())
        return found


def _renamed(relation: Relation, new: dict[str, str]) -> Relation:
    """The relation under new names of its columns."""
    if isinstance(relation, Project):
        return Project(relation.input, tuple((new[name], each) for name, each in relation.outputs))
    if all(name == renamed for name, renamed in new.items()):
        return relation
    return Project(relation, tuple((renamed, column(relation, name)) for name, renamed in new.items()))


def _nullable(each: ColumnRef, name: str, missing: bool) -> ColumnRef:
    return replace(each, name=name, nullable=each.nullable or missing)
