"""Gradient boosting of trees by histograms, with Newton's steps (Chen, Guestrin, XGBoost, KDD 2016, section 2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.ml.base import Classifier, Regressor
from tacit.ml.checks import array, labels
from tacit.ml.trees import Tree, binned, edges_of, grown
from tacit.plan.programs.refusals import ProgramError


@dataclass(eq=False)
class _BoostingSettings(ABC):
    """What boosted trees are told.

    n_estimators: trees, one behind the other. learning_rate: what each is multiplied by. max_depth, edges, bins: see
    DecisionTreeClassifier. l2: added to each node's sum of Hessians, so that it is above zero (lambda).
    """

    n_estimators: int = 20
    learning_rate: float = 0.3
    max_depth: int = 3
    edges: Any = None
    bins: int = 16
    l2: float = 1.0
    trees_: list[Tree] = field(init=False, repr=False)
    edges_: Any = field(init=False, repr=False)

    def _boost(self, x: Any, target: Any, reach: float) -> None:
        """Learn ``trees_``. reach: a bound of scores on both sides, so that programs know a range."""
        if self.l2 < 2**-6:
            raise ProgramError(f"l2 is {self.l2}; give at least {2**-6}, so that no sum of Hessians is zero.")
        self.edges_ = edges_of(x, self.edges, self.bins)
        below = binned(x, self.edges_)
        scores = numpy.zeros(target.shape)
        self.trees_ = []
        for _ in range(self.n_estimators):
            gradients, hessians = self._slopes(scores, target)
            tree = grown(below, gradients, hessians, self.max_depth, lambda h: np.maximum(h + self.l2, self.l2))
            tree = Tree(tree.splits, np.clip(tree.values * self.learning_rate, -reach, reach))
            self.trees_.append(tree)
            scores = np.clip(scores + tree.predict(below), -reach, reach)

    @abstractmethod
    def _slopes(self, scores: Any, target: Any) -> tuple[Any, Any]:
        """The first and second derivatives of each row's loss by its scores."""

    def _scores(self, x: Any) -> Any:
        below = binned(x, self.edges_)
        found = self.trees_[0].predict(below)
        for tree in self.trees_[1:]:
            found = found + tree.predict(below)
        return found


@dataclass(eq=False)
class GradientBoostingClassifier(_BoostingSettings, Classifier):
    """Boosted trees of two classes by a sigmoid, or of more by softmax: each tree then has a value for each class.

    classes: their public number; y has 0 to classes - 1. bound: scores are cut off at -bound and bound.
    """

    classes: int = 2
    bound: float = 16.0

    def fit(self, x: Any, y: Any) -> Self:
        """Learn ``trees_``."""
        labels(y, self.classes)
        y = array(y)
        target = y[:, None] if self.classes == 2 else y[:, None] == numpy.arange(self.classes)
        self._boost(x, target * 1.0, self.bound)
        return self

    def _slopes(self, scores: Any, target: Any) -> tuple[Any, Any]:
        shares = self._shares(scores)
        return shares - target, shares * (1 - shares)

    def _shares(self, scores: Any) -> Any:
        return np.sigmoid(scores) if self.classes == 2 else np.softmax(scores, axis=1)

    def decision_function(self, x: Any) -> Any:
        """The score of each row, (rows, 1) for two classes, else (rows, classes)."""
        return self._scores(x)

    def predict_proba(self, x: Any) -> Any:
        """The probability of each class, (rows, classes)."""
        found = self._shares(self._scores(x))
        return np.concatenate([1 - found, found], axis=1) if self.classes == 2 else found

    def predict(self, x: Any) -> Any:
        """The class of each row."""
        found = self._scores(x)
        return (found[:, 0] > 0).astype(np.int64) if self.classes == 2 else np.argmax(found, axis=1)


@dataclass(eq=False)
class GradientBoostingRegressor(_BoostingSettings, Regressor):
    """Boosted trees of one number, with half the squared distance as their loss, from zero on.

    bound: predictions are cut off at -bound and bound while they are learned; give the largest target.
    """

    bound: float = 16.0

    def fit(self, x: Any, y: Any) -> Self:
        """Learn ``trees_``."""
        self._boost(x, array(y)[:, None], self.bound)
        return self

    def _slopes(self, scores: Any, target: Any) -> tuple[Any, Any]:
        return scores - target, numpy.ones(target.shape, dtype=numpy.int64)

    def predict(self, x: Any) -> Any:
        """The number of each row."""
        return self._scores(x)[:, 0]
