"""ARCHITECTURE.md's table of rooms says what the code does: it equals cargo's dependencies and the Python imports."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from .rust_files import edges

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "tacit"


def declared() -> dict[str, set[str]]:
    """Room to the rooms it may import, from the table. Crates go by folder, Python rooms by their dotted name."""
    rows = re.findall(
        r"^\| (crates/|benches|tacit)(\S*) \|[^|]*\|([^|]*)\|$", (ROOT / "ARCHITECTURE.md").read_text(), re.M
    )
    return {kind + name: {room.strip() for room in imports.split(",") if room.strip()} for kind, name, imports in rows}


def crate_dependencies() -> dict[str, set[str]]:
    """Crate to the workspace crates it depends on, tests' dependencies included."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)["packages"]
    rooms = {package["name"]: Path(package["manifest_path"]).parent for package in packages}
    return {
        str(room.relative_to(ROOT)): {rooms[d["name"]].name for d in package["dependencies"] if d["name"] in rooms}
        for package in packages
        for room in [rooms[package["name"]]]
    }


def room_of(module: str, visitor: str) -> str:
    """The room of a dotted module name inside tacit. A room with rooms of its own is one to those outside it."""
    parts = module.split(".")[1:]
    if parts[0] == "_native":
        return "_native"
    folders = [part for place, part in enumerate(parts) if PACKAGE.joinpath(*parts[: place + 1]).is_dir()]
    inside = bool(folders) and folders[0] == visitor.split(".")[0]
    return ".".join(folders[: 2 if inside else 1])


def imported_modules(path: Path) -> set[str]:
    """Every module of tacit that a file imports, wherever in the file (also by name, through import_module)."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and path == PACKAGE / "__init__.py":
            found |= {node.value}
    return {module for module in found if re.fullmatch(r"tacit(\.\w+)+", module)}


def python_imports() -> dict[str, set[str]]:
    """Python room to the rooms that its files import."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = ".".join(path.relative_to(PACKAGE).parts[:-1])
        used = {room_of(module, room) for module in imported_modules(path)} - {room, ""}
        found.setdefault(f"tacit.{room}" if room else "tacit", set()).update(used)
    return found


def test_no_python_files_import_each_other_in_a_circle() -> None:
    files = {
        ".".join(("tacit", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in PACKAGE.rglob("*.py")
    }
    # The front door loads what it names at their first use.
    modules = {name.removesuffix(".__init__"): path for name, path in files.items() if path.parent != PACKAGE}
    graph = {name: _files_of(imported_modules(path), modules) - {name} for name, path in modules.items()}
    assert len([*TopologicalSorter(graph).static_order()]) == len(modules)


LIBRARIES = sorted([*ROOT.glob("crates/*/src/lib.rs"), ROOT / "benches" / "src" / "main.rs"])


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.parents[1].name)
def test_no_rust_files_take_names_from_each_other_in_a_circle(library: Path) -> None:
    graph = edges(library)
    assert len([*TopologicalSorter(graph).static_order()]) == len(graph)


def test_circles_of_rust_files_are_found(tmp_path: Path) -> None:
    source = tmp_path / "crate" / "src"
    (source / "a").mkdir(parents=True)
    (source / "lib.rs").write_text("mod a;\nmod b;\npub use a::First;\n")
    (source / "a.rs").write_text("mod part;\nuse part::Third;\npub struct First(Third, crate::b::Second);\n")
    (source / "a" / "part.rs").write_text("use super::First;\npub struct Third;\n")
    (source / "b.rs").write_text("pub struct Second;\n#[cfg(test)]\nmod tests {\n    use crate::First;\n}\n")
    first, second = ("crate", "a"), ("crate", "b")
    graph = edges(source / "lib.rs")
    assert (graph[first], graph[second]) == ({second}, set())
    (source / "b.rs").write_text("use crate::First;\npub struct Second(First);\n")
    assert edges(source / "lib.rs")[second] == {first}


def _files_of(imported: set[str], modules: dict[str, Path]) -> set[str]:
    """The files that are these modules, or have these names."""
    found = {each if each in modules else each.rpartition(".")[0] for each in imported}
    return found & modules.keys()


def test_every_room_is_in_the_table() -> None:
    assert set(declared()) == set(crate_dependencies()) | set(python_imports())


def test_crates_depend_on_what_the_table_says() -> None:
    table = {room: imports for room, imports in declared().items() if not room.startswith("tacit")}
    assert table == crate_dependencies()


def test_python_rooms_import_what_the_table_says() -> None:
    table = {room: imports for room, imports in declared().items() if room.startswith("tacit")}
    assert table == python_imports()
