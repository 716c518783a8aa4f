"""Which columns of a relation a recipient knows row by row, of the rows that stem from one scan.

It knows what it sees row by row, its own rows, and the rows of others that meet known ones. A row of its own that
stands beside a row of others by a key that it does not know is as little known as that key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tacit.plan.algebra.relations import Expr
from tacit.plan.facts.fields import columns_of
from tacit.plan.policy.outcomes import is_small

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Known:
    """seen: columns whose values a recipient knows. secret: those that it does not know. mixed: computed of both.

    tests, keys: conditions, and keys of joins, that decide which rows there are.
    """

    seen: frozenset[str] = NONE
    secret: frozenset[str] = NONE
    mixed: frozenset[str] = NONE
    tests: tuple[Expr, ...] = ()
    keys: tuple[Expr, ...] = ()

    def __or__(self, other: Known) -> Known:
        """Both beside each other."""
        seen, secret, mixed = self.seen | other.seen, self.secret | other.secret, self.mixed | other.mixed
        return Known(seen, secret, mixed, self.tests + other.tests, self.keys + other.keys)

    @property
    def certain(self) -> bool:
        """Whether a recipient knows which rows there are."""
        return not any(map(self.hides, (*self.tests, *self.keys)))

    def hides(self, expr: Expr) -> bool:
        """Whether a recipient does not know what an expression is in a row."""
        return not is_small(expr) or not columns_of(expr).isdisjoint(self.secret | self.mixed)

    def blends(self, expr: Expr) -> bool:
        """Whether an expression reads what is computed of both."""
        return not is_small(expr) or not columns_of(expr).isdisjoint(self.mixed)

    def is_mixed(self, expr: Expr) -> bool:
        """Whether an expression is computed from columns that are seen, and from others, as far as it is looked at."""
        return self.blends(expr) or (self.hides(expr) and not columns_of(expr).isdisjoint(self.seen))

    def tested(self, condition: Expr) -> Known:
        """With a further condition on rows."""
        return replace(self, tests=(*self.tests, condition))

    def computed(self, name: str, values: Sequence[Expr]) -> Known:
        """With a new column, of several values of one row, or of values of several rows."""
        if any(map(self.is_mixed, values)) or len({self.hides(each) for each in values}) > 1:
            return replace(self, mixed=self.mixed | {name})
        if any(map(self.hides, values)):
            return replace(self, secret=self.secret | {name})
        return replace(self, seen=self.seen | {name})

    def counted(self, name: str) -> Known:
        """With a new column that is a number of rows."""
        hidden = self.secret or self.mixed or not self.certain
        return replace(self, secret=self.secret | {name}) if hidden else replace(self, seen=self.seen | {name})

    def hidden(self) -> Known:
        """The same where it is not known which of these rows are meant."""
        return replace(self, seen=NONE, secret=self.secret | self.seen)


NOTHING_KNOWN = Known()


def united(parts: Sequence[Known], columns: Iterable[tuple[str, Sequence[Expr]]]) -> Known:
    """What is known of a union. columns: each name, and what it is in the inputs."""
    whole = NOTHING_KNOWN
    for each in parts:
        whole |= each
    for name, values in columns:
        whole = whole.computed(name, values)
    certain = {each.certain for each in parts}
    if len(certain) > 1:
        return replace(whole, mixed=whole.mixed | whole.seen | whole.secret)
    return whole


def joined(mine: Known, other: Known, keys: Sequence[tuple[Expr, Expr]]) -> Known:
    """What is known of a join. keys: pairs of both sides' columns, mine first, of whose rows it is asked."""
    known = other.certain and not any(mine.hides(a) or other.hides(b) for a, b in keys)
    whole = mine | (other if known else other.hidden())
    return replace(whole, keys=(*whole.keys, *(each for pair in keys for each in pair)))


def matched(mine: Known, other: Known, keys: Sequence[tuple[Expr, Expr]], columns: frozenset[str]) -> Known:
    """What is known of rows that all stay beside columns of their match, by keys as of a join."""
    own = [a for a, _ in keys]
    if any(map(mine.is_mixed, own)) or len({mine.hides(a) or other.hides(b) for a, b in keys}) > 1:
        return replace(mine, mixed=mine.mixed | columns)
    if other.certain and not (other.secret or other.mixed) and not any(map(mine.hides, own)):
        return replace(mine, seen=mine.seen | columns)
    return replace(mine, secret=mine.secret | columns)
