"""Who matches with whom, of the parties of a federation file. Its nodes are for SQL and may be absent."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation_members import Members


def matching(members: Members, me: str, others: str | Sequence[str] | None) -> tuple[str, ...]:
    """All that match, in the file's order. others: besides ``me``, by default all of the file. Raises RunError."""
    named = [others] if isinstance(others, str) else list(others or ())
    for name in (me, *named):
        members.known(name)
    chosen = {me, *(members.parties if others is None else named)}
    if len(chosen) < 2:
        raise RunError(Fault.INPUT, f"{members.path}: name whom to match with, --with PARTY, other than {me}.")
    return tuple(name for name in members.parties if name in chosen)


def pair(members: Members, me: str, other: str | Sequence[str] | None) -> tuple[str, str]:
    """The two that match, in the file's order. other: needed only among more than two parties. Raises RunError."""
    parties = matching(members, me, other)
    if len(parties) != 2:
        raise RunError(
            Fault.INPUT, f"{members.path}: this is for two parties; name the one to match with, --with PARTY."
        )
    first, second = parties
    return first, second
