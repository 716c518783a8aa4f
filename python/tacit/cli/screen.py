"""The look of everything printed for people: one console for each stream, plain when not a terminal."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table

WIDEST = 110
"""Columns: wider terminals gain nothing but longer lines to read."""


def console(*, to_stderr: bool = False) -> Console:
    """A console on stdout or stderr. Colours and live displays appear on terminals only.

    Fingerprints have colons, between which rich would find names of emoji. Queries have brackets, which rich would take
    for its own markup, and so hide what stands in them.
    """
    found = Console(stderr=to_stderr, highlight=False, soft_wrap=False, emoji=False, markup=False)
    if not found.is_terminal or found.width > WIDEST:
        found.width = WIDEST
    return found


def heading(screen: Console, text: str) -> None:
    """A section's title with an empty line before it."""
    screen.print()
    screen.print(text, style="bold cyan")


def table(screen: Console, *columns: tuple[str, str]) -> Table:
    """An empty table; each column a title and "left" or "right". Rules are drawn on terminals only."""
    style = box.SIMPLE_HEAD if screen.is_terminal else None
    found = Table(box=style, pad_edge=False, padding=(0, 1), header_style="bold" if screen.is_terminal else "")
    for title, justify in columns:
        found.add_column(title, justify="right" if justify == "right" else "left", overflow="fold")
    return found


def screen_is_terminal() -> bool:
    """True if the answer goes to a person's terminal."""
    return sys.stdout.isatty()
