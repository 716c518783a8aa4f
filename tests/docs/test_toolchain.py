"""The oldest compiler that Cargo.toml names suffices for what is brought in, and documents name the same one."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
OLDEST = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
NAMING = ("README.md", "CONTRIBUTING.md", "Makefile", "docs/platform-engineer.md")
"""Documents that say which compiler one needs."""


def told(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def number(version: str) -> tuple[int, ...]:
    """A version that can be compared: 1.90 and 1.90.0 are the same."""
    return tuple(map(int, (*version.split("."), "0")))[:3]


def test_no_dependency_asks_for_a_newer_compiler() -> None:
    host = re.findall(r"^host: (.+)$", told("rustc", "-vV"), re.M)[0]
    command = ("cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host)
    packages = json.loads(told(*command))["packages"]
    ours = {each["name"] for each in packages if each["source"] is None}
    assert ours and all(each["rust_version"] == OLDEST for each in packages if each["name"] in ours)
    asking = {each["name"]: each["rust_version"] for each in packages if each["rust_version"] is not None}
    assert len(asking) > len(ours)
    assert {name: version for name, version in asking.items() if number(version) > number(OLDEST)} == {}


@pytest.mark.parametrize("document", NAMING)
def test_documents_name_the_same_compiler(document: str) -> None:
    named = set(re.findall(r"\bRust (1\.\d+)", (ROOT / document).read_text()))
    assert named == {OLDEST}


def test_no_toolchain_is_asked_for() -> None:
    assert [path.name for path in ROOT.iterdir() if path.name.startswith("rust-toolchain")] == []
    assert not re.findall(r"#!\[feature\b", "".join(path.read_text() for path in ROOT.glob("crates/*/src/**/*.rs")))


def test_the_wheel_leaves_room_for_other_versions_and_development_does_not() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines())
    for requirement in map(Requirement, asked):
        assert not any(each.operator in ("==", "===", "~=") for each in requirement.specifier), requirement
        assert requirement.specifier.contains(pins[requirement.name]), requirement
