"""P10: sequences of questions that the owner's agent allows tell of no fewer units than the floor, all together.

Whether they do is found by changing single values. The agent's own sets are compared with those that show thereby.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Final

import pytest

from tacit.audit.refusals import Refused

from .product import Agents, Product
from .properties import surface
from .properties.linear import Vector, changed_by, effects, hiding, isolates, together
from .properties.sequences import AGGREGATED, KEYS, Step, as_sums, compared, linear, measured, sequences, single
from .properties.surface import MEASURES, NORTH, Select, with_rows
from .rendered import Rendered, Unguarded

LEASTS: Final = (2, 3)
ANSWERED, TOO_NEAR, CAREFUL, UNCLEAR = "answered", "too near", "careful", "unclear"
"""What an agent says. Careful: of what could be shown, it is too near; a guard withholds some of it."""
TRACKED: Final = "tracked"
"""Sequences that tell of few units' values if all questions are answered."""


World = tuple[Rendered, Product]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, World]:
    products = {each: Product(surface.offers(each), tmp_path_factory.mktemp(f"least{each}")) for each in LEASTS}
    return {least: (Rendered(product.federation.catalog), product) for least, product in products.items()}


class Told:
    """What the answers of steps tell of one table."""

    def __init__(self, subject: Rendered, table: str, seed: int = 0) -> None:
        self.subject, self.table, self.seed = subject, table, seed
        self.known: dict[tuple[int, str, tuple[str, ...]], dict[Hashable, Vector]] = {}

    def values(self, steps: Iterable[Step]) -> dict[Hashable, Vector]:
        """How the numbers depend on each measure's value of each row. A value that has changed is another one."""
        parts = []
        for step in steps:
            found = dict[Hashable, Vector]()
            for column in MEASURES[self.table]:
                changes = self._effects(step, linear(step.asked), (column,))
                found |= {(key, column, self._value(step, key, column)): each for key, each in changes.items()}
            parts.append(found)
        return together(parts)

    def rows(self, steps: Iterable[Step]) -> dict[Hashable, Vector]:
        """How often each row is in what each number is of, whatever values rows have."""
        return together([self._rows(step, each) for step in steps for each in compared(step.asked)])

    def changed(self, steps: Iterable[Step], column: str) -> dict[Hashable, Vector]:
        """The same of the numbers that are of one column. A row with another value there is another row."""
        return together([self._changed(step, each, column) for step in steps for each in compared(step.asked)])

    def _changed(self, step: Step, asked: Select, column: str) -> dict[Hashable, Vector]:
        which = [column in measured(each, self.table) for each in asked.values]
        return {
            (key, self._value(step, key, column)): tuple(itertools.compress(each, itertools.cycle(which)))
            for key, each in self._rows(step, asked).items()
        }

    def withheld(self, step: Step) -> bool:
        """Whether anything that a question adds up is not shown."""
        sql, measures = as_sums(step.asked, self.table), MEASURES[self.table]
        every = effects(Unguarded(self.subject), sql, step.data, self.table, measures, KEYS[self.table])
        shown = self._rows(step, step.asked)
        return any(sum(each[at::2]) != sum(shown[key][at::2]) for key, each in every.items() for at in (0, 1))

    def _rows(self, step: Step, asked: Select) -> dict[Hashable, Vector]:
        return self._effects(step, as_sums(asked, self.table), MEASURES[self.table])

    def _effects(self, step: Step, sql: str, measures: tuple[str, ...]) -> dict[Hashable, Vector]:
        key = id(step.data), sql, measures
        if key not in self.known:
            self.known[key] = effects(self.subject, sql, step.data, self.table, measures, KEYS[self.table])
        return self.known[key]

    def _value(self, step: Step, key: Hashable, column: str) -> Any:
        return next(row[column] for row in step.data[self.table] if tuple(row[k] for k in KEYS[self.table]) == key)


def unit(name: Any) -> int:
    """Of a row, by its key, alone or beside a value."""
    while isinstance(name, tuple):
        name = name[0]
    return int(name)


def tells(told: Told, steps: list[Step], least: int) -> bool:
    """Whether the owner has to refuse: a combination of what is shown is of fewer units than the floor."""
    matrices = [told.rows(steps), *(told.changed(steps, column) for column in AGGREGATED[told.table])]
    return any(isolates(each, unit, least) for each in matrices)


def explained(told: Told, steps: list[Step], least: int, chance: random.Random) -> None:
    """A value of few units may be another one, if others' are, too: all answers are as they were."""
    columns = told.values(steps)
    if not columns:
        return
    changed: Any = chance.choice(sorted(columns, key=repr))
    few = {unit(changed), *chance.sample(sorted({unit(each) for each in columns}), least - 2)}
    amounts = hiding(columns, changed, [each for each in columns if unit(each) not in few])
    assert amounts is not None, (few, changed, described(told, steps))
    for step in steps:
        rows, here = step.data[told.table], dict[tuple[int, str], int]()
        for at, row in enumerate(rows):
            for column in MEASURES[told.table]:
                name = tuple(row[key] for key in KEYS[told.table]), column, row[column]
                if row[column] is not None:
                    here[at, column] = amounts.get(name, 0)
        other = with_rows(step.data, told.table, changed_by(rows, here))
        before, after = (told.subject.answer(step.asked.sql, NORTH, each).seen() for each in (step.data, other))
        assert before == after, (few, other[told.table], described(told, steps))


def hold(subject: Rendered, product: Product, table: str, seed: int, count: int, joined: bool = False) -> Counter[str]:
    """How often the owner's agent says what. What it allows tells of nobody."""
    least, said, chance = _least(product), Counter[str](), random.Random(seed)
    for steps in sequences(subject, table, seed, count, joined):
        told, agents, answered = Told(subject, table, seed), Agents(product, NORTH), list[Step]()
        for step in steps:
            verdict = _verdict(agents.refusal(step.asked.sql, step.data))
            now = [*answered, step]
            if not joined:
                verdict = judged(verdict, told, now, least)
            said[verdict] += 1
            answered = now if verdict == ANSWERED else answered
        said[TRACKED] += isolates(told.values(steps), unit, least)
        assert not isolates(told.values(answered), unit, least), described(told, answered)
        explained(told, answered, least, chance)
    return said


def isolated(subject: Rendered, step: Step, least: int) -> bool:
    """Whether a question alone tells of values of few units."""
    tables = [table for table in MEASURES if table in step.asked.sql]
    return any(isolates(Told(subject, table).values([step]), unit, least) for table in tables)


def judged(verdict: str, told: Told, steps: list[Step], least: int) -> str:
    """The agent's verdict, or that it was careful: it took for shown what a guard withholds."""
    if verdict == UNCLEAR:
        return verdict
    reason = tells(told, steps, least)
    assert verdict == TOO_NEAR or not reason, described(told, steps)
    assert verdict == ANSWERED or reason or any(told.withheld(step) for step in steps), described(told, steps)
    return verdict if reason or verdict == ANSWERED else CAREFUL


def described(told: Told, steps: list[Step]) -> str:
    """What a failure says."""
    return "\n".join([f"seed {told.seed}", *(f"{each.asked.sql}\n    {each.data[told.table]}" for each in steps)])


def _verdict(refusal: Refused | None) -> str:
    return ANSWERED if refusal is None else TOO_NEAR if refusal.looked else UNCLEAR


def _least(product: Product) -> int:
    return next(each for each in LEASTS if f"least_group = {each}" in product.offers["south"])


def is_useful(said: Counter[str]) -> bool:
    """Whether agents answer most, refuse trackers, and seldom refuse without one. All else has no meaning either.

    Without agents some sequences tell of somebody: a search that finds none of them is no search (P11).
    """
    asked = said.total() - said[TRACKED]
    seldom = (said[CAREFUL] + said[UNCLEAR]) * 8 <= asked
    return said[ANSWERED] * 5 > asked * 3 and said[TOO_NEAR] > 1 and seldom and said[TRACKED] > 0


@pytest.mark.parametrize("least", LEASTS)
@pytest.mark.parametrize("table", ["people", "stays"])
def test_what_agents_allow_tells_of_nobody(worlds: Mapping[int, World], table: str, least: int) -> None:
    said = hold(*worlds[least], table, 1, 7)
    assert is_useful(said), said


def test_joins_with_tables_that_have_every_key_tell_of_nobody(worlds: Mapping[int, World]) -> None:
    """A difference that a join makes small is not found, and there is none where it leaves all rows."""
    said = hold(*worlds[2], "people", 2, 4, joined=True) + hold(*worlds[3], "stays", 2, 4, joined=True)
    assert is_useful(said), said


@pytest.mark.parametrize("least", LEASTS)
def test_values_of_few_units_hide_behind_fractions(worlds: Mapping[int, World], least: int) -> None:
    """P4 of single questions, joins of two owners' tables among them. Of totals beside groups the agent decides."""
    subject, product = worlds[least]
    asked = list(single(subject, 3, 15))
    found = [step for step in asked if isolated(subject, step, least)]
    assert len(found) * 4 < len(asked)
    for step in found:
        assert Agents(product, NORTH).refusal(step.asked.sql, step.data), described(Told(subject, "people"), [step])


def test_a_number_of_one_value_less_is_found() -> None:
    """All four, and all but one; beside a third number the difference is of two."""
    whole, part, other = (tuple(map(Fraction, each)) for each in ((1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 0, 0)))
    for numbers, least, expected in (
        ([whole], 4, False),
        ([whole, part], 2, True),
        ([whole, other], 2, False),
        ([whole, other], 3, True),
    ):
        columns = dict(zip("abcd", zip(*numbers, strict=True), strict=True))
        assert isolates(columns, ord, least) == expected
    assert hiding({"a": (Fraction(2),), "b": (Fraction(3),)}, "a", ["b"]) == {"a": 3, "b": -2}
    assert hiding({"a": (Fraction(2),), "b": (Fraction(0),)}, "a", ["b"]) is None


# --- nightly


@pytest.mark.nightly
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("least", LEASTS)
@pytest.mark.parametrize("table", ["people", "stays"])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_many_sequences_tell_of_nobody(
    worlds: Mapping[int, World], seed: int, table: str, least: int, joined: bool
) -> None:
    said = hold(*worlds[least], table, seed, 40, joined)
    assert is_useful(said), said
