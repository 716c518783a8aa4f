"""Linear algebra on private matrices: NumPy's result within the declared error, or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.array.tracing import Traced, trace
from tacit.plan.programs.evaluation import Withheld
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import canonical
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.operations import Check
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.rotations import tournament

from .running import SEED, compare, run, same

FINE = Settings(fraction=32)
SQUARE = Declared((3, 3), "float64", -1, 1)
LIMIT = 50
"""The condition that programs of these tests declare."""

PROGRAMS: dict[str, Callable[..., Any]] = {
    "inv": lambda a: np.linalg.inv(a, condition=LIMIT),
    "inv of positive": lambda a: np.linalg.inv(a, condition=LIMIT, assume_a="pos"),
    "solve": lambda a: np.linalg.solve(a, a[0] + 1, condition=LIMIT),
    "solve matrices": lambda a: np.linalg.solve(a, a + 1, condition=LIMIT, assume_a="pos"),
    "cholesky": lambda a: np.linalg.cholesky(a, condition=LIMIT),
    "upper": lambda a: np.linalg.cholesky(a, condition=LIMIT, upper=True),
    "qr": lambda a: np.linalg.qr(a, condition=LIMIT),
    "pinv": lambda a: np.linalg.pinv(a[:, :2], condition=LIMIT),
    "eigvalsh": lambda a: np.linalg.eigvalsh(a),
    "eigh": lambda a: np.linalg.eigh(a, condition=LIMIT),
    "det": lambda a: np.linalg.det(a),
}
NEEDS_POSITIVE = {"inv of positive", "solve matrices", "cholesky", "upper"}
NEEDS_SYMMETRIC = NEEDS_POSITIVE - {"cholesky", "upper"}
"""NumPy reads one triangle for Cholesky's factor."""


def symmetric(draw: numpy.random.Generator, values: Any) -> Any:
    """A matrix with these eigenvalues, divided so that its largest entry is near one."""
    turn = numpy.linalg.qr(draw.normal(size=(len(values), len(values))))[0]
    found = (turn * values) @ turn.T
    return (found + found.T) / 2 / numpy.abs(found).max() * 0.99


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_results_are_numpys(name: str, size: int) -> None:
    draw = numpy.random.default_rng([SEED, size])
    matrix = symmetric(draw, numpy.linspace(1, 4, size))
    if name not in NEEDS_POSITIVE and not name.startswith("eig"):
        matrix = matrix @ numpy.linalg.qr(draw.normal(size=(size, size)))[0]
    traced = compare(PROGRAMS[name], {"a": matrix}, settings=FINE)
    assert all(node.array.absolute_error < 1e-3 for node in traced.outputs.values())


@pytest.mark.parametrize("name", ["inv", "solve matrices", "cholesky", "eigh", "det"])
def test_several_matrices_at_once(name: str) -> None:
    draw = numpy.random.default_rng(SEED)
    values = numpy.stack([symmetric(draw, numpy.array([1.0, 2, 4])) for _ in range(2)])
    compare(PROGRAMS[name], {"a": values}, settings=FINE)


@pytest.mark.parametrize("scale", [1e-3, 300.0])
def test_entries_of_any_size(scale: float) -> None:
    matrix = symmetric(numpy.random.default_rng(SEED), numpy.array([1.0, 2, 4])) * scale
    for name in ("inv", "inv of positive", "cholesky", "qr", "eigh"):
        compare(PROGRAMS[name], {"a": matrix}, settings=FINE)


def of_values(draw: numpy.random.Generator, rows: int, columns: int, values: Any) -> Any:
    """A matrix with these singular values, divided so that its largest entry is near one."""
    sides = (numpy.linalg.qr(draw.normal(size=(size, len(values))))[0] for size in (rows, columns))
    left, right = sides
    found = (left * values) @ right.T
    return found / numpy.abs(found).max() * 0.99


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (6, 3), (3, 5)])
def test_singular_values_and_vectors_are_numpys(rows: int, columns: int) -> None:
    matrix = of_values(numpy.random.default_rng([SEED, rows]), rows, columns, numpy.linspace(2, 1, min(rows, columns)))
    traced = compare(lambda a: np.linalg.svd(a, full_matrices=False, condition=100), {"a": matrix}, settings=FINE)
    assert all(node.array.absolute_error < 1e-2 for node in traced.outputs.values())
    u, s, vh = np.linalg.svd(matrix, full_matrices=False)
    assert numpy.allclose((u * s) @ vh, matrix) and numpy.allclose(s, numpy.linalg.svd(matrix)[1])
    alone = compare(lambda a: numpy.linalg.svd(a, compute_uv=False), {"a": matrix}, settings=FINE)
    assert alone.outputs["result"].array.shape == s.shape


def test_singular_values_that_are_none_are_near_none() -> None:
    draw = numpy.random.default_rng(SEED)
    matrix = of_values(draw, 4, 3, numpy.array([2.0, 1, 0]))
    traced = compare(lambda a: np.linalg.svd(a, compute_uv=False), {"a": matrix}, settings=FINE)
    assert traced.outputs["result"].array.absolute_error < 1e-2
    vectors = trace(lambda a: np.linalg.svd(a, False, condition=100), {"a": Declared((4, 3), "float64", -1, 1)}, FINE)
    with pytest.raises(Withheld):
        run(vectors, {"a": matrix}, Random(SEED))


def test_what_svd_does_not_take() -> None:
    for function, sentence in (
        (lambda a: np.linalg.svd(a[:2]), "have no full U and Vh here; write np.linalg.svd"),
        (lambda a: np.linalg.svd(a[0]), "takes matrices, and the array has the shape"),
        (lambda a: np.linalg.svd(a, condition=2**30), "bits"),
    ):
        with pytest.raises(ProgramError, match=sentence):
            trace(function, {"a": SQUARE}, FINE)


HOSTILE: dict[str, Callable[[numpy.random.Generator], Any]] = {
    "singular": lambda draw: symmetric(draw, numpy.array([1.0, 0.5, 0])),
    "zero": lambda draw: numpy.zeros((3, 3)),
    "ill-conditioned": lambda draw: symmetric(draw, numpy.array([1, 0.5, 10 ** draw.uniform(-6, -1)])),
    "indefinite": lambda draw: symmetric(draw, numpy.array([1, 0.5, -(10 ** draw.uniform(-4, 0))])),
    "any": lambda draw: draw.uniform(-1, 1, (3, 3)),
    "small": lambda draw: draw.uniform(-1, 1, (3, 3)) * 10 ** draw.uniform(-6, 0),
    "signs": lambda draw: draw.choice([-1.0, 0, 1], (3, 3)),
    "close eigenvalues": lambda draw: symmetric(draw, 1 + 10 ** draw.uniform(-6, 0, 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_result_is_right_or_withheld(name: str) -> None:
    """Whatever the matrix is, its integers stay in what is proved of them, and what is revealed is right."""
    traced = trace(PROGRAMS[name], {"a": SQUARE}, Settings(fraction=30))
    shown = 0
    for each, make in HOSTILE.items():
        for seed in range(4):
            matrix = make(numpy.random.default_rng([SEED, seed]))
            try:
                found = run(traced, {"a": matrix}, Random(seed))
            except Withheld:
                continue
            shown += 1
            for (place, node), true in zip(traced.outputs.items(), expected(name, matrix), strict=True):
                near = node.array.near and close_signs(true)
                assert near or within(found[place], true, node.array.absolute_error), (each, seed)
    assert shown or name in NEEDS_SYMMETRIC


def expected(name: str, matrix: Any) -> list[Any]:
    found = PROGRAMS[name](numpy.tril(matrix) + numpy.tril(matrix, -1).T if name.startswith("eig") else matrix)
    return [*found] if isinstance(found, tuple) else [found]


def close_signs(vectors: Any) -> bool:
    """Whether the entries of largest modulus are so near to each other that rounding may take another one's sign."""
    ordered = numpy.sort(numpy.abs(vectors), axis=-2)
    return bool((ordered[-1] - ordered[-2]).min() < 1e-4)


def within(found: Any, true: Any, error: Any) -> bool:
    try:
        same(found, true, error)
    except AssertionError:
        return False
    return True


EXCLUDED: dict[str, Callable[[numpy.random.Generator], Any]] = {
    "inv": HOSTILE["singular"],
    "inv of positive": lambda draw: symmetric(draw, numpy.array([1, 0.5, -0.25])),
    "solve matrices": lambda draw: (
        symmetric(draw, numpy.array([1, 0.5, 0.25])) + numpy.triu(numpy.full((3, 3), 0.2), 1)
    ),
    "cholesky": lambda draw: symmetric(draw, numpy.array([1, 0.5, 0.001])),
    "qr": HOSTILE["singular"],
    "pinv": HOSTILE["zero"],
    "eigh": lambda draw: symmetric(draw, numpy.array([1, 0.5, 0.5001])),
}


@pytest.mark.parametrize("name", EXCLUDED)
def test_what_the_condition_excludes_is_withheld(name: str) -> None:
    traced = trace(PROGRAMS[name], {"a": SQUARE}, Settings(fraction=30))
    with pytest.raises(Withheld):
        run(traced, {"a": numpy.clip(EXCLUDED[name](numpy.random.default_rng(SEED)), -1, 1)})


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no square": (lambda a: np.linalg.inv(a[:2]), r"square matrices of at most 64 rows are needed, .* \(2, 3\)"),
    "large determinant": (lambda a: np.linalg.det(np.tile(a, (4, 4))), "of at most 10 rows"),
    "condition": (lambda a: np.linalg.inv(a, condition=0.5), "condition is a number of at least 1"),
    "large condition": (lambda a: np.linalg.inv(a, condition=1e15), r"between 1 and 2\^40"),
    "condition of any": (lambda a: np.linalg.inv(a, condition=1e6), 'of 1,000,000 is too large .* assume_a="pos"'),
    "error": (lambda a: np.linalg.inv(a, condition=1e5, assume_a="pos"), "known within 7.6e-06 .* ask for more bits"),
    "error of a factor": (lambda a: np.linalg.cholesky(a, condition=1e5), "ask for more bits after the point"),
    "zero": (lambda a: np.linalg.inv(a * 0), "all entries of the matrix are zero by its bounds"),
    "kind": (lambda a: np.linalg.solve(a, a, assume_a="sym"), 'assume_a is "gen", or "pos"'),
    "public matrix": (lambda a: np.linalg.solve(numpy.eye(3), a), r"write numpy.linalg.inv\(a\) @ b"),
    "wide": (lambda a: np.linalg.qr(a[:2]), "no more columns than rows"),
    "mode": (lambda a: np.linalg.qr(a, "complete"), 'the modes "reduced" and "r"'),
    "norm": (lambda a: np.linalg.norm(a, 2), "has no ord=2 for 2 axes"),
    "least squares": (lambda a: numpy.linalg.lstsq(a, a[0]), r"write tacit.numpy.linalg.pinv\(a, condition=...\) @ b"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    function, sentence = REFUSED[name]
    with pytest.raises(ProgramError, match=sentence):
        trace(function, {"a": SQUARE}, Settings())


def test_numpys_own_functions_take_private_matrices() -> None:
    matrix = symmetric(numpy.random.default_rng(SEED), numpy.array([1.0, 2, 4]))
    compare(lambda a: numpy.linalg.solve(a, a[0]), {"a": matrix}, settings=FINE)
    compare(lambda a: (numpy.linalg.cholesky(a), numpy.linalg.eigvalsh(a)), {"a": matrix}, settings=FINE)


def test_determinants_of_integers_are_exact() -> None:
    matrix = numpy.random.default_rng(SEED).integers(-9, 10, (5, 5))
    traced = trace(lambda a: np.linalg.det(a), {"a": Declared((5, 5), "int64", -9, 9)}, Settings())
    assert traced.outputs["result"].array.error == 0
    assert run(traced, {"a": matrix})["result"] == round(numpy.linalg.det(matrix))


def test_readers_prove_the_facts_anew() -> None:
    traced: Traced = trace(lambda a: [program(a) for program in list(PROGRAMS.values())[:6]], {"a": SQUARE}, FINE)
    again = read(canonical(traced.graph, traced.outputs))
    assert [node.array for node in again.outputs.values()] == [node.array for node in traced.outputs.values()]


PROOFS = {
    "inv": ("inverse_of_any", 3),
    "inv of positive": ("rows_within", 2),
    "cholesky": ("cholesky_factor", 3),
    "qr": ("orthogonal_factor", 3),
    "eigvalsh": ("eigenvalues", 2),
    "eigh": ("eigenvectors", 3),
}


@pytest.mark.parametrize("name", PROOFS)
def test_a_text_with_other_parameters_of_a_proof_is_refused(name: str) -> None:
    traced = trace(PROGRAMS[name], {"a": SQUARE}, FINE)
    said = json.loads(canonical(traced.graph, traced.outputs))
    proof, count = PROOFS[name]
    (*_, node) = (each for each in said["nodes"] if each.get("proof") == proof)
    right = node["parameters"]
    assert len(right) == count
    for at, wrong in ((0, 1), *((place, number) for place in range(1, count) for number in (1, 77, 1 << 100))):
        node["parameters"] = [*right[:at], wrong, *right[at + 1 :]]
        with pytest.raises(ProgramError, match="the text is no program"):
            read(json.dumps(said, sort_keys=True, separators=(",", ":")))


def test_a_solution_says_what_it_discloses_and_costs() -> None:
    inputs = {"a": Declared((5, 5), "float64", -16, 16), "b": Declared((5,), "float64", -3, 3)}
    program = Program(lambda a, b: np.linalg.solve(a, b, condition=50, assume_a="pos"), inputs, FINE)
    text = program.explain()
    assert "one bit to all parties: whether all checked bounds hold" in text
    assert "error at most 1.27e-07 (2^-22)" in text
    nodes = reachable(program.optimised.after.values())
    assert len(nodes) < 200
    assert sum(isinstance(node.operation, Check) for node in nodes) < 20


@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_every_two_rows_meet_once(size: int) -> None:
    met = [pair for pairs in tournament(size) for pair in pairs]
    assert sorted(met) == [(p, q) for p in range(size) for q in range(p + 1, size)]
