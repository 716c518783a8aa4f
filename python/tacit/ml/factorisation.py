"""Matrices as products of two thin ones."""

from __future__ import annotations

from dataclasses import dataclass, field
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
                f"rank is {self.rank} and alpha is {self.alpha}; give one factor at least, and a penalty."
            )
        there = numpy.ones(x.shape, bool) if mask is None else array(mask)
        if there.shape != x.shape or there.dtype != bool:
            raise ProgramError(f"mask is {there.dtype} of {there.shape}; give bits in the shape of x, {x.shape}.")
        draw = numpy.random.RandomState(self.random_state)
        users, items = (draw.uniform(-0.5, 0.5, (size, self.rank)) for size in x.shape)
        self.mean_ = np.sum(np.where(there, x, 0)) / np.maximum(np.sum(there), 1)
        wanted = np.where(there, x - self.mean_, 0)
        rates = [self.learning_rate / (np.sum(there, axis=axis) + self.alpha)[:, None] for axis in (1, 0)]
        before = users, items
        for _ in range(self.steps):
            rest = wanted - np.where(there, users @ items.T, 0)
            slopes = rest @ items - self.alpha * users, rest.T @ users - self.alpha * items
            moved = [
                self._cut(now + self.momentum * (now - last) + rate * slope)
                for now, last, rate, slope in zip((users, items), before, rates, slopes, strict=True)
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
        there = numpy.ones(array(x).shape, bool) if mask is None else array(mask)
        rest = np.where(there, x - self.predict(), 0)
        return -np.sum(rest * rest) / np.maximum(np.sum(there), 1)
