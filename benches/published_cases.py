"""Queries of the literature, each with its tables at any size and the times that others have published for it.

Conclave (EuroSys 2019) and SMCQL (VLDB 2017): market concentration, credit card regulation, aspirin count, comorbidity,
recurrence. A comparison of ABY3, Conclave and SMCQL (bachelor's thesis, Paderborn 2022): its three use cases. ORQ (SOSP
2025) and CryptDough: the same family on whole tables that are shared, here in halves of two owners, with all under MPC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

from queries import MARKET, Table

ALL = '["a", "b", "c"]'


@dataclass(frozen=True)
class Case:
    """A query. rows: of all owners together unless the command line says otherwise. tables: for a number of rows.

    published: what others report, and of how many rows.
    """

    query: str
    rows: int
    tables: Callable[[int], list[Table]]
    published: str


def _whole(name: str, high: int, more: str = "") -> str:
    return f'{name} = {{ type = "BIGINT", min = 0, max = {high}{more} }}'


def _bound(rows: int) -> str:
    return f"rows = {rows}"


def _halves(name: str, rows: int, select: str, columns: str) -> list[Table]:
    """A table of which two owners have a half each. select: over the row's number ``i``."""
    half = rows // 2
    parts = (("a", 0, half), ("b", half, rows))
    return [
        Table(f"{name}_{owner}", owner, f"SELECT {select} FROM range({low}, {high}) r(i)", columns, _bound(high - low))
        for owner, low, high in parts
    ]


def _united(name: str) -> str:
    return f"(SELECT * FROM {name}_a UNION ALL SELECT * FROM {name}_b)"


def _drawn(salt: str, most: int) -> str:
    """A number from 0 to most - 1 that depends on the row's number."""
    return f"(hash(i, '{salt}') % {most})::BIGINT"


# --- the three use cases of the thesis --------------------------------------------------------------------------------


def _alice_and_bob(rows: int, payload: dict[str, tuple[str, str]], readers: str = "") -> list[Table]:
    """Two tables of rows / 2 rows, half of which have a key of the other table's.

    payload: by a column's name, its value with a place for the owner, and its declaration. Rows come by the hash of
    their number: a file does not have them in the order of keys.
    """
    each = rows // 2
    key = _whole("id", 4 * each, f", readers = {readers}" if readers else "")
    found = []
    for name, owner, first in (("alice", "a", 0), ("bob", "b", each // 2)):
        listed = ", ".join(f"{value.format(owner)} AS {owner}{column}" for column, (value, _) in payload.items())
        source = f"range({first}, {first + each}) r(i) ORDER BY hash(i, '{owner}')"
        columns = [key, *(f"{owner}{column} = {declared}" for column, (_, declared) in payload.items())]
        facts = f'{_bound(each)}\nunique = [["id"]]'
        found.append(Table(name, owner, f"SELECT i AS id, {listed} FROM {source}", "\n".join(columns), facts))
    return found


def use_case_one(rows: int, readers: str = "") -> list[Table]:
    """Three payload columns a side."""
    declared = f'{{ type = "BIGINT", min = 0, max = {1 << 31} }}'
    return _alice_and_bob(rows, {n: (_drawn(f"{{0}}{n}", 1 << 31), declared) for n in "123"}, readers)


def use_case_two(rows: int) -> list[Table]:
    """A truth value a side."""
    return _alice_and_bob(rows, {"flag": ("hash(i, '{0}flag') % 2 = 1", '{ type = "BOOLEAN" }')})


JOIN_OF_ALL = "SELECT alice.id, a1, a2, a3, b1, b2, b3 FROM alice JOIN bob ON alice.id = bob.id"
EQUAL_FLAGS = "SELECT alice.id, aflag, bflag FROM alice JOIN bob ON alice.id = bob.id WHERE aflag = bflag"
SPLIT_BY_FLAG = " UNION ALL ".join(
    f"SELECT p.id, aflag, bflag FROM (SELECT * FROM alice WHERE {a}) p JOIN (SELECT * FROM bob WHERE {b}) q "
    "ON p.id = q.id"
    for a, b in (("NOT aflag", "NOT bflag"), ("aflag", "bflag"))
)

# --- Conclave and SMCQL -----------------------------------------------------------------------------------------------


def market(rows: int) -> list[Table]:
    """A third of the trips each. Prices repeat, so that files stay small at any number of rows."""
    each = rows // 3
    columns = 'company = { type = "INTEGER", min = 1, max = 12 }\nprice = { type = "INTEGER", min = 0, max = 3000 }'
    select = (
        "SELECT (1 + (i // 7 + {0}) % 12)::INTEGER AS company, (i * {1} % 2600)::INTEGER AS price FROM range({2}) r(i)"
    )
    return [
        Table(f"trips_{p}", p, select.format(n, 7 + 2 * n, each), columns, _bound(each)) for n, p in enumerate("abc")
    ]


CREDIT = """\
SELECT zip, AVG(score) AS average
FROM demographics d
JOIN (SELECT ssn, score FROM scores_b UNION ALL SELECT ssn, score FROM scores_c) s ON d.ssn = s.ssn
GROUP BY zip
ORDER BY zip"""


def credit(rows: int) -> list[Table]:
    """A third of the rows each. The bureaus let the regulator read the numbers of people."""
    each = rows // 3
    number = "(100000000 + (i * 7654321) % 799999999)::INTEGER AS ssn"
    plain = 'ssn = { type = "INTEGER", min = 100000000, max = 899999999 }'
    read = plain.replace(" }", ', readers = ["a"] }')
    zips = 'zip = { type = "INTEGER", min = 10000, max = 99999 }'
    score = 'score = { type = "INTEGER", min = 300, max = 850 }'
    people = f"SELECT {number}, (10000 + {_drawn('zip', 400)})::INTEGER AS zip FROM range({each}) r(i)"
    found = [Table("demographics", "a", people, f"{plain}\n{zips}", f'{_bound(each)}\nunique = [["ssn"]]')]
    for owner, first in (("b", 0), ("c", each // 4)):
        value = f"(300 + {_drawn(owner, 551)})::INTEGER AS score"
        select = f"SELECT {number}, {value} FROM range({first}, {first + each}) r(i)"
        found.append(Table(f"scores_{owner}", owner, select, f"{read}\n{score}", _bound(each)))
    return found


ASPIRIN = f"""\
SELECT COUNT(*) AS patients
FROM (SELECT pid, MIN(day) AS first_day FROM {_united("diagnoses")} d WHERE diag = 3 GROUP BY pid) d
JOIN (SELECT pid, MAX(day) AS last_day FROM {_united("medications")} m WHERE med = 5 GROUP BY pid) m ON d.pid = m.pid
WHERE first_day <= last_day"""


def aspirin(rows: int) -> list[Table]:
    """A quarter of the rows a table; both hospitals know one patient in fifty. Numbers of patients are public."""
    each = rows // 4
    patients = max(50, each // 2)
    pid = _whole("pid", 2 * patients, f", readers = {ALL}")
    found = []
    for owner, first in (("a", 0), ("b", patients - patients // 50)):
        for name, value in (("diagnoses", "diag"), ("medications", "med")):
            select = (
                f"{first} + {_drawn(f'{name} pid {owner}', patients)} AS pid, "
                f"{_drawn(f'{name} {owner}', 10)} AS {value}, {_drawn(f'{name} day {owner}', 10_000)} AS day"
            )
            columns = "\n".join((pid, _whole(value, 9), _whole("day", 9_999)))
            table = Table(f"{name}_{owner}", owner, f"SELECT {select} FROM range({each}) r(i)", columns, _bound(each))
            found.append(table)
    return found


COMORBIDITY = f"""\
SELECT diag, COUNT(*) AS cases FROM {_united("diagnoses")} d
GROUP BY diag ORDER BY cases DESC, diag LIMIT 10"""


def comorbidity(rows: int) -> list[Table]:
    """The diagnoses of a cohort, ten rows for each different one; hospitals tell how many different ones they have."""
    distinct = max(10, rows // 10)
    select = f"({_drawn('d', distinct)} * {_drawn('e', distinct)}) // {distinct} AS diag"
    tables = _halves("diagnoses", rows, select, _whole("diag", distinct))
    return [Table(e.name, e.owner, e.select, e.columns, f'consents = ["groups"]\n{e.facts}') for e in tables]


RECURRENCE = f"""\
WITH infections AS (
  SELECT pid, day, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day, source) AS nr
  FROM {_united("diagnoses")} d WHERE diag = 8)
SELECT DISTINCT f.pid
FROM infections f JOIN infections s ON f.pid = s.pid AND f.nr = s.nr - 1
WHERE s.day - f.day BETWEEN 15 AND 56"""

# --- ORQ --------------------------------------------------------------------------------------------------------------


def diagnoses(rows: int) -> list[Table]:
    """Twenty rows for each patient, ten diagnoses. source: tells two of one day apart, so that there is one answer."""
    select = (
        f"{_drawn('pid', max(1, rows // 20))} AS pid, {_drawn('day', 10_000)} AS day, {_drawn('diag', 10)} AS diag, "
        "i AS source"
    )
    columns = (_whole("pid", max(1, rows // 20)), _whole("day", 9_999), _whole("diag", 9), _whole("source", rows))
    return _halves("diagnoses", rows, select, "\n".join(columns))


def both_records(rows: int) -> list[Table]:
    """Three diagnoses for two medications."""
    few = 2 * rows // 5
    select = f"{_drawn('m', max(1, few // 20))} AS pid, {_drawn('mday', 10_000)} AS day, {_drawn('med', 10)} AS med"
    columns = "\n".join((_whole("pid", max(1, rows)), _whole("day", 9_999), _whole("med", 9)))
    return [*diagnoses(rows - few), *_halves("medications", few, select, columns)]


COHORT = f"""\
SELECT diag, COUNT(*) AS cases FROM {_united("diagnoses")} d
WHERE pid IN (SELECT pid FROM {_united("cohort")} c)
GROUP BY diag ORDER BY cases DESC, diag LIMIT 10"""


def with_cohort(rows: int) -> list[Table]:
    """A cohort of a tenth of the rows, patients without diagnoses among them."""
    few = max(2, rows // 10)
    people = _halves("cohort", few, f"{_drawn('c', max(1, rows // 10))} AS pid", _whole("pid", max(1, rows // 10)))
    return [*diagnoses(rows - few), *people]


SPREAD = f"""\
SELECT uid FROM (SELECT uid, MIN(score) AS low, MAX(score) AS high FROM {_united("credit")} c
WHERE year = 2023 GROUP BY uid) s WHERE high - low > 150"""


def scores(rows: int) -> list[Table]:
    """Ten scores of each person, over five years."""
    people = max(1, rows // 10)
    select = f"{_drawn('u', people)} AS uid, 2019 + {_drawn('y', 5)} AS year, 300 + {_drawn('s', 551)} AS score"
    columns = (_whole("uid", people), 'year = { type = "BIGINT", min = 2019, max = 2023 }', _whole("score", 850))
    return _halves("credit", rows, select, "\n".join(columns))


REUSE = f"SELECT id FROM {_united('passwords')} p GROUP BY id, pwd HAVING COUNT(*) > 1"


def passwords(rows: int) -> list[Table]:
    """Ten passwords of each user."""
    users, words = max(1, rows // 10), max(1, rows // 50)
    return _halves(
        "passwords", rows, f"{_drawn('u', users)} AS id, {_drawn('w', words)} AS pwd",
        f"{_whole('id', users)}\n{_whole('pwd', words)}",
    )  # fmt: skip


SHARES = f"""\
WITH revenue AS (SELECT company, SUM(fare) AS rev FROM {_united("rides")} r WHERE kind = 0 GROUP BY company),
total AS (SELECT SUM(rev) AS total FROM revenue)
SELECT SUM(rev * rev) / MAX(total * total) AS hhi FROM revenue CROSS JOIN total"""


def rides(rows: int) -> list[Table]:
    """A thousand companies; one ride in twenty is to the airport."""
    select = (
        f"(hash(i, 'c') % 1000 * (hash(i, 'c') % 1000) % 1000)::BIGINT AS company, {_drawn('f', 100)} AS fare, "
        f"{_drawn('k', 20)} AS kind"
    )
    return _halves("rides", rows, select, "\n".join((_whole("company", 999), _whole("fare", 99), _whole("kind", 19))))


COUNTED = f"""\
SELECT ak, SUM(n) AS cnt FROM {_united("r")} r
JOIN (SELECT id, COUNT(*) AS n FROM {_united("s")} x GROUP BY id) s ON r.id = s.id GROUP BY ak"""
"""Of R JOIN S ON id, how many rows there are of each R.ak: those of S are counted first, as ORQ does it, too."""


def r_and_s(rows: int) -> list[Table]:
    """Keys that repeat on both sides."""
    each = rows // 2
    most = isqrt(each) + 1
    return [
        *_halves("r", each, f"{_drawn('rid', most)} AS id, {_drawn('ak', most)} AS ak",
                 f"{_whole('id', most)}\n{_whole('ak', most)}"),
        *_halves("s", each, f"{_drawn('sid', most)} AS id", _whole("id", most)),
    ]  # fmt: skip


CASES = {
    "thesis-one": Case(
        JOIN_OF_ALL, 500, use_case_one,
        "ABY3 106 s of 16,000,000 rows on four cores, Conclave 8 h of 500, SMCQL 10 h of 140",
    ),
    "thesis-two": Case(EQUAL_FLAGS, 10_000, use_case_two, "1,000,000 rows: to be reached in 6 s"),
    "thesis-two-split": Case(SPLIT_BY_FLAG, 10_000, use_case_two, "the same rows: to be no faster than thesis-two"),
    "thesis-three": Case(JOIN_OF_ALL, 10_000, lambda rows: use_case_one(rows, ALL), "thesis-one with public keys"),
    "market": Case(MARKET, 300_000, market, "Conclave 20 min of 1,300,000,000 rows on nine machines"),
    "credit": Case(CREDIT, 30_000, credit, "Conclave 25 min of 300,000 rows"),
    "aspirin": Case(ASPIRIN, 40_000, aspirin, "Conclave 8 min of 8,000,000 rows (4,000,000 a party)"),
    "comorbidity": Case(COMORBIDITY, 20_000, comorbidity, "Conclave about 1 h of 200,000 rows, 20,000 different"),
    "recurrence": Case(RECURRENCE, 10_000, diagnoses, "CryptDough 31 s of 3,000,000 rows"),
    "orq-aspirin": Case(ASPIRIN, 10_000, both_records, "CryptDough 50 s of 5,000,000 rows"),
    "orq-comorbidity": Case(COHORT, 10_000, with_cohort, "CryptDough 73 s at scale 1"),
    "orq-credit": Case(SPREAD, 10_000, scores, "CryptDough 26 s of 5,000,000 rows"),
    "orq-password": Case(REUSE, 10_000, passwords, "5,000,000 rows at scale 1"),
    "orq-market": Case(SHARES, 10_000, rides, "5,000,000 rows at scale 1"),
    "orq-secq2": Case(COUNTED, 10_000, r_and_s, "CryptDough 33 s at scale 1"),
}  # fmt: skip
