"""Networks from ONNX files: what the reference evaluator of ONNX gives, in clear and as traced programs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from tests.programs.running import SEED, run, trace_of

from tacit import ml
from tacit.array.declared import Declared
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.refusals import ProgramError

DRAW = numpy.random.default_rng(SEED)
Weights = dict[str, Any]
TOGETHER = 5e-3
"""How far a traced network of these sizes may be from the file's own numbers."""


def numbers(*shape: int) -> Any:
    return DRAW.uniform(-0.5, 0.5, shape).astype(numpy.float32)


def model(nodes: list[Any], weights: Weights, shape: list[Any], opset: int = 17) -> Any:
    """An ONNX model with one input x and one output y."""
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", "m"])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def node(kind: str, inputs: str, output: str, **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(), [output], name=f"{kind}_{output}", **attributes)


def perceptron() -> Any:
    weights = {
        "fc1.weight": numbers(8, 6), "fc1.bias": numbers(8), "w2": numbers(8, 5), "b2": numbers(1, 5),
        "fc3.weight": numbers(5, 3), "fc3.bias": numbers(3),
    }  # fmt: skip
    nodes = [
        node("Gemm", "x fc1.weight fc1.bias", "a", transB=1, alpha=0.5),
        node("Relu", "a", "b"),
        node("Dropout", "b", "c"),
        node("MatMul", "c w2", "d"),
        node("Add", "d b2", "e"),
        node("Tanh", "e", "f"),
        node("Identity", "f", "g"),
        node("Gemm", "g fc3.weight fc3.bias", "h", beta=2.0),
        node("Softmax", "h", "y", axis=-1),
    ]
    return model(nodes, weights, ["batch", 6])


def residual() -> Any:
    nodes = [
        node("MatMul", "x w", "a"),
        node("Add", "a b", "c"),
        node("Sigmoid", "c", "d"),
        node("Add", "d x", "y"),
    ]
    return model(nodes, {"w": numbers(4, 4), "b": numbers(4)}, [None, 4])


def convolutions(pool: str, normalized: bool = True, **attributes: Any) -> Any:
    weights = {
        "conv1.weight": numbers(3, 2, 3, 3), "conv1.bias": numbers(3), "scale": numbers(3) + 1, "shift": numbers(3),
        "mean": numbers(3), "variance": numbers(3) + 1, "conv2.weight": numbers(4, 3, 2, 2),
        "shape": numpy.array([-1, 8]), "w": numbers(8, 3),
    }  # fmt: skip
    weights = weights if normalized else {name: weights[name] for name in weights if weights[name].shape != (3,)}
    normal = [node("BatchNormalization", "a scale shift mean variance", "b", epsilon=1e-3)] if normalized else []
    nodes = [
        node("Conv", "x conv1.weight" + " conv1.bias" * normalized, "a", kernel_shape=[3, 3], **attributes),
        *normal,
        node("Relu", "b" if normalized else "a", "c"),
        node(pool, "c", "d", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "d conv2.weight", "e", auto_pad="SAME_UPPER"),
        node(pool, "e", "f", kernel_shape=[2, 2], strides=[1, 2]),
        node("Sigmoid", "f", "g"),
        node("Reshape", "g shape", "h") if normalized else node("Flatten", "g", "h"),
        node("MatMul", "h w", "y"),
    ]
    return model(nodes, weights, ["n", 2, 8, 10])


def normalized_alone() -> Any:
    weights = {each: numbers(2) + (each == "variance") for each in ("scale", "shift", "mean", "variance")}
    nodes = [
        node("BatchNormalization", "x scale shift mean variance", "a"),
        node("AveragePool", "a", "b", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("MaxPool", "b", "y", kernel_shape=[2, 2], pads=[1, 0, 0, 1]),
    ]
    return model(nodes, weights, ["n", 2, 6, 6])


FILES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "perceptron": (perceptron(), (6,)),
    "residual": (residual(), (4,)),
    "max-pool": (convolutions("MaxPool", pads=[0, 1, 0, 0], strides=[1, 2], dilations=[1, 1]), (2, 8, 10)),
    "average-pool": (convolutions("AveragePool", False, pads=[0, 1, 0, 0], strides=[1, 2]), (2, 8, 10)),
    "normalisation alone": (normalized_alone(), (2, 6, 6)),
}


def saved(folder: Path, given: Any) -> Path:
    path = folder / "network.onnx"
    onnx.save(given, str(path))
    return path


def loaded(folder: Path, name: str, examples: int = 3) -> tuple[ml.OnnxModel, Any, Any]:
    """A file's network, a batch, and what ONNX gives for it."""
    given, shape = FILES[name]
    batch = DRAW.uniform(0, 1, (examples, *shape)).astype(numpy.float32)
    (expected,) = ReferenceEvaluator(given).run(None, {"x": batch})
    return ml.load_onnx(saved(folder, given)), batch.astype(float), expected


@pytest.mark.parametrize("name", FILES)
def test_clear(name: str, tmp_path: Path) -> None:
    network, batch, expected = loaded(tmp_path, name)
    assert numpy.abs(network(batch) - expected).max() < 1e-5
    assert numpy.abs(network(batch.reshape(3, -1)) - expected).max() < 1e-5
    assert (network.predict(batch) == expected.argmax(axis=-1)).all()


@pytest.mark.parametrize("name", FILES)
def test_public_and_private_parameters(name: str, tmp_path: Path) -> None:
    network, batch, expected = loaded(tmp_path, name, 1)
    public = run(trace_of(network, {"x": batch}, Settings()), {"x": batch})["result"]
    private = run(
        trace_of(network.architecture.function, {"x": batch, **network.parameters}, Settings()),
        {"x": batch, **network.parameters},
    )["result"]
    for found in (public, private):
        assert numpy.abs(found.astype(float) - expected).max() < TOGETHER


def test_an_architecture_is_public_and_complete(tmp_path: Path) -> None:
    network, batch, _ = loaded(tmp_path, "max-pool")
    network.architecture.write(tmp_path / "network.json")
    again = ml.load_architecture(tmp_path / "network.json")
    assert again == network.architecture
    assert (again(batch, network.parameters) == network(batch)).all()


def test_what_an_owner_offers(tmp_path: Path) -> None:
    network, _, _ = loaded(tmp_path, "perceptron")
    offered = tomllib.loads(network.offers())["arrays"]
    files = tomllib.loads(network.private_files())["arrays"]
    assert [path.name for path in network.save(tmp_path)] == [each["path"] for each in files.values()]
    for name, value in network.parameters.items():
        assert (numpy.load(tmp_path / files[name]["path"]) == value).all()
        section = offered[name]
        assert section["shape"] == list(value.shape) and section["dtype"] == "float64"
        most = numpy.abs(value).max()
        assert most <= section["max"] == -section["min"] <= most * 1.25
        norms = numpy.sqrt((value**2).sum(axis=-1))
        assert value.ndim == 1 or norms.max() <= section["row_norm"] <= norms.max() * 1.25
        assert network.declared[name] == Declared(
            value.shape, "float64", section["min"], section["max"], section.get("row_norm")
        )


def test_pools_and_normalisations_cost_least(tmp_path: Path) -> None:
    steps = {name: loaded(tmp_path, name)[0].architecture.steps for name in FILES}
    operators = [each.operator for each in steps["max-pool"]]
    assert operators == ["Conv", "MaxPool", "Relu", "Conv", "MaxPool", "Sigmoid", "Reshape", "MatMul"]
    operators = [each.operator for each in steps["average-pool"]]
    assert operators == ["Conv", "Relu", "AveragePool", "PooledConv", "Sigmoid", "Flatten", "MatMul"]


def test_names_that_would_meet(tmp_path: Path) -> None:
    """Names of parameters are those of arguments, and never those of results."""
    nodes = [node("MatMul", "x w.1", "w_1"), node("Add", "w_1 lambda", "b"), node("Add", "b 1st", "y")]
    weights = {"w.1": numbers(3, 3), "lambda": numbers(3), "1st": numbers(3)}
    given = model(nodes, weights, ["n", 3])
    network, x = ml.load_onnx(saved(tmp_path, given)), numbers(2, 3)
    assert [*network.architecture.shapes] == ["w_1_2", "lambda_2", "p1st"]
    (expected,) = ReferenceEvaluator(given).run(None, {"x": x})
    assert numpy.allclose(network.architecture.function(x, **network.parameters), expected, atol=1e-6)


REFUSED = {
    "node Gemm_y adds numbers of shape (2, 4); use one for each output.": [node("Gemm", "x w two", "y")],
    "node LSTM_y is LSTM, which is not supported; replace it before the export.": [node("LSTM", "x w w", "y")],
    "node Gemm_y transposes its input; export it with transA=0.": [node("Gemm", "x w", "y", transA=1)],
    "node MatMul_y computes its input x; only constants stand there; replace the node.": [node("MatMul", "x x", "y")],
    "node Conv_y has group=2; export it with group=1.": [node("Conv", "x k", "y", group=2)],
    "node Conv_y has no kernel of two axes; images have a height and a width.": [node("Conv", "x w", "y")],
    "node MaxPool_y has ceil_mode=1; export it with ceil_mode=0.": [
        node("MaxPool", "x", "y", kernel_shape=[2, 2], ceil_mode=1)
    ],
    "node Flatten_y flattens the batch; export it with axis=1.": [node("Flatten", "x", "y", axis=0)],
    "node Softmax_y has axis=1; export it along the last axis, with axis=-1.": [node("Softmax", "x", "y", axis=1)],
    "node Reshape_y reshapes to [4]; keep the batch as the first axis, as 0 or -1.": [node("Reshape", "x s", "y")],
    "node MatMul_y multiplies by an array of 4 axes; use a matrix.": [node("MatMul", "x k", "y")],
    "node Relu_y computes with constants alone; fold constants before the export.": [node("Relu", "w", "y")],
    "computes y of constants alone; export the network with its input.": [node("Add", "w w", "y")],
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refusals(sentence: str, tmp_path: Path) -> None:
    weights = {"w": numbers(4, 4), "k": numbers(2, 1, 2, 2), "s": numpy.array([4]), "two": numbers(2, 4)}
    path = saved(tmp_path, model(REFUSED[sentence], weights, ["n", 2, 4, 4]))
    with pytest.raises(ProgramError) as caught:
        ml.load_onnx(path)
    assert str(caught.value).removeprefix(str(path)).removeprefix(": ").removeprefix(" ") == sentence


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "network.onnx").write_bytes(b"no network")
    with pytest.raises(ProgramError, match=r"network.onnx is no valid ONNX file: .*; export the network again\."):
        ml.load_onnx(tmp_path / "network.onnx")
    (tmp_path / "network.json").write_text("{}")
    with pytest.raises(ProgramError, match=r"network.json is no architecture of a network"):
        ml.load_architecture(tmp_path / "network.json")


def test_parameters_of_other_shapes(tmp_path: Path) -> None:
    network, batch, _ = loaded(tmp_path, "residual")
    with pytest.raises(ProgramError, match="the network has no b; give all of w, b"):
        network(batch, {"w": network.parameters["w"]})
    with pytest.raises(ProgramError, match=r"w has the shape \(2, 4\) instead of \(4, 4\)"):
        network(batch, {**network.parameters, "w": numpy.zeros((2, 4))})
    with pytest.raises(ProgramError, match=r"examples have the shape \(5,\) instead of \(4,\)"):
        network(numpy.zeros((1, 5)))
