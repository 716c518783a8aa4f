"""Columns of an owner's table in programs: as three parties run them, and as their owner reads them."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pytest

import tacit
import tacit.numpy as np
from tacit.agent.connection import Connection
from tacit.agent.keys import make_keys
from tacit.agent.owned import OwnedTable
from tacit.cli.demo.scenario import free_ports
from tacit.local.as_offered import opened_table
from tacit.local.csv_form import USUAL
from tacit.local.source import used_fields
from tacit.local.table_columns import load_columns
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.table_arrays import offered_array, table_array

PARTIES = ("hospital_a", "hospital_b", "registry")
ROWS = 40
DRAW = numpy.random.default_rng(11)
SCORE = DRAW.integers(-20_000, 20_001, ROWS) / 10_000
AGE = DRAW.integers(18, 100, ROWS)
ILL = DRAW.integers(0, 2, ROWS) == 1
TABLE = """\
[tables.scores]
rows = 40
exact = true
recipients = ["hospital_b"]
ENTRIES

[tables.scores.columns]
score = { type = "DOUBLE", scale = 4, min = -2, max = 2, use = ["program"] }
age = { type = "INTEGER", min = 18, max = 99, use = ["program"] }
ill = { type = "BOOLEAN", use = ["program"] }
seen = { type = "DATE", use = ["program"] }
note = { type = "INTEGER", nullable = true, use = ["program"] }
closed = "INTEGER"
"""
ANY = 'programs = "any"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    members = "".join(
        f'[parties.{name}]\naddress = "127.0.0.1:{port}"\n' for name, port in zip(PARTIES, free_ports(3), strict=True)
    )
    (tmp_path / "federation.toml").write_text(f'recipients = ["hospital_b"]\n{members}')
    for name in ("offers", "private"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "private" / "hospital_a.toml").write_text('[tables.scores]\npath = "../scores.csv"\n')
    rows = zip(SCORE, AGE, ILL, strict=True)
    lines = [f"{score:.4f},{age},{str(bool(ill)).lower()},2024-01-01,,1" for score, age, ill in rows]
    (tmp_path / "scores.csv").write_text("\n".join(["score,age,ill,seen,note,closed", *lines]) + "\n")
    offer(tmp_path, ANY)
    make_keys(connected(tmp_path).federation.members, PARTIES, replace=False)
    return tmp_path


def offer(folder: Path, entries: str, text: str = TABLE) -> None:
    (folder / "offers" / "hospital_a.toml").write_text(text.replace("ENTRIES", entries))


def connected(folder: Path) -> Connection:
    return tacit.connect(folder / "federation.toml")


def scores(folder: Path) -> OwnedTable:
    return connected(folder).table("hospital_a", "scores")


def moments(x: Any, ill: Any) -> Any:
    return {"mean": x.mean(axis=0), "ill": ill.sum(), "oldest": x[:, 1].max()}


def test_columns_of_a_table_whose_rows_are_public(folder: Path) -> None:
    fed, table = connected(folder), scores(folder)
    x, ill = table.array("score", "age"), table.array("ill")
    assert (x.shape, x.dtype.name, ill.shape, ill.dtype.name) == ((ROWS, 2), "float64", (ROWS,), "bool")
    assert repr(x) == "hospital_a.scores(score,age): array of 40 x 2, float64 from -2 to 99"
    asked = fed.program(moments)(x, ill)
    offer(folder, f'allow = ["{asked.hash}"]')
    fed = connected(folder)
    asked = fed.program(moments)(x, ill)
    found, clear = asked.reveal(to="hospital_b"), moments(numpy.column_stack([SCORE, AGE]), ILL)
    assert numpy.abs(found["mean"] - clear["mean"]).max() < 1e-3
    assert found["ill"] == clear["ill"] and found["oldest"] == clear["oldest"]
    said = " ".join(str(asked.explain(to="hospital_b")).split())
    assert "hospital_a puts the 80 elements of its array scores(score,age) into secret shares" in said
    assert asked.check(to="hospital_b") == [
        "hospital_a allows: the columns scores.score, scores.age may be computed on (it lists this program)",
        "hospital_a allows: the column scores.ill may be computed on (it lists this program)",
    ]
    assert asked.cost(to="hospital_b").bytes > 0


def test_a_table_with_hidden_rows_has_a_bit_for_each(folder: Path) -> None:
    offer(folder, ANY, TABLE.replace("rows = 40\nexact = true", "rows = 50"))
    table = scores(folder)
    with pytest.raises(tacit.InputError, match=r"hidden below rows in its offer; write x, valid = table\.padded_array"):
        table.array("age")
    age, valid = table.padded_array("age")
    assert (age.shape, valid.shape, valid.dtype.name) == ((50,), (50,), "bool")

    def young(age: Any, valid: Any) -> Any:
        return np.sum(valid & (age < 30)), np.sum(age * valid), age.min()

    fed = connected(folder)
    found = fed.program(young)(age, valid).reveal(to="hospital_b")
    assert [int(each) for each in found] == [int((AGE < 30).sum()), int(AGE.sum()), 18]


def test_owners_rules(folder: Path) -> None:
    def total(x: Any) -> Any:
        return x.sum()

    for entries, sentence in (
        ("", r"allow: the column scores\.age is open to no program, .* in allow at \[tables\.scores\]"),
        (f'allow = ["p:{"0" * 64}"]', r"allow: the column scores\.age is open to certain programs"),
    ):
        offer(folder, entries)
        fed = connected(folder)
        with pytest.raises(tacit.PolicyError, match=sentence):
            fed.program(total)(scores(folder).array("age")).reveal(to="hospital_b")
    offer(folder, ANY)
    fed = connected(folder)
    with pytest.raises(tacit.PolicyError, match=r'closed.*use = \["program"\] at closed at \[tables\.scores\]'):
        fed.program(total)(scores(folder).array("closed")).reveal(to="hospital_b")
    with pytest.raises(tacit.PolicyError, match="registry is no recipient of the column"):
        fed.program(total)(scores(folder).array("age")).reveal(to="registry")
    assert scores(folder).array().offered.name == "scores(score,age,ill)"
    with pytest.raises(tacit.PolicyError, match="age"):
        fed.sql("SELECT SUM(age) AS s FROM scores", to="hospital_b")


def test_results_of_a_listed_program_are_kept_and_asked(folder: Path) -> None:
    """The refusal says the hash that the owner lists. Recipients may ask what they could compute of the results."""

    def doubled(age: Any, there: Any) -> Any:
        return {"twice": age * 2, "there": there}

    def keep() -> None:
        fed = connected(folder)
        fed.keep("twice", fed.program(doubled)(*fed.rows(query).padded_array("age")), ["twice", "valid"])

    query = "SELECT age FROM scores WHERE ill"
    offer(folder, f'allow = ["p:{"0" * 64}"]')
    with pytest.raises(tacit.PolicyError, match=r"allow: the columns scores\.age, scores\.ill are open to") as caught:
        keep()
    listed = re.findall(r"p:[0-9a-f]{64}", str(caught.value))[-1]
    offer(folder, f'allow = ["{listed}"]')
    keep()
    fed, asked = connected(folder), "SELECT SUM(twice) AS s, COUNT(*) AS n FROM twice WHERE valid AND twice > 80"
    young = [int(age) for age, ill in zip(AGE, ILL, strict=True) if ill and age > 40]
    assert fed.sql(asked, to="hospital_b").rows() == [(2 * sum(young), len(young))]
    rule = (
        "hospital_a's rule: the columns scores.age, scores.ill, of which a program has made twice, may be computed on"
    )
    assert rule in " ".join(str(fed.explain(asked, to="hospital_b")).split())
    with pytest.raises(tacit.PolicyError, match="recipient: registry is no recipient of the columns scores"):
        fed.sql(asked, to="registry")
    offer(folder, f'allow = ["p:{"0" * 64}"]')
    with pytest.raises(tacit.PolicyError, match=f'kept: .* not to {listed}; .* write "{listed}" in allow'):
        connected(folder).sql(asked, to="hospital_b")


def test_an_open_table_is_open_to_programs(folder: Path) -> None:
    opened = TABLE.replace('recipients = ["hospital_b"]', "open = true").replace(', use = ["program"]', "")
    offer(folder, "", opened)
    array = scores(folder).array("age").offered
    assert array.terms is not None and array.terms.programs is None and "program" in array.terms.ways


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (("other",), "has no column 'other'; its columns are: score, age"),
        (("note",), r"scores\.note may have NULL, and arrays have none"),
        (("seen",), r"scores\.seen is DATE, and programs read numbers"),
        (("age", "age"), "named twice"),
    ],
)
def test_columns_that_no_program_reads(folder: Path, columns: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(tacit.InputError, match=sentence):
        scores(folder).array(*columns)
    catalog = connected(folder).federation.catalog
    with pytest.raises(QueryError, match=sentence):
        offered_array(catalog, "hospital_a", f"scores({','.join(columns)})")


def test_tables_that_no_program_reads(folder: Path) -> None:
    table = scores(folder).table
    with pytest.raises(QueryError, match="declares no number of rows"):
        table_array(replace(table, rows=None), ("age",))
    with pytest.raises(QueryError, match="is delivered"):
        table_array(replace(table, delivered=True), ("age",))
    assert offered_array(connected(folder).federation.catalog, "hospital_b", "scores(age)") is None
    with pytest.raises(tacit.InputError, match="offers no table 'scores'; it declares"):
        connected(folder).table("hospital_b", "scores")
    with pytest.raises(tacit.InputError, match="perhaps you mean scores"):
        connected(folder).table("hospital_a", "score")


def test_an_exact_number_of_rows_is_checked(folder: Path) -> None:
    offer(folder, ANY, TABLE.replace("rows = 40", "rows = 41"))
    asked = connected(folder).program(lambda x: x.sum())(scores(folder).array("age"))
    with pytest.raises(tacit.InputError, match="there are 40 rows, and its offer says that there are exactly 41"):
        asked.reveal(to="hospital_b")
    offer(folder, ANY, TABLE.replace("rows = 40\n", ""))
    with pytest.raises(tacit.InputError, match="has exact = true and no rows"):
        connected(folder)


def test_owners_round_as_arrays_are_rounded(folder: Path) -> None:
    """To the nearest, of two the upper one, in the order of the file, and row by row."""
    table = scores(folder).table
    array = table_array(table, ("score", "age", "ill"))
    with duckdb.connect() as database:
        source = opened_table(database, table, used_fields(table, array.columns), USUAL)
        for fraction in (1, 3, 16, 40):
            assert load_columns(database, source, array, fraction, "found") == 3 * ROWS
            found = [int(each) for (each,) in database.execute("SELECT value FROM found").fetchall()]
            assert found == [
                floor(each * 2**fraction + Fraction(1, 2))
                for score, age, ill in zip(SCORE, AGE, ILL, strict=True)
                for each in (Fraction(f"{score:.4f}"), Fraction(int(age)), Fraction(int(ill)))
            ]
