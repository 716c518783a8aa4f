"""Poisson regression of counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Regressor, with_ones
from tacit.ml.checks import as_wide, rows_and_targets
from tacit.ml.inverses import inverse
from tacit.ml.ranges import bounded
from tacit.plan.programs.refusals import ProgramError


@dataclass(eq=False)
class PoissonRegressor(Regressor):
    """A mean of exp(x @ coef + intercept) for each row, with alpha / 2 times the squares of coefficients.

    exponent: the argument of exp is cut off at -exponent and exponent, as a part of the model. No mean is above
    e^exponent, and rows beyond it do not pull any more. steps: of Newton's iteration (iteratively reweighted least
    squares), from the mean of all rows. bound, condition, check_bound: see
    LogisticRegression.
    """

    alpha: float = 1.0
    fit_intercept: bool = True
    steps: int = 6
    exponent: float = 5.0
    bound: float = 16.0
    condition: float = 256.0
    check_bound: bool = False
    coef_: Any = field(init=False, repr=False)
    intercept_: Any = field(init=False, repr=False)

    def fit(self, x: Any, y: Any) -> Self:
        """Learn coefficients, one a column, and the intercept. y: counts, or other numbers of at least 0."""
        x, y = rows_and_targets(x, y)
        if not 0 < self.exponent <= 10:
            raise ProgramError(f"exponent is {self.exponent}; give a number above 0 and up to 10.")
        wide = with_ones(x) if self.fit_intercept else x
        penalty = numpy.full(wide.shape[1], self.alpha)
        penalty[x.shape[1] :] = 0
        weights = self._start(y, wide.shape[1])
        for _ in range(self.steps):
            mean = self._mean(wide @ weights)
            step = inverse(wide.T @ (mean[:, None] * wide), len(x), penalty, self.condition)
            slope = wide.T @ (mean - y) / len(x) + penalty * weights
            weights = bounded(weights - step(slope), self.bound, self.check_bound)
        self.coef_ = weights[: x.shape[1]]
        self.intercept_ = weights[-1] if self.fit_intercept else 0.0
        return self

    def _start(self, y: Any, columns: int) -> Any:
        """No coefficients, and an intercept that gives the mean of y."""
        if not self.fit_intercept:
            return numpy.zeros(columns)
        mean = np.clip(np.mean(y), numpy.exp(-self.exponent), numpy.exp(self.exponent))
        return np.concatenate([numpy.zeros(columns - 1), np.reshape(np.log(mean), (1,))])

    def _mean(self, exponent: Any) -> Any:
        return np.exp(np.clip(exponent, -self.exponent, self.exponent))

    def predict(self, x: Any) -> Any:
        """The mean of each row."""
        return self._mean(as_wide(x, len(self.coef_)) @ self.coef_ + self.intercept_)
