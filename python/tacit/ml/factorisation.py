"""Matrices as products of two thin ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, log2, prod
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Estimator
from tacit.ml.checks import array, matrix
from tacit.ml.ranges import bounded, held, ratio
from tacit.plan.programs.refusals import ProgramError


@dataclass(eq=False)
class MatrixFactorisation(Estimator):
    """A matrix of users by items as users' factors times items' factors, of those elements alone that are there.

    Gradient descent with momentum on the squared distance, plus alpha times the squares of all factors. The step of a
    user or an item is divided by the number of its elements and alpha. Numbers are best within a few units of each
    other; their mean is taken off before. rank: factors of each user and item. bound: factors are cut off at -bound
    and bound, so that programs know a range. random_state: the seed of the first factors, which are public.
    check_bound: see LogisticRegression.
    """

    rank: int = 10
    steps: int = 20
    alpha: float = 10.0
    learning_rate: float = 1.0
    momentum: float = 0.8
    bound: float = 2.0
    random_state: int = 0
    check_bound: bool = False
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
        self.mean_ = held(there.mean(x), x)
        wanted = there.kept(x - self.mean_)
        user_step, item_step = (self._step(there, axis) for axis in (1, 0))
        # Products of two public matrices would be as many public numbers: users' factors begin with a step from zero.
        items = numpy.random.RandomState(self.random_state).uniform(-0.5, 0.5, (x.shape[1], self.rank))
        users = self._cut(user_step(wanted @ items))
        before = users, items
        for _ in range(self.steps):
            rest = wanted - there.kept(users @ items.T)
            slopes = rest @ items - self.alpha * users, rest.T @ users - self.alpha * items
            moved = [
                self._cut(now + self.momentum * (now - last) + step(slope))
                for now, last, step, slope in zip((users, items), before, (user_step, item_step), slopes, strict=True)
            ]
            before, (users, items) = (users, items), moved
        self.user_factors_, self.item_factors_ = users, items
        return self

    def _step(self, there: _There, axis: int) -> Callable[[Any], Any]:
        """What a slope is multiplied by: the learning rate, by how much is there of each row or column and alpha.

        A product with a public matrix keeps no more digits than a program has; one with a small number would.
        """
        one, count = numpy.eye(self.rank), there.count(axis)
        if there.mask is None:
            return lambda slope: slope @ (one * (self.learning_rate / (count + self.alpha)))
        size = 2.0 ** ceil(log2(there.shape[axis]))
        rate = self.learning_rate / (count / size + self.alpha / size)
        return lambda slope: rate * (slope @ (one / size))

    def _cut(self, factors: Any) -> Any:
        return bounded(factors, self.bound, self.check_bound)

    def predict(self) -> Any:
        """The whole matrix, with what was not there."""
        return self.mean_ + self.user_factors_ @ self.item_factors_.T

    def score(self, x: Any, mask: Any = None) -> Any:
        """Minus the mean squared distance of the elements that are there."""
        x = matrix(x)
        there = _There(x, mask)
        rest = there.kept(x - self.predict())
        return -there.mean(rest * rest)


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

    def mean(self, x: Any) -> Any:
        """The mean of the elements that are there."""
        return np.mean(x) if self.mask is None else ratio(np.sum(self.kept(x)), np.sum(self.mask), prod(self.shape))

    def count(self, axis: int) -> Any:
        """How many are there, for each row or column."""
        return self.shape[axis] if self.mask is None else np.sum(self.mask, axis=axis)[:, None]
