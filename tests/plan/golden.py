"""Text files of queries and what is expected of them. TACIT_UPDATE_GOLDEN=1 writes what is found instead of comparing.

A file is a list of cases, separated by empty lines and lines of "====". A case is a comment (# ...), a line "catalog to
recipients", the query, a line "----", and the expected text.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tacit.plan.facts.catalog import Catalog

from .catalogs import CATALOGS

SEPARATOR = "\n====\n"
UPDATE = os.environ.get("TACIT_UPDATE_GOLDEN") == "1"


@dataclass(frozen=True)
class Case:
    """One query and what is expected of it."""

    comment: str
    catalog: str
    recipients: tuple[str, ...]
    query: str
    expected: str

    def text(self) -> str:
        """The case as a file has it."""
        head = f"{self.comment}\n" if self.comment else ""
        return f"{head}{self.catalog} to {', '.join(self.recipients)}\n{self.query}\n----\n{self.expected.rstrip()}\n"


def cases(path: Path) -> list[Case]:
    """The cases of a file."""
    return [_case(text.strip("\n")) for text in path.read_text().split(SEPARATOR)]


def check(path: Path, found: Callable[[str, Catalog, tuple[str, ...]], str]) -> None:
    """Compare each case with what is found, or write what is found."""
    new = [replace(case, expected=found(case.query, CATALOGS[case.catalog], case.recipients)) for case in cases(path)]
    if UPDATE:
        path.write_text(SEPARATOR.join(case.text() for case in new))
    for case, expected in zip(new, cases(path), strict=True):
        assert case.text() == expected.text(), f"{path.name}: {case.query}"


def files(folder: Path) -> list[Path]:
    """All golden files of a folder."""
    return sorted(folder.glob("*.slt"))


def _case(text: str) -> Case:
    head, _, expected = text.partition("\n----")
    lines = head.split("\n")
    comments = [line for line in lines if line.startswith("#")]
    where, *query = [line for line in lines if not line.startswith("#")]
    catalog, _, recipients = where.partition(" to ")
    return Case("\n".join(comments), catalog, tuple(recipients.split(", ")), "\n".join(query), expected.strip("\n"))
