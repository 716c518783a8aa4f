"""Networks from ONNX files: a public architecture, and parameters that are public or an owner's private arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import tacit.array.namespace as np
from tacit.array.declared import Declared
from tacit.ml import networks_offers
from tacit.ml.networks import named_function
from tacit.ml.onnx_steps import OPERATORS, Step, run
from tacit.plan.programs.refusals import ProgramError

Shape = tuple[int, ...]
Named = Mapping[str, Any]


@dataclass(frozen=True)
class Architecture:
    """What is public of a network: its steps, and the shapes of its parameters by their names.

    input_shape: of one example, None where the file does not say it.
    """

    input: str
    input_shape: Shape | None
    output: str
    steps: tuple[Step, ...]
    shapes: Mapping[str, Shape]

    def __call__(self, x: Any, parameters: Named) -> Any:
        """The result for a batch: (examples, ...). x: (examples, *input_shape), or examples as vectors."""
        for name, shape in self.shapes.items():
            if name not in parameters:
                raise ProgramError(f"the network has no {name}; give all of {', '.join(self.shapes)}.")
            if tuple(parameters[name].shape) != shape:
                raise ProgramError(f"{name} has the shape {tuple(parameters[name].shape)} instead of {shape}.")
        if self.input_shape is not None:
            if prod(x.shape[1:]) != prod(self.input_shape):
                raise ProgramError(f"examples have the shape {tuple(x.shape[1:])} instead of {self.input_shape}.")
            x = x.reshape(x.shape[0], *self.input_shape)
        values = {**parameters, self.input: x}
        for step in self.steps:
            values[step.output] = run(step, values)
        return values[self.output]

    def predict(self, x: Any, parameters: Named) -> Any:
        """The position of the largest output of each example. A last Softmax is left out: it keeps the order."""
        last = self.steps[-1] if self.steps else None
        if last is not None and last.operator == "Softmax":
            return replace(self, steps=self.steps[:-1], output=last.inputs[0]).predict(x, parameters)
        return np.argmax(self(x, parameters), axis=-1)

    @property
    def function(self) -> Callable[..., Any]:
        """A function of a batch and all parameters, each an argument by its name: what @program takes."""
        return named_function("network", self, self.shapes)

    @property
    def classify(self) -> Callable[..., Any]:
        """The same for the position of the largest output."""
        return named_function("classify", self.predict, self.shapes)

    def write(self, path: str | Path) -> None:
        """Write it to a JSON file, which all parties may read."""
        Path(path).write_text(json.dumps(asdict(self), indent=1) + "\n")


def load_architecture(path: str | Path) -> Architecture:
    """A network that ``Architecture.write`` has written. Raises ProgramError if the file is no such thing."""
    try:
        read = json.loads(Path(path).read_text())
        steps = tuple(
            Step(each["operator"], each["name"], tuple(each["inputs"]), each["output"], each["attributes"])
            for each in read["steps"]
        )
        shapes = {name: tuple(shape) for name, shape in read["shapes"].items()}
        size = None if read["input_shape"] is None else tuple(read["input_shape"])
        found = Architecture(read["input"], size, read["output"], steps, shapes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProgramError(
            f"{path} is no architecture of a network ({error!r}); write it again from the ONNX file."
        ) from error
    for step in found.steps:
        if step.operator not in OPERATORS:
            raise ProgramError(f"{path}: node {step.name} is {step.operator}, which is not supported; leave it out.")
    return found


@dataclass(frozen=True)
class OnnxModel:
    """An ONNX file's network with its parameters, as clear arrays.

    Called with a batch it is the network with public parameters, which are part of the program. ``save`` and
    ``offers`` make of them private arrays of an owner; other parties get the architecture alone.
    """

    architecture: Architecture
    parameters: Named

    def __call__(self, x: Any, parameters: Named | None = None) -> Any:
        """The result for a batch. parameters: private arrays in place of the file's, by the same names."""
        return self.architecture(x, self.parameters if parameters is None else parameters)

    def predict(self, x: Any, parameters: Named | None = None) -> Any:
        """The position of the largest output of each example."""
        return self.architecture.predict(x, self.parameters if parameters is None else parameters)

    @cached_property
    def declared(self) -> dict[str, Declared]:
        """What would be public of the parameters, by their names."""
        return networks_offers.declared(self.parameters)

    def offers(self, terms: str = networks_offers.CLOSED) -> str:
        """The sections of their owner's offer (offers/NAME.toml). terms: the lines of each that allow programs."""
        return networks_offers.offers(self.parameters, terms)

    def private_files(self) -> str:
        """The sections of their owner's private file (private/NAME.toml)."""
        return networks_offers.private_files(self.parameters)

    def save(self, folder: str | Path) -> list[Path]:
        """Write each parameter to NAME.npy in their owner's folder."""
        return networks_offers.save(self.parameters, folder)
