"""The namespace tacit.numpy.linalg: NumPy's linear algebra, which takes private arrays. On NumPy's own it is NumPy's.

condition: a public bound for private matrices. Let m be the bound of the entries of a, rounded up to a power of two.
It bounds m times the spectral norm of the inverse of a: that is numpy.linalg.cond(a), times how much larger m is than
the spectral norm of a. The run checks what it needs of that, and reveals nothing where it does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, isfinite
from typing import Any, Literal, NamedTuple

import numpy

from tacit.array.lines import current_line
from tacit.array.operands import as_node
from tacit.array.private import FUNCTIONS, PrivateArray
from tacit.array.reductions import reduced
from tacit.array.ufuncs import operands
from tacit.plan.programs import solutions
from tacit.plan.programs.determinants import determinant
from tacit.plan.programs.elementary import ceil_log2
from tacit.plan.programs.elimination import checked
from tacit.plan.programs.facts import unit
from tacit.plan.programs.functions import function
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.infer_functions import MOST_BITS
from tacit.plan.programs.inverses import inverse_of_any, inverse_of_positive
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.reductions import root_of_squares, total
from tacit.plan.programs.refusals import OutOfDomain
from tacit.plan.programs.solutions import Inverter

__all__ = ["cholesky", "det", "eigh", "eigvalsh", "inv", "norm", "pinv", "qr", "solve", "svd"]

CONDITION = 100.0
"""The condition where none is given, as by numpy.linalg's own functions."""

Matrices = Literal["gen", "pos"]
"""SciPy's words: any matrices, or symmetric positive definite ones."""


def inv(a: Any, *, condition: float = CONDITION, assume_a: Matrices = "gen") -> Any:
    """The inverse of square matrices. assume_a: "pos" for symmetric positive definite ones, which is cheaper."""
    if not isinstance(a, PrivateArray):
        return numpy.linalg.inv(a)
    graph, node = _private(a)
    return PrivateArray(graph, solutions.inverse(graph, node, _bound(condition), _inverter(assume_a)))


def solve(a: Any, b: Any, *, condition: float = CONDITION, assume_a: Matrices = "gen") -> Any:
    """x with a @ x = b, for a vector b or matrices. assume_a: "pos" for symmetric positive definite a."""
    if not isinstance(a, PrivateArray) and not isinstance(b, PrivateArray):
        return numpy.linalg.solve(a, b)
    graph, (_, right) = operands(a, b)
    if not isinstance(a, PrivateArray) or a.public is not None:
        raise OutOfDomain("the matrix is public: write numpy.linalg.inv(a) @ b, which costs nothing.", graph.line)
    found = solutions.solution(graph, a.node, as_node(graph, right), _bound(condition), _inverter(assume_a))
    return PrivateArray(graph, found)


def det(a: Any) -> Any:
    """The determinant of square matrices of at most ten rows."""
    if not isinstance(a, PrivateArray):
        return numpy.linalg.det(a)
    graph, node = _private(a)
    return PrivateArray(graph, determinant(graph, node))


def cholesky(a: Any, *, condition: float = CONDITION, upper: bool = False) -> Any:
    """The lower triangle L with L @ L.T = a, or its transpose, for symmetric positive definite matrices.

    Of a the lower triangle is read, or else the upper one.
    """
    if not isinstance(a, PrivateArray):
        return numpy.linalg.cholesky(a, upper=upper)
    graph, node = _private(a.mT if upper else a)
    found = PrivateArray(graph, solutions.cholesky(graph, node, _bound(condition)))
    return found.mT if upper else found


class EighResult(NamedTuple):
    """What eigh returns."""

    eigenvalues: Any
    eigenvectors: Any


def eigvalsh(a: Any) -> Any:
    """The ascending eigenvalues of symmetric matrices of at most 32 rows, of which the lower triangle is read."""
    if not isinstance(a, PrivateArray):
        return numpy.linalg.eigvalsh(a)
    graph, node = _private(a)
    return PrivateArray(graph, solutions.eigenvalues_of(graph, node))


def eigh(a: Any, *, condition: float = CONDITION) -> Any:
    """The eigenvalues as eigvalsh has them, and eigenvectors as columns, whose entry of largest modulus is positive.

    condition: m divided by the least distance between two eigenvalues, where m is as for other functions.
    """
    if not isinstance(a, PrivateArray):
        values, vectors = numpy.linalg.eigh(a)
        places = numpy.argmax(numpy.abs(vectors), axis=-2)[..., None, :]
        negative = numpy.take_along_axis(vectors, places, axis=-2) < 0
        return EighResult(values, numpy.where(negative, -vectors, vectors))
    graph, node = _private(a)
    found = PrivateArray(graph, solutions.eigenvectors_of(graph, node, _bound(condition)))
    return EighResult(eigvalsh(a), found)


class QRResult(NamedTuple):
    """What qr returns."""

    Q: Any
    R: Any


def qr(a: Any, mode: str = "reduced", *, condition: float = CONDITION) -> Any:
    """Q and R with Q @ R = a, for matrices with no more columns than rows. The diagonal of R is positive.

    condition: with the spectral norm of the pseudo-inverse of a. mode: "reduced", or "r" for R alone.
    """
    if mode not in ("reduced", "r"):
        raise OutOfDomain('np.linalg.qr has the modes "reduced" and "r" here.', current_line())
    if not isinstance(a, PrivateArray):
        q, r = numpy.linalg.qr(a)
        signs = numpy.where(numpy.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
        found = QRResult(q * signs[..., None, :], r * signs[..., :, None])
    else:
        graph, node = _private(a)
        factors = solutions.orthogonal(graph, node, _bound(condition))
        found = QRResult(*(PrivateArray(graph, each) for each in factors))
    return found.R if mode == "r" else found


class SVDResult(NamedTuple):
    """What svd returns."""

    U: Any
    S: Any
    Vh: Any


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, *, condition: float = CONDITION) -> Any:
    """U, S and Vh with (U * S) @ Vh = a, with descending S; or S alone. The shorter side has at most 32 entries.

    They are the eigenvectors and roots of eigenvalues of the product of a and its transpose, in the order in which the
    product is smaller. So errors of small singular values are as large as roots of errors of eigenvalues (Golub, Van
    Loan, Matrix Computations, 4th edition, 8.6.3). Of the vectors of the shorter side the entry of largest modulus is
    positive. full_matrices: False for matrices that are not square.

    condition: m divided by the least distance of two squared singular values, and of the least one from zero, where m
    is that of the product. S alone needs none.
    """
    if not isinstance(a, PrivateArray):
        return _clear_svd(a, full_matrices) if compute_uv else numpy.linalg.svd(a, compute_uv=False)
    graph, _ = _private(a)
    if a.ndim < 2:
        raise OutOfDomain(f"np.linalg.svd takes matrices, and the array has the shape {a.shape}.", graph.line)
    if full_matrices and compute_uv and a.shape[-2] != a.shape[-1]:
        raise OutOfDomain(
            "matrices that are not square have no full U and Vh here; write np.linalg.svd(a, full_matrices=False).",
            graph.line,
        )
    if a.shape[-2] < a.shape[-1]:
        turned = svd(a.mT, full_matrices, compute_uv, condition=condition)
        return SVDResult(turned.Vh.mT, turned.S, turned.U.mT) if compute_uv else turned
    product = a.mT @ a
    if not compute_uv:
        return _roots(graph, numpy.maximum(numpy.flip(eigvalsh(product), -1), 0).node)
    found = eigh(product, condition=condition)
    values, vectors = (numpy.flip(each, -1) for each in found)
    size = product.node.array.largest * unit(product.node.array.fraction)
    high = values.node.array.high * unit(values.node.array.fraction)
    least = Fraction(2) ** ceil_log2(size) / _bound(condition)
    roots = _roots(graph, checked(graph, values.node, least, high))
    return SVDResult((a @ vectors) * (1 / roots)[..., None, :], roots, vectors.mT)


def _roots(graph: Graph, a: Node) -> PrivateArray:
    """Square roots, which engines compute with up to 24 bits after the point."""
    return PrivateArray(graph, function(graph, "sqrt", a, min(0, MOST_BITS - graph.settings.fraction)))


def _clear_svd(a: Any, full_matrices: bool) -> SVDResult:
    u, s, vh = numpy.linalg.svd(a, full_matrices=full_matrices)
    count = s.shape[-1]
    shorter = vh[..., :count, :] if u.shape[-2] >= vh.shape[-1] else numpy.swapaxes(u[..., :, :count], -1, -2)
    places = numpy.argmax(numpy.abs(shorter), axis=-1)[..., None]
    signs = numpy.where(numpy.take_along_axis(shorter, places, axis=-1) < 0, -1.0, 1.0)
    u[..., :, :count] *= numpy.swapaxes(signs, -1, -2)
    vh[..., :count, :] *= signs
    return SVDResult(u, s, vh)


def pinv(a: Any, *, condition: float = CONDITION) -> Any:
    """The pseudo-inverse of matrices of full rank.

    condition: of the product of the matrix and its transpose, in the order in which the product is smaller.
    """
    if not isinstance(a, PrivateArray):
        return numpy.linalg.pinv(a)
    _private(a)
    turned = a.mT
    if a.shape[-2] < a.shape[-1]:
        return turned @ inv(a @ turned, condition=condition, assume_a="pos")
    return inv(turned @ a, condition=condition, assume_a="pos") @ turned


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """NumPy's norms of vectors and matrices, but for those that need singular values."""
    if not isinstance(x, PrivateArray):
        return numpy.linalg.norm(x, ord, axis, keepdims)
    x.graph.line = current_line()
    if ord is None:
        return reduced(x, axis, keepdims, root_of_squares)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    orders: dict[Any, Callable[..., Any]] = _OF_MATRICES if len(axes) == 2 else _OF_VECTORS if len(axes) == 1 else {}
    if ord not in orders:
        raise OutOfDomain(
            f"np.linalg.norm has no ord={ord!r} for {len(axes)} axes here: of vectors it has None, 0, 1, 2, inf and "
            "-inf, of matrices 'fro', 1, -1, inf and -inf.",
            x.graph.line,
        )
    return orders[ord](x, axes, keepdims)


def _extreme_sum(extreme: Any, along: int) -> Callable[..., Any]:
    """The largest or smallest sum of absolute values along one of two axes."""

    def of(x: PrivateArray, axes: tuple[int, ...], keepdims: bool) -> Any:
        sums = numpy.sum(numpy.abs(x), axis=axes[along], keepdims=True)
        found = extreme(sums, axis=axes[1 - along], keepdims=True)
        return found if keepdims else reduced(found, axes, False, lambda graph, a, axis: total(graph, a, axis))

    return of


_OF_MATRICES: dict[Any, Callable[..., Any]] = {
    "fro": lambda x, axes, keepdims: reduced(x, axes, keepdims, root_of_squares),
    1: _extreme_sum(numpy.max, 0),
    -1: _extreme_sum(numpy.min, 0),
    numpy.inf: _extreme_sum(numpy.max, 1),
    -numpy.inf: _extreme_sum(numpy.min, 1),
}
_OF_VECTORS: dict[Any, Callable[..., Any]] = {
    0: lambda x, axes, keepdims: numpy.sum(x != 0, axis=axes[0], keepdims=keepdims).astype(numpy.float64),
    1: lambda x, axes, keepdims: numpy.sum(numpy.abs(x), axis=axes[0], keepdims=keepdims),
    2: lambda x, axes, keepdims: reduced(x, axes, keepdims, root_of_squares),
    numpy.inf: lambda x, axes, keepdims: numpy.max(numpy.abs(x), axis=axes[0], keepdims=keepdims),
    -numpy.inf: lambda x, axes, keepdims: numpy.min(numpy.abs(x), axis=axes[0], keepdims=keepdims),
}


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    raise OutOfDomain(
        "np.linalg.lstsq would need singular values; write tacit.numpy.linalg.pinv(a, condition=...) @ b.",
        current_line(),
    )


def _private(a: PrivateArray) -> tuple[Graph, Node]:
    a.graph.line = current_line()
    if a.public is not None:
        raise OutOfDomain("the matrix is public: call NumPy's own function of its elements.", a.graph.line)
    return a.graph, a.node


def _bound(condition: float) -> int:
    if not isfinite(condition) or condition < 1:
        raise OutOfDomain("condition is a number of at least 1; give a bound of numpy.linalg.cond(a).", current_line())
    return ceil(condition)


def _inverter(assume_a: str) -> Inverter:
    if assume_a not in ("gen", "pos"):
        raise OutOfDomain('assume_a is "gen", or "pos" for symmetric positive definite matrices.', current_line())
    return inverse_of_positive if assume_a == "pos" else inverse_of_any


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    numpy.linalg.cholesky: cholesky,
    numpy.linalg.det: det,
    numpy.linalg.eigh: eigh,
    numpy.linalg.eigvalsh: eigvalsh,
    numpy.linalg.inv: inv,
    numpy.linalg.lstsq: _lstsq,
    numpy.linalg.norm: norm,
    numpy.linalg.pinv: pinv,
    numpy.linalg.qr: qr,
    numpy.linalg.solve: solve,
    numpy.linalg.svd: svd,
}
FUNCTIONS.update(_FUNCTIONS)
