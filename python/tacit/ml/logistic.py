"""Logistic regression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Classifier, with_ones
from tacit.ml.batches import batches
from tacit.ml.checks import as_wide, labels, rows_and_targets
from tacit.ml.inverses import inverse
from tacit.ml.ranges import bounded
from tacit.plan.programs.refusals import ProgramError

Solver = Literal["newton", "irls", "sgd"]
SOLVERS = ("newton", "irls", "sgd")
IRLS_CONDITION = 1024.0
"""Damping of Newton's own steps, whose Hessian may be near zero where all rows are classified."""

CUT_EVERY = 8
"""Steps of gradient descent between those that cut coefficients off: each moves them by little, and a cut is dear."""


@dataclass(eq=False)
class LogisticRegression(Classifier):
    """Logistic regression with a square penalty, of two classes, or of more by softmax.

    C: the inverse of the penalty's strength, as scikit-learn has it. classes: their public number; y has 0 to
    classes - 1. bound: coefficients are cut off at -bound and bound, so that programs know a range.

    solver: "newton" takes ``steps`` steps with one bound of the Hessian, X^T X / 4, inverted once (Boehning, Lindsay,
    Ann. Inst. Stat. Math. 40 (1988)), and Nesterov's momentum. "irls" inverts the Hessian itself at each step, for two
    classes: fewer steps, each of which costs far more. "sgd" passes ``steps`` times over the rows, ``batch_size`` at a
    time in a public order that follows from ``random_state``, with steps of ``learning_rate``.

    condition: the bound of an inverse's elements, see LinearRegression. A small one makes steps smaller, not wrong.

    check_bound: coefficients are not cut off, but checked. If one is beyond ``bound``, at any step, the run reveals
    nothing but that, one bit to all parties.
    """

    C: float = 1.0
    classes: int = 2
    solver: Solver = "newton"
    steps: int = 20
    bound: float = 16.0
    fit_intercept: bool = True
    batch_size: int = 32
    learning_rate: float = 0.5
    random_state: int = 0
    condition: float = 256.0
    check_bound: bool = False
    coef_: Any = field(init=False, repr=False)
    intercept_: Any = field(init=False, repr=False)

    @property
    def classes_(self) -> Any:
        """The classes."""
        return numpy.arange(self.classes)

    def fit(self, x: Any, y: Any) -> Self:
        """Learn coefficients, of the shape (1, columns) for two classes, else (classes, columns)."""
        x, y = rows_and_targets(x, y)
        labels(y, self.classes)
        target = y[:, None] if self.classes == 2 else (y[:, None] == self.classes_).astype(np.float64)
        wide = with_ones(x) if self.fit_intercept else x
        penalty = numpy.full((wide.shape[1], 1), 1 / (self.C * len(x)))
        penalty[x.shape[1] :] = 0
        weights = self._solver()(wide, target, penalty)
        self.coef_ = weights[: x.shape[1]].T
        self.intercept_ = weights[-1] if self.fit_intercept else numpy.zeros(target.shape[1])
        return self

    def _solver(self) -> Any:
        if self.solver not in SOLVERS or (self.solver == "irls" and self.classes > 2):
            raise ProgramError(f'solver="{self.solver}" is not one of {", ".join(SOLVERS)}; irls has two classes.')
        return {"newton": self._newton, "irls": self._irls, "sgd": self._sgd}[self.solver]

    def _newton(self, x: Any, target: Any, penalty: Any) -> Any:
        share = 4 if self.classes == 2 else 2
        step = inverse(x.T @ x, share * len(x), penalty[:, 0], self.condition)
        weights = before = np.zeros((x.shape[1], target.shape[1]))
        for place in range(self.steps):
            ahead = weights + place / (place + 3) * (weights - before)
            before, weights = weights, self._cut(ahead - step(self._gradient(x, target, penalty, ahead)))
        return weights

    def _irls(self, x: Any, target: Any, penalty: Any) -> Any:
        weights = np.zeros((x.shape[1], 1))
        for _ in range(self.steps):
            chance = np.sigmoid(x @ weights)
            step = inverse(x.T @ (chance * (1 - chance) * x), len(x), penalty[:, 0], IRLS_CONDITION)
            slope = x.T @ (chance - target) / len(x) + penalty * weights
            weights = self._cut(weights - step(slope))
        return weights

    def _sgd(self, x: Any, target: Any, penalty: Any) -> Any:
        weights = np.zeros((x.shape[1], target.shape[1]))
        for place, rows in enumerate(batches(len(x), self.batch_size, self.steps, self.random_state), 1):
            slope = self._gradient(x[rows], target[rows], penalty, weights, self.learning_rate)
            weights = weights - slope if place % CUT_EVERY else self._cut(weights - slope)
        return self._cut(weights)

    def _gradient(self, x: Any, target: Any, penalty: Any, weights: Any, rate: float = 1.0) -> Any:
        """The slope of the mean loss, times a rate: with the penalty added before, it is cut once."""
        return (x.T @ (self._chances(x @ weights) - target) + len(x) * penalty * weights) * (rate / len(x))

    def _chances(self, scores: Any) -> Any:
        return np.sigmoid(scores) if self.classes == 2 else np.softmax(scores, axis=1)

    def _cut(self, weights: Any) -> Any:
        return bounded(weights, self.bound, self.check_bound)

    def decision_function(self, x: Any) -> Any:
        """The score of each row, or of each row and class: it grows with the class's probability."""
        scores = as_wide(x, self.coef_.shape[1]) @ self.coef_.T + self.intercept_
        return scores[:, 0] if self.classes == 2 else scores

    def predict_proba(self, x: Any) -> Any:
        """The probability of each row and class."""
        if self.classes > 2:
            return np.softmax(self.decision_function(x), axis=1)
        chance = np.sigmoid(self.decision_function(x))
        return np.stack([1 - chance, chance], axis=1)

    def predict(self, x: Any) -> Any:
        """The likeliest class of each row."""
        scores = self.decision_function(x)
        return (scores > 0).astype(np.int64) if self.classes == 2 else np.argmax(scores, axis=1)
