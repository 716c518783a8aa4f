"""What a run among threads records: its parties have no connection over which to prove to others that they take part.

For benchmarks, and for tests of other things. Over a network all parties sign (docs/protocols/attendance.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.agent.recording import Recording


class Unsigned(Recording):
    """The entries of a run in which no party proves to another that it takes part."""

    def begin(self, attendance: Mapping[str, Any] | None) -> None:
        """There is nothing to take over."""
        assert attendance is None
