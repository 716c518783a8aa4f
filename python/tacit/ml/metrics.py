"""Metrics of predictions, by scikit-learn's names. Each gives an array that is revealed as any other is."""

from __future__ import annotations

from typing import Any

import tacit.array.namespace as np
from tacit.ml.checks import array, labels
from tacit.ml.ranges import least_spread
from tacit.plan.programs.refusals import ProgramError

LEAST_SHARE = 2.0**-20
"""Of its squared declared range: a target with a smaller variance has an R^2 as if it had this one."""


def _pair(y_true: Any, y_other: Any) -> tuple[Any, Any]:
    first, second = array(y_true), array(y_other)
    if first.shape != second.shape or first.ndim != 1 or not first.size:
        raise ProgramError(f"the shapes are {first.shape} and {second.shape}; give two vectors of one length.")
    return first, second


def accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """The share of predictions that are right."""
    y_true, y_pred = _pair(y_true, y_pred)
    return np.mean(y_true == y_pred)


def confusion_matrix(y_true: Any, y_pred: Any, classes: int = 2) -> Any:
    """How many rows of class i are predicted as class j, in row i and column j. Small counts disclose single rows."""
    y_true, y_pred = _pair(y_true, y_pred)
    true, predicted = (labels(each, classes)[:, None] == np.arange(classes) for each in (y_true, y_pred))
    return true.astype(np.int64).T @ predicted.astype(np.int64)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of the squared distances."""
    y_true, y_pred = _pair(y_true, y_pred)
    return np.mean(np.square(y_true - y_pred))


def r2_score(y_true: Any, y_pred: Any) -> Any:
    """The coefficient of determination: one minus the mean squared error divided by the variance."""
    y_true, y_pred = _pair(y_true, y_pred)
    variance = np.maximum(np.var(y_true), least_spread(y_true, LEAST_SHARE))
    return 1 - mean_squared_error(y_true, y_pred) / variance


def roc_auc_score(y_true: Any, y_score: Any, bits: int = 16) -> Any:
    """The area under the curve of true against false positives: how often a positive row scores above a negative one.

    Equal scores count half. Scores are compared with ``bits`` bits after the point. y_true: bits, or 0 and 1. Without
    rows of both classes the area is 0, where scikit-learn has none.

    Rows are sorted by score twice, with the label as the last bit of the key: negatives come first among equals in one
    order, and last in the other. Prefix sums count the negatives before each positive (Mann, Whitney 1947).
    """
    y_true, y_score = _pair(y_true, y_score)
    positive = labels(y_true, 2).astype(np.int64)
    key = 2 * np.floor(y_score * 2.0**bits).astype(np.int64)
    below = _pairs(key + positive, 1) + _pairs(key + (1 - positive), 0)
    count = np.sum(positive)
    both = count * (len(y_true) - count)
    return below / np.maximum(2 * both, 1)


def _pairs(key: Any, positive: int) -> Any:
    """How many pairs of rows have the negative one first. positive: the last bit of the keys of positive rows."""
    last = np.sort(key) % 2
    chosen = last if positive else 1 - last
    return np.sum(chosen * np.cumsum(1 - chosen))
