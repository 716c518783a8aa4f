"""CSV files that are not in the usual form: delimiter, decimal comma, dates and texts for NULL as their owner says."""

from __future__ import annotations

import datetime
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import pytest

from tacit.local.csv_form import CsvForm, FormError
from tacit.local.duckdb_engine import LocalEngine
from tacit.local.errors import DataError
from tacit.plan.algebra.types import Date, Decimal, Integer, Type, Varchar

from .tables import OWNER, catalog, local, plan, scan, table, write

INTEGER = Integer(-(2**31), 2**31 - 1, "INTEGER")
AMOUNT = Decimal(10, 2, -1000, 1000)
DAYS = Date(-719162, 2932896)
GERMAN = {"delimiter": ";", "decimal": ",", "date_format": "%d.%m.%Y", "null": ["NA", "-"]}


def loaded(folder: Path, text: str, columns: dict[str, Any], options: dict[str, object]) -> list[tuple[Any, ...]]:
    """The rows of a file in a form."""
    source = table("t", write(folder / "t.csv", text), columns)
    relation = scan(source)
    step = local(relation)
    with LocalEngine(plan(step), OWNER, catalog(source), {"t": CsvForm.of(options)}) as engine:
        engine.run(step)
        return engine.database.table("result 1").fetchall()


def test_all_options_together(tmp_path: Path) -> None:
    text = 'i;d;day;s\n7,0;-1,5;31.12.1969;"a;b"\nNA;;-;NA\n+3;"1,25";1.2.2024;"NA"\n'
    columns: dict[str, Any] = {"i": (INTEGER,), "d": (AMOUNT,), "day": (DAYS,), "s": (Varchar(9),)}
    assert loaded(tmp_path, text, columns, GERMAN) == [
        (7, Number("-1.50"), datetime.date(1969, 12, 31), "a;b"),
        (None, None, None, None),
        (3, Number("1.25"), datetime.date(2024, 2, 1), "NA"),
    ]


def test_a_tab_is_a_delimiter(tmp_path: Path) -> None:
    assert loaded(tmp_path, "i\ts\n1\ta,b\n", {"i": INTEGER, "s": Varchar(9)}, {"delimiter": "tab"}) == [(1, "a,b")]


@pytest.mark.parametrize(
    ("value", "type_", "kind"),
    [
        ("1.5", AMOUNT, "a DECIMAL(10,2)"),
        ("1.234,5", AMOUNT, "a DECIMAL(10,2)"),
        ("1,234", AMOUNT, "a DECIMAL(10,2)"),
        ("7,5", INTEGER, "an INTEGER"),
        ("1.000", INTEGER, "an INTEGER"),
        ("2024-02-01", DAYS, "a DATE"),
        ("31.2.2024", DAYS, "a DATE"),
        ("1.2.2024 10:00", DAYS, "a DATE"),
        ("N/A", INTEGER, "an INTEGER"),
    ],
)
def test_values_of_another_form_are_refused_with_their_row(tmp_path: Path, value: str, type_: Type, kind: str) -> None:
    good = "1.2.2024" if type_ is DAYS else "12"
    with pytest.raises(DataError, match="row 3, column x") as caught:
        loaded(tmp_path, f"x;y\n{good};1\n-;1\n{value};1\n", {"x": (type_,)}, GERMAN)
    assert f"{value!r} is not {kind}; correct the value" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"separator": ";"}, "separator: there is no such option of a CSV file; known are delimiter, decimal, date_"),
        ({"delimiter": ";;"}, "delimiter: is ';;'; write one character such as ; or |, or tab"),
        ({"delimiter": '"'}, "delimiter: is '\"'; write one character"),
        ({"decimal": "'"}, 'decimal: is "\'"; write . or ,'),
        ({"date_format": "%d.%m."}, "date_format: is '%d.%m.', which is no form of a date; write day, month and year"),
        ({"date_format": "%d.%m.%Y %H"}, "which is no form of a date"),
        ({"date_format": 3}, "date_format: is 3, which is no form of a date"),
        ({"null": 7}, "null: is 7; write a text, or a list of texts"),
        ({"null": ['"']}, "null: has '\"'; write texts without quotes"),
    ],
)
def test_what_is_no_form_is_one_sentence(options: dict[str, object], said: str) -> None:
    with pytest.raises(FormError) as caught:
        CsvForm.of(options)
    assert said in str(caught.value)
