"""A program on private arrays: a function of NumPy, with what is declared of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy

from tacit.array.declared import Declared
from tacit.array.private import PrivateArray
from tacit.array.source import Checked, checked
from tacit.array.tracing import Traced, trace
from tacit.plan.account.notebook import Explanation, Sentences, facts_html
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


@dataclass(frozen=True)
class Part:
    """A program whose result is an argument of another one. names: of its inputs, in the other program."""

    program: Program
    names: Mapping[str, str]


class Program:
    """A function and its declared inputs. Called with NumPy's arrays it gives the clear result.

    public: arguments that are part of the program, by their names. arguments: those that are made of inputs; None
    where inputs are the function's own arguments. finished: makes the program's results of what the function returns.
    parts: arguments that other programs compute, whose inputs are among those of this one. A part is computed once,
    however many functions take its result.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Mapping[str, Declared],
        settings: Settings,
        public: Mapping[str, Any] | None = None,
        arguments: Arguments | None = None,
        finished: Callable[[Any], Any] = lambda result: result,
        parts: Mapping[str, Part] | None = None,
    ) -> None:
        self.function = function
        self.own = dict(inputs)
        self.settings = settings
        self.public = dict(public or {})
        shapes = {name: each.shape for name, each in self.own.items()}
        self.arguments = arguments or Arguments(shapes, lambda given: given)
        self.finished = finished
        self.parts = dict(parts or {})
        self.inputs: dict[str, Declared] = self.own | {
            name: part.program.inputs[own] for part in self.parts.values() for own, name in part.names.items()
        }
        self.__name__ = getattr(function, "__name__", "program")
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)

    def _repr_html_(self) -> str:
        declared = {name: repr(each) for name, each in self.inputs.items()}
        return facts_html(f"program {self.__name__}", declared)

    @cached_property
    def source(self) -> Checked:
        """The function after the check of its source."""
        shapes = dict(self.arguments.shapes) | {name: part.program.shape for name, part in self.parts.items()}
        return checked(self.function, [name for name, shape in shapes.items() if len(shape) == 1], self.public)

    @cached_property
    def traced(self) -> Traced:
        """The graph as the function writes it."""
        return trace(lambda **arrays: self.finished(self._result(arrays, {})), self.inputs, self.settings)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result. Several results have none."""
        return self.traced.outputs["result"].array.shape if self.traced.form == "array" else ()

    @property
    def rewrites(self) -> tuple[str, ...]:
        """What was changed in the source, each with its line."""
        of_parts = (rewrite for part in self.parts.values() for rewrite in part.program.rewrites)
        return tuple(dict.fromkeys((*of_parts, *self.source.rewrites)))

    def _result(self, arrays: Mapping[str, Any], known: dict[Program, Any]) -> Any:
        """What the function returns. arrays: by the names of inputs. known: results of programs that have been called.

        A function may change its arguments in place, so that each gets arrays of its own.
        """
        if self not in known:
            found = {
                name: part.program._result({own: arrays[name] for own, name in part.names.items()}, known)
                for name, part in self.parts.items()
            }
            own = self.arguments.assembled({name: arrays[name] for name in self.own})
            known[self] = self.source.function(**_copied(dict(own)), **found, **self.public)
        return _copied(known[self])

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

    def explain(self) -> Explanation:
        """What the program computes and costs, before and after its rewrites; nothing runs for it."""
        return Explanation(
            self.explained(self.hash, {name: described(node.array) for name, node in self.traced.inputs.items()})
        )

    def explained(self, hash: str, inputs: Mapping[str, str]) -> str:
        """The same under a hash. inputs: what is said of each, by its name."""
        source = [f"  {each}" for each in self.rewrites]
        lines = [
            f"program {self.__name__}",
            f"hash {hash}",
            "inputs:",
            *(f"  {name}: {said}" for name, said in inputs.items()),
            *(["rewritten in the source:", *source] if source else []),
        ]
        return "\n".join(lines) + "\n" + explained(self.traced.graph, self.optimised)

    def check(self) -> Sentences:
        """What was rewritten; an error where the program cannot run. Nothing runs for it but the function's trace."""
        _ = self.traced
        return Sentences(self.rewrites)


def _copied(result: Any) -> Any:
    """Arrays of the same elements, as a function returns them: alone, or in a tuple, a list or a dictionary."""
    if isinstance(result, dict):
        return {name: _copied(each) for name, each in result.items()}
    if isinstance(result, tuple | list):
        copies = map(_copied, result)
        return type(result)(*copies) if hasattr(result, "_fields") else type(result)(copies)
    if isinstance(result, PrivateArray):
        return PrivateArray(result.graph, result.node)
    return result.copy() if isinstance(result, numpy.ndarray) else result


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
