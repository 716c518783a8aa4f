"""ARCHITECTURE.md's table of rooms says what the code does: it equals cargo's dependencies and the Python imports."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from pathlib import Path

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


def room_of(module: str) -> str:
    """The room of a dotted module name inside tacit: its second part; the package's own files are the front door."""
    parts = module.split(".")
    found = "".join(parts[1:2])
    return found if found == "_native" or (found and (PACKAGE / found).is_dir()) else ""


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
        parts = path.relative_to(PACKAGE).parts
        room = parts[0] if len(parts) > 1 else ""
        used = {room_of(module) for module in imported_modules(path)} - {room, ""}
        found.setdefault(f"tacit.{room}" if room else "tacit", set()).update(used)
    return found


def test_every_room_is_in_the_table() -> None:
    assert set(declared()) == set(crate_dependencies()) | set(python_imports())


def test_crates_depend_on_what_the_table_says() -> None:
    table = {room: imports for room, imports in declared().items() if not room.startswith("tacit")}
    assert table == crate_dependencies()


def test_python_rooms_import_what_the_table_says() -> None:
    table = {room: imports for room, imports in declared().items() if room.startswith("tacit")}
    assert table == python_imports()
