"""Matrices as products of two thin ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Estimator
from tacit.ml.checks import array, matrix
from tacit.plan.programs.refusals import ProgramError


@dataclass(eq=False)
class MatrixFactorisation(Estimator):
    """A matrix of users by items as users' factors times items' factors, of those elements alone that are there.

    Gradient descent with momentum on the squared distance, plus alpha times the squares of all factors. The step of a
    user or an item is divided by the number of its elements and alpha. Numbers are best within a few units of each
    other; their mean is taken off before. rank: factors of each user and item. bound: factors are cut off at -bound
    and bound, so that programs know a range. random_state: the seed of the first factors, which are public.
    """

    rank: int = 10
    steps: int = 20
    alpha: float = 10.0
    learning_rate: float = 1.0
    momentum: float = 0.8
    bound: float = 4.0
    random_state: int = 0
    mean_: Any = field(init=False, repr=False)
    user_factors_: Any = field(init=False, repr=False)
    item_factors_: Any = field(init=False, repr=False)

    def fit(self, x: Any, mask: Any = None) -> Self:
        """Learn the mean and the factors. mask: bits that say which elements are there; without it all are."""
        x = matrix(x)
        if self.rank < 1 or self.alpha <= 0:
            raise ProgramError(
                f"rank is {self.rank} and alpha is {self.alpha}; give one factor or more, and a penalty."
            )
        there = _There(x, mask)
        self.mean_ = there.total(x) / np.maximum(there.count(), 1)
        wanted = there.kept(x - self.mean_)
        rates = [self.learning_rate / (there.share(axis) + self.alpha / x.shape[axis]) for axis in (1, 0)]
        # A step is divided by the size of an axis, and multiplied by a rate for the share of it that is there: products
        # with a public matrix keep no more digits than a program has.
        thin = [numpy.eye(self.rank) / x.shape[axis] for axis in (1, 0)]
        # Products of two public matrices would be as many public numbers: users' factors begin with a step from zero.
        items = numpy.random.RandomState(self.random_state).uniform(-0.5, 0.5, (x.shape[1], self.rank))
        users = self._cut(rates[0] * (wanted @ (items / x.shape[1])))
        before = users, items
        for _ in range(self.steps):
            rest = wanted - there.kept(users @ items.T)
            slopes = rest @ items - self.alpha * users, rest.T @ users - self.alpha * items
            moved = [
                self._cut(now + self.momentum * (now - last) + rate * (slope @ less))
                for now, last, rate, slope, less in zip((users, items), before, rates, slopes, thin, strict=True)
            ]
            before, (users, items) = (users, items), moved
        self.user_factors_, self.item_factors_ = users, items
        return self

    def _cut(self, factors: Any) -> Any:
        return np.clip(factors, -self.bound, self.bound)

    def predict(self) -> Any:
        """The whole matrix, with what was not there."""
        return self.mean_ + self.user_factors_ @ self.item_factors_.T

    def score(self, x: Any, mask: Any = None) -> Any:
        """Minus the mean squared distance of the elements that are there."""
        x = matrix(x)
        there = _There(x, mask)
        rest = there.kept(x - self.predict())
        return -np.sum(rest * rest) / np.maximum(there.count(), 1)


class _There:
    """The elements of a matrix that are there. mask: bits that say so; None where all are."""

    def __init__(self, x: Any, mask: Any) -> None:
        self.shape = x.shape
        self.mask = None if mask is None else array(mask)
        if self.mask is not None and (self.mask.shape != x.shape or self.mask.dtype != bool):
            said = f"mask is {self.mask.dtype} of the shape {self.mask.shape}"
            raise ProgramError(f"{said}, and x has the shape {x.shape}; give bits in the shape of x.")

    def kept(self, x: Any) -> Any:
        """Zero for elements that are not there."""
        return x if self.mask is None else np.where(self.mask, x, 0)

    def total(self, x: Any) -> Any:
        """The sum of the elements that are there."""
        return np.sum(self.kept(x))

    def count(self) -> Any:
        """How many elements are there."""
        return prod(self.shape) if self.mask is None else np.sum(self.mask)

    def share(self, axis: int) -> Any:
        """Which share of them is there, for each row or column."""
        return 1.0 if self.mask is None else np.mean(self.mask, axis=axis)[:, None]
