"""What notebooks show: texts with sections, tables and sentences, as HTML. No element of a private array is in it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

FOLDED = 16
"""Lines of a section that a notebook shows at once. Longer ones are folded, under their title."""

OPEN = ("Who gets what", "What else anybody learns", "disclosures:")
"""Sections of what is disclosed, which are never folded."""


class Explanation(str):
    """What `tacit explain` prints. A text, of which a notebook shows the lines. Long sections are folded there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        found = []
        for folded, group in groupby(_sections(self.splitlines()), _is_folded):
            shown = map(_folded if folded else _shown, group)
            found.append("".join(shown) if folded else "<pre>" + "\n".join(shown) + "</pre>")
        return "".join(found)


class Sentences(list[str]):
    """Sentences, which a notebook lists."""

    def _repr_html_(self) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(each)}</li>" for each in self) + "</ul>"


def _sections(lines: Sequence[str]) -> Iterator[list[str]]:
    """A section begins with a title, which is what begins at the left."""
    section: list[str] = []
    for line in lines:
        if section and line and not line.startswith(" "):
            yield section
            section = []
        section.append(line)
    yield section


def _is_folded(section: Sequence[str]) -> bool:
    return len(section) > FOLDED and section[0] not in OPEN


def _shown(section: Sequence[str]) -> str:
    title, *rest = (html.escape(line) for line in section)
    return "\n".join([f"<b>{title}</b>" if title else title, *rest])


def _folded(section: Sequence[str]) -> str:
    title, *rest = (html.escape(line) for line in section)
    summary = f"<summary><b>{title}</b> ({len(rest)} lines)</summary>"
    return f"<details>{summary}<pre>" + "\n".join(rest) + "</pre></details>"


def listing_html(caption: str, head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of texts."""
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
    cells = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    body = f"<thead><tr>{titles}</tr></thead><tbody>{cells}</tbody>"
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"


def facts_html(caption: str, facts: Mapping[str, str]) -> str:
    """What is known of a thing, a line each."""
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td><pre>{html.escape(said)}</pre></td></tr>" for name, said in facts.items()
    )
    return f"<table><caption>{html.escape(caption)}</caption><tbody>{rows}</tbody></table>"


def learnt_html(sentences: Iterable[str]) -> str:
    """What each party learnt, folded."""
    items = "".join(f"<li>{html.escape(each)}</li>" for each in sentences)
    return f"<details><summary>What each party learnt</summary><ul>{items}</ul></details>"
