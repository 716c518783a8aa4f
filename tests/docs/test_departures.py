"""docs/security/departures.md names every file that departs from its source, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security" / "departures.md"
FIELDS = ("Where", "Departs", "Game", "Reason", "Attack", "Gain")


def entries() -> dict[str, dict[str, str]]:
    """Each departure by its heading, as the texts of its fields."""
    sections = re.split(r"^### ", PAGE.read_text(), flags=re.M)[1:]
    found = {}
    for section in sections:
        title, _, body = section.partition("\n")
        parts = re.split(r"^- \*\*([A-Za-z ]+)\*\* ", re.split(r"^## ", body, flags=re.M)[0], flags=re.M)
        found[title] = dict(zip(parts[1::2], (" ".join(part.split()) for part in parts[2::2]), strict=True))
    return found


def departing() -> set[str]:
    """Sources whose head says that they depart."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / "crates").glob("*/src/**/*.rs")
        if any("departure" in line.lower() for line in path.read_text().splitlines() if line.startswith("//!"))
    }


def named() -> dict[str, bool]:
    """Sources that an entry is about, and whether the entry names a decision."""
    return {
        path: "docs/decisions/" in fields["Where"] or "../decisions/" in fields["Where"]
        for fields in entries().values()
        for path in re.findall(r"`(crates/[^`]+\.rs)`", fields["Where"])
    }


def test_every_entry_is_whole() -> None:
    for title, fields in entries().items():
        assert tuple(name for name in fields if name in FIELDS) == FIELDS, title
        assert all(fields.values()), title


def test_every_file_that_departs_is_named() -> None:
    assert departing() - set(named()) == set()


def test_every_file_that_is_named_departs_or_has_a_decision() -> None:
    assert {path for path in named() if not (ROOT / path).is_file()} == set()
    assert {path for path, decided in named().items() if not decided} - departing() == set()


def test_every_attack_is_a_test() -> None:
    for title, fields in entries().items():
        attacks = re.findall(r"`([^`]+\.(?:rs|py))`((?:[,\s]*`\w+`)*)", fields["Attack"])
        assert attacks, title
        for path, names in attacks:
            text = (ROOT / path).read_text()
            for name in re.findall(r"\w+", names):
                assert re.search(rf"fn {name}\(", text), f"{title}: {path} has no {name}"
