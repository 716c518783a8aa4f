"""Functions of learning, traced and placed, on the engines of the native module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
from tests.programs.engines import Engine, placed, run

from tacit.plan.programs.evaluation import decoded, encoded
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.nodes import reachable
from tacit.plan.programs.operations import Input
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import read
from tacit.plan.programs.release import released


def on_engine(
    function: Callable[..., Any], values: Mapping[str, Any], engine: Engine, settings: Settings
) -> dict[str, Any]:
    """The results of a function, by their names, as an engine reveals them."""
    plan = placed(function, values, engine, settings)
    again = read(plan.query)
    outputs = released(again.graph, optimised(again.graph, again.outputs).after)
    nodes = reachable(again.outputs.values())
    facts = {node.operation.name: node.array for node in nodes if isinstance(node.operation, Input)}
    found = run(plan, {name: encoded(values[name], array) for name, array in facts.items()}, engine)
    return {name: numpy.asarray(decoded(found[name], node.array), dtype=float) for name, node in outputs.items()}
