"""Principal components.

tacit.numpy.linalg.eigh is no replacement. It needs a bound of how near two eigenvalues are, and opens a bit to all
parties. Where two are closer, as those of the least variance often are, it withholds all components. Two components of
five columns take 2,019 rounds and 0.27 MB here, and 5,402 rounds and 0.82 MB there. Where all components are wanted
and their variances are known to differ, eigh takes about as much, and proves its error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Estimator
from tacit.ml.checks import as_wide, matrix
from tacit.ml.ranges import least_spread
from tacit.plan.programs.refusals import ProgramError

SQUARES = 6
"""Squares of the covariance: its power of 64 has little left of all but the first component."""
STEPS = 2
"""Steps of the power iteration that make up for what rounding took from a component."""
LEAST_SHARE = 2.0**-24
"""Of the squared declared range: columns whose variances together are smaller have no components."""


@dataclass(eq=False)
class PCA(Estimator):
    """Principal components, one after the other: the first eigenvector of what those before leave of the covariance.

    An eigenvector is a column of a high power of the matrix, which squares give. Its largest element is positive, as
    scikit-learn's. Components whose variances are within a few per cent of each other may come mixed, and one with
    less than ``least`` of the whole variance cannot be found.
    """

    n_components: int = 2
    least: float = 2.0**-10
    components_: Any = field(init=False, repr=False)
    explained_variance_: Any = field(init=False, repr=False)
    explained_variance_ratio_: Any = field(init=False, repr=False)
    mean_: Any = field(init=False, repr=False)

    def fit(self, x: Any, y: Any = None) -> Self:
        """Learn the mean of columns, the components in rows, and their variances."""
        x = matrix(x)
        if not 1 <= self.n_components <= x.shape[1] or len(x) < 2:
            raise ProgramError(
                f"there are {self.n_components} components of {len(x)} rows and {x.shape[1]} columns; give from one to "
                "the number of columns, and two rows at least."
            )
        self.mean_ = np.mean(x, axis=0)
        centred = x - self.mean_
        covariance = (centred.T @ centred) / (len(x) - 1)
        whole = np.maximum(np.trace(covariance), x.shape[1] * least_spread(x, LEAST_SHARE))
        left = np.clip(covariance / whole, -1, 1)
        found = []
        for _ in range(self.n_components):
            component = _first(left, self.least)
            share = np.clip(component @ (left @ component), 0, 1)
            left = np.clip(left - share * np.outer(component, component), -1, 1)
            found.append((component, share))
        self.components_ = np.stack([component for component, _ in found])
        self.explained_variance_ratio_ = np.stack([share for _, share in found])
        self.explained_variance_ = self.explained_variance_ratio_ * whole
        return self

    def transform(self, x: Any) -> Any:
        """The coordinates of rows along the components."""
        return (as_wide(x, len(self.mean_)) - self.mean_) @ self.components_.T

    def fit_transform(self, x: Any, y: Any = None) -> Any:
        """fit, then transform."""
        return self.fit(x).transform(x)

    def inverse_transform(self, x: Any) -> Any:
        """Rows from their coordinates along the components."""
        return as_wide(x, self.n_components) @ self.components_ + self.mean_


def _first(matrix: Any, least: float) -> Any:
    """The eigenvector of the largest eigenvalue, of a matrix whose trace is from ``least`` to 1."""
    size = len(matrix)
    whole = power = np.clip(matrix / np.maximum(np.trace(matrix), least), -1, 1)
    # The largest of eigenvalues that add up to 1 is 1 / size at least, and so is the sum of their squares.
    for _ in range(SQUARES):
        square = power @ power
        power = np.clip(square / np.maximum(np.trace(square), 1 / size / 2), -1, 1)
    largest = np.argmax(np.diag(power)) == numpy.arange(size)
    found = _unit(np.clip(power @ largest.astype(np.int64), -1, 1), 1 / size / 2)
    for _ in range(STEPS):
        found = _unit(np.clip(whole @ found, -1, 1) * sqrt(size), 1 / size / 2)
    return _unit(found, 0.5)


def _unit(vector: Any, least: float) -> Any:
    """A vector of length 1. least: a bound of the square of its length."""
    return np.clip(vector * np.rsqrt(np.maximum(vector @ vector, least)), -1, 1)
