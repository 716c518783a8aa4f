"""What crosses to the native session as JSON: frozen dataclasses with a member for each field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.plan.facts.kinds import Kind

JSON = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """A frozen dataclass that is written as a JSON object."""

    def json(self) -> JSON:
        """The object: the fields under their names."""
        return {name: written(value) for name, value in vars(self).items()}


def written(value: object) -> Any:
    """A field's value as JSON."""
    match value:
        case None | bool() | int() | str():
            return value
        case tuple():
            return [written(each) for each in value]
        case Record() | Kind():
            return value.json()
        case _:
            raise TypeError(f"no field of an operator holds a {type(value).__name__}")
