"""scikit-learn's bundled data, as owners would offer it: columns on one scale, no constant ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy
from sklearn import datasets, model_selection, preprocessing


@cache
def bundled(name: str) -> tuple[Any, Any]:
    """Columns with a mean of 0 and a deviation of 1, and the targets."""
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return preprocessing.StandardScaler().fit_transform(x[:, x.std(axis=0) > 0]), y


@cache
def split(name: str) -> tuple[Any, Any, Any, Any]:
    """Rows and targets to train with, and to test with, as they come from scikit-learn."""
    x, y = bundled(name)
    train, test, wanted, true = model_selection.train_test_split(x, y, random_state=0)
    return train, wanted, test, true


def few(name: str, rows: int, columns: int) -> tuple[Any, Any]:
    """Some rows of all classes, and the first columns."""
    x, y = bundled(name)
    chosen = numpy.random.default_rng(1).permutation(len(x))[:rows]
    return x[chosen][:, :columns], y[chosen]
