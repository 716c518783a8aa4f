"""Catalogs of the four demo questions, and one with every type and every way to treat sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tacit.plan.algebra.types import Boolean, Date, Decimal, Field, Integer, Timestamp, Type, Varchar
from tacit.plan.facts.catalog import Catalog, Column, KeptColumn, KeptTable, Table
from tacit.plan.facts.kinds import Kind

Columns = Sequence[tuple[str, Type, bool]]


def table(
    name: str,
    owner: str,
    columns: Columns,
    unique: Iterable[Iterable[str]] = (),
    rows: int | None = None,
    consents: Iterable[str] = (),
    readers: dict[str, frozenset[str]] | None = None,
) -> Table:
    """A table. columns: name, type, whether NULL may occur."""
    found = tuple(Column(Field(*each), (readers or {}).get(each[0], frozenset())) for each in columns)
    return Table(name, owner, found, tuple(frozenset(keys) for keys in unique), rows, frozenset(consents))


def catalog(parties: tuple[str, ...], *tables: Table) -> Catalog:
    """A catalog whose parties are its nodes."""
    return Catalog(parties, "rep3", parties, tables)


SSN = Integer(0, 999_999_999, "INTEGER")
SCORES: Columns = [("ssn", SSN, False), ("score", Integer(300, 850, "INTEGER"), True)]
CREDIT = catalog(
    ("regulator", "bureau_a", "bureau_b"),
    table(
        "demographics",
        "regulator",
        [("ssn", SSN, False), ("zip", Integer(0, 99_999, "INTEGER"), False)],
        [["ssn"]],
        100_000,
    ),
    table("scores_a", "bureau_a", SCORES, rows=100_000, readers={"ssn": frozenset({"regulator"})}),
    table("scores_b", "bureau_b", SCORES, rows=100_000),
)

TRIPS: Columns = [
    ("company", Varchar(None, ("acme", "bolt", "cab")), False),
    ("price", Decimal(8, 2, -100, 99_999_999), False),
]
MARKET = catalog(("a", "b", "c"), *(table(f"trips_{party}", party, TRIPS) for party in "abc"))

PID = Integer(0, 10_000_000, "INTEGER")
DIAGNOSES: Columns = [("pid", PID, False), ("diag", Varchar(8), False), ("day", Date(0, 30_000), False)]
MEDICATIONS: Columns = [("pid", PID, False), ("med", Varchar(20), False), ("day", Date(0, 30_000), False)]
HEALTH = catalog(
    ("hospital_a", "hospital_b", "research"),
    *(
        table(f"{name}_{party}", f"hospital_{party}", columns, rows=1_000)
        for party in "ab"
        for name, columns in (("diagnoses", DIAGNOSES), ("medications", MEDICATIONS))
    ),
)

EVERYBODY = frozenset({"hospital_a", "hospital_b", "research"})
_SLICES = catalog(
    ("hospital_a", "hospital_b", "research"),
    *(
        table(f"{name}_{party}", f"hospital_{party}", columns, rows=100_000, readers={"pid": EVERYBODY})
        for party in "ab"
        for name, columns in (("diagnoses", DIAGNOSES), ("medications", MEDICATIONS))
    ),
    table("nurses", "hospital_a", DIAGNOSES, rows=100_000, readers={"pid": frozenset({"hospital_b"})}),
)
SLICES = replace(_SLICES, engine="two", nodes=("hospital_a", "hospital_b"))
"""Among two nodes no party orders rows by keys that it reads."""

MIXED_COLUMNS: Columns = [
    ("id", Integer(0, 50, "INTEGER"), False),
    ("k", Integer(-5, 5, "INTEGER"), True),
    ("b", Integer(-(10**12), 10**12, "BIGINT"), True),
    ("s", Integer(-100, 100, "SMALLINT"), False),
    ("d", Decimal(10, 2, -(10**6), 10**6), True),
    ("e", Decimal(5, 3, -99_999, 99_999), False),
    ("day", Date(0, 20_000), True),
    ("f", Boolean(), True),
    ("v", Varchar(6), True),
    ("w", Varchar(30), True),
    ("x", Varchar(None), True),
    ("u", Varchar(None, ("apple", "kiwi", "pear")), True),
    ("g", Integer(0, 3, "INTEGER"), False),
]
MIXED = catalog(
    ("p", "q", "r"),
    table("padded", "p", MIXED_COLUMNS, [["id"]], rows=40),
    table("announced", "q", MIXED_COLUMNS, [["id"]]),
    table("consenting", "r", MIXED_COLUMNS, [["id"]], consents=["filter", "groups"]),
)

SHOPPERS: Columns = [("id", Integer(0, 999_999, "INTEGER"), False), ("city", Varchar(None, ("bonn", "ulm")), False)]
PAYMENTS: Columns = [
    ("payer", Integer(0, 9_999_999, "BIGINT"), True),
    ("amount", Integer(0, 1_000, "INTEGER"), False),
    ("note", Varchar(20), True),
]
MATCHING = catalog(
    ("shop", "bank", "lab"),
    table("shoppers", "shop", SHOPPERS, [["id"]], rows=100_000, consents=["matches"]),
    table("payments", "bank", PAYMENTS, rows=500_000, consents=["matches"]),
    table("accounts", "bank", PAYMENTS, [["payer"]], consents=["matches"]),
    table("patients", "lab", SHOPPERS, [["id"]], rows=100_000),
    table("few", "lab", SHOPPERS, [["id"]], rows=10, consents=["matches"]),
    table("others", "bank", SHOPPERS, [["id"]], rows=10, consents=["matches"]),
    table("volunteers", "lab", SHOPPERS, [["id"]], rows=100_000, readers={"id": frozenset({"shop", "bank"})}),
)


def kept_table(name: str, columns: Columns, rows: int, single: bool = False) -> KeptTable:
    """A kept table, of which nothing is known but what its columns are."""
    bits = Kind("bits", 30, signed=False, nullable=False)
    found = tuple(KeptColumn(Field(*each), bits, frozenset()) for each in columns)
    return KeptTable(name, "0" * 32, found, rows, True, single, (), ("p",), ("padded",), "00", "SELECT ...")


COUNTS: Columns = [("g", Integer(0, 3, "INTEGER"), False), ("n", Integer(0, 50, "BIGINT"), False)]
KEPT = replace(MIXED, kept=(kept_table("counts", COUNTS, 4), kept_table("whole", COUNTS[1:], 1, single=True)))

PEOPLE: Columns = [("id", PID, False), ("name", Varchar(6), True)]
VISITS: Columns = [("pid", PID, True), ("who", Varchar(6), True), ("cost", Integer(0, 1_000, "INTEGER"), False)]
MERGING = replace(
    catalog(
        ("a", "b"),
        table("people", "a", PEOPLE, [["id"], ["name"]], rows=50_000),
        table("visits", "b", VISITS, rows=50_000),
        table("others", "a", VISITS, rows=50_000),
    ),
    engine="two",
)

EVENTS: Columns = [
    ("id", Integer(0, 50, "INTEGER"), False),
    ("happened", Timestamp(0, 10**15), True),
    ("day", Date(0, 20_000), False),
]
MOMENTS = catalog(
    ("p", "q", "r"),
    table("padded", "p", EVENTS, [["id"]], rows=40),
    table("announced", "q", EVENTS, [["id"]]),
)

REGULATOR = frozenset({"regulator"})
TRUSTED = catalog(
    ("regulator", "bureau_a", "bureau_b"),
    table(
        "demographics",
        "regulator",
        [("ssn", SSN, False), ("zip", Integer(0, 99_999, "INTEGER"), False)],
        [["ssn"]],
        100_000,
    ),
    table("scores_a", "bureau_a", SCORES, rows=100_000, readers={"ssn": REGULATOR}),
    table("scores_b", "bureau_b", SCORES, rows=100_000, readers={"ssn": REGULATOR}),
    table(
        "moves",
        "bureau_b",
        [("ssn", SSN, True), ("zip", Integer(-9, 99_999, "INTEGER"), True), ("why", Varchar(9), True)],
        rows=50_000,
        readers={"ssn": REGULATOR | {"bureau_a"}, "zip": REGULATOR | {"bureau_a"}, "why": REGULATOR},
    ),
    table(
        "banks",
        "bureau_a",
        [("ssn", SSN, False), ("zip", Integer(0, 99_999, "INTEGER"), False), ("name", Varchar(20), False)],
        [["ssn", "zip"]],
        rows=50_000,
        readers={"ssn": REGULATOR, "zip": REGULATOR, "name": REGULATOR},
    ),
)

BUYERS: Columns = [("id", PID, False), ("segment", Varchar(None, tuple("abcdefghij")), False)]
SALES: Columns = [("nr", PID, False), ("who", PID, False), ("day", Integer(0, 999, "INTEGER"), False)]
RESIZING = catalog(
    ("a", "b", "c"),
    table("customers", "a", BUYERS, [["id"]], 20_000, consents=["sizes"]),
    table("orders", "b", SALES, [["nr"]], 200_000, consents=["sizes"]),
    table("hidden", "c", SALES, [["nr"]], 200_000),
    table("cards", "c", SALES, [["who"], ["nr"]], 300_000),
    table("members", "b", BUYERS, [["id"]], 1_000),
)

CATALOGS = {
    "resizing": RESIZING,
    "trusted": TRUSTED,
    "moments": MOMENTS,
    "matching": MATCHING,
    "merging": MERGING,
    "credit": CREDIT,
    "market": MARKET,
    "health": HEALTH,
    "slices": SLICES,
    "mixed": MIXED,
    "kept": KEPT,
}
