"""What a program is, as text that is the same at all parties, and the hash of it that owners approve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from fractions import Fraction
from hashlib import sha256
from typing import Any

from tacit.plan.programs.graph import Settings
from tacit.plan.programs.nodes import Node, reachable

VERSION = 1


def canonical(outputs: Mapping[str, Node], settings: Settings) -> str:
    """All operations in their order with all that is known of their results, and the outputs' names.

    Lines of the source are not in it: a comment that is added changes nothing.
    """
    nodes = reachable(outputs.values())
    places = {node.number: place for place, node in enumerate(nodes)}
    lines = [f"program {VERSION} {settings.fraction} {settings.rounding}"]
    lines += [_line(node, places) for node in nodes]
    lines += [f"output {name!r} {places[node.number]}" for name, node in outputs.items()]
    return "\n".join(lines) + "\n"


def digest(outputs: Mapping[str, Node], settings: Settings) -> str:
    """The hash of the canonical text."""
    return sha256(canonical(outputs, settings).encode()).hexdigest()


def _line(node: Node, places: Mapping[int, int]) -> str:
    args = " ".join(str(places[arg.number]) for arg in node.args)
    return f"{_shown(node.operation)} ({args}) {_shown(node.array)}"


def _shown(value: Any) -> str:
    """A value by its fields, numbers exactly."""
    match value:
        case Fraction():
            return f"{value.numerator}/{value.denominator}"
        case tuple():
            return "(" + ",".join(map(_shown, value)) + ")"
        case str() | int() | None:
            return repr(value)
        case _:
            return f"{type(value).__name__}[{','.join(_fields(value))}]"


def _fields(value: Any) -> Iterator[str]:
    return (f"{each.name}={_shown(getattr(value, each.name))}" for each in fields(value))
