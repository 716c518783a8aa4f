"""Durations on the command line: 90s, 30m, 2h."""

from __future__ import annotations

import argparse
import re

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds(text: str) -> float:
    """A duration in seconds. Raises what argparse tells people."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write for example 90s, 30m or 2h")
    return float(found[1]) * UNITS[found[2]]
