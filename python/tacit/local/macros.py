"""The macros of each database in which tacit renders expressions."""

from __future__ import annotations

from typing import Final

from tacit.local import average, fractions, statistics

MACROS: Final = (*average.MACROS, *statistics.MACROS, *fractions.MACROS)
