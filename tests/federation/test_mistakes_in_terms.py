"""Owners' terms in offers: one sentence for every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.agent.federation_column_terms import COLUMN_ENTRIES
from tacit.agent.federation_terms import TABLE_ENTRIES

from .offers import EVERYTHING, SOUTH, mistake, people

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
    (FLOOR, f'{FLOOR}\nallow = ["q:7f3a"]', PEOPLE + "allow names 'q:7f3a', which is no question and no "
     "program; write q: for a question or p: for a program, and the 64 hexadecimal digits of its hash."),
    (FLOOR, f'{FLOOR}\nprograms = "all"', PEOPLE + "programs is 'all'; write \"any\", or list programs in allow."),
    (FLOOR, f'{FLOOR}\nprograms = "any"\nallow = ["p:{"0" * 64}"]', PEOPLE + 'has programs = "any", and programs in '
     "allow; keep one of the two."),
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
     'write "join", "filter", "group", "aggregate", "select" or "program".'),
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
    ('use = ["aggregate"]', 'use = ["select", "program"], to = ["north"]', PAY + "has to, "
     "which does not bind programs, and program in use; remove program from use, or remove to and list in recipients "
     "of the table who may get its results."),
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
