"""Linear models by their normal equations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Regressor
from tacit.ml.checks import as_wide, rows_and_targets
from tacit.ml.inverses import inverse
from tacit.ml.ranges import declared_range

REFINEMENTS = 8
"""Corrections of a solution, each of which makes the part of the error that damping causes at least twice smaller."""


@dataclass(eq=False)
class _Linear(Regressor):
    def _solved(self, x: Any, y: Any, alpha: float, fit_intercept: bool, condition: float) -> Self:
        x, y = rows_and_targets(x, y)
        count, columns = x.shape
        middle, height = numpy.zeros(columns), 0.0
        if fit_intercept:
            middle, height = np.mean(x, axis=0), np.mean(y)
            x, y = x - middle, y - height
        # By Cauchy and Schwarz no covariance is larger than the deviations of its columns multiplied.
        largest = max(map(abs, declared_range(y)))
        self.coef_ = inverse(x.T @ x, count, alpha / count, condition).solve((x.T @ y) / count, largest, REFINEMENTS)
        self.intercept_ = height - middle @ self.coef_ if fit_intercept else 0.0
        return self

    coef_: Any = field(init=False, repr=False)
    intercept_: Any = field(init=False, repr=False)

    def predict(self, x: Any) -> Any:
        """The number of each row."""
        return as_wide(x, len(self.coef_)) @ self.coef_ + self.intercept_


@dataclass(eq=False)
class LinearRegression(_Linear):
    """Ordinary least squares.

    condition: the inverse of the correlations of columns has no larger element. Above it, columns depend on each other
    so closely that coefficients are smaller than those of least squares; predictions hardly differ.
    """

    fit_intercept: bool = True
    condition: float = 256.0

    def fit(self, x: Any, y: Any) -> Self:
        """Learn coefficients, one a column, and the intercept."""
        return self._solved(x, y, 0.0, self.fit_intercept, self.condition)


@dataclass(eq=False)
class Ridge(_Linear):
    """Least squares with alpha times the squares of coefficients. condition: see LinearRegression."""

    alpha: float = 1.0
    fit_intercept: bool = True
    condition: float = 256.0

    def fit(self, x: Any, y: Any) -> Self:
        """Learn coefficients, one a column, and the intercept."""
        return self._solved(x, y, self.alpha, self.fit_intercept, self.condition)
