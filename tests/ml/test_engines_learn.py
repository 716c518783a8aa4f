"""Small models trained on the engines: those that NumPy trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from tests.programs.engines import Engine, placed, run

from tacit import ml
from tacit.plan.programs.evaluation import decoded, encoded
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.operations import Input
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import read
from tacit.plan.programs.release import released

from .datasets import few


def on_engine(function: Callable[..., Any], values: dict[str, Any], engine: Engine) -> list[Any]:
    """The results of a program whose inputs belong to the nodes of an engine."""
    plan = placed(function, values, engine, Settings())
    again = read(plan.query)
    outputs = released(again.graph, optimised(again.graph, again.outputs).after)
    facts = {
        node.operation.name: node.array
        for node in reachable(again.outputs.values())
        if isinstance(node.operation, Input)
    }
    found = run(plan, {name: encoded(values[name], array) for name, array in facts.items()}, engine)
    return [decoded(found[name], node.array) for name, node in outputs.items()]


@pytest.mark.parametrize("engine", ["clear", "rep3", "two"])
def test_logistic_regression(engine: Engine) -> None:
    x, y = few("breast_cancer", 24, 3)

    def train(x: Any, y: Any) -> Any:
        model = ml.LogisticRegression(solver="sgd", steps=2, batch_size=12).fit(x, y)
        return model.coef_, model.intercept_, model.predict(x)

    *trained, predicted = on_engine(train, {"x": x, "y": y == 1}, engine)
    *expected, classes = train(x, y == 1)
    for found, true in zip(trained, expected, strict=True):
        assert numpy.abs(found - true).max() < 1e-3
    assert (predicted == classes).all()


@pytest.mark.parametrize("engine", ["clear", "rep3", "two"])
def test_clusters(engine: Engine) -> None:
    x, _ = few("iris", 20, 2)

    def train(x: Any) -> Any:
        model = ml.KMeans(2, steps=1).fit(x)
        return model.cluster_centers_, model.labels_

    centres, labels = on_engine(train, {"x": x}, engine)
    expected, nearest = train(x)
    assert numpy.abs(centres - expected).max() < 1e-3
    assert (labels == nearest).all()


@pytest.mark.parametrize("engine", ["clear", "rep3"])
def test_the_other_estimators(engine: Engine) -> None:
    x, y = few("diabetes", 16, 2)

    def train(x: Any, y: Any) -> Any:
        z = ml.StandardScaler().fit_transform(x)
        linear = ml.Ridge(condition=4.0).fit(z, y)
        return z, linear.coef_, linear.intercept_, ml.PCA(1).fit(x).components_

    for found, true in zip(on_engine(train, {"x": x, "y": y}, engine), train(x, y), strict=True):
        assert numpy.abs(found - true).max() < 2e-3 * max(1, numpy.abs(true).max())
