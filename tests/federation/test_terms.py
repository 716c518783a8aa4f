"""Owners' terms in offers: what each entry means, one sentence for every mistake, and hashes that cover all of them."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.agreement import agreed
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_column_terms import COLUMN_ENTRIES
from tacit.agent.federation_setup import OFFER
from tacit.agent.federation_terms import TABLE_ENTRIES
from tacit.plan import plan_hash
from tacit.plan.account.serialise import declaration_hash, encoded, offer_hash
from tacit.plan.account.terms_text import table_clauses
from tacit.plan.algebra.types import Field, Integer
from tacit.plan.facts.catalog import Catalog, Column, Table
from tacit.plan.facts.consents import matches_allowed
from tacit.plan.facts.terms import (
    DEFAULT_FUNCTIONS,
    FUNCTIONS,
    OPEN_COLUMN,
    WAYS,
    ColumnTerms,
    Terms,
    open_terms,
)
from tacit.sql import compile_query

PARTIES = ("north", "south", "west")
MEMBERSHIP = "\n".join(f'[parties.{name}]\naddress = "127.0.0.1:{7101 + at}"' for at, name in enumerate(PARTIES))
NORTH = """\
[tables.customers]
open = true
columns.ssn = { type = "BIGINT", readers = ["west"] }
columns.revenue = "INTEGER"
"""
SOUTH = """\
[tables.people]
rows = 120000
recipients = ["north"]
least_group = 10

[tables.people.columns]
ssn = { type = "BIGINT", use = ["join"] }
age = { type = "INTEGER", min = 0, max = 120, use = ["filter"] }
pay = { type = "DECIMAL(8,2)", use = ["aggregate"] }
city = { type = "VARCHAR", max_length = 9, use = ["group", "filter"] }
seen = { type = "DATE", use = ["filter"] }
vip = { type = "BOOLEAN", use = ["filter"] }
"""
Q = "q:" + "0123456789abcdef" * 4
EVERYTHING = f"""\
[tables.people]
rows = 120000
recipients = ["west", "north"]
least_group = 10
unit = ["ssn", "city"]
small = "drop"
until = 2027-01-31
allow = ["{Q}"]
matches = ["north"]
weights = ["customers.revenue", "customers.*"]
differences = "text"
questions = 7
refusals = 1
period = 365
complement = true

[tables.people.columns]
ssn = {{ type = "BIGINT", use = ["join"], with = ["customers.ssn", "people.ssn"] }}
pay = {{ type = "DECIMAL(8,2)", use = ["aggregate", "filter"], functions = ["max"], least_group = 20, cuts = ["2.5"] }}
city = {{ type = "VARCHAR", use = ["filter", "group", "select"], to = ["west"], constants = ["Oslo", "Bodø"] }}
seen = {{ type = "DATE", use = ["filter"], cuts = "month" }}
note = "VARCHAR"
"""


def load(folder: Path, south: str, north: str = NORTH) -> Federation:
    """A federation of three parties, of which two offer a table."""
    (folder / "offers").mkdir(exist_ok=True)
    (folder / "federation.toml").write_text(MEMBERSHIP, encoding="utf-8")
    for name, text in (("north", north), ("south", south)):
        (folder / "offers" / f"{name}.toml").write_text(text, encoding="utf-8")
    return Federation.load(folder / "federation.toml")


def people(folder: Path, south: str) -> Table:
    """South's table."""
    return load(folder, south).catalog.tables[1]


def mistake(folder: Path, south: str) -> str:
    """The sentence about south's offer, without the folder."""
    with pytest.raises(RunError) as caught:
        load(folder, south)
    assert caught.value.fault is Fault.INPUT
    return str(caught.value).removeprefix(f"{folder}/offers/south.toml, ")


def test_every_entry(tmp_path: Path) -> None:
    found = people(tmp_path, EVERYTHING)
    assert found.terms == Terms(
        frozenset({"north", "west"}), 10, ("ssn", "city"), "drop", date(2027, 1, 31), frozenset({Q}),
        frozenset({"north"}), frozenset({"customers.revenue", "customers.*"}), "text", 7, 1, 365, True,
    )  # fmt: skip
    assert [column.terms for column in found.columns] == [
        ColumnTerms(frozenset({"join"}), partners=frozenset({"customers.ssn", "people.ssn"})),
        ColumnTerms(frozenset({"aggregate", "filter"}), frozenset({"max"}), 20, cuts=(250,)),
        ColumnTerms(
            frozenset({"filter", "group", "select"}), frozenset(FUNCTIONS), to=frozenset({"west"}),
            constants=frozenset({"Oslo", "Bodø"}),
        ),
        ColumnTerms(frozenset({"filter"}), cuts="month"),
        ColumnTerms(),
    ]  # fmt: skip
    entries = set(re.findall(r"(\w+) = ", EVERYTHING))
    assert entries >= {*TABLE_ENTRIES, *COLUMN_ENTRIES}


def test_defaults_are_closed(tmp_path: Path) -> None:
    least = '[tables.people]\ncolumns.x = { type = "DATE", use = [] }\ncolumns.y = "DATE"'
    found = people(tmp_path, least)
    assert found.terms == Terms(frozenset())
    assert [column.terms for column in found.columns] == [ColumnTerms(), ColumnTerms()]


def test_usual_functions(tmp_path: Path) -> None:
    pay = people(tmp_path, SOUTH).columns[2].terms
    assert pay == ColumnTerms(frozenset({"aggregate"}), DEFAULT_FUNCTIONS)


def test_a_table_opened_on_purpose(tmp_path: Path) -> None:
    customers = load(tmp_path, SOUTH).catalog.tables[0]
    assert customers.terms == open_terms(PARTIES)
    assert {column.terms for column in customers.columns} == {OPEN_COLUMN}
    assert [column.readers for column in customers.columns] == [{"west"}, frozenset()]


def test_without_a_floor_rows_are_shown(tmp_path: Path) -> None:
    text = (
        '[tables.people]\nrecipients = ["north"]\ncolumns.x = { type = "DATE", use = ["select"] }\ncolumns.y = "DATE"'
    )
    found = people(tmp_path, text)
    assert found.terms == Terms(frozenset({"north"}))
    assert found.columns[0].terms == OPEN_COLUMN


def test_readers_are_those_who_may_see_each_row(tmp_path: Path) -> None:
    found = people(tmp_path, EVERYTHING.replace('["west", "north"]', '["west", "north", "south"]'))
    assert [column.readers for column in found.columns] == [set(), set(), {"west"}, set(), set()]
    found = people(tmp_path, EVERYTHING.replace(', to = ["west"]', ""))
    assert found.columns[2].readers == {"north", "west"}


CUTS = [
    ("age", "[18, 30, 65]", (18, 30, 65)),
    ("age", "[0]", (0,)),
    ("pay", '[-10, "0.5", 0.75]', (-1000, 50, 75)),
    ("seen", '[1969-12-31, "1970-01-02"]', (-1, 1)),
    ("seen", '"month"', "month"),
]


@pytest.mark.parametrize(("column", "cuts", "expected"), CUTS)
def test_cuts_are_encoded_as_bounds_are(tmp_path: Path, column: str, cuts: str, expected: object) -> None:
    found = people(tmp_path, with_entry(column, f"cuts = {cuts}"))
    assert expected in [each.terms.cuts for each in found.columns if each.field.name == column]


CONSTANTS: list[tuple[str, str, set[int | bool | str]]] = [
    ("age", "[37, 38]", {37, 38}),
    ("pay", '["1.25"]', {125}),
    ("seen", "[1970-01-11]", {10}),
    ("vip", "[true]", {True}),
    ("city", '["Oslo", ""]', {"Oslo", ""}),
]


@pytest.mark.parametrize(("column", "constants", "expected"), CONSTANTS)
def test_constants_are_of_the_columns_type(
    tmp_path: Path, column: str, constants: str, expected: set[int | bool | str]
) -> None:
    found = people(tmp_path, with_entry(column, f"constants = {constants}"))
    (terms,) = [each.terms for each in found.columns if each.field.name == column]
    assert terms.constants == frozenset(expected)
    assert {type(each) for each in terms.constants or ()} == {type(each) for each in expected}


MOMENT_CUTS = [
    ('cuts = "month"', "month", None),
    ('cuts = [1969-12-31T23:59:59.5, "1970-01-02"]', (-500_000, 86_400_000_000), None),
    ('constants = [1970-01-01, "1970-01-01 00:00:00.000001"]', None, frozenset({0, 1})),
]


@pytest.mark.parametrize(("entry", "cuts", "constants"), MOMENT_CUTS)
def test_a_timestamp_has_cuts_and_constants_as_a_date_has(
    tmp_path: Path, entry: str, cuts: object, constants: object
) -> None:
    found = people(tmp_path, with_entry("seen", entry).replace('type = "DATE"', 'type = "TIMESTAMP"'))
    terms = next(each.terms for each in found.columns if each.field.name == "seen")
    assert (terms.cuts, terms.constants) == (cuts, constants)


def with_entry(column: str, entry: str) -> str:
    """South's offer with a further entry of a column, which may be asked for by constants."""
    line = next(line for line in SOUTH.splitlines() if line.startswith(f"{column} = "))
    used = re.sub(r"use = \[.*\]", lambda use: use[0] if "filter" in use[0] else f'{use[0][:-1]}, "filter"]', line)
    return SOUTH.replace(line, used.replace(" }", f", {entry} }}"))


PEOPLE, AGE, CITY = "[tables.people]: ", "[tables.people.columns.age]: ", "[tables.people.columns.city]: "
SSN, PAY, SEEN = (f"[tables.people.columns.{name}]: " for name in ("ssn", "pay", "seen"))
FLOOR, RECIPIENTS = "least_group = 10", 'recipients = ["north"]'

MISTAKES = [
    # what opens a table, and what does not
    (RECIPIENTS, f"{RECIPIENTS}\nopen = true", PEOPLE + "has open = true and recipients; "
     "keep open to show every row to all parties, or remove it and keep recipients."),
    (f"{RECIPIENTS}\n{FLOOR}", "open = true", PEOPLE + "has open = true and use; "
     "keep open to show every row to all parties, or remove it and keep use."),
    (RECIPIENTS, f'{RECIPIENTS}\nopen = "yes"', PEOPLE + "open is 'yes'; write true or false."),
    # the table
    (FLOOR, "least_groop = 10", PEOPLE + "there is no entry 'least_groop'; perhaps you mean least_group."),
    (FLOOR, "least_group = 0", PEOPLE + "least_group is 0; write a whole number from 1."),
    (FLOOR, "least_group = true", PEOPLE + "least_group is true; write a whole number."),
    (FLOOR, "", PEOPLE + "has no least_group, and ssn is open to more than select; "
     "add least_group = 10, or as many as you want."),
    (FLOOR, 'unit = "ssn"', PEOPLE + "has unit without least_group; add least_group = 10, or as many as you want."),
    (FLOOR, "complement = true", PEOPLE + "has complement without least_group; "
     "add least_group = 10, or as many as you want."),
    ("rows = 120000", "most_rows = 120000", PEOPLE + "has least_group and no rows; "
     "add rows = ..., to which shares are padded, because the exact number would be announced."),
    (RECIPIENTS, 'recipients = ["nroth"]', PEOPLE + "recipients names 'nroth', which is no party; "
     "perhaps you mean north."),
    (RECIPIENTS, 'recipients = ["x"]', PEOPLE + "recipients names 'x', which is no party; "
     'write "north", "south" or "west".'),
    (RECIPIENTS, 'recipients = "north"', PEOPLE + "recipients is 'north'; write a list of names, "
     'for example ["a", "b"].'),
    (RECIPIENTS, f'{RECIPIENTS}\nmatches = ["wst"]', PEOPLE + "matches names 'wst', which is no party; "
     "perhaps you mean west."),
    (FLOOR, f'{FLOOR}\nunit = "snn"', PEOPLE + "unit names 'snn', which is no column of the table; "
     "perhaps you mean ssn."),
    (FLOOR, f"{FLOOR}\nunit = []", PEOPLE + "unit is empty; "
     "name the columns that tell whom the floor protects, or remove unit."),
    (FLOOR, f"{FLOOR}\nunit = 3", PEOPLE + 'unit is 3; write a list of names, for example ["a", "b"].'),
    (FLOOR, f'{FLOOR}\nsmall = "merge"', PEOPLE + 'small is \'merge\'; write "fold" or "drop".'),
    (FLOOR, f'{FLOOR}\nuntil = "2027-01-31"', PEOPLE + "until is '2027-01-31'; "
     "write a date without quotes, for example 2027-01-31."),
    (FLOOR, f"{FLOOR}\nuntil = 2027-01-31T00:00:00Z", PEOPLE + "until is 2027-01-31 00:00:00+00:00; "
     "write a date without quotes, for example 2027-01-31."),
    (FLOOR, f'{FLOOR}\nallow = ["q:7f3a"]', PEOPLE + "allow names 'q:7f3a', which is no question; "
     "write q: and the 64 hexadecimal digits of its hash."),
    (FLOOR, f"{FLOOR}\nallow = []", PEOPLE + "allow is empty; list what is allowed, or remove allow."),
    (FLOOR, f'{FLOOR}\nweights = ["revenue"]', PEOPLE + "weights names 'revenue'; "
     "write table.column, or table.* for all its columns and its rows."),
    (FLOOR, f'{FLOOR}\nweights = ["customer.revenue"]', PEOPLE + "weights names 'customer.revenue', "
     "but nobody offers a table customer; perhaps you mean customers."),
    (FLOOR, f'{FLOOR}\nweights = ["customers.revenu"]', PEOPLE + "weights names 'customers.revenu', "
     "but customers has no column revenu; perhaps you mean revenue."),
    (FLOOR, f'{FLOOR}\nweights = ["zoo.*"]', PEOPLE + "weights names 'zoo.*', "
     'but nobody offers a table zoo; write "customers" or "people".'),
    (FLOOR, f'{FLOOR}\ndifferences = "inside"', PEOPLE + 'differences = "inside" is not available yet; '
     'write "sets", "text" or "off".'),
    (FLOOR, f'{FLOOR}\ndifferences = "all"', PEOPLE + "differences is 'all'; write \"sets\", \"text\" or \"off\"."),
    (FLOOR, f"{FLOOR}\nquestions = 0", PEOPLE + "questions is 0; write a whole number from 1."),
    (FLOOR, f"{FLOOR}\nrefusals = 0", PEOPLE + "refusals is 0; write a whole number from 1."),
    (FLOOR, f"{FLOOR}\nperiod = 1.5", PEOPLE + "period is 1.5; write a whole number."),
    (FLOOR, f"{FLOOR}\ncomplement = 1", PEOPLE + "complement is 1; write true or false."),
    # columns
    ('use = ["join"] }', 'use = ["join"], readers = ["north"] }',
     SSN + "has readers, but its table has no open = true; "
     'write use = ["select"], to = [...] to name who may see it row by row.'),
    ('use = ["aggregate"]', 'use = ["agregate"]', PAY + "use names 'agregate', which is no way to use a column; "
     "perhaps you mean aggregate."),
    ('use = ["aggregate"]', 'use = ["show"]', PAY + "use names 'show', which is no way to use a column; "
     'write "join", "filter", "group", "aggregate" or "select".'),
    ('use = ["aggregate"]', 'usage = ["sum"]', PAY + "there is no entry 'usage'; "),
    ('use = ["aggregate"]', 'use = ["aggregate"], functions = ["mean"]', PAY + "functions names 'mean', "
     'which is no function; write "count", "sum", "avg", "stddev", "count_distinct", "min", "max" or "quantile".'),
    ('use = ["aggregate"]', 'use = ["aggregate"], functions = []', PAY + "functions is empty; "
     "list what is allowed, or remove functions."),
    ('use = ["aggregate"]', 'use = ["group"], functions = ["sum"]', PAY + "has functions, but use has no aggregate; "
     "add aggregate to use, or remove functions."),
    ('use = ["aggregate"]', 'use = ["aggregate"], least_group = 9', PAY + "least_group is 9, below the table's 10; "
     "write 10 or more, or remove it."),
    ('use = ["aggregate"]', 'use = ["aggregate"], least_group = 0', PAY + "least_group is 0; "
     "write a whole number from 1."),
    ('use = ["aggregate"]', 'use = ["select"], least_group = 20', PAY + "has least_group, "
     "but use has no join or filter or group or aggregate; add join or filter or group or aggregate to use, "
     "or remove least_group."),
    ('use = ["aggregate"]', 'use = ["aggregate"], to = ["north"]', PAY + "has to, but use has no select; "
     "add select to use, or remove to."),
    ('use = ["aggregate"]', 'use = ["select"], to = ["west"]', PAY + "to names 'west', "
     "which is no recipient of the table; add it to recipients, too."),
    ('use = ["aggregate"]', 'use = ["select"], to = ["wets"]', PAY + "to names 'wets', which is no party; "
     "perhaps you mean west."),
    ('use = ["aggregate"]', 'use = ["select"], to = []', PAY + "to is empty; list what is allowed, or remove to."),
    ('use = ["aggregate"]', 'use = ["aggregate"], with = ["customers.ssn"]', PAY + "has with, "
     "but use has no join or filter; add join or filter to use, or remove with."),
    ('use = ["join"]', 'use = ["join"], with = ["customers.*"]', SSN + "with names 'customers.*'; write table.column."),
    ('use = ["join"]', 'use = ["join"], with = ["customers.snn"]', SSN + "with names 'customers.snn', "
     "but customers has no column snn; perhaps you mean ssn."),
    ('use = ["join"]', 'use = ["join"], with = ["costumers.ssn"]', SSN + "with names 'costumers.ssn', "
     "but nobody offers a table costumers; perhaps you mean customers."),
    ('use = ["join"]', 'use = ["join"], with = []', SSN + "with is empty; list what is allowed, or remove with."),
    ('use = ["aggregate"]', 'use = ["aggregate"], cuts = [1]', PAY + "has cuts, but use has no filter; "
     "add filter to use, or remove cuts."),
    ('use = ["join"]', 'use = ["join"], constants = [1]', SSN + "has constants, but use has no filter; "
     "add filter to use, or remove constants."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = [30, 18]', AGE + "cuts are not ascending; "
     "write each once, the smallest first."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = [18, 18]', AGE + "cuts are not ascending; "
     "write each once, the smallest first."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = [18, 121]', AGE + "cuts has 121, "
     "which is outside the column's bounds; leave it out."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = ["18"]',
     AGE + "cuts has '18'; write it as a whole number."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = 18', AGE + "cuts is 18; write a list of values."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = []', AGE + "cuts is empty; "
     "list what is allowed, or remove cuts."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = "month"', AGE + 'cuts is "month", '
     "but the type is not DATE or TIMESTAMP; list where it may be cut."),
    ('120, use = ["filter"]', '120, use = ["filter"], cuts = [1], constants = [2]',
     AGE + "has both cuts and constants; "
     "keep one: with cuts only whole intervals are asked for."),
    ('["group", "filter"]', '["group", "filter"], cuts = ["M"]', CITY + "has cuts, "
     "but values of its type are not cut; remove cuts, or list constants."),
    ('["group", "filter"]', '["group", "filter"], constants = ["Kristiansand"]', CITY + "constants has 'Kristiansand', "
     "which the column cannot have; correct it or leave it out."),
    ('["group", "filter"]', '["group", "filter"], constants = [3]', CITY + "constants has 3; "
     "write a text in quotes, without NUL characters."),
    ('["group", "filter"]', '["group", "filter"], constants = ["a", "a"]', CITY + "constants has a value twice; "
     "write it once."),
    ('"DATE", use = ["filter"]', '"DATE", use = ["filter"], constants = [3]', SEEN + "constants has 3; "
     "write it as a date, for example 2024-12-31."),
    ('"BOOLEAN", use = ["filter"]', '"BOOLEAN", use = ["filter"], constants = [1]', "[tables.people.columns.vip]: "
     "constants has 1; write true or false."),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    assert SOUTH.count(before) == 1
    found = mistake(tmp_path, SOUTH.replace(before, after))
    assert found.startswith(sentence)
    assert found == sentence or not sentence.endswith(".")


def test_a_table_that_says_nothing_is_refused_with_what_opens_it(tmp_path: Path) -> None:
    assert mistake(tmp_path, '[tables.people]\nrows = 3\ncolumns.x = "DATE"\ncolumns.y = { type = "DATE" }') == (
        "[tables.people]: allows no use of any column; write open = true to show every row to all parties, "
        "or use = [...] at each column that queries may use."
    )


@pytest.mark.parametrize("entry", TABLE_ENTRIES)
def test_a_table_is_not_opened_beside_terms(tmp_path: Path, entry: str) -> None:
    line = next(line for line in EVERYTHING.splitlines() if line.startswith(f"{entry} = "))
    found = mistake(tmp_path, f'[tables.people]\nopen = true\n{line}\ncolumns.x = "DATE"')
    assert found.startswith(f"[tables.people]: has open = true and {entry}; keep open to show every row")


@pytest.mark.parametrize("entry", [entry for entry in COLUMN_ENTRIES if entry != "use"])
def test_a_column_of_an_open_table_has_no_terms(tmp_path: Path, entry: str) -> None:
    found = mistake(tmp_path, f'[tables.people]\nopen = true\ncolumns.x = {{ type = "DATE", {entry} = ["x"] }}')
    assert found == (f"[tables.people.columns.x]: has {entry}, but its table has open = true; remove {entry}, or open.")


def test_who_gets_part_of_it_only_needs_a_floor(tmp_path: Path) -> None:
    """A column that one recipient sees row by row is open to another only above a floor."""
    text = (
        '[tables.people]\nrecipients = ["north", "west"]\n'
        'columns.x = { type = "DATE", use = ["select", "group"], to = ["north"] }'
    )
    assert "has no least_group, and x is open to more than select" in mistake(tmp_path, text)
    people(tmp_path, text.replace(', to = ["north"]', ""))
    people(tmp_path, text.replace(', "group"', ""))


def test_the_offer_that_a_party_begins_with(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in OFFER.format(name="south").splitlines()]
    written = "\n".join(line for line in lines if re.match(r"\[|\w+(\.\w+)? = ", line))
    found = people(tmp_path, written)
    assert found.terms == Terms(frozenset({"south"}), 10, ("id",))
    assert [sorted(column.terms.ways) for column in found.columns] == [["join"], ["filter", "group"]]


NUMBERS = Integer(0, 1000, "INTEGER")
TABLE = Table("people", "south", (Column(Field("age", NUMBERS, False), terms=ColumnTerms()),), rows=9, terms=Terms(
    frozenset({"north"}), 10
))  # fmt: skip
OTHER_TERMS: dict[str, Any] = {
    "recipients": frozenset({"north", "west"}),
    "least_group": 11,
    "unit": ("age",),
    "small": "drop",
    "until": date(2027, 1, 31),
    "allow": frozenset({Q}),
    "matches": frozenset({"north"}),
    "weights": frozenset({"customers.revenue"}),
    "differences": "text",
    "questions": 99,
    "refusals": 4,
    "period": 29,
    "complement": True,
}
OPEN_AGE = ColumnTerms(frozenset({"join", "filter", "aggregate", "select"}), DEFAULT_FUNCTIONS)
OTHER_COLUMN_TERMS: dict[str, Any] = {
    "ways": frozenset({"join", "filter", "aggregate"}),
    "functions": frozenset({"sum"}),
    "least_group": 20,
    "to": frozenset({"west"}),
    "partners": frozenset({"customers.ssn"}),
    "cuts": (18,),
    "constants": frozenset({18}),
}


def altered() -> dict[str, tuple[Table, Table, str]]:
    """For each term a table, the same table with another term, and how the offer calls what differs."""
    assert TABLE.terms is not None
    (column,) = TABLE.columns
    opened = replace(TABLE, columns=(replace(column, terms=OPEN_AGE),))
    named = {"ways": "use", "partners": "with"}
    tables = {
        f"table {name}": (TABLE, replace(TABLE, terms=replace(TABLE.terms, **{name: value})), f"{name} of table people")
        for name, value in OTHER_TERMS.items()
    }
    columns = {
        f"column {name}": (
            opened,
            replace(TABLE, columns=(replace(column, terms=replace(OPEN_AGE, **{name: value})),)),
            f"{named.get(name, name)} of column people.age",
        )
        for name, value in OTHER_COLUMN_TERMS.items()
    }
    return tables | columns


ALTERED = altered()


def test_no_term_is_forgotten() -> None:
    """The tests below go through all fields, those that are new as well."""
    assert [*OTHER_TERMS] == [each.name for each in fields(Terms)]
    assert [*OTHER_COLUMN_TERMS] == [each.name for each in fields(ColumnTerms)]


@pytest.mark.parametrize("term", ALTERED)
def test_every_hash_covers_every_term(term: str) -> None:
    one, other, called = ALTERED[term]
    assert offer_hash([one]) != offer_hash([other])
    assert declaration_hash(one) != declaration_hash(other)
    catalog = Catalog(PARTIES, "rep3", PARTIES, (replace(one, terms=None),))
    plan = compile_query("SELECT COUNT(*) AS n FROM people", catalog, ("north",))
    first, second = (replace(plan, catalog=replace(catalog, tables=(table,))) for table in (one, other))
    assert plan_hash(first) != plan_hash(second)
    here, there = agreed(first), agreed(second)
    differing = {name for name in here.keys() | there.keys() if here.get(name) != there.get(name)}
    assert differing == {called, "the offer of table people", "the plan"}


@pytest.mark.parametrize("term", ALTERED)
def test_every_term_is_in_the_sentences(term: str) -> None:
    one, other, _ = ALTERED[term]
    assert table_clauses(one, PARTIES) != table_clauses(other, PARTIES)


def test_an_offer_is_the_same_in_any_order() -> None:
    other = replace(TABLE, name="a")
    assert offer_hash([TABLE, other]) == offer_hash([other, TABLE]) != offer_hash([TABLE])
    assert offer_hash([replace(TABLE, path="/srv/people.csv")]) == offer_hash([TABLE])


def test_whether_values_are_rounded_is_in_every_hash_of_an_offer() -> None:
    """Offers without rounded columns are written as they were before there were any."""
    first, *others = TABLE.columns
    rounded = replace(TABLE, columns=(replace(first, rounded=True), *others))
    assert offer_hash([rounded]) != offer_hash([TABLE])
    assert declaration_hash(rounded) != declaration_hash(TABLE)
    assert [each["rounded"] for each in encoded(rounded)["columns"] if "rounded" in each] == [True]
    assert not [each for each in encoded(TABLE)["columns"] if "rounded" in each]


def test_terms_of_many_tables_are_compared_as_a_whole() -> None:
    """Parties send each other small messages."""
    tables = tuple(replace(TABLE, name=f"t{at}") for at in range(200))
    catalog = Catalog(PARTIES, "rep3", PARTIES, tuple(replace(table, terms=None) for table in tables))
    plan = compile_query("SELECT COUNT(*) AS n FROM t1", catalog, ("north",))
    said = agreed(replace(plan, catalog=replace(catalog, tables=tables)))
    assert len([name for name in said if name.startswith("the offer of table ")]) == 200
    assert not [name for name in said if " of table " in name and not name.startswith("the offer")]


def test_who_may_learn_matches() -> None:
    assert TABLE.terms is not None
    towards = replace(TABLE, terms=replace(TABLE.terms, matches=frozenset({"west"})))
    assert [matches_allowed(towards, party) for party in PARTIES] == [False, True, True]
    assert [matches_allowed(TABLE, party) for party in PARTIES] == [False, True, False]
    assert all(matches_allowed(replace(TABLE, terms=open_terms(PARTIES)), party) for party in PARTIES)


names = st.frozensets(st.sampled_from(PARTIES), min_size=1)
ways = st.frozensets(st.sampled_from(WAYS))


@st.composite
def column_terms(draw: st.DrawFn, recipients: frozenset[str]) -> ColumnTerms:
    """Terms of a DATE column that an offer can write."""
    found = draw(ways)
    given = {
        "functions": ("aggregate",), "least_group": ("join", "filter", "group", "aggregate"), "to": ("select",),
        "partners": ("join", "filter"), "cuts": ("filter",), "constants": ("filter",),
    }  # fmt: skip
    values: dict[str, st.SearchStrategy[Any]] = {
        "functions": st.frozensets(st.sampled_from(FUNCTIONS), min_size=1),
        "least_group": st.integers(10, 99),
        "to": st.frozensets(st.sampled_from(sorted(recipients)), min_size=1),
        "partners": st.frozensets(st.sampled_from(["customers.ssn", "people.x"]), min_size=1),
        "cuts": st.sampled_from(["month", (-1,), (-700000, 3, 9)]),
        "constants": st.frozensets(st.integers(-700000, 2900000), min_size=1, max_size=4),
    }
    chosen = {name: draw(values[name]) for name, needed in given.items() if found & {*needed} and draw(st.booleans())}
    if "cuts" in chosen:
        chosen.pop("constants", None)
    usual = DEFAULT_FUNCTIONS if "aggregate" in found else frozenset(FUNCTIONS if "select" in found else ())
    return ColumnTerms(found, **({"functions": usual} | chosen))


@st.composite
def offers(draw: st.DrawFn) -> tuple[Terms, ColumnTerms]:
    """Terms of a table with a floor and of its column x, a DATE."""
    recipients = draw(names)
    terms = Terms(
        recipients,
        draw(st.integers(1, 10)),
        draw(st.sampled_from([(), ("x",)])),
        draw(st.sampled_from(["fold", "drop"])),
        draw(st.none() | st.dates()),
        draw(st.none() | st.just(frozenset({Q}))),
        draw(st.frozensets(st.sampled_from(PARTIES))),
        draw(st.frozensets(st.sampled_from(["customers.*", "customers.ssn", "people.x"]))),
        draw(st.sampled_from(["sets", "text", "off"])),
        draw(st.integers(1, 999)),
        draw(st.integers(1, 999)),
        draw(st.integers(1, 999)),
        draw(st.booleans()),
    )
    return terms, draw(column_terms(recipients))


def toml(value: object) -> str:
    """A term as an offer writes it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case date():
            return value.isoformat()
        case frozenset() | tuple():
            return f"[{', '.join(toml(each) for each in value)}]"
        case _:
            return str(value)


def days(value: object) -> object:
    """Encoded dates as dates."""
    if isinstance(value, int):
        return date(1970, 1, 1) + timedelta(days=value)
    return type(value)(days(each) for each in value) if isinstance(value, tuple | frozenset) else value


def written(terms: Terms, column: ColumnTerms) -> str:
    """An offer with these terms."""
    general = {each.name: getattr(terms, each.name) for each in fields(terms)}
    lines = [f"{name} = {toml(value)}" for name, value in general.items() if value not in (None, ())]
    special: dict[str, object] = {
        "use": column.ways, "functions": column.functions if "aggregate" in column.ways else None,
        "least_group": column.least_group, "to": column.to, "with": column.partners, "cuts": days(column.cuts),
        "constants": days(column.constants),
    }  # fmt: skip
    entries = ", ".join(f"{name} = {toml(value)}" for name, value in special.items() if value is not None)
    return "\n".join(["[tables.people]", "rows = 99", *lines, f'columns.x = {{ type = "DATE", {entries} }}'])


@settings(max_examples=150, deadline=None)
@given(offers())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, offer: tuple[Terms, ColumnTerms]) -> None:
    terms, column = offer
    found = people(tmp_path_factory.mktemp("offer"), written(terms, column))
    assert (found.terms, found.columns[0].terms) == (terms, column)
    assert found.columns[0].readers == (
        (column.to or terms.recipients) - {"south"} if "select" in column.ways else set()
    )
