"""Networks in clear beside scikit-learn and numerical derivatives, as traced programs, and on engines."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from tests.ml.engines import on_engine
from tests.programs.engines import Engine
from tests.programs.running import SEED, run, trace_of

from tacit import ml
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.ml.batches import batches
from tacit.ml.layers import Layer, PooledConvolution
from tacit.ml.networks_estimators import perceptron
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.release import released
from tacit.plan.programs.schedule import scheduled

DRAW = numpy.random.default_rng(SEED)


def digits() -> tuple[Any, Any]:
    x, y = load_digits(return_X_y=True)
    return x / 16, y


def standardised(load: Any) -> tuple[Any, Any]:
    x, y = load(return_X_y=True)
    return StandardScaler().fit_transform(x), y


# --- in clear --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, None])
@pytest.mark.parametrize("activation", ["relu", "logistic", "tanh"])
def test_one_pass_is_scikit_learns(activation: Any, classes: int | None) -> None:
    """From the same parameters, over the same batches."""
    x = DRAW.normal(size=(40, 5))
    y = DRAW.normal(size=40) if classes is None else DRAW.integers(0, classes, 40)
    common = {"hidden_layer_sizes": (6, 4), "activation": activation, "alpha": 0.1, "batch_size": 16}
    own = (
        ml.MLPRegressor(**common, learning_rate=0.1, passes=1, reach=1e3)
        if classes is None
        else ml.MLPClassifier(**common, learning_rate=0.1, passes=1, classes=classes)
    )
    own.fit(x, y)
    order = numpy.concatenate([*batches(40, 16, 1, 0)])
    kind = MLPRegressor if classes is None else MLPClassifier
    peer = kind(**common, solver="sgd", momentum=0, learning_rate_init=0.1, shuffle=False, max_iter=1, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer.fit(x[order], y[order])
        start = own.network_.initial(0, 2.0 if activation == "logistic" else 6.0)
        peer.coefs_ = [start[name].T.copy() for name in start if name.endswith("weight")]
        peer.intercepts_ = [start[name].copy() for name in start if name.endswith("bias")]
        peer.fit(x[order], y[order])
    for found, expected in zip(own.coefs_ + own.intercepts_, peer.coefs_ + peer.intercepts_, strict=True):
        assert numpy.allclose(found, expected, atol=1e-12)
    assert (own.predict(x) == peer.predict(x)).all() if classes else numpy.allclose(own.predict(x), peer.predict(x))
    if classes:
        assert numpy.allclose(own.predict_proba(x), peer.predict_proba(x))


@pytest.mark.parametrize(("data", "classes", "least"), [
    (digits(), 10, 0.95), (standardised(load_iris), 3, 0.93), (standardised(load_breast_cancer), 2, 0.95),
])  # fmt: skip
def test_defaults_learn(data: tuple[Any, Any], classes: int, least: float) -> None:
    x, other, y, truth = train_test_split(*data, random_state=0)
    assert ml.MLPClassifier(classes=classes).fit(x, y).score(other, truth) > least


def test_defaults_learn_numbers() -> None:
    x, y = standardised(load_diabetes)
    y = (y - y.mean()) / y.std()
    x, other, y, truth = train_test_split(x, y, random_state=0)
    assert ml.MLPRegressor().fit(x, y).score(other, truth) > 0.2


def convolutional(pool: Any, activation: type[Layer]) -> ml.Network:
    first = [ml.Convolution(3, 3, stride=(1, 2), padding=1), pool(2), activation(), ml.Convolution(4, (2, 3))]
    last = [activation(), pool((2, 1), 1), ml.Flatten(), ml.Dense(5), activation(), ml.Dense(3)]
    return ml.Network([*first, *last], (2, 9, 12))


@pytest.mark.parametrize("activation", [ml.Relu, ml.Sigmoid, ml.Tanh])
@pytest.mark.parametrize("pool", [ml.AveragePool, ml.MaxPool])
def test_steps_follow_derivatives(pool: Any, activation: Any) -> None:
    network = convolutional(pool, activation)
    parameters = network.initial(1)
    x, y = DRAW.normal(size=(6, 2, 9, 12)), DRAW.normal(size=(6, 3))

    def loss(changed: dict[str, Any]) -> float:
        return float(((network(x, {**parameters, **changed}) - y) ** 2).sum() / 12)

    after = network.step(x, lambda output: output - y, parameters, 1.0, 0.0, 1e9)
    for name, value in parameters.items():
        aside = DRAW.normal(size=value.shape) * 1e-5
        slope = (loss({name: value + aside}) - loss({name: value - aside})) / 2
        assert abs(slope - ((value - after[name]) * aside).sum()) < 1e-6 * max(abs(slope), 1e-3), name


def test_pools_stand_where_they_cost_least() -> None:
    """And give the numbers of the layers as they are written."""
    layers = [ml.Convolution(3, 3, padding=1), ml.AveragePool(2), ml.Convolution(2, 2), ml.Relu(), ml.MaxPool(2)]
    network = ml.Network(layers, (2, 8, 8))
    assert [type(each) for each in network.layers] == [PooledConvolution, ml.Convolution, ml.MaxPool, ml.Relu]
    parameters, x = network.initial(2), DRAW.normal(size=(3, 2, 8, 8))
    one, two = [[*parameters.values()][place : place + 2] for place in (0, 2)]
    written = x
    for layer, own in zip(layers, (one, [], two, [], []), strict=True):
        written = layer.forward(written, own)
    assert numpy.allclose(network(x, parameters), written)


def test_a_normalisation_is_folded() -> None:
    network = ml.lenet5(normalized=True)
    parameters = network.initial(3)
    for name, value in parameters.items():
        if "normalization" in name:
            parameters[name] = value + DRAW.uniform(0, 1, value.shape)
    plain, folded = network.folded(parameters)
    assert not any(isinstance(each, ml.BatchNormalization) for each in plain.layers)
    x = DRAW.uniform(size=(2, 784))
    assert numpy.allclose(plain(x, folded), network(x, parameters))


# --- as programs -----------------------------------------------------------------------------------------------------


def declared(network: ml.Network, examples: int) -> dict[str, Declared]:
    """Of networks with pixels, and weights as trained ones have."""
    shapes = network.shapes.items()
    inputs = {"x": Declared((examples, *network.input_shape), "float64", 0, 1)}
    return inputs | {name: Declared(shape, "float64", -1, 1, 2 if len(shape) > 1 else None) for name, shape in shapes}


NETWORKS = {
    "MLP 784-625-625-10": (perceptron(784, (625, 625), 10, "relu"), 80),
    "LeNet-5": (ml.lenet5(), 140),
    "LeNet-5, max-pools and ReLU": (ml.lenet5(ml.MaxPool, ml.Relu), 140),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_rounds(name: str) -> None:
    """No more than the budget, and as many for a hundred images as for one."""
    network, budget = NETWORKS[name]
    rounds = set()
    for examples in (1, 100):
        program = Program(network.function, declared(network, examples), Settings())
        cost = scheduled(released(program.traced.graph, program.optimised.after).values()).cost
        rounds.add(cost.rounds)
        assert "computed in 128 bits" not in program.explain()
    assert len(rounds) == 1 and max(rounds) <= budget


@pytest.mark.parametrize("pool", [ml.AveragePool, ml.MaxPool])
def test_an_image(pool: Any) -> None:
    network = convolutional(pool, ml.Relu)
    values = {"x": DRAW.uniform(0, 1, (1, 2, 9, 12)), **network.initial(4)}
    found = run(trace_of(network.function, values, Settings()), values)["result"]
    assert numpy.abs(found.astype(float) - network.function(**values)).max() < 1e-3


@pytest.mark.parametrize("classes", [2, 3])
def test_training(classes: int) -> None:
    """Softmax stays defined however far worst-case errors grow from step to step."""

    def train(x: Any, y: Any) -> Any:
        model = ml.MLPClassifier((4,), batch_size=8, passes=2, learning_rate=0.5, classes=classes).fit(x, y)
        return [*model.coefs_, *model.intercepts_, model.predict(x), model.predict_proba(x)]

    values = {"x": DRAW.uniform(-1, 1, (16, 3)), "y": DRAW.integers(0, classes, 16)}
    found = run(trace_of(train, values, Settings(20)), values)
    for place, expected in enumerate(train(**values)):
        assert numpy.abs(found[str(place)].astype(float) - expected).max() < 1e-3


def test_training_of_images() -> None:
    network = ml.Network(
        [ml.Convolution(2, 3), ml.Relu(), ml.MaxPool(2), ml.Convolution(2, 2), ml.AveragePool(2), ml.Tanh(),
         ml.Flatten(), ml.Dense(2)], (1, 8, 8)
    )  # fmt: skip

    def train(x: Any, y: Any) -> Any:
        parameters = network.initial(5)
        for _ in range(2):
            parameters = network.step(x, lambda output: output - y, parameters, 0.5, 0.0, 2.0)
        return parameters

    values = {"x": DRAW.uniform(0, 1, (3, 1, 8, 8)), "y": DRAW.uniform(-1, 1, (3, 2))}
    found = run(trace_of(train, values, Settings(20)), values)
    for name, expected in train(**values).items():
        assert numpy.abs(found[name].astype(float) - expected).max() < 1e-3, name


@pytest.mark.parametrize("engine", ["rep3", "two"])
def test_engines(engine: Engine) -> None:
    network = ml.Network([ml.Convolution(2, 2), ml.MaxPool(2), ml.Relu(), ml.Flatten(), ml.Dense(3)], (1, 5, 5))
    values = {"x": DRAW.uniform(0, 1, (2, 25)), **network.initial(6)}
    found = on_engine(network.function, values, engine, Settings())["result"]
    assert numpy.abs(found - network.function(**values)).max() < 1e-3


def test_training_on_an_engine() -> None:
    """With outputs whose range is far wider than that of their exponentials."""

    def train(x: Any, y: Any) -> Any:
        model = ml.MLPClassifier((4,), batch_size=4, passes=1, learning_rate=0.5, classes=3).fit(x, y)
        return [*model.coefs_, *model.intercepts_]

    values = {"x": DRAW.uniform(-1, 1, (8, 30)), "y": DRAW.integers(0, 3, 8)}
    found = on_engine(train, values, "rep3", Settings(20))
    for place, expected in enumerate(train(**values)):
        assert numpy.abs(found[str(place)] - expected).max() < 1e-4


# --- what is refused -------------------------------------------------------------------------------------------------

REFUSED = {
    "a dense layer takes vectors, not examples of shape (1, 4, 4); put Flatten() before it.": (
        [ml.Dense(3)],
        (1, 4, 4),
    ),
    "a convolution takes images of (channels, height, width), not examples of shape (4,).": (
        [ml.Convolution(1, 2)],
        (4,),
    ),
    "a kernel of (5, 5) does not fit an image of (4, 4); use a smaller one, or padding.": (
        [ml.Convolution(1, 5)],
        (1, 4, 4),
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_layers_that_do_not_fit(sentence: str) -> None:
    with pytest.raises(ProgramError) as caught:
        ml.Network(*REFUSED[sentence])
    assert str(caught.value) == sentence


def test_what_a_network_is_given() -> None:
    network = perceptron(3, (2,), 1, "relu")
    parameters = network.initial()
    with pytest.raises(
        ProgramError, match="the network has no dense1_bias; give all of dense1_weight, dense1_bias, de"
    ):
        network(numpy.zeros((1, 3)), {"dense1_weight": parameters["dense1_weight"]})
    with pytest.raises(ProgramError, match=r"dense2_bias has the shape \(3,\) instead of \(1,\)"):
        network(numpy.zeros((1, 3)), {**parameters, "dense2_bias": numpy.zeros(3)})
    with pytest.raises(ProgramError, match=r"examples have the shape \(4,\) instead of \(3,\)"):
        network(numpy.zeros((1, 4)), parameters)
    with pytest.raises(ProgramError, match='activation="relu6" is not one of relu, logistic, tanh'):
        ml.MLPClassifier(activation="relu6").fit([[1.0], [2.0]], [0, 1])  # type: ignore[arg-type]
    normalized = ml.lenet5(normalized=True)
    with pytest.raises(ProgramError, match="a network with batch normalisation is not trained"):
        normalized.step(numpy.zeros((1, 784)), lambda output: output, normalized.initial(), 0.1, 0, 1)
