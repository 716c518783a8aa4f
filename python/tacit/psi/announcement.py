"""What this party of a match tells the others of itself before anything else."""

from __future__ import annotations

from collections.abc import Sequence

from tacit import _native
from tacit.agent.federation_private import Network
from tacit.psi.source import Source


def announcement(
    source: Source,
    network: Network,
    memory: int,
    workers: int,
    columns: Sequence[str] = (),
    resume: tuple[str, list[bool]] | None = None,
) -> _native.Announcement:
    """Of an opened input. columns: that are shared. resume: the run that there are results of, and of which bins."""
    return _native.Announcement(
        rows=source.rows,
        memory=min(memory, _native.MOST_MEMORY),
        workers=workers,
        kinds=source.kinds(),
        latency=network.latency,
        bandwidth=network.bandwidth,
        columns=list(columns),
        resume=resume,
    )
