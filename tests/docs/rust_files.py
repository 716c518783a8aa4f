"""Which file of a crate takes names from which: from `use` lines and paths in the text.

A name that a module hands on (`pub use`) belongs to the file that defines it. What a module takes from its own
submodules does not count: they are parts of it, and may take names from it. Tests inside of files do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# A module's name from its crate on, or an item's: the module's and its own.
Name = tuple[str, ...]

MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", re.M)
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);", re.M)
TEST_MODULE = re.compile(r"#\[cfg\((?:all\()?test[^\]]*\]\s*(?:pub(?:\([^)]*\))? )?mod \w+;")
TESTS = re.compile(r"^#\[cfg\(test\)\]\s*mod \w+ \{.*", re.M | re.S)
PATH = re.compile(r"(?<![\w:])((?:\w+::)+\w+)")


@dataclass
class Module:
    """A file with what it declares and takes."""

    text: str
    children: set[str]
    names: dict[str, Name] = field(default_factory=dict)


def edges(library: Path) -> dict[Name, set[Name]]:
    """File to the files of its crate that it takes names from. library: the crate's first file."""
    modules = _modules(library)
    found = {}
    for name, module in modules.items():
        taken = {_defining(modules, path) for path in _paths(name, module, modules)} - {name}
        found[name] = {other for other in taken if other[: len(name)] != name}
    return found


def _modules(library: Path) -> dict[Name, Module]:
    found: dict[Name, Module] = {}
    waiting = [((library.parents[1].name,), library, library.parent)]
    while waiting:
        name, file, folder = waiting.pop()
        text = re.sub(r"//[^\n]*", "", file.read_text())
        text = TESTS.sub("", TEST_MODULE.sub("", re.sub(r'"(?:\\.|[^"\\])*"', '""', text)))
        module = found[name] = Module(text, set(MODULE.findall(text)))
        for child in module.children:
            flat, nested = folder / f"{child}.rs", folder / child / "mod.rs"
            waiting.append(((*name, child), flat if flat.exists() else nested, folder / child))
        for tree in USE.findall(text):
            for path, known_as in _leaves(re.sub(r"\s+", " ", tree)):
                if absolute := _absolute(name, module, path):
                    module.names[known_as] = absolute
    return found


def _leaves(tree: str) -> Iterator[tuple[list[str], str]]:
    """The paths of a `use` tree, each with the name by which the file knows it."""
    tree = tree.strip()
    if "{" not in tree:
        path, _, known_as = tree.partition(" as ")
        parts = path.split("::")
        yield parts, known_as or parts[-1]
        return
    head, _, rest = tree.partition("{")
    prefix = [part for part in head.strip().split("::") if part]
    for branch in _branches(rest.rpartition("}")[0]):
        for path, known_as in _leaves(branch):
            yield (prefix, prefix[-1]) if path == ["self"] else (prefix + path, known_as)


def _branches(trees: str) -> Iterator[str]:
    depth, branch = 0, ""
    for letter in trees + ",":
        if letter == "," and depth == 0:
            if branch.strip():
                yield branch
            branch = ""
            continue
        depth += {"{": 1, "}": -1}.get(letter, 0)
        branch += letter


def _absolute(name: Name, module: Module, path: list[str]) -> Name | None:
    """The path from its crate on; None if it leads to another crate."""
    first, *rest = path
    if first == "crate":
        return (name[0], *rest)
    if first == "self":
        return (*name, *rest)
    if first == "super":
        return _absolute(name[:-1], module, rest if rest[0] == "super" else ["self", *rest])
    return (*name, *path) if first in module.children else None


def _paths(name: Name, module: Module, modules: dict[Name, Module]) -> Iterator[Name]:
    """Every item that the file takes by a name of its own or by a path."""
    body = USE.sub("", module.text)
    # A name that is only handed on is no use of it.
    yield from (path for known_as, path in module.names.items() if re.search(rf"\b{known_as}\b", body))
    for found in PATH.findall(body):
        parts = found.split("::")
        if absolute := _absolute(name, module, parts):
            yield absolute
        elif (start := module.names.get(parts[0])) in modules:
            yield (*start, *parts[1:])


def _defining(modules: dict[Name, Module], path: Name) -> Name:
    """The file that defines what the path names."""
    here = path[:1]
    for at, part in enumerate(path[1:], 1):
        module = modules[here]
        if part in module.children:
            here = (*here, part)
        elif part in module.names:
            return _defining(modules, (*module.names[part], *path[at + 1 :]))
        else:
            return here
    return here
