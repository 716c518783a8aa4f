"""What `tacit run` says for a script: which party its machine is, and how the script's programs run there."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from tacit.plan.physical.placed import PlacedPlan


@dataclass(frozen=True)
class Deployed:
    """party, private: as of ``tacit.connect``, where the script does not say. wait, approved: of each program's run.

    begins: called with a plan before it runs. Says whether it is to run.
    """

    party: str
    private: Path | None = None
    wait: float | None = None
    approved: bool = False
    begins: Callable[[PlacedPlan], bool] = lambda plan: True


DEPLOYED: ContextVar[Deployed | None] = ContextVar("DEPLOYED", default=None)
"""None outside of `tacit run`."""
