"""Asks generated questions both ways: tacit over a federation, and DuckDB over its pooled clear data."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.cli.demo.scenario import free_ports
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.physical.operators import Resize
from tacit.plan.physical.placed import KeysStep, PsiStep, SecureStep
from tacit.sql import compile_query

from .comparing import assert_equal
from .federations import pooled, store
from .queries import Question
from .running import Engine, ask, reference
from .worlds import World

REFUSALS = (
    "a quotient under MPC",
    "LIMIT on an order by",
    "an order by",
    "DOUBLE arithmetic under MPC",
    "so that the owner computes it, or use",
    "% may leave",
    "a change of a string's type or dictionary under MPC",
    "the output or order of a VARCHAR without a max_length",
    "more than 128",
    "an aggregate of a DOUBLE",
    "IN of several columns that may be NULL",
)
"""Refusals that generated queries may meet, as their sentences have them. Any other refusal is an error."""

OUT_OF_RANGE = "is out of its type's range"
"""Of a value that DuckDB did not need: an owner computes those of all its rows, before others leave some out."""
MEMORY = Path("/dev/shm")
"""Where files need no disk, on systems that have it: thousands of small ones are synced."""
TOO_LARGE = (duckdb.OutOfRangeException, duckdb.ConversionException)
"""DuckDB refuses numbers that do not fit their types. Then there is nothing to compare."""


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for a while."""
    place = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="tacit-test-", dir=place) as name:
        yield Path(name)


def stored(world: World, place: Path, keys: Path, listening: bool = False) -> Federation:
    """The world's federation, its files in a folder. listening: its parties have ports of this machine."""
    who = world.members
    ports = free_ports(len(who.parties)) if listening else None
    united = {"sales": world.united}
    return store(world.declared(), place, keys, ports, who.engine, who.clients, united)


@dataclass
class Asker:
    """Asks one question after another; those over one world have one federation and one pool."""

    engine: Engine
    keys: Path
    listening: bool = False
    world: World | None = None
    _opened: ExitStack = field(default_factory=ExitStack)
    _runs: Iterator[int] = field(default_factory=itertools.count)

    def __enter__(self) -> Asker:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def check(self, question: Question) -> str:
        """Compare the answers. Returns "equal", or why there is nothing to compare."""
        if question.world is not self.world:
            self._open(question.world)
        place = self._place / str(next(self._runs))
        place.mkdir()
        try:
            expected = reference(self._pool, question.query)
        except TOO_LARGE:
            return self._too_large(question, place)
        try:
            plan = compile_query(question.query, self._federation.catalog, question.to)
            found = self.engine(self._federation, plan, place)
        except QueryError as error:
            return refusal(error)
        except RunError as error:
            if OUT_OF_RANGE not in str(error):
                raise
            return "out of range"
        assert_equal(found, expected, question.order, question.total, question.loose)
        matched = {step.operator.op for step in plan.steps if isinstance(step, PsiStep)}
        matched |= {"sliced" for step in plan.steps if isinstance(step, KeysStep)}
        resized = {step.operator for step in plan.steps if isinstance(step, SecureStep)}
        matched |= {"resized" if each.rows is not None else "counted" for each in resized if isinstance(each, Resize)}
        matched |= {"trusted" for permit in plan.permits if permit.kind == "keys"}
        return ", ".join(["equal" if found.rows else "equal, no rows", *sorted(matched)])

    def _open(self, world: World) -> None:
        self._opened.close()
        self._place = self._opened.enter_context(folder())
        self._federation = stored(world, self._place, self.keys, self.listening)
        self._pool = self._opened.enter_context(pooled(self._federation))
        self.world = world

    def _too_large(self, question: Question, place: Path) -> str:
        """tacit computes such a number exactly or says so, and never fails."""
        try:
            ask(self._federation, question.query, self.engine, place, question.to)
        except QueryError as error:
            return refusal(error)
        except RunError as error:
            assert error.fault is Fault.INPUT, error
        return "overflow"


def refusal(error: QueryError) -> str:
    """Which of the refusals that may be met this is. Raises any other."""
    found = next((each for each in REFUSALS if each in str(error)), None)
    if found is None:
        raise error
    return f"refused: {found}"
