"""Documents, comments and docstrings are easy to read: lines of 120 columns, sentences of 30 words, numbers with names.

Code, tables and what stands in fences are left out. Ruff holds the width of Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COLUMNS = 120
WORDS = 30

DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
RUST = [*(ROOT / "crates").rglob("*.rs"), *(ROOT / "benches").rglob("*.rs")]
PACKAGE = [path for kind in ("*.py", "*.pyi") for path in (ROOT / "python").rglob(kind)]

Lines = list[tuple[int, str]]
"""Lines with their numbers."""

Search = Callable[[Path, str], Iterator[tuple[int, object]]]
"""Finds lines in a file's text, and says what is wrong with each."""

COMMENT = re.compile(r"\s*(///|//!|//)(?![/!]) ?(.*)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]) +")
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
END = re.compile(r"""(?<=[.!?])["”)*]*\s+(?=["(*`\[]*\w)""")


def blocks(path: Path, text: str) -> Iterator[Lines]:
    """What is prose in a file: all of a document, each comment of Rust, each docstring of Python."""
    lines = list(enumerate(text.splitlines(), 1))
    match path.suffix:
        case ".md":
            yield lines
        case ".rs":
            yield from comments(lines)
        case _:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    docstring = ast.get_docstring(node)
                    yield list(enumerate((docstring or "").splitlines(), node.body[0].lineno if node.body else 1))


def comments(lines: Lines) -> Iterator[Lines]:
    """Runs of comment lines of one kind."""
    block: Lines = []
    kind = None
    for number, line in lines:
        found = COMMENT.match(line) if line.lstrip().startswith("//") else None
        if block and (found is None or found[1] != kind):
            yield block
            block = []
        if found is not None:
            kind = found[1]
            block.append((number, found[2]))
    yield block


def paragraphs(block: Lines) -> Iterator[tuple[int, str]]:
    """Paragraphs, list items and cells of tables, each with the number of its first line."""
    start, words, fenced = 0, list[str](), False
    for number, line in [*block, (0, "")]:
        stripped = line.strip()
        fence = stripped.startswith("```")
        if words and (not stripped or fence or stripped[0] in "#|<" or ITEM.match(line)):
            yield start, " ".join(words)
            words = []
        fenced ^= fence
        if fence or fenced or not stripped or stripped[0] in "#<":
            continue
        if stripped[0] == "|":
            yield from ((number, cell) for cell in CODE.sub("x", stripped).split("|"))
        else:
            start = start if words else number
            words.append(ITEM.sub("", line, count=1) if ITEM.match(line) else stripped)


def long_sentences(path: Path, text: str) -> Iterator[tuple[int, int]]:
    """The lines in which paragraphs with a sentence that is too long begin, and its number of words."""
    for block in blocks(path, text):
        for number, paragraph in paragraphs(block):
            if paragraph.count(" ") < WORDS:
                continue
            for sentence in END.split(LINK.sub(r"\1", CODE.sub("x", paragraph))):
                count = sum(1 for word in sentence.split() if re.search(r"\w", word))
                if count > WORDS:
                    yield number, count


def wide_lines(path: Path, text: str) -> Iterator[tuple[int, int]]:
    """Lines of a document, or of comments, that are too wide, and their widths."""
    lines = text.splitlines()
    for block in blocks(path, text):
        fenced = False
        for number, prose in block:
            fence = prose.lstrip().startswith("```")
            fenced ^= fence
            width = len(lines[number - 1])
            if width > COLUMNS and not (fence or fenced or prose.lstrip().startswith("|")):
                yield number, width


def nameless_numbers(_: Path, text: str) -> Iterator[tuple[int, str]]:
    """Lines that call a number "so many", so that a reader has to find which."""
    for number, line in enumerate(text.splitlines(), 1):
        if "so many" in line.lower():
            yield number, line.strip()


def where(path: Path, found: Iterator[tuple[int, object]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{number}: {what}" for number, what in found]


@pytest.mark.parametrize(
    ("search", "paths"),
    [
        (wide_lines, DOCUMENTS + RUST),
        (long_sentences, DOCUMENTS + RUST + PACKAGE),
        (nameless_numbers, DOCUMENTS + RUST + PACKAGE),
    ],
)
def test_what_people_read_is_easy_to_read(search: Search, paths: list[Path]) -> None:
    texts = [(path, path.read_text()) for path in paths]
    assert [line for path, text in texts for line in where(path, search(path, text))] == []


def test_the_searches_find_what_they_look_for() -> None:
    long = "word " * WORDS
    document = f"# {long}end\n{long}\nend.\n\n{long}. End.\n- item {long}\n\n| {long}end | `{long}end` |\n"
    document += f"- **Name.** {long}\n"
    document += f"```\n{long}end\n```\n"
    assert list(long_sentences(Path("a.md"), document)) == [(2, 31), (6, 31), (8, 31)]
    rust = f"//! {long}.\n/// {long}\n/// end\nlet x = 1; // {long}end\n"
    assert list(long_sentences(Path("a.rs"), rust)) == [(2, 31)]
    assert list(long_sentences(Path("a.py"), f'"""One.\n\n{long}end.\n"""\n')) == [(3, 31)]
    wide = "w" * (COLUMNS + 1)
    assert list(wide_lines(Path("a.rs"), f"/// {wide}\n/// | {wide} |\nlet {wide};\n")) == [(1, COLUMNS + 5)]
    assert list(wide_lines(Path("a.md"), f"{wide}\n```\n{wide}\n```\n")) == [(1, COLUMNS + 1)]
    assert [number for number, _ in nameless_numbers(Path("a.md"), "one\nof so many rows\n")] == [2]
