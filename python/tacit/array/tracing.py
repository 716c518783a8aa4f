"""Tracing: the program's own function is called once, with private arrays that record what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy

from tacit.array.declared import Declared
from tacit.array.lines import is_of_tacit, line_of
from tacit.array.namespace import PrivateArray
from tacit.array.operands import as_node, public
from tacit.array.private import ACTIVE
from tacit.plan.programs.graph import Graph, Settings
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Input
from tacit.plan.programs.refusals import ProgramError

Form = Literal["array", "tuple", "list", "dict"]
"""What a function returns."""


@dataclass(frozen=True)
class Traced:
    """What a program computes. outputs: by their names; several results are named by their position."""

    graph: Graph
    inputs: Mapping[str, Node]
    outputs: Mapping[str, Node]
    form: Form = "array"

    def returned(self, arrays: Mapping[str, Any]) -> Any:
        """The outputs as the function returns them. arrays: by the names of outputs."""
        match self.form:
            case "array":
                return arrays["result"]
            case "dict":
                return dict(arrays)
            case "list":
                return [*arrays.values()]
            case "tuple":
                return (*arrays.values(),)


def trace(function: Callable[..., Any], inputs: Mapping[str, Declared], settings: Settings) -> Traced:
    """The graph of a function of declared inputs."""
    graph = Graph(settings)
    nodes = {
        name: graph.make(Input(name, declared.array(name, settings.fraction))) for name, declared in inputs.items()
    }
    active = ACTIVE.set(graph)
    try:
        result = function(**{name: PrivateArray(graph, node) for name, node in nodes.items()})
    except ProgramError as error:
        error.line = error.line or line_of(error)
        raise
    except Exception as error:
        if is_of_tacit(error):
            raise
        said = f": {error}".rstrip(":. ")
        raise ProgramError(f"{type(error).__name__}{said}.", line_of(error)) from error
    finally:
        ACTIVE.reset(active)
    outputs = {name: _node(graph, name, value) for name, value in named_results(result).items()}
    return Traced(graph, nodes, outputs, _form(result))


def _form(result: Any) -> Form:
    if isinstance(result, dict):
        return "dict"
    return "list" if isinstance(result, list) else "tuple" if isinstance(result, tuple) else "array"


def named_results(result: Any) -> dict[str, Any]:
    """What a function returns, by the names of outputs."""
    if isinstance(result, dict):
        return {str(name): value for name, value in result.items()}
    if isinstance(result, tuple | list):
        return {str(place): value for place, value in enumerate(result)}
    return {"result": result}


def _node(graph: Graph, name: str, value: Any) -> Node:
    if isinstance(value, PrivateArray) and value.graph is graph:
        return value.node
    if value is None or isinstance(value, PrivateArray) or numpy.asarray(value).dtype == object:
        raise ProgramError(f"the program's {name} is no array of it; return the arrays that it computes.")
    return as_node(graph, public(value))
