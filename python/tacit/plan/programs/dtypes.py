"""The types of numbers that private arrays hold, and what operations on two of them give (NEP 50)."""

from __future__ import annotations

from typing import Literal, get_args

from tacit.plan.programs.refusals import ProgramError

Dtype = Literal["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "fixed"]
DTYPES: tuple[Dtype, ...] = get_args(Dtype)

Weak = Literal["weak int", "weak float"]
"""Python's own numbers, which take the type of the array beside them."""

_SIGNED: dict[int, Dtype] = {8: "int8", 16: "int16", 32: "int32", 64: "int64"}


def bits_of(dtype: Dtype) -> int:
    """The width that NumPy gives an integer type."""
    return int(dtype.lstrip("uint"))


def is_integer(dtype: Dtype) -> bool:
    """Whether an array of this type holds integers."""
    return dtype not in ("bool", "fixed")


def range_of(dtype: Dtype) -> tuple[int, int]:
    """The numbers that an integer type or bool holds in NumPy."""
    if dtype == "bool":
        return 0, 1
    bits = bits_of(dtype)
    return (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


def promoted(a: Dtype, b: Dtype) -> Dtype:
    """The type of a sum of arrays of two types."""
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    if "fixed" in (a, b):
        return "fixed"
    if a.startswith("u") == b.startswith("u"):
        return max(a, b, key=bits_of)
    unsigned, signed = (a, b) if a.startswith("u") else (b, a)
    return _SIGNED[max(bits_of(signed), 2 * bits_of(unsigned))]


def beside_number(dtype: Dtype, weak: Weak) -> Dtype:
    """The type of an array's operation with one of Python's own numbers."""
    if weak == "weak float":
        return "fixed"
    return "int64" if dtype == "bool" else dtype


def supported(name: str) -> Dtype:
    """The type inside of a NumPy type's name, refused with the cast to write where there is none."""
    if name.startswith("float"):
        return "fixed"
    for dtype in DTYPES:
        if name == dtype:
            return dtype
    cast = "x.astype(np.int64)" if name == "uint64" else "x.astype(np.float64) of its parts"
    raise ProgramError(f"private arrays hold no {name}; write {cast} before it is given to the program.")
