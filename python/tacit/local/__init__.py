"""Local parts and tails of a plan, run in a party's own engine over its own files, which are checked first."""

from __future__ import annotations

from tacit.local.duckdb_engine import LocalEngine, check_table
from tacit.local.engine import ArrowStream, Engine
from tacit.local.errors import DataError

__all__ = ["ArrowStream", "DataError", "Engine", "LocalEngine", "check_table"]
