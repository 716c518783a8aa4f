"""Reading ONNX files: their graph as steps, with weights in the layout of this room, and rewrites for less cost."""

from __future__ import annotations

import re
from collections.abc import Callable
from keyword import iskeyword
from math import prod
from pathlib import Path
from typing import Any

import numpy

from tacit.ml.onnx_model import Architecture, OnnxModel
from tacit.ml.onnx_rewrites import rewritten
from tacit.ml.onnx_steps import Step
from tacit.plan.programs.refusals import ProgramError

SAME = ("Relu", "Sigmoid", "Tanh", "Softmax", "Flatten", "MaxPool", "AveragePool")
"""Operators of one array without parameters."""


def load_onnx(path: str | Path) -> OnnxModel:
    """The network of an ONNX file, with its parameters in clear. Needs the extra ``onnx``.

    Supported are Gemm, MatMul, Add, Conv, Relu, Sigmoid, Tanh, MaxPool, AveragePool, Flatten, Reshape,
    BatchNormalization, Softmax, Identity, Dropout and Constant. Raises ProgramError for others, with the node.
    """
    try:
        import onnx
    except ImportError:
        raise ProgramError(
            "reading ONNX files needs the package onnx; install it with pip install 'tacit[onnx]'."
        ) from None
    try:
        model = onnx.load(str(path))
        onnx.checker.check_model(model)
    except Exception as error:  # The reader's own kinds are those of its parser, and of files.
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ProgramError(f"{path} is no valid ONNX file: {reason}; export the network again.") from error
    return _Reader(str(path), model).read()


class _Reader:
    """One file. values: what each name of the file stands for here. constants: clear arrays by their names."""

    def __init__(self, path: str, model: Any) -> None:
        from onnx import numpy_helper

        self.path, self.graph = path, model.graph
        self.opset = max((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=1)
        self.constants = {each.name: numpy_helper.to_array(each) for each in self.graph.initializer}
        self.values: dict[str, str] = {}
        self.steps: list[Step] = []
        self.parameters: dict[str, Any] = {}
        results = [output for node in self.graph.node for output in node.output]
        self.taken = {"x", *results, *(each.name for each in self.graph.input)} - {*self.constants}

    def read(self) -> OnnxModel:
        inputs = [each for each in self.graph.input if each.name not in self.constants]
        if len(inputs) != 1 or len(self.graph.output) != 1:
            found = f"{len(inputs)} inputs and {len(self.graph.output)} outputs"
            raise ProgramError(f"{self.path} has {found}; export a network with one of each.")
        given, result = inputs[0].name, self.graph.output[0].name
        self.values[given] = given
        for place, node in enumerate(self.graph.node):
            self._node(node, node.name or f"{node.op_type}_{place}")
        if result not in self.values:
            raise ProgramError(f"{self.path} computes {result} of constants alone; export the network with its input.")
        steps, parameters = rewritten(self.steps, self.parameters, self.values[result])
        shapes = {name: tuple(value.shape) for name, value in parameters.items()}
        architecture = Architecture(given, _input_shape(inputs[0]), self.values[result], tuple(steps), shapes)
        return OnnxModel(architecture, parameters)

    def _node(self, node: Any, name: str) -> None:
        from onnx import helper

        attributes = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        attributes = {key: value.decode() if isinstance(value, bytes) else value for key, value in attributes.items()}
        if node.domain not in ("", "ai.onnx"):
            raise self._unsupported(node, name)
        match node.op_type:
            case "Constant":
                self._constant(node, name, attributes)
            case "Identity" | "Dropout":
                self._alias(node.input[0], node.output[0])
            case "Reshape":
                self._reshape(node, name, attributes)
            case kind if kind in SAME:
                self._check(node, name, attributes)
                self._step(kind, node, name, (), attributes)
            case kind if kind in READERS:
                READERS[kind](self, node, name, attributes)
            case _:
                raise self._unsupported(node, name)

    def _unsupported(self, node: Any, name: str) -> ProgramError:
        return self._refused(name, f"is {node.op_type}, which is not supported", "replace it before the export")

    def _refused(self, name: str, problem: str, advice: str) -> ProgramError:
        return ProgramError(f"{self.path}: node {name} {problem}; {advice}.")

    # --- what is clear -----------------------------------------------------------------------------------------------

    def _constant(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        from onnx import numpy_helper

        kinds = {"value_float", "value_floats", "value_int", "value_ints"} & {*attributes}
        if "value" in attributes:
            self.constants[node.output[0]] = numpy_helper.to_array(attributes["value"])
        elif kinds:
            self.constants[node.output[0]] = numpy.asarray(attributes[kinds.pop()])
        else:
            raise self._refused(name, "is a Constant of no numbers", "replace it before the export")

    def _alias(self, given: str, result: str) -> None:
        if given in self.constants:
            self.constants[result] = self.constants[given]
        else:
            self.values[result] = self.values[given]

    def _clear(self, node: Any, place: int, name: str) -> Any:
        """The constant that is one of a node's inputs."""
        found = node.input[place]
        if found not in self.constants:
            raise self._refused(name, f"computes its input {found}", "only constants stand there; replace the node")
        return self.constants[found]

    def _has(self, node: Any, place: int) -> bool:
        return len(node.input) > place and bool(node.input[place])

    def _parameter(self, given: str, value: Any) -> str:
        """A parameter under a name of its own, which is one of an argument in Python, and of an array in TOML."""
        stem = re.sub(r"\W+", "_", given, flags=re.ASCII).strip("_") or "parameter"
        stem = stem if not stem[0].isdigit() else f"p{stem}"
        name, count = stem, 1
        while name in self.parameters or name in self.taken or iskeyword(name):
            count += 1
            name = f"{stem}_{count}"
        self.parameters[name] = numpy.asarray(value, dtype=float)
        return name

    # --- steps -------------------------------------------------------------------------------------------------------

    def _step(
        self, operator: str, node: Any, name: str, parameters: tuple[str, ...], attributes: dict[str, Any]
    ) -> None:
        if node.input[0] not in self.values:
            raise self._refused(name, "computes with constants alone", "fold constants before the export")
        plain = {key: list(value) if not isinstance(value, str | int | float | dict) else value
                 for key, value in attributes.items()}  # fmt: skip
        self.steps.append(Step(operator, name, (self.values[node.input[0]], *parameters), node.output[0], plain))
        self.values[node.output[0]] = node.output[0]

    def _check(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        """Refuse what some operators may be beyond what is computed here."""
        if attributes.get("ceil_mode", 0):
            raise self._refused(name, "has ceil_mode=1", "export it with ceil_mode=0")
        if len(node.output) > 1:
            raise self._refused(name, "has a second output", "leave out its indices")
        if node.op_type == "Flatten" and attributes.get("axis", 1) != 1:
            raise self._refused(name, "flattens the batch", "export it with axis=1")
        if node.op_type == "Softmax":
            axis = attributes.get("axis", -1 if self.opset >= 13 else 1)
            if axis != -1 and not (axis == 1 and self.opset < 13):
                raise self._refused(name, f"has axis={axis}", "export it along the last axis, with axis=-1")
        if len(attributes.get("kernel_shape", (1, 1))) != 2:
            raise self._refused(name, "has no kernel of two axes", "images have a height and a width")

    def _reshape(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        wanted = [int(each) for each in self._clear(node, 1, name).reshape(-1)]
        if node.input[0] in self.constants:
            self.constants[node.output[0]] = self.constants[node.input[0]].reshape(wanted)
            return
        batch = _batch(self.graph)
        if not wanted or wanted[0] not in (0, -1, *([] if batch is None else [batch])) or attributes.get("allowzero"):
            raise self._refused(name, f"reshapes to {wanted}", "keep the batch as the first axis, as 0 or -1")
        self._step("Reshape", node, name, (), {"shape": wanted[1:]})

    def gemm(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        """alpha x B + beta C."""
        if attributes.get("transA", 0):
            raise self._refused(name, "transposes its input", "export it with transA=0")
        weight = self._clear(node, 1, name)
        rows = (weight if attributes.get("transB", 0) else weight.T) * attributes.get("alpha", 1.0)
        parameters = [self._parameter(node.input[1], rows)]
        if self._has(node, 2):
            bias = self._clear(node, 2, name)
            if bias.size not in (1, len(rows)):
                raise self._refused(name, f"adds numbers of shape {bias.shape}", "use one for each output")
            bias = numpy.broadcast_to(bias.reshape(-1), rows.shape[:1])
            parameters.append(self._parameter(node.input[2], bias * attributes.get("beta", 1.0)))
        self._step("Gemm", node, name, tuple(parameters), {})

    def matmul(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        """x B."""
        weight = self._clear(node, 1, name)
        if weight.ndim != 2:
            raise self._refused(name, f"multiplies by an array of {weight.ndim} axes", "use a matrix")
        self._step("MatMul", node, name, (self._parameter(node.input[1], weight.T),), {})

    def add(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        """Two results, or a result and a constant that is the same for all examples."""
        fixed = [each for each in node.input if each in self.constants]
        if len(fixed) == 2:
            self.constants[node.output[0]] = self.constants[fixed[0]] + self.constants[fixed[1]]
            return
        others = [self.values[each] for each in node.input if each not in self.constants]
        if fixed:
            value = self.constants[fixed[0]]
            others.append(self._parameter(fixed[0], value.reshape(value.shape[1:] if _leads(value) else value.shape)))
        self.steps.append(Step("Add", name, tuple(others), node.output[0], {}))
        self.values[node.output[0]] = node.output[0]

    def conv(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        """A cross-correlation of images."""
        weight = self._clear(node, 1, name)
        if weight.ndim != 4:
            raise self._refused(name, "has no kernel of two axes", "images have a height and a width")
        if attributes.get("group", 1) != 1:
            raise self._refused(name, f"has group={attributes['group']}", "export it with group=1")
        parameters = [self._parameter(node.input[1], weight.reshape(len(weight), prod(weight.shape[1:])))]
        if self._has(node, 2):
            parameters.append(self._parameter(node.input[2], self._clear(node, 2, name)))
        kept = {key: value for key, value in attributes.items() if key != "group"}
        self._step("Conv", node, name, tuple(parameters), {**kept, "kernel_shape": weight.shape[2:]})

    def normalization(self, node: Any, name: str, attributes: dict[str, Any]) -> None:
        """A batch normalisation by known statistics: one factor and one summand a channel."""
        if attributes.get("training_mode", 0):
            raise self._refused(name, "is a BatchNormalization in training mode", "export the network for inference")
        scale, shift, mean, variance = (
            numpy.asarray(self._clear(node, place, name), dtype=float) for place in (1, 2, 3, 4)
        )
        factor = scale / numpy.sqrt(variance + attributes.get("epsilon", 1e-5))
        names = self._parameter(f"{name}_factor", factor), self._parameter(f"{name}_summand", shift - mean * factor)
        self._step("Scale", node, name, names, {})


READERS: dict[str, Callable[[_Reader, Any, str, dict[str, Any]], None]] = {
    "Gemm": _Reader.gemm,
    "MatMul": _Reader.matmul,
    "Add": _Reader.add,
    "Conv": _Reader.conv,
    "BatchNormalization": _Reader.normalization,
}
"""Operators with parameters."""


def _sizes(value: Any) -> list[int | None]:
    """The axes of an input; None for one that the file leaves open."""
    return [each.dim_value or None for each in value.type.tensor_type.shape.dim]


def _batch(graph: Any) -> int | None:
    fixed = {each.name for each in graph.initializer}
    sizes = next((_sizes(each) for each in graph.input if each.name not in fixed), [])
    return sizes[0] if sizes else None


def _input_shape(value: Any) -> tuple[int, ...] | None:
    sizes = _sizes(value)[1:]
    return tuple(each for each in sizes if each is not None) if sizes and None not in sizes else None


def _leads(value: Any) -> bool:
    """Whether a constant has an axis for the batch."""
    return bool(value.ndim > 1 and value.shape[0] == 1)
