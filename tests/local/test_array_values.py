"""Elements of owners' arrays: as exactly encoded as the reference does, and the first wrong one is found."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.local.array_values import nearest, out_of_bounds, pieces, too_long, words
from tacit.plan.programs.evaluation import encoded
from tacit.plan.programs.facts import Array

WIDE = 2.0**85
FLOATS = st.floats(-WIDE, WIDE) | st.sampled_from([0.0, -0.0, 5e-324, 0.5, -0.5, 0.49999999999999994, WIDE, -WIDE])


def reference(values: Any, fraction: int) -> list[int]:
    array = Array(values.shape, "fixed", 0, 0, fraction)
    return [int(each) for each in encoded(values, array).reshape(-1)]


def whole(integers: Any) -> list[int]:
    signs, high, low = (each.reshape(-1).tolist() for each in words(integers))
    return [sign * (2**64 * most + least) for sign, most, least in zip(signs, high, low, strict=True)]


@given(st.lists(FLOATS, min_size=1, max_size=20), st.integers(1, 40))
def test_numbers_are_rounded_as_the_reference_rounds_them(listed: list[float], fraction: int) -> None:
    values = numpy.array(listed)
    found = nearest(values, fraction)
    assert [int(each) for each in found] == reference(values, fraction)
    assert whole(found) == reference(values, fraction)


@given(st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=20), st.integers(1, 40))
def test_numbers_halfway_are_rounded_up(listed: list[int], fraction: int) -> None:
    values = numpy.array(listed) / 2.0 ** (fraction + 1)
    for moved in (values, numpy.nextafter(values, math.inf), numpy.nextafter(values, -math.inf)):
        assert [int(each) for each in nearest(moved, fraction)] == reference(moved, fraction)


@pytest.mark.parametrize("dtype", ["float16", "float32", ">f8"])
def test_narrow_and_turned_numbers_are_exact(dtype: str) -> None:
    values = numpy.array([0.1, -3.7, 1 / 3, 2**-20], dtype)
    assert [int(each) for each in nearest(values, 16)] == reference(values.astype(float), 16)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_integers_stay_as_they_are(listed: list[int]) -> None:
    found = nearest(numpy.array(listed, numpy.int64), 16)
    assert found.tolist() == listed
    assert whole(found) == listed


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0.0, 1.0], None),
        ([0.5, math.nan], (1, "is NaN, which is no number")),
        ([-math.inf, 0], (0, "is infinite")),
        ([1.0, 1.0000000000000002, 7], (1, "is 1.0000000000000002, above the declared max 1")),
        ([0, -5e-324], (1, "is -5e-324, below the declared min 0")),
    ],
)
def test_the_first_number_outside_is_found(values: list[float], found: tuple[int, str] | None) -> None:
    wrong = out_of_bounds(numpy.array(values), 0, 1)
    assert (None if wrong is None else (wrong.at, wrong.problem)) == found


def test_bounds_that_no_float_holds_are_exact() -> None:
    bound = 2**60 + 1
    assert out_of_bounds(numpy.array([2.0**60]), -bound, bound) is None
    wrong = out_of_bounds(numpy.array([2.0**60 + 256]), -bound, bound)
    assert wrong is not None and wrong.at == 0
    assert out_of_bounds(numpy.array([bound - 1, bound]), 0, bound) is None
    assert out_of_bounds(numpy.array([bound + 1]), 0, bound) is not None


def test_rows_are_held_against_their_exact_length() -> None:
    rows = numpy.array([[3.0, 4.0], [0.0, 5.0], [5.0, 1.0]])
    assert too_long(rows, 26) is None
    assert too_long(rows, 25) == 2
    large = numpy.array([[2**61, 2**61 + 1]], numpy.int64)
    exact = 2**122 + (2**61 + 1) ** 2
    assert too_long(large, exact) is None
    assert too_long(large, exact - 1) == 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_pieces_are_all_elements_in_order(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.local.array_values.PIECE", 7)
    values = numpy.asarray(numpy.arange(5 * 3 * 4).reshape(5, 3, 4), order=order)  # type: ignore[call-overload]  # str
    found = list(pieces(values, 4))
    assert [first for first, _ in found][:2] != [0]
    assert numpy.concatenate([piece.reshape(-1) for _, piece in found]).tolist() == list(range(60))
    assert [first for first, _ in found] == [sum(piece.size for _, piece in found[:at]) for at in range(len(found))]


def test_a_number_of_no_axis_is_one_piece() -> None:
    ((first, piece),) = pieces(numpy.array(3.5), 1)
    assert (first, piece.tolist()) == (0, [[3.5]])
    assert reference(numpy.array(3.5), 2) == [14] == [int(Fraction(7, 2) * 4)]
