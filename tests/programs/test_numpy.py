"""Every supported function of NumPy, on private arrays, gives NumPy's result within the declared error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tacit.numpy as np

from .running import SEED, compare

DRAW = numpy.random.default_rng(SEED)
X = DRAW.uniform(-3, 3, (4, 5))
Y = DRAW.uniform(-3, 3, (4, 5))
P = DRAW.uniform(0.25, 9, (4, 5))
WHOLE = DRAW.integers(-50, 50, (4, 5))
J = DRAW.integers(1, 9, (4, 5))
B = DRAW.integers(0, 2, (4, 5)).astype(bool)
V = DRAW.uniform(-1, 1, 5)
S = DRAW.integers(0, 8, 12)
A = numpy.array([[2.0, 0.5, -0.25], [0.5, 1.5, 0.5], [-0.25, 0.5, 1.0]])
M = numpy.array([[0.25, 1.0, -0.5], [1.5, 0.5, 0.25], [-0.5, 0.75, 1.25]])
T = numpy.array([[1.0, 0.25], [-0.5, 0.75], [0.25, 1.0]])
H = numpy.array([[0.5, -1.0], [-1.0, 1.75]])
W = V[:3]
F = DRAW.uniform(-1, 1, (2, 2, 4, 5))
G = DRAW.uniform(-1, 1, (3, 2, 2, 3))

CASES: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, p: x / p,
    "floor divide": lambda i, j: i // j,
    "remainder": lambda i, j: i % j,
    "floor divide by public": lambda i: i // 7,
    "remainder by a power of two": lambda i: i % 8,
    "remainder by a negative number": lambda i: i % -7,
    "true divide of integers": lambda i, j: i / j,
    "power": lambda x: x**3,
    "power 4": lambda x: x**4,
    "power zero": lambda x: x**0,
    "root": lambda p: p**0.5,
    "inverse root": lambda p: p**-0.5,
    "inverse": lambda p: p**-1.0,
    "any power": lambda p, y: (p + 1) ** (y / 4),
    "negative": lambda x: -x,
    "weak int": lambda i: i * 3 + 1,
    "weak float": lambda i: i * 0.1 + 0.5,
    "by a small number": lambda x: x * 1e-5,
    "by public array": lambda x: x * numpy.linspace(-1, 1, 5),
    "public minus private": lambda x: 1 - x,
    "one by private": lambda p: 1 / p,
    "by a third": lambda x: x / 3,
    "by a million": lambda x: x / 1e6,
    "int times fixed": lambda i, x: i * x,
    "bool times fixed": lambda b, x: b * x,
    "bool plus bool": lambda b: b + b,
    "bool times bool": lambda b: b * b,
    "bool times int": lambda b, i: b * i,
    "bool sum": lambda b: b.sum(),
    "bool mean": lambda b: b.mean(axis=0),
    "compare": lambda i, j: (i < j, i <= j, i > j, i >= j, i == j, i != j),
    "logic": lambda b, i: (b & (i > 0), b | (i > 0), b ^ (i > 0), ~b),
    "logical": lambda b, i: (np.logical_and(b, i), np.logical_or(i, b), np.logical_not(i)),
    "where": lambda b, x, y: np.where(b, x, y),
    "where numbers": lambda b, x: np.where(b, x, 0.5),
    "where int": lambda b, i: np.where(b, i, -1),
    "maximum": lambda x, y: np.maximum(x, y),
    "minimum": lambda x: np.minimum(x, 0.25),
    "relu": lambda x: np.maximum(x, 0),
    "clip": lambda x: np.clip(x, -1, 1.5),
    "abs": lambda x, i: (np.abs(x), abs(i)),
    "sign": lambda i: np.sign(i),
    "square": lambda x: np.square(x),
    "floor ceil trunc": lambda p: (np.floor(p + 0.37), np.ceil(p + 0.37), np.trunc(-p - 0.37)),
    "sum": lambda x: (x.sum(), np.sum(x, axis=0), x.sum(axis=1, keepdims=True), np.sum(x, axis=(0, 1))),
    "mean": lambda x: (x.mean(), x.mean(axis=0), np.mean(x, axis=1, keepdims=True)),
    "mean of integers": lambda i: (i.mean(), i.mean(axis=0)),
    "var": lambda x: (x.var(), np.var(x, axis=0, ddof=1), np.var(x, axis=1)),
    "std": lambda x: np.std(x, axis=1),
    "prod": lambda p: np.prod(p / 3, axis=1),
    "cumsum": lambda x: (np.cumsum(x, axis=1), np.cumsum(x)),
    "min max": lambda x, i: (x.min(), np.max(x, axis=0), i.max(axis=1)),
    "arg": lambda x, i: (np.argmax(x, axis=1), i.argmin(), i.argmax(axis=0)),
    "sort": lambda x: (np.sort(x), np.sort(x, axis=0), np.sort(x, axis=None)),
    "argsort": lambda i: np.argsort(i, axis=1, stable=True),
    "median": lambda x: (np.median(x), np.median(x, axis=0)),
    "searchsorted": lambda s, v: np.searchsorted(np.sort(v), v),
    "searchsorted right": lambda s: np.searchsorted(np.sort(s), numpy.array([0, 3, 9]), side="right"),
    "unique": lambda s: (np.unique(s, size=5), np.unique(s, size=12, fill_value=-1)),
    "all any": lambda b: (b.all(), np.any(b, axis=0), (b | True).all(axis=1)),
    "count": lambda b, i: (np.count_nonzero(b), np.count_nonzero(i, axis=0)),
    "matmul": lambda x, y: x @ y.T,
    "matmul vector": lambda x, v: (x @ v, v @ x.T, v @ v),
    "matmul public": lambda x: (x @ numpy.linspace(0, 1, 5), numpy.ones((2, 4)) @ x, x @ numpy.full((5, 2), 1 / 3)),
    "matmul integers": lambda i, j: i @ j.T,
    "matmul of bits": lambda b, x: b.T @ x,
    "dot": lambda x, v: (np.dot(x, v), np.dot(v, v), x.dot(v), np.vdot(v, v), np.inner(x, v)),
    "outer": lambda v: (np.outer(v, v), np.multiply.outer(v, v)),
    "einsum": lambda x, y, v: (
        np.einsum("ij,kj->ik", x, y),
        np.einsum("ij,ij->i", x, y),
        np.einsum("ij->j", x),
        np.einsum("ij,j,kj->ki", x, v, y),
        np.einsum("ij,ij", x, y),
    ),
    "convolution": lambda f, g: (np.conv2d(f, g, padding=1), np.conv2d(f, g, stride=(2, 1))),
    "convolution by public filters": lambda f: np.conv2d(f, numpy.full((3, 2, 2, 3), 1 / 3)),
    "shapes": lambda x: (x.T, x.reshape(2, 10), x.ravel(), np.swapaxes(x, 0, 1), x.reshape(4, -1, 1).squeeze()),
    "broadcast": lambda x, v: (x + v, x[:, None, :] * x[None, :2, :][:, 0], np.broadcast_to(v, (3, 5)) - v),
    "repeat tile": lambda v: (np.repeat(v, 3), np.tile(v, (2, 2)), np.repeat(v, 2, axis=0)),
    "repeat of matrix": lambda x: (np.repeat(x, 2, axis=1), np.tile(x, 2), np.repeat(x, [1, 2, 0, 1], axis=0)),
    "join": lambda x, y: (np.concatenate([x, y]), np.stack([x, y], axis=1), np.vstack([x, y]), np.hstack([x, y])),
    "join with public": lambda x: np.concatenate([x, numpy.ones((4, 1))], axis=1),
    "pad": lambda x: (np.pad(x, 1), np.pad(x, ((0, 2), (1, 0)), constant_values=2)),
    "split": lambda x: tuple(np.split(x, 2, axis=0)),
    "index": lambda x: (x[0], x[-1, 2], x[1:3, ::2], x[::-1], x[..., 1], x[:, [0, 3, 0]], x[[2, 1]]),
    "public mask": lambda x: x[numpy.array([True, False, True, True])],
    "flip roll": lambda x: (np.flip(x), np.flip(x, 1), np.roll(x, 2, axis=1), np.diff(x)),
    "triangles": lambda x: (np.tril(x), np.triu(x, 1), np.diag(x), np.trace(x)),
    "types": lambda x, i, b: (i.astype(np.float64), b.astype(np.int64), (x + 0.37).astype(np.int64), i.astype(np.int8)),
    "likes": lambda x: np.zeros_like(x) + x * np.ones_like(x),
    "exp": lambda x: (np.exp(x), np.exp2(x), np.expm1(x)),
    "log": lambda p: (np.log(p), np.log2(p), np.log10(p), np.log1p(p)),
    "sqrt": lambda p: (np.sqrt(p), np.rsqrt(p)),
    "logistic": lambda x: (np.sigmoid(x), np.tanh(x), np.erf(x)),
    "waves": lambda x: (np.sin(x), np.cos(x)),
    "softmax": lambda x: (np.softmax(x), np.softmax(x, axis=0)),
    "norm": lambda x: (numpy.linalg.norm(x), numpy.linalg.norm(x, axis=1)),
    "other norms": lambda x, v: (np.linalg.norm(x, 1), np.linalg.norm(x, numpy.inf), np.linalg.norm(v, 1)),
    "det": lambda m: np.linalg.det(m),
    "solve": lambda a, w: np.linalg.solve(a, w, condition=8, assume_a="pos"),
    "solve any": lambda m, w: np.linalg.solve(m, w, condition=8),
    "inv": lambda a: np.linalg.inv(a, condition=8, assume_a="pos"),
    "inv any": lambda m: np.linalg.inv(m, condition=8),
    "pinv": lambda t: np.linalg.pinv(t, condition=8),
    "cholesky": lambda a: np.linalg.cholesky(a, condition=8),
    "qr": lambda t: np.linalg.qr(t, condition=4),
    "eigh": lambda h: np.linalg.eigh(h, condition=4),
}  # fmt: skip

CHECKED = {"solve", "solve any", "inv", "inv any", "pinv", "cholesky", "qr", "eigh"}
"""What checks bounds while it runs."""

VALUES = {
    "x": X,
    "y": Y,
    "p": P,
    "i": WHOLE,
    "j": J,
    "b": B,
    "v": V,
    "s": S,
    "a": A,
    "m": M,
    "t": T,
    "h": H,
    "w": W,
    "f": F,
    "g": G,
}


@pytest.mark.parametrize("name", CASES)
def test_function(name: str) -> None:
    function = CASES[name]
    taken = function.__code__.co_varnames[: function.__code__.co_argcount]
    compare(function, {each: VALUES[each] for each in taken})


def test_assignment_changes_one_array_and_no_other() -> None:
    def program(x: Any, v: Any) -> Any:
        y = x.copy()
        y[0] = v
        y[1:3, ::2] = 7
        y[:, 1] += 1
        y *= 2
        return y, x

    compare(program, {"x": X, "v": V})
