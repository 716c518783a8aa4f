"""The files of hostile and of useful questions: one a line, and indented lines go on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
FEDERATION = FOLDER / "federation"


@dataclass(frozen=True)
class Question:
    """A question. rules: those of which one refuses it, or "withheld". before: what was answered before it."""

    line: int
    sql: str
    to: tuple[str, ...]
    rules: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def hostile() -> list[Question]:
    """Questions that are refused, or of which the answer withholds something."""
    return [_hostile(number, line) for number, line in _lines(FOLDER / "hostile.txt")]


def useful() -> list[Question]:
    """Questions that are allowed."""
    return [_useful(number, line) for number, line in _lines(FOLDER / "useful.txt")]


def identity(question: Question) -> str:
    """What a test of a question is called."""
    return f"line {question.line}"


def disguises(sql: str) -> list[str]:
    """The same question in other words. What is ordered is left in its place."""
    inner = [sql.replace(f"FROM {table}", f"FROM (SELECT * FROM {table}) {table}") for table in ("people", "orders")]
    whole = [] if "ORDER BY" in sql or sql.startswith("WITH") else [
        f"SELECT * FROM ({sql}) disguise",
        f"WITH disguise AS ({sql}) SELECT * FROM disguise",
    ]  # fmt: skip
    plain = [each for each in inner if each != sql and not re.search(r"FROM (people|orders) \w", sql)]
    return [*whole, *plain, re.sub(r"(SUM|AVG|MAX)\((salary|amount)\)", r"\1(\2 + 0)", sql)]


def _hostile(number: int, line: str) -> Question:
    head, _, text = line.partition(": ")
    names, _, to = head.partition(" --to ")
    *before, sql = (each.strip() for each in text.split(";"))
    return Question(number, sql, _parties(to), tuple(names.split(", ")), tuple(before))


def _useful(number: int, line: str) -> Question:
    head, _, sql = line.partition(": ") if line.startswith("--to ") else ("", "", line)
    return Question(number, sql, _parties(head.removeprefix("--to ")))


def _parties(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ("north",)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Lines with their numbers, each with those that go on."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("  "):
            start, text = found.pop()
            found.append((start, f"{text} {line.strip()}"))
        elif line and not line.startswith("#"):
            found.append((number, line))
    return found
