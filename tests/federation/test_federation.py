"""A federation's files: what they mean, and one sentence for every mistake."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_members import Members
from tacit.local.csv_form import CsvForm
from tacit.plan.algebra.moments import DAY
from tacit.plan.algebra.types import Boolean, Date, Decimal, Field, Integer, Timestamp, Varchar
from tacit.plan.facts.catalog import Column, Link, Table
from tacit.plan.facts.terms import open_terms

DOCUMENT = Path(__file__).parents[2] / "docs" / "federation.md"
EPOCH = date(1970, 1, 1)

SMALL = {
    "federation.toml": """\
engine = "rep3"
nodes = ["a", "b", "c"]
recipients = ["a"]

[parties.a]
address = "127.0.0.1:7101"

[parties.b]
address = "127.0.0.1:7102"

[parties.c]
address = "127.0.0.1:7103"
""",
    "offers/a.toml": """\
[tables.t]
open = true
consents = []

[tables.t.columns]
x = "INTEGER"
""",
    "private/a.toml": """\
[tables.t]
path = "../t.csv"

[network]
idle_timeout = 60
""",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    """The files of a federation."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "federation.toml"


def load(folder: Path, **texts: str) -> Federation:
    """The small federation with other texts of its membership, a's offer or a's private file."""
    names = {"membership": "federation.toml", "offer": "offers/a.toml", "private": "private/a.toml"}
    return Federation.load(write(folder, SMALL | {names[name]: text for name, text in texts.items()}))


def mistake(folder: Path, files: dict[str, str]) -> str:
    """The sentence about the small federation with some other files, without the folder."""
    with pytest.raises(RunError) as caught:
        Federation.load(write(folder, SMALL | files))
    assert caught.value.fault is Fault.INPUT
    return str(caught.value).replace(f"{folder}/", "")


def replaced(before: str, after: str) -> dict[str, str]:
    """The small federation with another text in the one file that has it."""
    (name,) = [name for name, text in SMALL.items() if before in text]
    return {name: SMALL[name].replace(before, after, 1)}


def column(folder: Path, entry: str) -> Column:
    """The column x declared like this."""
    return (
        Federation.load(write(folder, SMALL | replaced('x = "INTEGER"', f"x = {entry}"))).catalog.tables[0].columns[0]
    )


def test_the_documented_example(tmp_path: Path) -> None:
    found = re.findall(r"^`([a-z_/]+\.toml)`:?\n\n```toml\n(.*?)```", DOCUMENT.read_text(), re.S | re.M)
    federation = Federation.load(write(tmp_path, dict(found)))
    catalog = federation.catalog
    assert (catalog.engine, catalog.nodes, federation.recipients) == (
        "rep3", ("regulator", "bureau_a", "bureau_b"), ("regulator",),
    )  # fmt: skip
    assert federation.address("bureau_a") == "10.0.2.5:7101"
    assert federation.privates["regulator"].private_key == tmp_path / "private" / "regulator.key"
    assert federation.parties["bureau_b"].certificate == tmp_path / "certificates" / "bureau_b.pem"
    assert federation.ledger_path("regulator") == tmp_path / "private" / "ledger" / "regulator.jsonl"
    assert federation.ledger_path("bureau_a") == Path("/var/lib/tacit/ledger.jsonl")
    network = federation.privates["bureau_a"].network
    assert (network.connect_timeout, network.idle_timeout) == (30.0, 60.0)
    assert federation.privates["bureau_a"].memory.native is None
    demographics, scores_a, scores_b = catalog.tables
    ssn, kind = Integer(1, 999999999, "BIGINT"), Varchar(8, ("card", "loan", "mortgage"))
    assert demographics.columns[1] == Column(
        Field("zip", Integer(501, 99950, "INTEGER"), False), frozenset({"bureau_a", "bureau_b"})
    )
    assert scores_a == Table(
        "scores_a", "bureau_a",
        (Column(Field("ssn", ssn, False)), Column(Field("score", Integer(300, 850, "INTEGER"), True))),
        unique=(frozenset({"ssn"}),), rows=120000, consents=frozenset({"filter"}),
        terms=open_terms(catalog.parties),
    )  # fmt: skip
    assert scores_a.path == "/srv/data/scores_a.parquet"
    assert {each.field.name: each.field.type for each in scores_b.columns[2:]} == {
        "income": Decimal(12, 2, 0, 999999999),
        "since": Date((date(1990, 1, 1) - EPOCH).days, (date(2029, 12, 31) - EPOCH).days),
        "kind": kind,
        "city": Varchar(40),
        "active": Boolean(),
    }


@pytest.mark.parametrize(("said", "bytes_"), [("6 GiB", 6 << 30), ("1.5GiB", 3 << 29), ("512 MiB", 512 << 20)])
def test_a_memory_budget(tmp_path: Path, said: str, bytes_: int) -> None:
    files = SMALL | replaced("[network]", f'[memory]\nbudget = "{said}"\n[network]')
    memory = Federation.load(write(tmp_path, files)).privates["a"].memory
    assert memory.native == (bytes_, tmp_path / "private")


def test_every_entry_is_documented() -> None:
    documented = set(re.findall(r"`([a-z_]+)`", DOCUMENT.read_text()))
    assert documented >= {
        "engine", "nodes", "recipients", "address", "certificate", "private_key", "ledger", "kept", "connect_timeout",
        "idle_timeout", "latency", "bandwidth", "path", "unique", "rows", "most_rows", "consents", "delivered", "type",
        "nullable", "open", "repeats", "budget", "folder", "threads",
        "min", "max", "max_length", "values", "readers",
    }  # fmt: skip


DEFAULTS = [
    ("INTEGER", Integer(-(2**31), 2**31 - 1, "INTEGER")),
    ("bigint", Integer(-(2**63), 2**63 - 1, "BIGINT")),
    ("SmallInt", Integer(-(2**15), 2**15 - 1, "SMALLINT")),
    ("HUGEINT", Integer(-(10**38) + 1, 10**38 - 1, "HUGEINT")),
    ("DECIMAL(5,2)", Decimal(5, 2, -99999, 99999)),
    ("decimal( 38 )", Decimal(38, 0, -(10**38) + 1, 10**38 - 1)),
    ("NUMERIC(4,4)", Decimal(4, 4, -9999, 9999)),
    ("DATE", Date(-719162, 2932896)),
    ("timestamp", Timestamp(-62135596800000000, 253402300799999999)),
    ("VARCHAR", Varchar(None)),
    ("BOOLEAN", Boolean()),
]


@pytest.mark.parametrize(("written", "type_"), DEFAULTS)
def test_bounds_default_to_the_range_of_the_type(tmp_path: Path, written: str, type_: object) -> None:
    assert column(tmp_path, f'"{written}"') == Column(Field("x", type_, False))  # type: ignore[arg-type]


BOUNDS = [
    ('{ type = "DECIMAL(10,2)", min = -1, max = 2.5 }', Decimal(10, 2, -100, 250)),
    ('{ type = "DECIMAL(10,2)", min = "-0.010", max = "1e3" }', Decimal(10, 2, -1, 100000)),
    ('{ type = "DATE", min = 1969-12-31, max = "1970-01-02" }', Date(-1, 1)),
    ('{ type = "TIMESTAMP", min = 1969-12-31T23:59:59.5, max = "1970-01-01 00:00:00.25" }', Timestamp(-500000, 250000)),
    ('{ type = "TIMESTAMP", min = 1969-12-31, max = "1970-01-02T00:00" }', Timestamp(-DAY, DAY)),
    ('{ type = "TINYINT", max = 0 }', Integer(-128, 0, "TINYINT")),
    ('{ type = "VARCHAR", values = ["é", "z", "Z", ""] }', Varchar(2, ("", "Z", "z", "é"))),
]


@pytest.mark.parametrize(("entry", "type_"), BOUNDS)
def test_bounds_are_read_exactly(tmp_path: Path, entry: str, type_: object) -> None:
    assert column(tmp_path, entry).field.type == type_


def test_what_a_small_file_leaves_out(tmp_path: Path) -> None:
    entries = 'engine = "rep3"\nnodes = ["a", "b", "c"]\nrecipients = ["a"]\n'
    federation = load(tmp_path, membership=SMALL["federation.toml"].replace(entries, ""))
    assert federation.catalog.nodes == ("a", "b", "c")
    assert federation.recipients == ("a",)
    assert federation.privates["b"].network.bandwidth is None


def test_two_nodes_are_the_first_two_parties(tmp_path: Path) -> None:
    text = SMALL["federation.toml"].replace('engine = "rep3"\nnodes = ["a", "b", "c"]\n', 'engine = "two"\n')
    catalog = load(tmp_path, membership=text).catalog
    assert (catalog.engine, catalog.nodes) == ("two", ("a", "b"))


def test_the_network_between_the_nodes_is_declared_as_a_whole(tmp_path: Path) -> None:
    assert load(tmp_path).catalog.link is None
    text = SMALL["federation.toml"]
    declared = load(tmp_path, membership=f"{text}\n[link]\nlatency = 0.06\nbandwidth = 125e6\n").catalog.link
    assert declared == Link(0.06, 125e6)
    sentence = mistake(tmp_path, {"federation.toml": f"{text}\n[link]\nlatency = 0.06\n"})
    assert sentence == (
        "federation.toml, [link]: there is no bandwidth; declare both latency (seconds) and bandwidth (bytes a second)."
    )


def test_a_party_reads_its_own_private_file_alone(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL | {"private/b.toml": "nonsense"})
    federation = Federation.load(path, "a")
    assert federation.catalog.tables[0].path == str(tmp_path / "t.csv")
    assert list(federation.privates) == ["a"]
    path = write(tmp_path, SMALL | {"private/a.toml": "nonsense", "private/b.toml": ""})
    assert Federation.load(path, "b").catalog.tables[0].path is None


def test_private_files_may_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, {name: text for name, text in SMALL.items() if not name.startswith("private")})
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere.parent, {"elsewhere/a.toml": SMALL["private/a.toml"]})
    assert Federation.load(path, "a").catalog.tables[0].path is None
    assert Federation.load(path, "a", elsewhere).catalog.tables[0].path == str(tmp_path / "t.csv")
    monkeypatch.setenv("TACIT_PRIVATE", str(elsewhere))
    assert Federation.load(path).privates["b"].private_key == elsewhere / "b.key"


def test_a_private_file_says_how_a_csv_file_is_written(tmp_path: Path) -> None:
    said = 'path = "../t.csv"\ncsv = { delimiter = ";", null = ["NA"] }'
    federation = load(tmp_path, private=SMALL["private/a.toml"].replace('path = "../t.csv"', said))
    assert federation.privates["a"].forms == {"t": CsvForm(";", null=("NA",))}
    assert load(tmp_path).privates["a"].forms == {}


def test_a_party_computes_by_its_share_of_the_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "processors", lambda: 8)
    private = load(tmp_path).privates["a"]
    assert [private.threads_of(parties) for parties in (1, 2, 3, 9)] == [8, 4, 2, 1]
    said = load(tmp_path, private="threads = 5\n" + SMALL["private/a.toml"]).privates["a"]
    assert [said.threads_of(parties) for parties in (1, 3)] == [5, 5]


def test_plans_do_not_depend_on_private_files(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    assert Federation.load(path, "a").catalog == Federation.load(path, "b").catalog


def test_what_is_delivered_has_strings_of_known_length(tmp_path: Path) -> None:
    offer = '[tables.t]\nopen = true\ndelivered = true\n[tables.t.columns]\nx = "VARCHAR"\n'
    assert mistake(tmp_path, {"offers/a.toml": offer}) == (
        "offers/a.toml, [tables.t]: is delivered, and its column x is a VARCHAR without max_length; "
        "declare max_length or values, because nodes keep the bytes of strings."
    )
    bounded = offer.replace('"VARCHAR"', '{ type = "VARCHAR", max_length = 4 }')
    assert Federation.load(write(tmp_path, SMALL | {"offers/a.toml": bounded})).catalog.tables[0].delivered


TYPES = "write BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, DECIMAL(p,s), DOUBLE, DATE, TIMESTAMP or VARCHAR."
AT, OWN = "offers/a.toml, [tables.t]: ", "private/a.toml, "

MISTAKES = [
    ("recipients", "recipient", 'federation.toml: there is no entry \'recipient\'; perhaps you mean recipients.'),
    # No hint names what would be refused in its turn: what belongs to another file, stands here, or excludes what does.
    ('recipients = ["a"]', "netwerk = 1", "federation.toml: there is no entry 'netwerk'; "
     "known here are engine, link, nodes, parties, programs, recipients, united."),
    ('engine = "rep3"', 'engine = "rep3"\nengines = "two"', "federation.toml: there is no entry 'engines'; "
     "known here are engine, link, nodes, parties, programs, recipients, united."),
    ("consents = []", "rows = 1\nmostrows = 2", AT + "there is no entry 'mostrows'; "
     "known here are columns, consents, delivered, exact, open, rows, unique."),
    ('engine = "rep3"', "engine = 3", 'federation.toml: engine is 3; write a text in quotes.'),
    ('engine = "rep3"', 'engine = "rep4"', "federation.toml: engine is 'rep4'; write \"rep3\", \"two\" or \"four\"."),
    ('"a", "b", "c"]', '"a", "b"]', 'federation.toml: nodes has 2 names, but engine rep3 runs on 3; '
     'name 3 parties, for example nodes = ["a", "b", "c"].'),
    ('engine = "rep3"', 'engine = "two"', 'federation.toml: nodes has 3 names, but engine two runs on 2; '
     'name 2 parties, for example nodes = ["a", "b"].'),
    ('"a", "b", "c"]', '"a", "b", "d"]', 'federation.toml: nodes names \'d\', which is no party; '
     'write "a", "b" or "c".'),
    ('"a", "b", "c"]', '"a", "b", "b"]', "federation.toml: nodes names 'b' twice; name it once."),
    ('recipients = ["a"]', "recipients = []", "federation.toml: recipients is empty; "
     "name at least one party that gets answers."),
    ('recipients = ["a"]', 'recipients = "a"', "federation.toml: recipients is 'a'; "
     'write a list of names, for example ["a", "b"].'),
    ("127.0.0.1:7102", "127.0.0.1", "federation.toml, [parties.b]: address is '127.0.0.1'; "
     'write it as "host:port", for example "10.0.0.5:7101".'),
    ("127.0.0.1:7102", "b:\\u0667", "federation.toml, [parties.b]: address is 'b:\u0667'; "
     'write it as "host:port", for example "10.0.0.5:7101".'),
    ("127.0.0.1:7102", "b\\n:7102", "federation.toml, [parties.b]: address is 'b\\n:7102'; "
     'write it as "host:port", for example "10.0.0.5:7101".'),
    ("127.0.0.1:7102", "127.0.0.1:7101", "federation.toml: parties a and b both have address '127.0.0.1:7101'; "
     "give each its own host or port."),
    ('address = "127.0.0.1:7102"\n', "", "federation.toml, [parties.b]: has no address; add address = ...."),
    ("[parties.b]", "[parties.A]", "federation.toml, [parties]: 'a' and 'A' differ in case only; "
     "rename one, because SQL takes them for the same name."),
    ("[parties.b]", '[parties."b-2"]', "federation.toml, [parties]: 'b-2' cannot name one of the parties; "
     "use letters, digits and _, and no digit first."),
    ("[parties.b]", "[parties.a]", "federation.toml: is not TOML: "),
    ('path = "../t.csv"', "", OWN + "[tables.t]: has no path; add path = ...."),
    ('path = "../t.csv"', 'path = "../t.xlsx"', OWN + "[tables.t]: path is 't.xlsx', neither .csv nor .parquet; "
     "store the table as CSV or Parquet."),
    ('path = "../t.csv"', 'path = "../t*.csv"', OWN + "[tables.t]: path is 't*.csv'; "
     "name one file, without the characters * ? [."),
    ('path = "../t.csv"', 'path = "../t.csv"\ncsv = ";"', OWN + "[tables.t]: csv is ';'; "
     'write { delimiter = ";", ... }.'),
    ('path = "../t.csv"', 'path = "../t.csv"\ncsv = { decimal = ";" }', OWN + "[tables.t]: csv: decimal is ';'; "
     "write . or ,."),
    ('path = "../t.csv"', 'path = "../t.parquet"\ncsv = { decimal = "," }', OWN + "[tables.t]: has csv, but path is "),
    ("[tables.t]\npath", "[tables.u]\npath", OWN + "[tables.u]: a offers no table of this name; "
     "declare it in offers/a.toml, or remove the section."),
    ("idle_timeout = 60", "idle_timeout = 0", OWN + "[network]: idle_timeout is 0; write a number above 0."),
    ("idle_timeout = 60", "latency = true", OWN + "[network]: latency is true; write a number."),
    ("idle_timeout = 60", "latency = -0.5", OWN + "[network]: latency is -0.5; write a number from 0."),
    ("idle_timeout = 60", "proxy = 1", OWN + "[network]: there is no entry 'proxy'; "
     "known here are bandwidth, connect_timeout, idle_timeout, latency."),
    ("[network]", '[memory]\nbudget = 6\n[network]', OWN + "[memory]: budget is 6; "
     'write a size of at least "1 MiB", for example "6 GiB".'),
    ("[network]", '[memory]\nbudget = "6"\n[network]', OWN + "[memory]: budget is '6'; "),
    ("[network]", '[memory]\nbudget = "1 KiB"\n[network]', OWN + "[memory]: budget is '1 KiB'; "),
    ("[network]", '[memory]\nbudget = "1 GiB"\nfolder = "none"\n[network]', OWN + "[memory]: folder is "),
    ("[network]", '[memory]\nbudgets = "1 GiB"\n[network]', OWN + "[memory]: there is no entry 'budgets'; "
     "perhaps you mean budget."),
    ("[network]", "[networks]", "private/a.toml: there is no entry 'networks'; perhaps you mean network."),
    ("[tables.t]\nopen = true", "tables.t.open = true\n[tabels.t]", "offers/a.toml: there is no entry 'tabels'; "
     "perhaps you mean tables."),
    ("consents = []", 'owner = "b"', AT + "there is no entry 'owner'; "),
    ("consents = []", 'unique = ["x"]', AT + "unique is ['x']; write a list of lists of columns, "
     'for example [["id"], ["year", "nr"]].'),
    ("consents = []", 'unique = [["y"]]', AT + "unique names 'y', which is no column of the table; write \"x\"."),
    ("consents = []", 'consents = ["rows"]', AT + "consents names 'rows', which is no consent; "
     'write "filter", "groups", "matches" or "sizes".'),
    ("consents = []", 'delivered = "yes"', AT + "delivered is 'yes'; write true or false."),
    ("consents = []", 'delivered = true\nconsents = ["groups"]', AT + "is delivered and has consents; "
     "remove consents, because nothing of it is computed at its owner."),
    ('x = "INTEGER"', 'x = { type = "INTEGER", repeats = 0 }', "offers/a.toml, [tables.t.columns.x]: repeats is 0; "
     "write a whole number from 1."),
    ("consents = []", "rows = -1", AT + "rows is -1; write a whole number from 0."),
    ("consents = []", "rows = 1.5", AT + "rows is 1.5; write a whole number."),
    ("consents = []", "rows = 1\nmost_rows = 2", AT + "has both rows and most_rows; "
     "keep rows, which bounds the table and hides its number."),
    ('x = "INTEGER"', "", "offers/a.toml, [tables.t.columns]: has no columns; add a line for each, for example "
     'id = "INTEGER".'),
]  # fmt: skip


DOUBLES = [
    ("scale = 4, min = -1000, max = 1000", Decimal(8, 4, -10000000, 10000000)),
    ("scale = 0, min = 0, max = 1", Decimal(1, 0, 0, 1)),
    ('scale = 3, min = "0.001", max = 0.5', Decimal(3, 3, 1, 500)),
    ('scale = 20, min = 0, max = "99999"', Decimal(25, 20, 0, 99999 * 10**20)),
]


@pytest.mark.parametrize(("written", "type_"), DOUBLES)
def test_a_double_is_a_rounded_decimal_of_as_many_digits_as_its_bounds_have(
    tmp_path: Path, written: str, type_: Decimal
) -> None:
    found = column(tmp_path, f'{{ type = "DOUBLE", {written}, nullable = true }}')
    assert found == Column(Field("x", type_, True), rounded=True)
    exact = column(tmp_path, f'{{ type = "DECIMAL({type_.precision},{type_.scale})" }}')
    assert not exact.rounded


@pytest.mark.parametrize(("before", "after", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    found = mistake(tmp_path, replaced(before, after))
    assert found == sentence if sentence.endswith(".") else found.startswith(sentence)


X = "offers/a.toml, [tables.t.columns.x]: "

ALL_THREE = "write all three, for example scale = 4, min = -1000, max = 1000, and values are rounded to 4 digits"
ALL_THREE += " after the point."

COLUMN_MISTAKES = [
    ("3", "offers/a.toml, [tables.t.columns]: x is 3; write a type in quotes, or { type = \"...\", ... }."),
    ("{ min = 3 }", X + "has no type; add type = ...."),
    ('"TEXT"', X + f"type is 'TEXT'; {TYPES}"),
    ('"DECIMAL"', X + f"type is 'DECIMAL'; {TYPES}"),
    ('"DECIMAL(39,2)"', X + "type is DECIMAL(39,2); write a precision from 1 to 38 and a scale not above it."),
    ('"DECIMAL(2,3)"', X + "type is DECIMAL(2,3); write a precision from 1 to 38 and a scale not above it."),
    ('{ type = "INTEGER", min = 5, max = 4 }', X + "min is above max; exchange them."),
    ('{ type = "INTEGER", max = 2147483648 }', X + "max is 2147483648, which the type cannot hold; "
     "correct it or take a wider type."),
    ('{ type = "INTEGER", max = "9" }', X + "max is '9'; write it as a whole number."),
    ('{ type = "INTEGER", max = true }', X + "max is true; write it as a whole number."),
    ('{ type = "DECIMAL(10,2)", max = "0.001" }', X + "max is '0.001'; write it as a number with at most 2 digits "
     "after the point, in quotes if it has any."),
    ('{ type = "DECIMAL(10,2)", max = nan }', X + "max is nan; write it as a number with at most 2 digits "
     "after the point, in quotes if it has any."),
    ('{ type = "DECIMAL(10,2)", max = "1e9999999" }', X + "max is '1e9999999'; write it as a number with at most 2 "
     "digits after the point, in quotes if it has any."),
    ('{ type = "DATE", min = 2024-01-01T00:00:00 }', X + "min is 2024-01-01 00:00:00; "
     "write it as a date, for example 2024-12-31."),
    ('{ type = "TIMESTAMP", min = 2024-01-01T00:00:00Z }', X + "min is 2024-01-01 00:00:00+00:00; "
     "write it as a date and time without a time zone, for example 2024-12-31 23:59:59."),
    ('{ type = "TIMESTAMP", max = "2024-01-01 24:00:00" }', X + "max is '2024-01-01 24:00:00'; "
     "write it as a date and time without a time zone, for example 2024-12-31 23:59:59."),
    ('{ type = "TIMESTAMP", scale = 3 }', X + "there is no entry 'scale'; "
     "known here are max, min, nullable, readers, repeats, type."),
    ('"DOUBLE"', X + f"type is DOUBLE without scale and min and max; {ALL_THREE}"),
    ('{ type = "DOUBLE", scale = 2, max = 9 }', X + f"type is DOUBLE without min; {ALL_THREE}"),
    ('{ type = "DOUBLE", scale = 40, min = 0, max = 9 }', X + "scale is 40; write a whole number from 0 to 38."),
    ('{ type = "DOUBLE", scale = 1, min = 0.25, max = 9 }', X + "min is 0.25; write it as a number with at most 1 "
     "digits after the point, in quotes if it has any."),
    ('{ type = "DOUBLE", scale = 37, min = 0, max = 10 }', X + "max is 10, which the type cannot hold; "
     "correct it or take a wider type."),
    ('{ type = "DATE", min = "20240101" }', X + "min is '20240101'; write it as a date, for example 2024-12-31."),
    ('{ type = "DATE", min = "someday" }', X + "min is 'someday'; write it as a date, for example 2024-12-31."),
    ('{ type = "BOOLEAN", min = 0 }', X + "there is no entry 'min'; known here are nullable, readers, repeats, type."),
    ('{ type = "VARCHAR", max = 9 }', X + "there is no entry 'max'; "
     "known here are max_length, nullable, readers, repeats, type, values."),
    ('{ type = "VARCHAR", values = ["a"], max_lenght = 1 }', X + "there is no entry 'max_lenght'; "
     "known here are nullable, readers, repeats, type, values."),
    ('{ type = "VARCHAR", max_length = -1 }', X + "max_length is -1; write a whole number from 1."),
    ('{ type = "VARCHAR", max_length = 3, values = ["a"] }', X + "has both values and max_length; keep values only."),
    ('{ type = "VARCHAR", values = [] }', X + "values is empty; list the strings that occur, or leave values out."),
    ('{ type = "VARCHAR", values = ["a", "a"] }', X + "values names 'a' twice; name it once."),
    ('{ type = "VARCHAR", values = ["\\u0000"] }', X + "values has a string with a NUL character; "
     "leave NUL out of strings."),
    ('{ type = "DATE", nullable = "yes" }', X + "nullable is 'yes'; write true or false."),
    ('{ type = "DATE", readers = ["z"] }', X + "readers names 'z', which is no party; write \"a\", \"b\" or \"c\"."),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "sentence"), COLUMN_MISTAKES)
def test_a_mistake_in_a_column_is_one_sentence(tmp_path: Path, entry: str, sentence: str) -> None:
    assert mistake(tmp_path, replaced('x = "INTEGER"', f"x = {entry}")) == sentence


OFFER_MISTAKES = [
    ({"offers/a.toml": "", "private/a.toml": ""}, "offers: no party offers a table; "
     "an owner writes [tables.NAME] in NAME.toml there."),
    ({"offers/z.toml": ""}, "offers/z.toml: there is no party 'z'; "
     "add it to the federation file, or remove this file."),
    ({"offers/b.toml": '[tables.T]\nopen = true\ncolumns.y = "DATE"'},
     "offers/b.toml, [tables.T]: a offers a table 't' too; "
     "rename one, because SQL takes them for the same name."),
    ({"offers/b.toml": "x ="}, "offers/b.toml: is not TOML: invalid value (at end of document)."),
]  # fmt: skip


@pytest.mark.parametrize(("files", "sentence"), OFFER_MISTAKES)
def test_a_mistake_among_offers_is_one_sentence(tmp_path: Path, files: dict[str, str], sentence: str) -> None:
    assert mistake(tmp_path, files) == sentence


ONE_FILE = [
    ("[tables.t]\n", "tables"),
    ("[network]\nidle_timeout = 3\n", "network"),
    ('[parties.d]\naddress = "127.0.0.1:1"\nkept = "k"\n', "kept"),
]


@pytest.mark.parametrize(("more", "entry"), ONE_FILE)
def test_a_federation_of_one_file_is_told_what_to_move_where(tmp_path: Path, more: str, entry: str) -> None:
    sentence = (
        f"federation.toml: has {entry}, but holds the membership only; move each [tables.NAME] without owner and path "
        "to offers/OWNER.toml, its path to [tables.NAME] of private/OWNER.toml, [network] and a party's private_key, "
        "ledger and kept to private/PARTY.toml, and keys/*.key and the folders ledger and kept into the folder private."
    )
    assert mistake(tmp_path, {"federation.toml": SMALL["federation.toml"] + more}) == sentence
    with pytest.raises(RunError, match="holds the membership only"):
        Members.load(tmp_path / "federation.toml")


def test_files_that_are_no_federation_files(tmp_path: Path) -> None:
    assert mistake(tmp_path, {"federation.toml": ""}) == (
        "federation.toml: names no party; add a section [parties.NAME] for each."
    )
    assert mistake(tmp_path, {"federation.toml": "parties = 3"}) == (
        "federation.toml, parties: is not a section; write it as [parties] with entries below."
    )
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(RunError, match=r"binary\.toml: is not UTF-8 text; save it as UTF-8\.$"):
        Federation.load(tmp_path / "binary.toml")
    with pytest.raises(RunError, match=r"none\.toml: cannot be read \(No such file or directory\); give"):
        Federation.load(tmp_path / "none.toml")


def test_keys_are_read_when_they_are_needed(tmp_path: Path) -> None:
    federation = load(tmp_path)
    with pytest.raises(RunError) as caught:
        federation.private_key("a")
    assert str(caught.value).replace(f"{tmp_path}/", "") == (
        "private/a.toml: private key private/a.key cannot be read (No such file or directory); "
        "`tacit keys --name a` makes a new one."
    )
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "a.crt").write_bytes(b"\xff")
    with pytest.raises(RunError, match=r"certificate .*a\.crt cannot be read \(it is not PEM text\)"):
        federation.members.certificate("a")
    (tmp_path / "keys" / "a.crt").write_text("PEM")
    assert federation.members.certificate("a") == "PEM"
