"""The golden files of tests/slt: every query on every engine, against the file and against DuckDB.

TACIT_UPDATE=1 writes what tacit answers into the files; DuckDB has to agree even then.
"""

from __future__ import annotations

import itertools
import os
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

from tacit.agent.faults import RunError
from tacit.agent.federation import Federation
from tacit.cli.demo.scenario import free_ports
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.physical.placed import KeysStep, PsiStep
from tacit.sql import compile_query

from .federations import Declared, between_two, pooled, recipients_of_two, store
from .golden import Block, blocks, shown
from .running import Engine, among_threads, ask, by_processes, in_clear, reference
from .slices import nobody_orders

FILES = sorted((Path(__file__).parents[1] / "slt").glob("*.slt"))
UPDATE = bool(os.environ.get("TACIT_UPDATE"))
EVERY = 1 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 5
"""One in this number of queries is asked between two parties."""

ENGINES = {"clear": in_clear, "rep3": among_threads, "tls": by_processes, "two": among_threads, "two-tls": by_processes}


@dataclass
class Runner:
    """Runs the blocks of one file on one engine. folder: for the files of federations and runs."""

    engine: Engine
    keys: Path
    folder: Path
    suite: str = "rep3"
    tables: dict[str, Declared] = field(default_factory=dict)
    number: Iterator[int] = field(default_factory=itertools.count)
    federation: Federation | None = None
    database: duckdb.DuckDBPyConnection | None = None
    opened: ExitStack = field(default_factory=ExitStack)

    def outcome(self, block: Block) -> str:
        """The second part of a block, as tacit has it now."""
        if block.kind == "tables":
            name, declared = block.declared()
            self.tables[name] = declared
            self.close()
            return block.second
        match block.kind:
            case "query":
                return self._answer(block)
            case "refused":
                return self._refusal(block)
            case _:
                return self._failure(block)

    def close(self) -> None:
        """End with the tables as they were."""
        self.opened.close()
        self.federation = self.database = None

    def _stored(self) -> Federation:
        """The federation with the tables as they are."""
        if self.federation is None:
            tables = between_two(self.tables) if self.suite == "two" else self.tables
            self.federation = store(tables, self._new_folder(), self.keys, free_ports(3), self.suite)
        return self.federation

    def _pooled(self) -> duckdb.DuckDBPyConnection:
        """The same tables in one database."""
        if self.database is None:
            self.database = self.opened.enter_context(pooled(self._stored()))
        return self.database

    def _new_folder(self) -> Path:
        folder = self.folder / str(next(self.number))
        folder.mkdir()
        return folder

    def _answer(self, block: Block) -> str:
        federation = self._stored()
        to = recipients_of_two(block.recipients) if self.suite == "two" else block.recipients
        plan = compile_query(block.first, federation.catalog, to)
        if self.suite == "rep3":  # otherwise another party may own a table
            matched = {step.operator.op for step in plan.steps if isinstance(step, PsiStep)}
            named = (("psi", "psi"), ("circuit", "circuit_psi"), ("ids", "universal_ids"))
            words = {word: op for word, op in named if word in block.words}
            assert matched == set(words.values()), "whether rows are matched"
            shows = any(permit.kind == "keys" for permit in plan.permits)
            assert shows == ("trusted" in block.words), "whether a party orders rows"
            sliced = any(isinstance(step, KeysStep) for step in plan.steps)
            assert sliced == ("sliced" in block.words), "whether rows are sliced"
        found = shown(self.engine(federation, plan, self._new_folder()), ordered=block.ordered)
        expected = shown(reference(self._pooled(), block.first), ordered=block.ordered)
        assert found == expected, f"DuckDB answers\n{expected}\nbut tacit\n{found}"
        return found

    def _refusal(self, block: Block) -> str:
        with pytest.raises(QueryError) as caught:
            compile_query(block.first, self._stored().catalog, block.recipients)
        return str(caught.value)

    def _failure(self, block: Block) -> str:
        federation = self._stored()
        with pytest.raises(RunError) as caught:
            ask(federation, block.first, self.engine, self._new_folder(), block.recipients)
        return caught.value.sentence.replace(f"{federation.path.parent.resolve()}/", "")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path, engine: str, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "slices":
        nobody_orders(monkeypatch)
    suite = "two" if engine.startswith("two") else "rep3"
    runner = Runner(ENGINES[engine], keys, tmp_path, suite)
    written: list[str] = []
    wrong: list[str] = []
    for block in blocks(path):
        if isinstance(block, str):
            written.append(block)
        elif block.kind == "tables" or _concerns(block, engine):
            outcome, problem = _checked(runner, block)
            written.append(block.text(outcome))
            if problem:
                wrong.append(f"{path.name}, line {block.line}: {block.first}\n{problem}")
    runner.close()
    if UPDATE and engine == "clear":
        path.write_text("\n\n".join(written) + "\n", encoding="utf-8")
    assert not wrong, "\n\n".join(wrong)


def _concerns(block: Block, engine: str) -> bool:
    """Whether an engine runs a block. Refusals, and failures before anything is secure, are the same between two."""
    two, tls = engine.startswith("two"), engine.endswith("tls")
    if two and block.kind != "query":
        return False
    return "tls" in block.words if tls else not two or block.line % EVERY == 0


def _checked(runner: Runner, block: Block) -> tuple[str, str]:
    """What the block's second part is to be, and what is wrong with it now."""
    try:
        outcome = runner.outcome(block)
    except (Exception, pytest.fail.Exception) as error:
        return block.second, "".join(traceback.format_exception_only(error.__cause__ or error))
    if UPDATE or outcome == block.second:
        return outcome, ""
    return outcome, f"expected\n{block.second}\nbut got\n{outcome}"
