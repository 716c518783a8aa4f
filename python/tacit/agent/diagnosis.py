"""Sorts any exception of any room by whose fault it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from tacit import _native
from tacit.agent.faults import Fault, RunError
from tacit.agent.ledger import LedgerError
from tacit.local.errors import DataError
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.policy.refusal import PolicyRefusal

FAULTS: tuple[tuple[type[BaseException], Fault], ...] = (
    (PolicyRefusal, Fault.POLICY),
    (QueryError, Fault.INPUT),
    (DataError, Fault.INPUT),
    (LedgerError, Fault.INPUT),
    (_native.InputError, Fault.INPUT),
    (_native.PolicyError, Fault.POLICY),
    (_native.WithheldError, Fault.WITHHELD),
    (_native.PeerError, Fault.PEER),
    (_native.PeerGoneError, Fault.PEER_GONE),
    (_native.CheatingError, Fault.CHEATING),
    (_native.InternalError, Fault.INTERNAL),
    (KeyboardInterrupt, Fault.INTERRUPTED),
    (BrokenPipeError, Fault.INTERRUPTED),  # nobody listens to this party any more
)

QUERY_INTERRUPTED = "Query interrupted"
"""What DuckDB says, as a RuntimeError, when a signal ends what it computes."""


def diagnose(error: BaseException) -> RunError:
    """The error as a fault with one sentence. What no room foresaw is tacit's own fault, told without its details:
    they could quote data."""
    if isinstance(error, RunError):
        return error
    for kind, fault in FAULTS:
        if isinstance(error, kind):
            sentence = "interrupted." if fault is Fault.INTERRUPTED else _sentence(str(error))
            position = error.position if isinstance(error, QueryError) else None
            return RunError(fault, sentence, None, position, error.json() if isinstance(error, PolicyRefusal) else None)
    if isinstance(error, RuntimeError) and str(error) == QUERY_INTERRUPTED:
        return RunError(Fault.INTERRUPTED, "interrupted.")
    if isinstance(error, RecursionError):
        return RunError(Fault.INPUT, "the query is nested too deeply; write parts of it as WITH ... AS (...).")
    if isinstance(error, duckdb.IOException):  # names a file and the operating system's reason, never a value
        reason = str(error).splitlines()[0].rstrip(" .")
        return RunError(Fault.INPUT, f"a file cannot be read or written: {reason}.")
    if isinstance(error, OSError) and error.filename is not None:
        return RunError(Fault.INPUT, f"{error.filename}: {error.strerror}.")
    name = type(error).__name__
    return RunError(Fault.INTERNAL, f"a fault in tacit itself ({name}); TACIT_TRACEBACK=1 shows where.")


@contextmanager
def as_run_error() -> Iterator[None]:
    """What goes wrong within is raised as a RunError, for those who call tacit from a program of their own."""
    try:
        yield
    except RunError:
        raise
    except Exception as error:
        raise diagnose(error) from error


def _sentence(message: str) -> str:
    """Native messages are clauses, so that others can go around them; a person gets a whole sentence."""
    return message if message.endswith((".", "?", "!")) else f"{message}."
