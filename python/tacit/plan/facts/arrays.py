"""Arrays that owners offer to programs, as every party declares them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from tacit.plan.facts.terms import ArrayTerms


@dataclass(frozen=True)
class OfferedArray:
    """An owner's array, which programs read element by element, row by row.

    shape: public and exact. dtype: NumPy's name of its type. low, high: bounds of its elements, which its owner checks
    at load; None where those of the type hold. row_norm: a bound of the Euclidean norms of its rows, checked likewise.
    terms: what its owner allows; None for everything, in catalogs that no offer has made. path: where its owner finds
    the data; never part of a plan.
    """

    name: str
    owner: str
    shape: tuple[int, ...]
    dtype: str
    low: Fraction | None = None
    high: Fraction | None = None
    row_norm: Fraction | None = None
    terms: ArrayTerms | None = None
    path: str | None = field(default=None, compare=False, repr=False)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return prod(self.shape)

    @property
    def title(self) -> str:
        """What it is, in a noun."""
        return f"the array {self.name}"

    @property
    def place(self) -> str:
        """Its section in its owner's offer."""
        return f"arrays.{self.name}"

    @property
    def usable(self) -> str:
        """What its owner writes so that programs may use it."""
        return 'use = ["program"]'
