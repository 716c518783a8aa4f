"""Owners' arrays: what is not as it is offered is refused in one sentence, and the rest is encoded in C order."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest

from tacit.array.declared import Declared
from tacit.local.array_source import check_array, load_array, open_array
from tacit.local.database import connect
from tacit.local.duckdb_engine import LocalEngine
from tacit.local.errors import DataError
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog
from tacit.plan.facts.kinds import Kind
from tacit.plan.physical.operators import Shared
from tacit.plan.physical.placed import ArrayStep, PlacedPlan
from tacit.plan.programs.evaluation import encoded

PARTIES = ("owner", "b", "c")


def offered(path: Path, shape: tuple[int, ...], dtype: str = "float64", **declared: Any) -> OfferedArray:
    """An array of the owner in the folder's file."""
    bounds = {"low": Fraction(-4), "high": Fraction(4)} if dtype.startswith("float") else {}
    return OfferedArray("x", "owner", shape, dtype, **{**bounds, **declared, "path": str(path / "x.npy")})


def saved(path: Path, values: Any) -> Any:
    """An array, written to the folder's file."""
    array = numpy.asarray(values)
    numpy.save(path / "x.npy", array)
    return array


def loaded(array: OfferedArray, fraction: int = 16) -> list[Any]:
    """The rows of the table that an array becomes."""
    with connect() as database:
        rows = load_array(database, open_array(array), fraction, "x")
        found = [value for (value,) in database.execute("SELECT value FROM x").fetchall()]
    assert rows == len(found)
    return found


def refusal(array: OfferedArray) -> str:
    """The sentence about an array, without the folder."""
    with pytest.raises(DataError) as caught:
        loaded(array)
    return str(caught.value).replace(f"{Path(array.path or '').parent}/", "")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("fraction", [16, 40])
def test_elements_are_encoded_as_the_reference_does(tmp_path: Path, order: Any, fraction: int) -> None:
    random = numpy.random.default_rng(3)
    values = saved(tmp_path, numpy.asarray(random.uniform(-4, 4, (5, 3, 4)), order=order))
    values_at_ends = values.copy()
    values_at_ends[0, 0, :2] = -4, 4
    saved(tmp_path, numpy.asarray(values_at_ends, order=order))
    reference = encoded(values_at_ends, Declared((5, 3, 4), "float64", -4, 4).array("x", fraction))
    assert loaded(offered(tmp_path, (5, 3, 4)), fraction) == reference.reshape(-1).tolist()


def test_wide_numbers_are_exact(tmp_path: Path) -> None:
    most = 2.0**85
    values = saved(tmp_path, [most, -most, -1.0, 0.5, 1e20 / 3])
    array = offered(tmp_path, (5,), low=Fraction(-most), high=Fraction(most))
    reference = encoded(values, Declared((5,), "float64", -most, most).array("x", 40))
    assert [int(each) for each in loaded(array, 40)] == reference.tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "bool"])
def test_integers_and_bits_are_themselves(tmp_path: Path, dtype: str) -> None:
    ends = [False, True] if dtype == "bool" else [numpy.iinfo(dtype).min, 3, numpy.iinfo(dtype).max]
    values = saved(tmp_path, numpy.array(ends, dtype))
    assert loaded(offered(tmp_path, values.shape, dtype)) == values.tolist()


def test_a_turned_float32_and_a_single_number(tmp_path: Path) -> None:
    saved(tmp_path, numpy.array([[0.1, -2.5]], ">f4"))
    assert loaded(offered(tmp_path, (1, 2), "float32")) == [6554, -163840]
    saved(tmp_path, numpy.float64(0.25))
    assert loaded(offered(tmp_path, ()), 2) == [1]


@pytest.mark.parametrize(
    ("values", "declared", "sentence"),
    [
        (numpy.ones((3, 2)), {}, "x.npy: its shape is 3 x 2, not the declared 2 x 2; "
         "store the array that was offered, or declare its real shape in the offer."),
        (numpy.ones((2, 2), "float32"), {}, "x.npy: its elements are float32, not the declared float64; "
         "store it as float64, or declare its real dtype in the offer."),
        ([[0.0, 1.0], [numpy.nan, 9.0]], {}, "x.npy: the element [1, 0] is NaN, which is no number; "
         "correct it, or replace what is missing."),
        ([[0.0, numpy.inf], [1.0, 2.0]], {}, "x.npy: the element [0, 1] is infinite; "
         "correct it, or replace what is missing."),
        ([[0.0, 4.5], [1.0, 2.0]], {}, "x.npy: the element [0, 1] is 4.5, above the declared max 4; "
         "correct it, or declare another max."),
        ([[0.0, 0.5], [-0.25, 0.5]], {"low": Fraction(-0.125)},
         "x.npy: the element [1, 0] is -0.25, below the declared min -0.125; correct it, or declare another min."),
        ([[1.0, 0.0], [2.0, 1.0]], {"row_norm": Fraction(2)},
         "x.npy: the row [1] has a Euclidean norm above the declared row_norm 2; "
         "correct it, or declare another row_norm."),
    ],
)  # fmt: skip
def test_what_is_not_as_offered_is_refused(tmp_path: Path, values: Any, declared: Any, sentence: str) -> None:
    saved(tmp_path, values)
    assert refusal(offered(tmp_path, (2, 2), **declared)) == sentence


def test_integers_beyond_declared_bounds(tmp_path: Path) -> None:
    saved(tmp_path, numpy.array([3, 9], "int16"))
    array = offered(tmp_path, (2,), "int16", high=Fraction(8))
    assert (
        refusal(array) == "x.npy: the element [1] is 9, above the declared max 8; correct it, or declare another max."
    )


def test_rows_of_the_declared_norm_are_taken(tmp_path: Path) -> None:
    values = numpy.random.default_rng(1).normal(size=(50, 7))
    saved(tmp_path, values / numpy.linalg.norm(values, axis=1, keepdims=True))
    assert len(loaded(offered(tmp_path, (50, 7), row_norm=Fraction(1)))) == 350
    saved(tmp_path, numpy.array([3.0, 0.0, 1.0]))
    assert refusal(offered(tmp_path, (3,), row_norm=Fraction(3))).startswith("x.npy: it has a Euclidean norm")


def test_files_that_are_no_arrays(tmp_path: Path) -> None:
    array, file = offered(tmp_path, (2,)), tmp_path / "x.npy"
    assert refusal(array).startswith("x.npy: the file cannot be read (No such file or directory)")
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00"):
        file.write_bytes(content)
        assert refusal(array) == "x.npy: the file is no whole .npy file; store the array with numpy.save."
    saved(tmp_path, [1.0, 2.0])
    file.write_bytes(file.read_bytes()[:-1])
    assert refusal(array) == "x.npy: the file is no whole .npy file; store the array with numpy.save."
    numpy.save(file, numpy.array([{}, 1], dtype=object), allow_pickle=True)
    assert refusal(array) == "x.npy: it holds Python objects; store an array of numbers with numpy.save."


def test_an_array_without_a_file(tmp_path: Path) -> None:
    array = OfferedArray("x", "owner", (2,), "bool")
    with pytest.raises(DataError, match=r"array x: it has no file; write its path as \[arrays.x\] in private/owner"):
        open_array(array)


def test_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    saved(tmp_path, [1.0, 2.0])
    source = open_array(offered(tmp_path, (2,)))
    saved(tmp_path, [1.0, 2.0, 3.0])
    with connect() as database, pytest.raises(DataError, match="the file changed while it was read"):
        load_array(database, source, 16, "x")


def test_an_engine_gives_the_elements_to_an_input(tmp_path: Path) -> None:
    saved(tmp_path, [[0.5, -1.0], [2.0, 4.0]])
    step = ArrayStep(1, "owner", "x", 2)
    plan = PlacedPlan("", "rep3", PARTIES, ("b",), (step,), ())
    catalog = Catalog(PARTIES, "rep3", PARTIES, (), arrays=(offered(tmp_path, (2, 2)),))
    given = Shared("elements", "value", "int", Kind("ring64", 64, True, False))
    with LocalEngine(plan, "owner", catalog) as engine:
        engine.check()
        assert engine.run(step) == 4
        stream: Any = engine.encode(1, (given,))
        assert stream.columns == ["elements"]
        assert stream.fetchall() == [(2,), (-4,), (8,), (16,)]
        engine.forget(1)
    with LocalEngine(plan, "b", catalog) as engine:
        engine.check()


def test_an_array_is_checked_without_a_program(tmp_path: Path) -> None:
    saved(tmp_path, [1.0, 2.0])
    assert check_array(offered(tmp_path, (2,))) == 2
    saved(tmp_path, [1.0, 5.0])
    with pytest.raises(DataError, match=r"the element \[1\] is 5.0, above the declared max 4"):
        check_array(offered(tmp_path, (2,)))
