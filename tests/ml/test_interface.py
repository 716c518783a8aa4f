"""scikit-learn's interface, and one sentence for each mistake."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from sklearn.base import clone

from tacit import ml
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.refusals import ProgramError

ESTIMATORS = [
    ml.KMeans, ml.LinearRegression, ml.LogisticRegression, ml.MatrixFactorisation, ml.PCA, ml.PoissonRegressor,
    ml.Ridge, ml.StandardScaler,
]  # fmt: skip
X, Y = numpy.zeros((4, 2)), numpy.zeros(4, int)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters(kind: Any) -> None:
    model = kind()
    names = model.get_params()
    assert names
    assert model.set_params(**names) is model
    assert clone(model).get_params() == names
    assert repr(model) == f"{kind.__name__}({', '.join(f'{name}={value!r}' for name, value in names.items())})"
    with pytest.raises(ProgramError, match=re.escape(f"{kind.__name__} has no parameter colour; it has ")):
        model.set_params(colour=1)


def test_nothing_is_there_before_fit() -> None:
    model = ml.Ridge()
    assert not hasattr(model, "coef_")
    with pytest.raises(ProgramError, match=r"^Ridge has no coef_ yet; call fit before, or set it\.$"):
        model.predict(X)
    with pytest.raises(AttributeError, match="Ridge has no attribute colour"):
        _ = model.colour


MISTAKES: dict[str, Callable[[], Any]] = {
    "x has the shape (4,); give rows by columns": lambda: ml.Ridge().fit(Y, Y),
    "x has the shape (0, 2); give rows by columns": lambda: ml.PCA().fit(X[:0]),
    "y has the shape (3,), and x has 4 rows": lambda: ml.LogisticRegression().fit(X, Y[:3]),
    "x has 1 columns, and the model has 2": lambda: ml.Ridge().fit(X, Y).predict(X[:, :1]),
    "y has numbers from 0 to 2, and 2 classes are numbers from 0 to 1": lambda: ml.LogisticRegression().fit(
        X, numpy.array([0, 1, 2, 0])
    ),
    "there are 1 classes": lambda: ml.LogisticRegression(classes=1).fit(X, Y),
    'solver="lbfgs" is not one of newton, irls, sgd': lambda: ml.LogisticRegression(solver="lbfgs").fit(X, Y),  # type: ignore[arg-type]
    'solver="irls" is not one of newton': lambda: ml.LogisticRegression(solver="irls", classes=3).fit(X, Y),
    "there are 0 rows in a batch": lambda: ml.LogisticRegression(solver="sgd", batch_size=0).fit(X, Y),
    "exponent is 30": lambda: ml.PoissonRegressor(exponent=30).fit(X, Y),
    "there are 5 clusters of 4 rows": lambda: ml.KMeans(5).fit(X),
    "init has 1 centres, and there are 2 clusters": lambda: ml.KMeans(2, init=X[:1]).fit(X),
    'init is an array of centres, "random" or "k-means++"': lambda: ml.KMeans(2, init="far").fit(X),
    "there are 3 components of 4 rows and 2 columns": lambda: ml.PCA(3).fit(X),
    "rank is 0 and alpha is 10.0": lambda: ml.MatrixFactorisation(rank=0).fit(X),
    "mask is int64 of the shape (4,), and x has the shape (4, 2)": lambda: ml.MatrixFactorisation().fit(X, Y),
    "the shapes are (4,) and (3,)": lambda: ml.accuracy_score(Y, Y[:3]),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes(sentence: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(sentence)) as caught:
        MISTAKES[sentence]()
    assert str(caught.value).endswith(".")


def test_declared_classes_have_to_be_known() -> None:
    inputs = {"x": Declared((4, 2), "float64", -1, 1), "y": Declared((4,), "int64", 0, 9)}
    program = Program(lambda x, y: ml.LogisticRegression().fit(x, y).coef_, inputs, Settings())
    with pytest.raises(ProgramError, match="y is declared from 0 to 9, and 2 classes are numbers from 0 to 1"):
        program.check()
