"""Trees and boosting in clear beside scikit-learn, as traced programs, and on engines."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor
from tests.ml.engines import on_engine
from tests.programs.engines import Engine
from tests.programs.running import SEED, run, trace_of

from tacit import ml
from tacit.ml.trees import Tree, thermometers
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.refusals import ProgramError

DRAW = numpy.random.default_rng(SEED)


def codes(x: Any, edges: Any) -> Any:
    """The bins of numbers: how many thresholds are below each."""
    return (~thermometers(x, edges)).sum(axis=2)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_tree_is_scikit_learns(depth: int) -> None:
    """On bins, with targets that leave no ties."""
    x, y = DRAW.normal(size=(200, 4)), DRAW.normal(size=200)
    y += x[:, 0] * x[:, 1]
    edges = ml.quantile_edges(x, 8)
    peer = DecisionTreeRegressor(max_depth=depth).fit(codes(x, edges), y)
    own = ml.DecisionTreeRegressor(max_depth=depth, bins=8).fit(x, y)
    assert (own.edges_ == edges).all()
    other = DRAW.normal(size=(50, 4))
    assert numpy.allclose(own.predict(other), peer.predict(codes(other, edges)))
    bits = ml.DecisionTreeRegressor(max_depth=depth).fit(thermometers(x, edges), y)
    assert (bits.predict(thermometers(other, edges)) == own.predict(other)).all()


def test_a_classification_tree_learns() -> None:
    x, other, y, truth = train_test_split(*load_iris(return_X_y=True), random_state=0)
    model = ml.DecisionTreeClassifier(classes=3).fit(x, y)
    assert model.score(other, truth) > 0.9
    assert numpy.allclose(model.predict_proba(other).sum(axis=1), 1)


def test_an_empty_leaf_has_its_parents_value() -> None:
    """Classes that one split tells apart leave nodes nothing to split."""
    x = numpy.array([[0.0], [0.0], [1.0], [1.0]])
    model = ml.DecisionTreeClassifier(max_depth=3, edges=[[0.0, 1.0, 2.0]]).fit(x, [0, 0, 1, 1])
    assert (model.predict(numpy.array([[-5.0], [0.5], [1.5], [9.0]])) == [0, 1, 1, 1]).all()
    assert (model.predict_proba(x).sum(axis=1) == 1).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_boosting_learns_classes(classes: int) -> None:
    load = load_breast_cancer if classes == 2 else load_iris
    x, other, y, truth = train_test_split(*load(return_X_y=True), random_state=0)
    peer = GradientBoostingClassifier(n_estimators=10, learning_rate=0.3).fit(x, y).score(other, truth)
    model = ml.GradientBoostingClassifier(classes=classes, n_estimators=10, bins=8).fit(x, y)
    assert model.score(other, truth) > peer - 0.06
    shares = model.predict_proba(other)
    assert numpy.allclose(shares.sum(axis=1), 1) and (shares.argmax(axis=1) == model.predict(other)).all()


def test_boosting_learns_numbers() -> None:
    x, y = load_diabetes(return_X_y=True)
    x, other, y, truth = train_test_split(x, (y - y.mean()) / y.std(), random_state=0)
    peer = GradientBoostingRegressor(n_estimators=20, learning_rate=0.3).fit(x, y).score(other, truth)
    assert ml.GradientBoostingRegressor().fit(x, y).score(other, truth) > peer - 0.05


def learned(kind: str, edges: Any) -> Any:
    """A function that trains and predicts."""
    common = {"max_depth": 2, "edges": edges}
    boosted = {**common, "n_estimators": 2, "bound": 4.0}
    makers: dict[str, Any] = {
        "tree": lambda: ml.DecisionTreeClassifier(**common, classes=3),
        "regression": lambda: ml.DecisionTreeRegressor(**common),
        "boosting": lambda: ml.GradientBoostingClassifier(**boosted, classes=3),
        "boosting of two": lambda: ml.GradientBoostingClassifier(**boosted),
        "boosting of numbers": lambda: ml.GradientBoostingRegressor(**boosted),
    }

    def train(x: Any, y: Any) -> Any:
        model = makers[kind]().fit(x, y)
        return (model.predict(x), *([model.predict_proba(x)] if hasattr(model, "classes") else []))

    return train


@pytest.mark.parametrize("kind", ["tree", "regression", "boosting", "boosting of two", "boosting of numbers"])
def test_training(kind: str) -> None:
    x = DRAW.uniform(-2, 2, (40, 3))
    number = 2 * x[:, 0] - x[:, 1] + DRAW.normal(size=40) / 4
    y = {"tree": numpy.digitize(number, [-1, 1]), "boosting": numpy.digitize(number, [-1, 1])}.get(
        kind, number if kind.endswith(("numbers", "regression")) else (number > 0).astype(int)
    )
    train = learned(kind, ml.quantile_edges(x, 4))
    values = {"x": x, "y": y}
    found = run(trace_of(train, values, Settings()), values)
    for place, expected in enumerate(train(**values)):
        assert numpy.abs(found[str(place)].astype(float) - expected).max() < 1e-3


def test_owners_may_offer_bits() -> None:
    x, y = DRAW.normal(size=(30, 3)), DRAW.integers(0, 2, 30)
    values = {"x": thermometers(x, ml.quantile_edges(x, 4)), "y": y}
    train = learned("tree", None)
    found = run(trace_of(train, values, Settings()), values)
    assert (found["0"] == train(**values)[0]).all()


@pytest.mark.parametrize("engine", ["rep3", "two"])
def test_engines(engine: Engine) -> None:
    """A tree of one owner, and rows of another."""
    x = DRAW.uniform(-1, 1, (6, 2))
    edges = numpy.array([[-0.5, 0.0, 0.5]] * 2)

    def predict(x: Any, splits: Any, values: Any) -> Any:
        return Tree(splits, values).predict(thermometers(x, edges))

    values = {"x": x, "splits": numpy.array([1, 4, 5]), "values": DRAW.uniform(-1, 1, (4, 2))}
    found = on_engine(predict, values, engine, Settings())["result"]
    assert numpy.abs(found - predict(**values)).max() < 1e-4


def test_refusals() -> None:
    x, y = numpy.zeros((2, 2)), numpy.array([0, 1])
    with pytest.raises(ProgramError, match="max_depth is 0; give a depth from 1 to 10"):
        ml.DecisionTreeClassifier(max_depth=0).fit(x, y)
    with pytest.raises(ProgramError, match="there are 1 bins; give at least two"):
        ml.quantile_edges(x, 1)
    with pytest.raises(ProgramError, match="x has 2 columns, and edges are of 1; give thresholds of each column"):
        ml.DecisionTreeClassifier(edges=[[0.5]]).fit(x, y)
    with pytest.raises(
        ProgramError, match=r"x has the shape \(2,\); give rows by columns, or the bits of ml.thermomet"
    ):
        ml.DecisionTreeClassifier().fit(x[0], y)
    with pytest.raises(ProgramError, match="the thresholds of x are not known; set edges=ml"):
        trace_of(learned("tree", None), {"x": x, "y": y}, Settings())
    with pytest.raises(ProgramError, match=r"l2 is 0; give at least 0\.015625, so that no sum of Hessians is zero"):
        ml.GradientBoostingRegressor(l2=0).fit(x, y)
