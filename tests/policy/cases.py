"""Guarded aggregations of every kind, each with its rows and their units as a person would list them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.plan.algebra.relations import Aggregate, Expr

from .by_hand import Row
from .worlds import Case, Tables, argument, is_there

VISITS = "COUNT(*) AS n, SUM(cost) AS t, MIN(cost) AS lo, MAX(cost) AS hi"


def visits_by_kind(units: Any) -> Any:
    """visits grouped by kind. units: of a row of visits."""

    def rows(tables: Tables) -> list[Row]:
        return [Row((kind,), {"cost": cost}, units(at, person), (True,)) for at, person, kind, cost in tables["visits"]]

    return rows


ONE_TABLE = (None, "cost", "cost", "cost")

BY_ROW = Case(
    f"SELECT kind, {VISITS} FROM visits GROUP BY kind",
    (("visits", (), 2),),
    visits_by_kind(lambda at, person: (at,)),
    ONE_TABLE,
)
BY_KEY = replace(BY_ROW, floors=(("visits", ("id",), 3),))
BY_PERSON = replace(
    BY_ROW,
    floors=(("visits", ("person",), 2),),
    rows=visits_by_kind(lambda at, person: (person,)),
    shared=frozenset({0}),
)
BY_PERSON_OF_3 = replace(BY_PERSON, floors=(("visits", ("person",), 3),))
BY_PERSON_AND_COST = replace(
    BY_ROW,
    floors=(("visits", ("person", "cost"), 2),),
    rows=lambda tables: [
        Row((kind,), {"cost": cost}, (None if None in (person, cost) else (person, cost),), (True,))
        for at, person, kind, cost in tables["visits"]
    ],
    shared=frozenset({0}),
)
TWO_UNITS = replace(
    BY_ROW,
    floors=(("visits", ("person",), 2), ("visits", ("id",), 3)),
    rows=lambda tables: [
        Row((kind,), {"cost": cost}, (person, at), (True, True)) for at, person, kind, cost in tables["visits"]
    ],
    shared=frozenset({0}),
)
WITHOUT_KEYS = replace(
    BY_PERSON,
    query=f"SELECT {VISITS} FROM visits",
    rows=lambda tables: [Row((), {"cost": cost}, (person,), (True,)) for _, person, _, cost in tables["visits"]],
)
FILTERED = replace(
    BY_PERSON,
    query=f"SELECT kind, {VISITS} FROM visits WHERE cost > 0 GROUP BY kind",
    rows=lambda tables: [row for row in BY_PERSON.rows(tables) if (row.values["cost"] or 0) > 0],
)
DISTINCT = replace(BY_PERSON, query="SELECT DISTINCT kind FROM visits", arguments=())
DISTINCT_VALUES = replace(
    BY_PERSON,
    query="SELECT kind, COUNT(DISTINCT cost) AS d, MEDIAN(cost) AS m, COUNT(cost) AS c FROM visits GROUP BY kind",
    arguments=("cost", "cost", "cost"),
)


def joined(tables: Tables) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Pairs of a person and a visit."""
    return [(a, b) for b in tables["visits"] for a in tables["people"] if a[0] == b[1]]


JOINED = Case(
    "SELECT p.city, COUNT(*) AS n, SUM(v.cost) AS t, SUM(p.pay) AS pay "
    "FROM people p JOIN visits v ON p.ssn = v.person GROUP BY p.city",
    (("people", ("ssn",), 2),),
    lambda tables: [Row((a[1],), {"cost": b[3], "pay": a[2]}, (a[0],), (True,)) for a, b in joined(tables)],
    (None, "cost", "pay"),
)
JOINED_BY_KIND = replace(
    JOINED,
    query=JOINED.query.replace("p.city", "v.kind"),
    rows=lambda tables: [Row((b[2],), {"cost": b[3], "pay": a[2]}, (a[0],), (True,)) for a, b in joined(tables)],
    shared=frozenset({0}),
)
JOINED_ROWS = replace(JOINED_BY_KIND, floors=(("people", (), 3),))
JOINED_BY_PERSON_AND_COST = replace(
    JOINED_BY_KIND,
    floors=(("visits", ("person", "cost"), 2),),
    rows=lambda tables: [
        Row((b[2],), {"cost": b[3], "pay": a[2]}, (None if b[3] is None else (b[1], b[3]),), (True,))
        for a, b in joined(tables)
    ],
)
TWO_OWNERS = replace(
    JOINED_BY_KIND,
    floors=(("people", ("ssn",), 2), ("visits", (), 3)),
    rows=lambda tables: [
        Row((b[2],), {"cost": b[3], "pay": a[2]}, (a[0], b[0]), (True, True)) for a, b in joined(tables)
    ],
)
EQUAL_UNITS = replace(
    TWO_OWNERS,
    floors=(("people", ("ssn",), 2), ("visits", ("person",), 3)),
    rows=lambda tables: [
        Row((b[2],), {"cost": b[3], "pay": a[2]}, (a[0], b[1]), (True, True)) for a, b in joined(tables)
    ],
    shared=frozenset({0, 1}),
)

UNION = Case(
    f"SELECT kind, {VISITS} FROM "
    "(SELECT kind, cost FROM visits UNION ALL SELECT kind, cost FROM calls) u GROUP BY kind",
    (("visits", ("person",), 2), ("calls", ("person",), 2)),
    lambda tables: [
        Row(
            (each[2],),
            {"cost": each[3]},
            (each[1], None) if name == "visits" else (None, each[1]),
            (name == "visits", name == "calls"),
        )
        for name in ("visits", "calls")
        for each in tables[name]
    ],
    ONE_TABLE,
    shared=frozenset({0, 1}),
)
UNION_OF_ROWS = replace(
    UNION,
    shared=frozenset(),
    floors=(("visits", (), 2), ("calls", (), 3)),
    rows=lambda tables: [
        replace(row, units=(at, None) if row.there[0] else (None, at)) for at, row in enumerate(UNION.rows(tables))
    ],
)
UNION_WITHOUT_KEYS = replace(
    UNION,
    query=f"SELECT {VISITS} FROM (SELECT cost FROM visits UNION ALL SELECT cost FROM calls) u",
    rows=lambda tables: [replace(row, key=()) for row in UNION.rows(tables)],
)


def tagged(key: Any) -> Any:
    """Rows of a union in which a constant says whose each row is, by the constant and more keys."""

    def rows(tables: Tables) -> list[Row]:
        return [
            replace(row, key=("v" if row.there[0] else "c", *key(row)), apart=frozenset({1 if row.there[0] else 0}))
            for row in UNION.rows(tables)
        ]

    return rows


UNION_TAGGED = replace(
    UNION,
    query=f"SELECT src, {VISITS} FROM "
    "(SELECT 'v' AS src, cost FROM visits UNION ALL SELECT 'c' AS src, cost FROM calls) u GROUP BY src",
    rows=tagged(lambda row: ()),
)
UNION_TAGGED_BY_KIND = replace(
    UNION,
    query=f"SELECT src, kind, {VISITS} FROM (SELECT 'v' AS src, kind, cost FROM visits "
    "UNION ALL SELECT 'c' AS src, kind, cost FROM calls) u GROUP BY src, kind",
    rows=tagged(lambda row: row.key),
)


def _per_person(tables: Tables, name: str) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for each in tables[name]:
        found.setdefault(each[1], []).append(each[3])
    return found


def _total(found: list[Any]) -> Any:
    known = [each for each in found if each is not None]
    return sum(known) if known else None


PER_PERSON = Case(
    "SELECT p.city, COUNT(*) AS n, SUM(s.t) AS t FROM "
    "(SELECT person, SUM(cost) AS t FROM visits GROUP BY person) s JOIN people p ON p.ssn = s.person GROUP BY p.city",
    (("visits", ("person",), 2), ("people", ("ssn",), 3)),
    lambda tables: [
        Row((a[1],), {"t": _total(costs)}, (a[0], a[0]), (True, True))
        for a in tables["people"]
        for person, costs in _per_person(tables, "visits").items()
        if person == a[0]
    ],
    (None, "t"),
)
UNION_PER_PERSON = Case(
    "SELECT t, COUNT(*) AS n FROM (SELECT person, SUM(cost) AS t FROM "
    "(SELECT person, cost FROM visits UNION ALL SELECT person, cost FROM calls) u GROUP BY person) s GROUP BY t",
    (("visits", ("person",), 2), ("calls", ("person",), 2)),
    lambda tables: [
        Row(
            (_total(_per_person(both(tables), "both")[person]),),
            {},
            (
                person if person in _per_person(tables, "visits") else None,
                person if person in _per_person(tables, "calls") else None,
            ),
            (person in _per_person(tables, "visits"), person in _per_person(tables, "calls")),
        )
        for person in _per_person(both(tables), "both")
    ],
    (None,),
    shared=frozenset({0, 1}),
)


def both(tables: Tables) -> Tables:
    """The rows of both owners as one table."""
    return {"both": tables["visits"] + tables["calls"]}


def _paid(aggregate: Aggregate) -> dict[int, tuple[Expr, ...]]:
    return {place: (is_there(aggregate, "pay"),) for place in (1, 2)}


NULLABLE = Case(
    "SELECT city, COUNT(*) AS n, SUM(pay) AS t, COUNT(pay) AS c FROM people GROUP BY city",
    (("people", ("ssn",), 2),),
    lambda tables: [
        Row((city,), {"pay": pay}, (ssn,), (True,), (pay is not None,)) for ssn, city, pay, _ in tables["people"]
    ],
    (None, "pay", "pay"),
    refined=_paid,
)
OWN_FLOOR = replace(NULLABLE, own=((1, 0, 3), (2, 0, 3)))


def _conditional(aggregate: Aggregate) -> dict[int, tuple[Expr, ...]]:
    chosen = argument(aggregate, 1)
    vip = _condition(aggregate, chosen)
    there = is_there(aggregate, argument(aggregate, 2))
    return {1: (vip, there), 2: (there,)}


def _condition(aggregate: Aggregate, name: str) -> Expr:
    """What is not NULL where a CASE without ELSE takes its branch."""
    return is_there(aggregate, name)


CONDITIONAL = Case(
    "SELECT v.kind, COUNT(*) AS n, COUNT(CASE WHEN p.vip THEN 1 END) AS vips, SUM(p.pay) AS t "
    "FROM people p JOIN visits v ON p.ssn = v.person GROUP BY v.kind",
    (("people", ("ssn",), 2),),
    lambda tables: [
        Row(
            (b[2],),
            {"vip": 1 if a[3] else None, "pay": a[2]},
            (a[0],),
            (True,),
            (a[3] is True, a[2] is not None),
        )
        for a, b in joined(tables)
    ],
    (None, "vip", "pay"),
    refined=_conditional,
    written=(0,),
    shared=frozenset({0}),
)
CONDITIONAL_OWN = replace(CONDITIONAL, own=((2, 0, 3),))


def _counted(aggregate: Aggregate) -> dict[int, tuple[Expr, ...]]:
    return {place: (is_there(aggregate, argument(aggregate, place)),) for place in (1, 2)}


PIVOT = Case(
    "SELECT city, COUNT(*) AS n, COUNT(CASE WHEN pay < 0 THEN 1 END) AS low, "
    "COUNT(CASE WHEN pay >= 3 THEN 1 END) AS high FROM people GROUP BY city",
    (("people", ("ssn",), 2),),
    lambda tables: [
        Row(
            (city,),
            {"low": 1 if (pay or 0) < 0 else None, "high": 1 if (pay or 0) >= 3 else None},
            (ssn,),
            (True,),
            ((pay or 0) < 0, (pay or 0) >= 3),
        )
        for ssn, city, pay, _ in tables["people"]
    ],
    (None, "low", "high"),
    refined=_counted,
    written=(0, 1),
    never=frozenset({(True, True)}),
)
PIVOT_OF_SOME = replace(
    PIVOT,
    query=PIVOT.query.replace("GROUP BY", "WHERE pay BETWEEN -2 AND -1 OR pay = 5 GROUP BY"),
    rows=lambda tables: [
        row for row, (_, _, pay, _) in zip(PIVOT.rows(tables), tables["people"], strict=True) if pay in (-2, -1, 5)
    ],
    never=frozenset({(True, True), (False, False)}),
)
COMPLEMENT_PIVOT = replace(PIVOT_OF_SOME, query=PIVOT.query, rows=PIVOT.rows, never=PIVOT.never, complement=True)
COMPLEMENT = replace(NULLABLE, complement=True)
COMPLEMENT_FILTERED = Case(
    "SELECT city, COUNT(*) AS n, SUM(pay) AS t FROM people WHERE vip GROUP BY city",
    (("people", ("ssn",), 2),),
    lambda tables: [
        Row((city,), {"pay": pay}, (ssn,), (True,), (pay is not None,), vip is True)
        for ssn, city, pay, vip in tables["people"]
    ],
    (None, "pay"),
    refined=lambda aggregate: {1: (is_there(aggregate, "pay"),)},
    complement=True,
)
COMPLEMENT_TOTAL = replace(
    COMPLEMENT_FILTERED,
    query="SELECT COUNT(*) AS n, SUM(pay) AS t FROM people WHERE pay > 0",
    rows=lambda tables: [
        Row((), {"pay": pay}, (ssn,), (True,), (), (pay or 0) > 0) for ssn, city, pay, vip in tables["people"]
    ],
    refined=lambda aggregate: {},
)
UNION_REFINED = replace(
    UNION,
    query="SELECT kind, COUNT(*) AS n, SUM(cost) AS t, COUNT(cost) AS c FROM "
    "(SELECT kind, cost FROM visits UNION ALL SELECT kind, cost FROM calls) u GROUP BY kind",
    rows=lambda tables: [replace(row, bits=(row.values["cost"] is not None,)) for row in UNION.rows(tables)],
    arguments=(None, "cost", "cost"),
    refined=lambda aggregate: {place: (is_there(aggregate, "cost"),) for place in (1, 2)},
    own=((1, 1, 3),),
)
SELF_JOIN = Case(
    "SELECT a.city, COUNT(*) AS n FROM people a JOIN people b ON a.ssn = b.pay GROUP BY a.city",
    (("people", ("ssn",), 2), ("people", ("ssn",), 2)),
    lambda tables: [
        Row((a[1],), {}, (a[0], b[0]), (True, True)) for a in tables["people"] for b in tables["people"] if a[0] == b[2]
    ],
    (None,),
)
WITHOUT_KEYS_REFINED = replace(
    NULLABLE,
    query="SELECT COUNT(*) AS n, SUM(pay) AS t, COUNT(pay) AS c FROM people",
    rows=lambda tables: [replace(row, key=()) for row in NULLABLE.rows(tables)],
)

CASES = {name: each for name, each in list(globals().items()) if isinstance(each, Case)}
FOLDED = {
    f"{name}_FOLDED": replace(each, small="fold")
    for name, each in CASES.items()
    if "GROUP BY" in each.query and not each.complement
}
