"""JSON Schemas (draft 2020-12) of what programs read, made from the dataclasses, and a check of values against them.

The check knows the keywords that these schemas use, and refuses a schema with others.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def record(properties: Mapping[str, Schema], optional: tuple[str, ...] = (), description: str = "") -> Schema:
    """An object with these members and no others."""
    said: Schema = {"description": description} if description else {}
    required = [name for name in properties if name not in optional]
    return said | {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }


def table_of(values: Schema) -> Schema:
    """An object whose members have any names."""
    return {"type": "object", "additionalProperties": values}


def either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


class Schemas:
    """The schemas of dataclasses. found: by their names, for ``$defs``."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of a type."""
        if is_dataclass(kind) and isinstance(kind, type):
            return self._reference(kind)
        origin, inside = get_origin(kind), get_args(kind)
        if origin is Literal:
            return {"enum": list(inside)}
        if origin in (Union, types.UnionType):
            return either(*map(self.of, inside))
        if origin is tuple:
            return {"type": "array", "items": self.of(inside[0])}
        return {"type": PLAIN[kind]}

    def _reference(self, kind: type) -> Schema:
        if kind.__name__ not in self.found:
            self.found[kind.__name__] = {}
            hints = get_type_hints(kind)
            members = {each.name: self.of(hints[each.name]) for each in fields(kind)}
            self.found[kind.__name__] = record(members, description=" ".join((kind.__doc__ or "").split()))
        return {"$ref": f"#/$defs/{kind.__name__}"}


def violations(value: object, schema: Schema, whole: Schema, at: str = "$") -> Iterator[str]:
    """What of a value a schema does not allow. whole: the document that has the definitions."""
    for keyword, said in schema.items():
        yield from KEYWORDS[keyword](value, said, schema, whole, at)


Keyword = Callable[[object, Any, Schema, Schema, str], Iterator[str]]

KINDS: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _annotation(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    yield from ()


def _type(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    if not KINDS[said](value):
        yield f"{at} is no {said}"


def _enum(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    if value not in said:
        yield f"{at} is {value!r}"


def _const(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    if value != said:
        yield f"{at} is {value!r}"


def _pattern(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    if isinstance(value, str) and not re.search(said, value):
        yield f"{at} is {value!r}"


def _ref(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    yield from violations(value, whole["$defs"][said.removeprefix("#/$defs/")], whole, at)


def _any_of(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    if all(list(violations(value, each, whole, at)) for each in said):
        yield f"{at} is none of what it may be"


def _items(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    for position, each in enumerate(value if isinstance(value, list) else []):
        yield from violations(each, said, whole, f"{at}[{position}]")


def _properties(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    for name, each in value.items() if isinstance(value, dict) else ():
        if name in said:
            yield from violations(each, said[name], whole, f"{at}.{name}")


def _required(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{at} has no {name}" for name in said if name not in value)


def _additional(value: object, said: Any, schema: Schema, whole: Schema, at: str) -> Iterator[str]:
    for name, each in value.items() if isinstance(value, dict) else ():
        if name in schema.get("properties", ()):
            continue
        if said is False:
            yield f"{at} has {name}"
        elif said is not True:
            yield from violations(each, said, whole, f"{at}.{name}")


KEYWORDS: dict[str, Keyword] = {
    **dict.fromkeys(("$schema", "$id", "$defs", "title", "description"), _annotation),
    "type": _type,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "$ref": _ref,
    "anyOf": _any_of,
    "items": _items,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
}
