"""On private arrays, evaluated in clear with the integers that engines have, the estimators give NumPy's result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
import pytest
from tests.programs.running import SEED, declaration, run

import tacit.numpy as np
from tacit import ml
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.array.tracing import Traced
from tacit.plan.programs.evaluation import Withheld
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.nodes import is_checked, reachable
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.schedule import scheduled

from .datasets import few

Given = Mapping[str, Any]

DRAW = numpy.random.default_rng(SEED)


def both(function: Callable[..., Any], values: Given, declared: Mapping[str, Declared] | None = None) -> list[Any]:
    """Pairs of what a program gives on private arrays, after its rewrites, and on NumPy's."""
    inputs = dict(declared or {name: declaration(value) for name, value in values.items()})
    program = Program(function, inputs, Settings())
    assert program.check() == []
    outputs = program.optimised.after
    found = run(Traced(program.traced.graph, program.traced.inputs, outputs), values)
    true = function(**values)
    return [*zip(found.values(), true if isinstance(true, tuple) else (true,), strict=True)]


def close(pairs: list[Any], gap: float) -> None:
    """Assert that numbers are as near to each other, in units of the largest of an array or of 1."""
    for found, true in pairs:
        assert numpy.shape(found) == numpy.shape(true)
        scale = max(1.0, float(numpy.abs(true).max()))
        assert numpy.abs(numpy.asarray(found, float) - true).max() <= gap * scale


def least_squares(x: Any, y: Any) -> Any:
    model = ml.LinearRegression().fit(x, y)
    ridge = ml.Ridge(alpha=2.0, fit_intercept=False).fit(x, y)
    return model.coef_, model.intercept_, model.score(x, y), ridge.coef_


def logistic(x: Any, y: Any) -> Any:
    model = ml.LogisticRegression(steps=5).fit(x, y)
    score = model.decision_function(x)
    return model.coef_, model.intercept_, model.predict_proba(x), ml.roc_auc_score(y, score)


def descent(x: Any, y: Any) -> Any:
    model = ml.LogisticRegression(solver="sgd", steps=3, batch_size=8, fit_intercept=False).fit(x, y)
    return model.coef_, model.intercept_


def reweighted(x: Any, y: Any) -> Any:
    return ml.LogisticRegression(solver="irls", steps=2).fit(x, y).coef_


def softmax(x: Any, y: Any) -> Any:
    model = ml.LogisticRegression(classes=3, steps=3).fit(x, y)
    return model.coef_, model.intercept_, model.predict_proba(x)


def counts(x: Any, y: Any) -> Any:
    model = ml.PoissonRegressor(alpha=0.1, steps=3).fit(x, y)
    return model.coef_, model.intercept_, model.predict(x)


def clusters(x: Any) -> Any:
    model = ml.KMeans(3, steps=2, n_init=2).fit(x)
    return model.cluster_centers_, model.inertia_, model.labels_


def components(x: Any) -> Any:
    model = ml.PCA(2).fit(x)
    return model.components_, model.explained_variance_, model.explained_variance_ratio_, model.transform(x)


def scaled(x: Any) -> Any:
    model = ml.StandardScaler().fit(x)
    return model.mean_, model.scale_, model.transform(x)


def factors(x: Any, there: Any) -> Any:
    model = ml.MatrixFactorisation(rank=2, alpha=0.5, steps=4).fit(x, there)
    return model.mean_, model.predict(), model.score(x, there)


X, Y = few("breast_cancer", 50, 4)
CASES: dict[str, tuple[Callable[..., Any], Given, float]] = {
    "least squares": (least_squares, dict(zip("xy", few("diabetes", 40, 4), strict=True)), 1e-3),
    "logistic": (logistic, {"x": X, "y": Y == 1}, 1e-3),
    "descent": (descent, {"x": X, "y": Y}, 1e-4),
    "reweighted": (reweighted, {"x": X, "y": Y == 1}, 2e-3),
    "softmax": (softmax, dict(zip("xy", few("wine", 40, 3), strict=True)), 1e-3),
    "counts": (counts, {"x": DRAW.uniform(-2, 2, (40, 3)), "y": DRAW.poisson(2.0, 40)}, 1e-3),
    "clusters": (clusters, {"x": few("iris", 40, 3)[0]}, 1e-3),
    "components": (components, {"x": few("wine", 40, 4)[0]}, 1e-3),
    "scaled": (scaled, {"x": DRAW.normal(size=(30, 3)) * [1, 40, 0] + [0, 30, 2]}, 1e-3),
    "factors": (factors, {"x": DRAW.normal(size=(8, 6)), "there": DRAW.random((8, 6)) < 0.6}, 1e-3),
}


@pytest.mark.parametrize("name", CASES)
def test_as_on_numpy_s_arrays(name: str) -> None:
    function, values, gap = CASES[name]
    close(both(function, values), gap)


def test_metrics() -> None:
    values = {
        "true": DRAW.integers(0, 3, 40), "predicted": DRAW.integers(0, 3, 40),
        "y": DRAW.normal(size=40), "z": DRAW.normal(size=40), "b": DRAW.random(40) < 0.5,
    }  # fmt: skip

    def metrics(true: Any, predicted: Any, y: Any, z: Any, b: Any) -> Any:
        exact = ml.confusion_matrix(true, predicted, 3), ml.accuracy_score(true, predicted)
        area = ml.roc_auc_score(b, np.floor(2 * y) / 2)
        return *exact, ml.mean_squared_error(y, z), ml.r2_score(y, z), area

    pairs = both(metrics, values)
    assert (pairs[0][0] == pairs[0][1]).all()
    close(pairs, 1e-4)


CHECKED: dict[str, tuple[Any, Given]] = {
    "logistic": (ml.LogisticRegression(steps=2, bound=8), {"x": X[:20, :2], "y": Y[:20] == 1}),
    "descent": (ml.LogisticRegression(steps=1, bound=1, solver="sgd", batch_size=10), {"x": X[:20], "y": Y[:20] == 1}),
    "counts": (ml.PoissonRegressor(steps=1, bound=8), {name: x[:20] for name, x in CASES["counts"][1].items()}),
    "factors": (ml.MatrixFactorisation(rank=2, alpha=0.5, steps=2), {"x": CASES["factors"][1]["x"]}),
}


@pytest.mark.parametrize("name", CHECKED)
def test_a_checked_bound_gives_the_model_as_it_is_or_nothing(name: str) -> None:
    model, values = CHECKED[name]
    kind, options = type(model), model.get_params()
    result = {"factors": "user_factors_"}.get(name, "coef_")

    def program(**changes: Any) -> Program:
        def fitted(**arrays: Any) -> Any:
            return getattr(kind(**{**options, **changes}).fit(*arrays.values()), result)

        return Program(fitted, {each: declaration(value) for each, value in values.items()}, Settings())

    cut, checked, tight = program(), program(check_bound=True), program(check_bound=True, bound=0.01)
    assert numpy.abs(run(checked.traced, values)["result"] - cut(**values)).max() < 1e-2
    opens = [any(map(is_checked, reachable(each.traced.outputs.values()))) for each in (checked, cut)]
    assert opens == [True, False]
    with pytest.raises(Withheld):
        run(tight.traced, values)
    with pytest.raises(ProgramError, match=r"a checked bound of 0\.01 does not hold"):
        tight(**values)
    rounds = [scheduled(each.traced.outputs.values()).cost.rounds for each in (checked, cut)]
    assert rounds[0] < rounds[1]


def test_a_private_model_predicts_for_private_rows() -> None:
    def predict(x: Any, w: Any, b: Any) -> Any:
        model = ml.LogisticRegression()
        model.coef_, model.intercept_ = w, b
        return model.predict(x), model.predict_proba(x)

    trained = ml.LogisticRegression().fit(X, Y)
    pairs = both(predict, {"x": X, "w": trained.coef_, "b": trained.intercept_})
    assert (pairs[0][0] == trained.predict(X)).all()
    close(pairs, 1e-3)


def test_a_public_model_predicts_for_private_rows() -> None:
    trained = ml.LogisticRegression().fit(X, Y)
    close(both(lambda x: trained.predict_proba(x), {"x": X}), 1e-3)


def test_centres_stay_where_nobody_is_near_them() -> None:
    far = numpy.array([[0.0, 0.0], [0.9, 0.9]])
    x = numpy.array([[0.1, 0.0], [0.0, 0.2], [0.1, 0.1]])
    declared = {"x": Declared(x.shape, "float64", -1, 1)}
    ((found, true),) = both(lambda x: ml.KMeans(2, init=far, steps=2).fit(x).cluster_centers_, {"x": x}, declared)
    assert numpy.abs(found - true).max() < 1e-4
    assert found[1].tolist() == pytest.approx([0.9, 0.9], abs=1e-4)


def test_rows_that_are_all_alike_have_a_scale_components_and_clusters() -> None:
    x = numpy.full((6, 3), 0.5)
    declared = {"x": Declared(x.shape, "float64", -2, 2)}
    for function in (scaled, lambda x: ml.KMeans(2, steps=1).fit(x).cluster_centers_):
        close(both(function, {"x": x}, declared), 1e-3)
    found, _ = both(lambda x: ml.PCA(1).fit(x).explained_variance_, {"x": x}, declared)[0]
    assert abs(found[0]) < 1e-3


def test_what_is_drawn_is_the_same_at_all_parties() -> None:
    def hashed(seed: int) -> str:
        inputs = {"x": Declared((20, 3), "float64", -1, 1)}
        return Program(lambda x: ml.KMeans(2, random_state=seed).fit(x).cluster_centers_, inputs, Settings()).hash

    assert hashed(1) == hashed(1) != hashed(2)
