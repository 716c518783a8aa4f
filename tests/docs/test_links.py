"""Links between documents lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
PATH = re.compile(r"`((?:crates|python|tests|benches|docs)/[\w./-]+)`")
SOURCE = re.compile(r"[`\[]([\w/]+\.rs)[`\]]")
SOURCES = [path.as_posix() for room in ("crates", "benches") for path in (ROOT / room).rglob("*.rs")]
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(document: Path) -> None:
    for target in LINK.findall(document.read_text()):
        assert (document.parent / target).exists(), f"{document.name} links to {target}, which does not exist"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_a_document_names_are_there(document: Path) -> None:
    for path in PATH.findall(document.read_text()):
        assert "NAME" in path or (ROOT / path).exists(), f"{document.name} names {path}, which does not exist"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_parts_of_paths_are_ends_of_paths(document: Path) -> None:
    for path in SOURCE.findall(document.read_text()):
        named = "NAME" in path or any(source.endswith(f"/{path}") for source in SOURCES)
        assert named, f"{document.name}: no file ends with {path}"


def test_the_index_has_every_decision_by_its_title() -> None:
    pages = [page for page in sorted((ROOT / "docs" / "decisions").glob("*.md")) if page.name != "README.md"]
    titles = {page.name: page.read_text().partition("\n")[0].removeprefix("# ") for page in pages}
    index = (ROOT / "docs" / "decisions" / "README.md").read_text().replace("\n  ", " ")
    assert re.findall(r"^- \[(\d+)\]\((.+)\) (.+)$", index, re.M) == [(n[:4], n, title) for n, title in titles.items()]
