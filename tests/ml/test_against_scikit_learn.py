"""On NumPy's arrays the estimators are scikit-learn's: the same coefficients, centres, components and accuracy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from sklearn import cluster, decomposition, linear_model, metrics, preprocessing

from tacit import ml

from .datasets import bundled, split

SEED = 1
POINT = 0.015
"""Accuracy may differ from scikit-learn's by a test point, and half of one."""


@pytest.mark.parametrize("intercept", [True, False])
def test_least_squares(intercept: bool) -> None:
    x, y = bundled("diabetes")
    pairs = [
        (ml.LinearRegression(fit_intercept=intercept), linear_model.LinearRegression(fit_intercept=intercept)),
        (ml.Ridge(alpha=3.0, fit_intercept=intercept), linear_model.Ridge(alpha=3.0, fit_intercept=intercept)),
    ]
    for ours, theirs in pairs:
        ours.fit(x, y), theirs.fit(x, y)
        assert numpy.abs(ours.coef_ - theirs.coef_).max() < 2e-3
        assert abs(ours.intercept_ - theirs.intercept_) < 1e-6
        assert abs(ours.score(x, y) - theirs.score(x, y)) < 1e-8


def test_columns_that_depend_on_each_other_predict_as_scikit_learn_does() -> None:
    x, y = bundled("breast_cancer")
    ours, theirs = ml.LinearRegression().fit(x, y), linear_model.LinearRegression().fit(x, y)
    assert abs(ours.score(x, y) - theirs.score(x, y)) < 0.03
    assert numpy.isfinite(ours.coef_).all()


@pytest.mark.parametrize("name", ["breast_cancer", "iris", "wine", "digits"])
@pytest.mark.parametrize(("solver", "steps"), [("newton", 20), ("sgd", 80)])
def test_classes(name: str, solver: Any, steps: int) -> None:
    x, y, test, true = split(name)
    ours = ml.LogisticRegression(classes=y.max() + 1, solver=solver, steps=steps).fit(x, y)
    theirs = linear_model.LogisticRegression(max_iter=5000).fit(x, y)
    assert ours.score(test, true) > theirs.score(test, true) - POINT
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape
    assert numpy.allclose(ours.predict_proba(test).sum(axis=1), 1)
    assert (ours.predict(test) == ours.predict_proba(test).argmax(axis=1)).all()


def test_more_steps_give_scikit_learn_s_coefficients() -> None:
    for name, ours in (
        ("iris", ml.LogisticRegression(classes=3, steps=200)),
        ("breast_cancer", ml.LogisticRegression(steps=100)),
        ("breast_cancer", ml.LogisticRegression(solver="irls", steps=12)),
        ("breast_cancer", ml.LogisticRegression(solver="irls", steps=12, fit_intercept=False, C=0.1)),
    ):
        x, y = bundled(name)
        theirs = linear_model.LogisticRegression(
            C=ours.C, fit_intercept=ours.fit_intercept, max_iter=10000, tol=1e-8
        ).fit(x, y)
        ours.fit(x, y)
        assert numpy.abs(ours.coef_ - theirs.coef_).max() < 0.02
        assert numpy.abs(ours.intercept_ - theirs.intercept_).max() < 0.02


@pytest.mark.parametrize(("alpha", "intercept"), [(0.01, True), (1.0, True), (0.1, False)])
def test_counts(alpha: float, intercept: bool) -> None:
    draw = numpy.random.default_rng(SEED)
    x = draw.normal(size=(300, 4))
    y = draw.poisson(numpy.exp(x @ [0.5, -0.3, 0.2, 0] + intercept))
    ours = ml.PoissonRegressor(alpha=alpha, fit_intercept=intercept).fit(x, y)
    theirs = linear_model.PoissonRegressor(alpha=alpha, fit_intercept=intercept, max_iter=1000, tol=1e-8).fit(x, y)
    assert numpy.abs(ours.coef_ - theirs.coef_).max() < 1e-4
    assert abs(ours.intercept_ - theirs.intercept_) < 1e-4
    assert numpy.abs(ours.predict(x) - theirs.predict(x)).max() < 1e-2


@pytest.mark.parametrize(("name", "clusters"), [("iris", 3), ("wine", 3), ("breast_cancer", 2)])
def test_clusters(name: str, clusters: int) -> None:
    x, _ = bundled(name)
    best = cluster.KMeans(clusters, n_init=10, random_state=SEED).fit(x).inertia_
    ours = ml.KMeans(clusters, n_init=4, steps=20, random_state=SEED).fit(x)
    assert ours.inertia_ < 1.03 * best
    assert numpy.allclose(-ours.score(x), ours.inertia_)
    assert (ours.predict(x) == ours.labels_).all()


@pytest.mark.parametrize("init", ["given", "random"])
def test_clusters_from_the_same_centres_are_scikit_learn_s(init: str) -> None:
    x, _ = bundled("iris")
    rows = numpy.random.RandomState(SEED).permutation(len(x))[:3]
    theirs = cluster.KMeans(3, init=x[rows], n_init=1, max_iter=300, tol=0).fit(x)
    ours = ml.KMeans(3, init=x[rows] if init == "given" else "random", steps=40, random_state=SEED).fit(x)
    assert numpy.allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert (ours.labels_ == theirs.labels_).all()


def test_a_centre_without_rows_stays_where_it_is() -> None:
    x, far = numpy.array([[0.0, 0.0], [1.0, 1.0], [0.2, 0.1]]), [50.0, 50.0]
    ours = ml.KMeans(2, init=numpy.array([[0.0, 0.0], far])).fit(x)
    assert ours.cluster_centers_[1].tolist() == far
    assert numpy.allclose(ours.cluster_centers_[0], x.mean(axis=0))


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_components(name: str) -> None:
    x, _ = bundled(name)
    ours, theirs = ml.PCA(3).fit(x), decomposition.PCA(3).fit(x)
    assert numpy.abs(ours.components_ - theirs.components_).max() < 1e-4
    assert numpy.allclose(ours.explained_variance_, theirs.explained_variance_)
    assert numpy.allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert numpy.abs(ours.transform(x) - theirs.transform(x)).max() < 1e-3
    back = theirs.inverse_transform(theirs.transform(x))
    assert numpy.abs(ours.inverse_transform(ours.transform(x)) - back).max() < 1e-3


def test_scales() -> None:
    x = numpy.random.default_rng(SEED).normal(size=(50, 3)) * [1, 5, 0] + [0, 3, 2]
    ours, theirs = ml.StandardScaler().fit(x), preprocessing.StandardScaler().fit(x)
    assert numpy.allclose(ours.transform(x), theirs.transform(x))
    assert numpy.allclose(ours.scale_, theirs.scale_)
    assert numpy.allclose(ours.inverse_transform(ours.transform(x)), x)
    assert numpy.abs(ml.StandardScaler(bound=1.0).fit_transform(x)).max() == 1


def test_factors_find_what_is_missing() -> None:
    draw = numpy.random.default_rng(SEED)
    x = 3 + draw.normal(size=(60, 2)) @ draw.normal(size=(2, 40))
    there = draw.random(x.shape) < 0.6
    ours = ml.MatrixFactorisation(rank=2, alpha=0.5, steps=60).fit(numpy.where(there, x, 99.0), there)
    assert -ours.score(x, ~there) < 0.1 * x[~there].var()
    assert abs(ours.mean_ - x[there].mean()) < 1e-9
    assert ours.user_factors_.shape == (60, 2)
    assert ours.item_factors_.shape == (40, 2)


def test_metrics() -> None:
    draw = numpy.random.default_rng(SEED)
    true, predicted = draw.integers(0, 3, 80), draw.integers(0, 3, 80)
    assert ml.accuracy_score(true, predicted) == metrics.accuracy_score(true, predicted)
    assert (ml.confusion_matrix(true, predicted, 3) == metrics.confusion_matrix(true, predicted)).all()
    y, close = draw.normal(size=80), draw.normal(size=80)
    assert numpy.isclose(ml.mean_squared_error(y, close), metrics.mean_squared_error(y, close))
    assert numpy.isclose(ml.r2_score(y, close), metrics.r2_score(y, close))


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_area_counts_equal_scores_half(digits: int) -> None:
    draw = numpy.random.default_rng(SEED)
    y, score = draw.random(60) < 0.4, draw.normal(size=60).round(digits)
    assert numpy.isclose(ml.roc_auc_score(y, score), metrics.roc_auc_score(y, score))
    assert numpy.isclose(ml.roc_auc_score(y.astype(int), score), metrics.roc_auc_score(y, score))


def test_the_area_of_one_class_is_zero() -> None:
    assert ml.roc_auc_score(numpy.ones(5, bool), numpy.arange(5.0)) == 0
