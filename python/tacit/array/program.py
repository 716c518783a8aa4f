"""A program on private arrays: a function of NumPy, with what is declared of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tacit.array.declared import Declared
from tacit.array.source import Checked, checked
from tacit.array.tracing import Traced, trace
from tacit.plan.programs.graph import Rounding, Settings
from tacit.plan.programs.identity import Source, canonical, digest
from tacit.plan.programs.optimiser import Optimised, optimised
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.text import described, explained


@dataclass(frozen=True)
class Arguments:
    """A function's private arguments where they are no inputs as they are. shapes: by their names.

    assembled: makes them of the inputs.
    """

    shapes: Mapping[str, tuple[int, ...]]
    assembled: Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Program:
    """A function and its declared inputs. Called with NumPy's arrays it gives the clear result.

    public: arguments that are part of the program, by their names. arguments: those that are made of inputs; None
    where inputs are the function's own arguments. finished: makes the program's results of what the function returns.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Mapping[str, Declared],
        settings: Settings,
        public: Mapping[str, Any] | None = None,
        arguments: Arguments | None = None,
        finished: Callable[[Any], Any] = lambda result: result,
    ) -> None:
        self.function = function
        self.inputs = dict(inputs)
        self.settings = settings
        self.public = dict(public or {})
        shapes = {name: each.shape for name, each in self.inputs.items()}
        self.arguments = arguments or Arguments(shapes, lambda given: given)
        self.finished = finished
        self.__name__ = getattr(function, "__name__", "program")
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)

    @cached_property
    def source(self) -> Checked:
        """The function after the check of its source."""
        names = [name for name, shape in self.arguments.shapes.items() if len(shape) == 1]
        return checked(self.function, names, self.public)

    @cached_property
    def traced(self) -> Traced:
        """The graph as the function writes it."""
        return trace(self._of_inputs, self.inputs, self.settings)

    def _of_inputs(self, **inputs: Any) -> Any:
        """The function's result, from private inputs."""
        return self.finished(self.source.function(**self.public, **self.arguments.assembled(inputs)))

    @cached_property
    def optimised(self) -> Optimised:
        """The graph before and after the optimiser's rules."""
        return optimised(self.traced.graph, self.traced.outputs)

    def text(self, sources: Mapping[str, Source] | None = None) -> str:
        """The text that all parties read. sources: where inputs come from, by their names; without, it cannot run."""
        return canonical(self.traced.graph, self.traced.outputs, sources)

    @property
    def hash(self) -> str:
        """It covers every operation, and all that is declared of inputs, but not where they come from."""
        return digest(self.text())

    def explain(self) -> str:
        """What the program computes and costs, before and after its rewrites; nothing runs for it."""
        return self.explained(self.hash, {name: described(node.array) for name, node in self.traced.inputs.items()})

    def explained(self, hash: str, inputs: Mapping[str, str]) -> str:
        """The same under a hash. inputs: what is said of each, by its name."""
        source = [f"  {each}" for each in self.source.rewrites]
        lines = [
            f"program {self.__name__}",
            f"hash {hash}",
            "inputs:",
            *(f"  {name}: {said}" for name, said in inputs.items()),
            *(["rewritten in the source:", *source] if source else []),
        ]
        return "\n".join(lines) + "\n" + explained(self.traced.graph, self.optimised)

    def check(self) -> list[str]:
        """What was rewritten; an error where the program cannot run. Nothing runs for it but the function's trace."""
        _ = self.traced
        return list(self.source.rewrites)


def program(
    *, fraction: int = 16, rounding: Rounding = "dither", **inputs: Declared
) -> Callable[[Callable[..., Any]], Program]:
    """Make a program of a function. inputs: what is declared of its arguments, by their names.

    fraction: bits after the point. rounding: "floor" makes every truncation exact, for more than twice the bytes.
    """
    asked = settings(fraction, rounding)
    return lambda function: Program(function, inputs, asked)


def settings(fraction: int, rounding: Rounding) -> Settings:
    """What a program asks for. Raises ProgramError if there is no such thing."""
    if not 1 <= fraction <= 40 or rounding not in ("dither", "floor"):
        raise ProgramError('a program has 1 to 40 bits after the point, and rounding="dither" or "floor".')
    return Settings(fraction, rounding)
