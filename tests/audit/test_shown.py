"""What is really shown, by the meaning of guards, never isolates anybody: groups, folds, conditions, branches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit.atoms import Atom
from tacit.audit.refusals import Refused
from tacit.audit.vectors import entries_of

from . import minimum
from .tables import Owner, Person

LEAST = 2
Sets = list[frozenset[int]]


def ids(found: Iterable[Person]) -> frozenset[int]:
    return frozenset(int(str(each["id"])) for each in found)


def groups(found: Sequence[Person]) -> dict[object, frozenset[int]]:
    """The people of each city."""
    return {city: ids(p for p in found if p["city"] == city) for city in {p["city"] for p in found}}


def folded(found: Sequence[Person]) -> Sets:
    """Groups that are large enough, and one of the others, which the smallest join if it is too small."""
    large = [each for each in groups(found).values() if len(each) >= LEAST]
    small = [each for each in groups(found).values() if len(each) < LEAST]
    if small and len(frozenset().union(*small)) < LEAST:
        least = min(map(len, large), default=0)
        small += [each for each in large if len(each) == least]
        large = [each for each in large if len(each) > least]
    rest = frozenset().union(*small) if small else frozenset[int]()
    if rest and (not large or len(rest) < LEAST):
        return []
    return [*large, *([rest] if rest else [])]


def of_at_least(number: int) -> Callable[[Sequence[Person]], Sets]:
    """Groups that a condition on their number leaves, of those that are shown."""
    return lambda found: [each for each in groups(found).values() if len(each) >= max(LEAST, number)]


def whole(test: Callable[[Person], bool]) -> Callable[[Sequence[Person]], Sets]:
    """Those of whom something holds, if they are enough."""

    def chosen(found: Sequence[Person]) -> Sets:
        inside = ids(p for p in found if test(p))
        return [inside] if len(inside) >= LEAST else []

    return chosen


def branches(found: Sequence[Person]) -> Sets:
    """All, and the important ones unless there are too few of them or of the others."""
    inside, everybody = ids(p for p in found if p["vip"]), ids(found)
    fine = all(not each or len(each) >= LEAST for each in (inside, everybody - inside))
    return [everybody, inside] if fine and inside else [everybody]


def branches_in_groups(found: Sequence[Person]) -> Sets:
    """The same in each row that is shown."""
    by_id = {int(str(p["id"])): p for p in found}
    return [each for row in folded(found) for each in branches([by_id[id] for id in sorted(row)])]


QUESTIONS: dict[str, Callable[[Sequence[Person]], Sets]] = {
    "SELECT COUNT(*) FROM people": whole(lambda p: True),
    "SELECT COUNT(*) FROM people WHERE city = 'A'": whole(lambda p: p["city"] == "A"),
    "SELECT COUNT(*) FROM people WHERE city = 'B' OR vip": whole(lambda p: p["city"] == "B" or bool(p["vip"])),
    "SELECT COUNT(*) FROM people WHERE NOT vip": whole(lambda p: not p["vip"]),
    "SELECT city, COUNT(*) FROM people GROUP BY city": folded,
    "SELECT city, COUNT(*) AS n FROM people GROUP BY city HAVING COUNT(*) >= 3": of_at_least(3),
    "SELECT city, COUNT(*) AS n FROM people GROUP BY city ORDER BY n DESC LIMIT 9": of_at_least(0),
    "SELECT COUNT(*), SUM(CASE WHEN vip THEN 1 ELSE 0 END) FROM people": branches,
    "SELECT city, COUNT(*), SUM(CASE WHEN vip THEN 1 END) FROM people GROUP BY city": branches_in_groups,
    "SELECT MAX(n) FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) AS t": of_at_least(0),
}


def isolated(sets: Sequence[frozenset[int]]) -> bool:
    """Whether a combination of these sets is about fewer people than the floor."""
    everybody = sorted(frozenset().union(*sets)) if sets else []
    found: dict[tuple[int, ...], set[bytes]] = {}
    for person in everybody:
        entries = entries_of({at: 1 for at, each in enumerate(sets) if person in each})
        found.setdefault(entries, set()).add(bytes([person]))
    return minimum.isolates([Atom(entries, frozenset(units)) for entries, units in found.items()], LEAST)


PEOPLE = st.lists(
    st.fixed_dictionaries({"city": st.sampled_from("AABC"), "vip": st.booleans(), "pay": st.just(1)}),
    min_size=5, max_size=8,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(PEOPLE, st.lists(st.sampled_from(sorted(QUESTIONS)), min_size=1, max_size=4, unique=True))
def test_what_is_shown_isolates_nobody(drawn: list[Person], asked: list[str]) -> None:
    found = [{"id": at, **each} for at, each in enumerate(drawn)]
    with TemporaryDirectory() as folder:
        owner = Owner(Path(folder)).with_terms(least_group=LEAST)
        owner.has(found)
        shown: Sets = []
        for sql in asked:
            try:
                owner.answers(sql)
            except Refused:
                continue
            shown += QUESTIONS[sql](found)
            assert not isolated(shown), (found, asked)
