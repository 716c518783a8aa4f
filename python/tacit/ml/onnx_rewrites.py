"""Steps of a network that give the same numbers for less: normalisations folded, pools where they cost least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.ml.onnx_steps import Step

Found = tuple[list[Step], dict[str, Any]]


def rewritten(steps: Sequence[Step], parameters: dict[str, Any], output: str) -> Found:
    """The steps, and the parameters that they take. output: the name of the network's result."""
    found, values = [*steps], {**parameters}
    place = 0
    while place + 1 < len(found):
        pair = _pair(found, place, output)
        new = None if pair is None else _joined(*pair, values)
        if new is None:
            place += 1
        else:
            found[place : place + 2] = new
            place = max(place - 1, 0)
    used = {name for step in found for name in step.inputs}
    return found, {name: value for name, value in values.items() if name in used}


def _pair(steps: list[Step], place: int, output: str) -> tuple[Step, Step] | None:
    """A step and the next one, if that alone takes its result."""
    first, second = steps[place : place + 2]
    takers = [step for step in steps for name in step.inputs if name == first.output]
    return (first, second) if takers == [second] and first.output != output else None


def _joined(first: Step, second: Step, values: dict[str, Any]) -> list[Step] | None:
    match first.operator, second.operator:
        case "Conv" | "Gemm" | "MatMul", "Scale" if second.inputs[0] == first.output:
            return [_folded(first, second, values)]
        case "Relu" | "Sigmoid" | "Tanh", "MaxPool":
            pool = replace(second, inputs=first.inputs, output=first.output)
            return [pool, replace(first, inputs=(first.output,), output=second.output)]
        case "Conv", "AveragePool" if _is_plain(first, second):
            attributes = {**first.attributes, "pool": second.attributes}
            return [Step("PooledConv", first.name, first.inputs, second.output, attributes)]
        case _:
            return None


def _folded(product: Step, scale: Step, values: dict[str, Any]) -> Step:
    """A product whose weights have the factor of the normalisation behind it, and whose bias has its summand."""
    factor, summand = values[scale.inputs[1]], values[scale.inputs[2]]
    weight = product.inputs[1]
    values[weight] = values[weight] * factor[:, None]
    if len(product.inputs) > 2:
        bias = product.inputs[2]
        values[bias] = values[bias] * factor + summand
        return replace(product, output=scale.output)
    operator = "Gemm" if product.operator == "MatMul" else product.operator
    return replace(product, operator=operator, inputs=(*product.inputs, scale.inputs[2]), output=scale.output)


def _is_plain(convolution: Step, pool: Step) -> bool:
    """Whether a pool has no padding, and the convolution before it has no distances inside its kernels."""
    padded = any(pool.attributes.get("pads", ())) or pool.attributes.get("auto_pad", "NOTSET") not in (
        "NOTSET",
        "VALID",
    )
    steps = [*convolution.attributes.get("dilations", ()), *pool.attributes.get("dilations", ())]
    return not padded and all(each == 1 for each in steps)
