"""Clusters of rows around centres."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Estimator
from tacit.ml.checks import as_wide, matrix
from tacit.ml.ranges import held, ratio
from tacit.plan.programs.refusals import ProgramError


@dataclass(eq=False)
class KMeans(Estimator):
    """Lloyd's k-means with a fixed number of steps.

    init: centres as an array, "random" for rows at public positions, or "k-means++" for rows that are drawn far from
    each other, whose positions nobody learns (Arthur, Vassilvitskii, SODA 2007). n_init: the number of starts; the
    one with the least inertia stays. random_state: the seed of what is public of a start. A centre without rows stays
    where it is, and nobody learns that it has none.
    """

    n_clusters: int = 8
    init: Any = "k-means++"
    steps: int = 10
    n_init: int = 1
    random_state: int = 0
    cluster_centers_: Any = field(init=False, repr=False)
    labels_: Any = field(init=False, repr=False)
    inertia_: Any = field(init=False, repr=False)

    def fit(self, x: Any, y: Any = None) -> Self:
        """Learn the centres, the centre of each row, and the sum of squared distances to them."""
        x = matrix(x)
        if not 1 <= self.n_clusters <= len(x) or self.n_init < 1:
            raise ProgramError(f"there are {self.n_clusters} clusters of {len(x)} rows; give from one to their number.")
        draw = numpy.random.RandomState(self.random_state)
        centres, inertia = self._run(x, draw)
        for _ in range(self.n_init - 1):
            others, other = self._run(x, draw)
            better = other < inertia
            centres, inertia = np.where(better, others, centres), np.where(better, other, inertia)
        self.cluster_centers_, self.inertia_ = centres, inertia
        self.labels_ = _nearest(x, centres)
        return self

    def _run(self, x: Any, draw: numpy.random.RandomState) -> tuple[Any, Any]:
        centres = self._start(x, draw)
        for _ in range(self.steps):
            centres = _moved(x, centres)
        return centres, _inertia(x, centres)

    def _start(self, x: Any, draw: numpy.random.RandomState) -> Any:
        if not isinstance(self.init, str):
            centres = as_wide(self.init, x.shape[1])
            if len(centres) != self.n_clusters:
                raise ProgramError(f"init has {len(centres)} centres, and there are {self.n_clusters} clusters.")
            return centres
        if self.init == "random":
            return x[draw.permutation(len(x))[: self.n_clusters]]
        if self.init == "k-means++":
            return _far_apart(x, self.n_clusters, draw)
        raise ProgramError('init is an array of centres, "random" or "k-means++".')

    def predict(self, x: Any) -> Any:
        """The nearest centre of each row."""
        return _nearest(as_wide(x, self.cluster_centers_.shape[1]), self.cluster_centers_)

    def fit_predict(self, x: Any, y: Any = None) -> Any:
        """fit, then the centre of each row."""
        return self.fit(x).labels_

    def score(self, x: Any, y: Any = None) -> Any:
        """Minus the sum of squared distances to the nearest centres."""
        return -_inertia(as_wide(x, self.cluster_centers_.shape[1]), self.cluster_centers_)


def _nearest(x: Any, centres: Any) -> Any:
    """|x|^2 - 2 x c + |c|^2 is least where the rest of it is, without |x|^2."""
    return np.argmin(np.sum(centres * centres, axis=1) - 2 * (x @ centres.T), axis=1)


def _moved(x: Any, centres: Any) -> Any:
    """The means of the rows that are nearest to each centre."""
    chosen = _nearest(x, centres)[:, None] == numpy.arange(len(centres))
    count = np.sum(chosen, axis=0)[:, None]
    means = ratio(chosen.astype(np.int64).T @ x, count, len(x))
    return held(np.where(count > 0, means, centres), x)


def _inertia(x: Any, centres: Any) -> Any:
    squares = np.sum(x * x, axis=1)[:, None] + (np.sum(centres * centres, axis=1) - 2 * (x @ centres.T))
    return np.sum(np.maximum(np.min(squares, axis=1), 0))


def _far_apart(x: Any, count: int, draw: numpy.random.RandomState) -> Any:
    """Rows, each drawn with a probability that grows with the squared distance from those before.

    The number that is drawn is public; which row it falls on follows from secret prefix sums.
    """
    centres = [x[draw.randint(len(x))]]
    squares = np.sum(np.square(x - centres[0]), axis=1)
    for _ in range(count - 1):
        sums = np.cumsum(squares)
        below = sums[:-1] < draw.random_sample() * sums[-1]
        first, last = numpy.ones(1, bool), numpy.zeros(1, bool)
        chosen = np.concatenate([first, below]) ^ np.concatenate([below, last])
        centres.append(held(chosen.astype(np.int64) @ x, x))
        squares = np.minimum(squares, np.sum(np.square(x - centres[-1]), axis=1))
    return np.stack(centres)
