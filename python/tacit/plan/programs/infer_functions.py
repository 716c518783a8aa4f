"""What is known of functions of elements: their domain, range, and how far an error of the argument moves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from tacit.plan.programs import elementary
from tacit.plan.programs.elementary import LARGEST_EXPONENT, Bounds
from tacit.plan.programs.facts import Array, unit
from tacit.plan.programs.infer_along import bare
from tacit.plan.programs.operations import FunctionName
from tacit.plan.programs.refusals import OutOfDomain

ERRORS: dict[FunctionName, Fraction] = {
    "exp": Fraction(2),
    "log": Fraction(8),
    "sqrt": Fraction(2),
    "rsqrt": Fraction(2),
    "sigmoid": Fraction(4),
    "tanh": Fraction(4),
    "erf": Fraction(4),
    "sin": Fraction(2),
    "cos": Fraction(2),
}
"""Declared errors of the functions themselves in units of the last place, above what simulations of them showed."""

NEVER_NEGATIVE: tuple[FunctionName, ...] = ("exp", "sqrt", "rsqrt")
"""The functions that engines compute as products of numbers that are not negative: no error makes them so."""

MOST_BITS = 24
"""Bits after the point up to which ERRORS hold."""

Real = tuple[Fraction, Fraction]
ONE, ZERO = Fraction(1), Fraction(0)
BOUNDED: dict[FunctionName, Real] = {
    "sigmoid": (ZERO, ONE),
    "tanh": (-ONE, ONE),
    "erf": (-ONE, ONE),
    "sin": (-ONE, ONE),
    "cos": (-ONE, ONE),
}
"""The values of functions that no argument takes farther."""


def function(name: FunctionName, a: Array, fraction: int) -> Array:
    """The facts of a function of an array."""
    if fraction > MOST_BITS:
        raise OutOfDomain(f"{name} gives at most {MOST_BITS} bits after the point; ask for fewer.")
    x = a.low * unit(a.fraction), a.high * unit(a.fraction)
    _in_domain(name, a, x)
    low, high = _range(name, x)
    scale = Fraction(2) ** fraction
    own = ERRORS[name]
    moved = _moved(name, a, x)
    exact = (ZERO, _exp(a.real[1])[1]) if name == "exp" and a.exact is not None else BOUNDED.get(name)
    found = replace(bare(a), dtype="fixed", fraction=fraction, error=moved * scale + own, exact=exact)
    least, most = floor(low * scale - own), ceil(high * scale + own)
    return replace(found, low=max(least, 0) if name in NEVER_NEGATIVE else least, high=most)


def _in_domain(name: FunctionName, a: Array, x: Real) -> None:
    if name in ("log", "rsqrt") and min(x[0], a.real[0]) <= 0:
        raise OutOfDomain(
            f"{name} needs numbers above zero, and its argument may be {float(x[0]):.6g} by its bounds; declare min "
            f"above zero, write np.maximum(x, gap), or np.where for the rows where it is not."
        )
    if name == "sqrt" and a.low < 0:
        raise OutOfDomain(
            f"sqrt needs numbers of at least zero, and its argument may be {float(x[0]):.6g} by its bounds; declare "
            "min=0, write np.maximum(x, 0), or np.where for the rows where it is below."
        )
    if name == "exp" and x[1] >= LARGEST_EXPONENT:
        raise OutOfDomain(
            f"exp of numbers up to {float(x[1]):.6g} leaves every ring; declare a smaller max, write np.minimum(x, "
            "bound), or subtract the maximum first."
        )


def _range(name: FunctionName, x: Real) -> Bounds:
    monotone: dict[str, Callable[[Fraction], Bounds]] = {
        "exp": _exp,
        "log": elementary.log,
        "sqrt": elementary.sqrt,
        "sigmoid": elementary.sigmoid,
        "tanh": elementary.tanh,
    }
    if name in monotone:
        return monotone[name](x[0])[0], monotone[name](x[1])[1]
    if name == "rsqrt":
        return elementary.rsqrt(x[1])[0], elementary.rsqrt(x[0])[1]
    if name == "erf":
        return -ONE if x[0] < 0 else ZERO, ONE if x[1] > 0 else ZERO
    return -ONE, ONE


def _exp(x: Fraction) -> Bounds:
    return (ZERO, elementary.SLACK) if x <= -LARGEST_EXPONENT else elementary.exp(x)


def _moved(name: FunctionName, a: Array, x: Real) -> Fraction:
    """How far the function moves when its argument moves by its error."""
    error = a.absolute_error
    if error == 0:
        return ZERO
    # Both what is held and what it stands for are there.
    low, high = min(x[0], a.real[0]), max(x[1], a.real[1])
    match name:
        case "exp":
            return error * _exp(high)[1]
        case "log":
            return error / low
        case "sqrt":
            root = elementary.sqrt(error)[1]
            return min(root, error / (2 * elementary.sqrt(low)[0])) if low > 0 else root
        case "rsqrt":
            return error * elementary.rsqrt(low)[1] ** 3 / 2
        case "sigmoid":
            return error / 4
        case "erf":
            return error * Fraction(1129, 1000)
        case "tanh" | "sin" | "cos":
            return error
