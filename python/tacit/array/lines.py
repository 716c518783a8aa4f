"""Which line of the program is running."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy

_OURS = (str(Path(__file__).parents[1]), str(Path(numpy.__file__).parent))


def current_line() -> int | None:
    """The line of the nearest caller outside tacit and NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_OURS):
            return frame.f_lineno
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None
