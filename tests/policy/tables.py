"""Rows of the federation's tables: generated, always the same, with every group of a useful question large.

There are four testers, who are in no other table, and three of them have gout: what isolates them is to be withheld.
One of them is a VIP. One person has 200 points.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

Rows = list[dict[str, Any]]

PEOPLE, CUSTOMERS, CLIENTS = 420, 500, 400
TOWNS = ("Oslo", "Bergen", "Bodo")
FIRST = date(2026, 1, 1)


def federation_rows(seed: int = 7) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """All tables' rows."""
    chance = random.Random(seed)
    people = [_person(chance, number) for number in range(1, PEOPLE + 1)]
    known = [person["ssn"] for person in people if not person["tester"]]
    return {
        "people": people,
        "orders": _orders(chance, known),
        "survey": [{"score": chance.randint(0, 10), "topic": chance.choice(("food", "staff"))} for _ in range(400)],
        "rooms": [{"room": at, "floor": at % 3, "note": f"r{at}"} for at in range(1, 13)],
        "customers": [_customer(chance, number) for number in range(1, CUSTOMERS + 1)],
        "copies": [{"ssn": number, "copy": at} for number in range(101, 107) for at in range(2 ** (number - 101))],
        "labels": [{"ssn": 100 + at, "label": at, "bit": 2**at, "half": int(at > 0)} for at in range(50)],
        "visits": _visits(chance, people),
        "clients": [
            {"ssn": number, "tier": chance.choice(("gold", "plain")), "balance": chance.randint(0, 9000)}
            for number in range(150, 150 + CLIENTS)
        ],
        "members": [
            {"ssn": number, "plan": chance.choice(("full", "half")), "fee": chance.randint(10, 90)}
            for number in range(1, 800, 2)
        ],
    }


def _person(chance: random.Random, number: int) -> dict[str, Any]:
    tester = number <= 4
    return {
        "ssn": 90000 + number if tester else number,
        "card": 50000 + number,
        "email": f"m{number}@x.no",
        "seat": number,
        "salary": chance.randint(20000, 90000),
        "bonus": None if chance.random() < 0.3 else chance.randint(0, 5000),
        "points": _points(chance, number),
        "vip": (chance.random() < 0.4 and not tester) or number == 1,
        "tester": tester,
        "age": chance.randint(10, 80),
        "since": date(2020 + number % 6, 1 + number % 12, 1 + number % 28),
        "grade": chance.choice(("A", "A", "B", "C")),
        "city": chance.choice(TOWNS),
        "illness": "gout" if number <= 3 else chance.choice(("none", "none", "flu")),
    }


def _points(chance: random.Random, number: int) -> int:
    points = chance.randint(0, 400)
    return 200 if number == 20 else points


def _customer(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "ssn": 100 + number,
        "segment": chance.choice(("home", "office", "shop")),
        "region": chance.choice(("coast", "inland")),
        "revenue": chance.randint(0, 9000),
        "weight": 2 ** (number % 39),
        "mark": 1 if number == 1 else None,
        "opened": date(2020 + number % 6, 1 + number % 12, 1),
    }


def _orders(chance: random.Random, known: list[int]) -> Rows:
    return [
        {
            "number": number,
            "ssn": chance.choice(known),
            "amount": chance.randint(1, 900),
            "item": chance.choice(("book", "lamp", "sofa")),
            "day": FIRST + timedelta(days=chance.randrange(4) * 30),
        }
        for number in range(1, 1001)
    ]


def _visits(chance: random.Random, people: Rows) -> Rows:
    """Half of the visitors are people, whose cards they show."""
    cards = {person["ssn"]: person["card"] for person in people}
    numbers = [chance.randint(200, 620) for _ in range(1000)]
    return [
        {
            "ssn": number,
            "card": cards.get(number, 60000 + number),
            "clinic": chance.choice(("east", "hill")),
            "cost": chance.randint(10, 500),
            "urgent": chance.random() < 0.3,
            "day": FIRST + timedelta(days=chance.randrange(300)),
        }
        for number in numbers
    ]
