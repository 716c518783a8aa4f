"""What `tacit init` and `tacit join` say: what was made, which files to copy to whom, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tacit.agent.federation_setup import SetUp
from tacit.cli.screen import console


def show_set_up(made: SetUp, name: str) -> None:
    """Print it."""
    screen = console()
    facts = (
        f"{name} is set up at {made.members.parties[name].address}.",
        f"Private, never to be copied: {_shown(made.private)}, {_shown(made.keys.private_key)}.",
        f"Fingerprint of the certificate, for the others to compare: {made.keys.fingerprint}",
    )
    steps = (f"{number}. {step}" for number, step in enumerate(_steps(made, name), 1))
    for line in (*facts, "", "What is left to do:", *steps):
        screen.print(line, soft_wrap=True, markup=False)


def _steps(made: SetUp, name: str) -> Iterator[str]:
    offer, others = made.public[2], [each for each in made.members.parties if each != name]
    yield f"If you have tables, declare them in {_shown(offer)} and name their files in {_shown(made.private)}."
    if others:
        yield f"Copy {', '.join(map(_shown, made.public))} to {' and '.join(others)}."
    if made.missing:
        files = [f"{_shown(made.members.parties[each].certificate)} from {each}" for each in made.missing]
        yield f"Get {', '.join(files)}."
    more = made.nodes - len(made.members.parties)
    if more > 0:
        folders = ", ".join(_shown(path) for path in (made.public[0], made.public[1].parent, offer.parent))
        yield f"Copy {folders} to the next party, which runs `tacit join` there; {more} more must."
    else:
        yield f"When all have these files, run `tacit doctor --name {name}`, at the same time as the others theirs."


def _shown(path: Path) -> str:
    """A path as one writes it here."""
    absolute, here = path.absolute(), Path.cwd()
    return os.path.relpath(absolute, here) if absolute.is_relative_to(here) else str(path)
