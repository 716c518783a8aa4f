"""Tracebacks, for those who develop tacit. One may quote data, so nobody gets one unasked."""

from __future__ import annotations

import os
import traceback


def show_traceback_if_asked() -> None:
    """Print the traceback of the error being handled if TACIT_TRACEBACK is set."""
    if os.environ.get("TACIT_TRACEBACK"):
        traceback.print_exc()
