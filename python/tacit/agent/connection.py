"""The Python door: a federation to ask questions of.

    import tacit
    federation = tacit.connect("federation.toml")
    answer = federation.sql("SELECT zip, COUNT(*) AS people FROM demographics GROUP BY zip")

If all parties' addresses are on this machine, every party runs here as a process of its own. Otherwise name the party
that this machine is: ``tacit.connect("federation.toml", party="regulator")``; the other organisations start ``tacit
party`` with the same query.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from tacit.agent.addresses import is_loopback
from tacit.agent.answer import Answer
from tacit.agent.array_answer import gives_arrays
from tacit.agent.cost import Cost
from tacit.agent.deployed import DEPLOYED
from tacit.agent.diagnosis import as_run_error
from tacit.agent.explanation import tables_html, tables_text
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.federation_private import predicted_on
from tacit.agent.kept_catalog import with_kept
from tacit.agent.kept_store import KeptStore
from tacit.agent.local_run import LocalRun, Run
from tacit.agent.party_process import Start, spawn
from tacit.agent.process_tree import Watcher
from tacit.agent.steps import participants
from tacit.agent.verdicts import Verdict, verdicts
from tacit.plan import StepCost, explain_json, explain_text, predict
from tacit.plan.account.explain import RulesText
from tacit.plan.account.notebook import Explanation
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.placed import DropStep, PlacedPlan
from tacit.plan.rules.sequence import Trace, ignore
from tacit.sql import compile_query

if TYPE_CHECKING:
    from tacit.agent.federated import FederatedProgram, Pending
    from tacit.agent.federated_rows import KeptRows, QueryRows
    from tacit.agent.owned import OwnedArray, OwnedTable
    from tacit.plan.programs.graph import Rounding


@as_run_error()
def connect(
    federation: str | Path = "federation.toml", *, party: str | None = None, private: str | Path | None = None
) -> Connection:
    """Read a federation's files. party: which party this machine is; None if all parties run on this machine, or for
    the party that `tacit run` names.

    private: the folder of private files, by default ``private`` beside the federation file. Raises tacit.InputError if
    a file is wrong.
    """
    path, folder = Path(federation), None if private is None else Path(private)
    if (deployed := DEPLOYED.get()) is not None:
        party, folder = party or deployed.party, folder or deployed.private
    return Connection(Federation.load(path, party, folder), path, party)


class Connection:
    """A federation to ask questions of. Its text, and its page in a notebook, lists the tables that there are."""

    def __init__(self, federation: Federation, path: Path, party: str | None = None) -> None:
        self.federation = federation
        self.path = path
        self.party = party

    @as_run_error()
    def plan(self, query: str, to: str | Sequence[str] | None = None, trace: Trace = ignore) -> PlacedPlan:
        """The placed plan of a query. Runs nothing.

        to: the recipient, or several, by default those of the federation file. trace: called with the name of each of
        the planner's rules, and the query after it.
        """
        catalog = self.catalog()
        recipients = (to,) if isinstance(to, str) else tuple(to or self.federation.recipients)
        plan = compile_query(query, catalog, recipients, trace)
        if to and not plan.recipients:
            raise RunError(Fault.INPUT, "this statement opens nothing to anybody; leave out who gets an answer (--to).")
        return plan

    def catalog(self) -> Catalog:
        """What owners offer, and the kept tables that there are now."""
        here = tuple(name for name in self.federation.parties if is_loopback(self.federation.address(name)))
        return with_kept(self.federation, self.party, here)

    def __repr__(self) -> str:
        return tables_text(self.catalog(), str(self.path))

    def _repr_html_(self) -> str:
        return tables_html(self.catalog(), str(self.path))

    @overload
    def explain(
        self, query: str, to: str | Sequence[str] | None = None, *, format: Literal["text"] = "text"
    ) -> Explanation: ...

    @overload
    def explain(
        self, query: str, to: str | Sequence[str] | None = None, *, format: Literal["json"]
    ) -> dict[str, Any]: ...

    def explain(
        self, query: str, to: str | Sequence[str] | None = None, *, format: Literal["text", "json"] = "text"
    ) -> Explanation | dict[str, Any]:
        """The plan, what each party would learn, and the predicted cost.

        As an Explanation, which is a text and which notebooks show as a page, or (format="json") as a dictionary.
        """
        plan = self.plan(query, to)
        costs = self.predict(plan)
        return explain_json(plan, costs) if format == "json" else Explanation(explain_text(plan, costs))

    @as_run_error()
    def verdicts(self, text: str, to: str | Sequence[str] | None = None) -> list[Verdict]:
        """What owners' rules say of each query of a text, which semicolons divide. Runs nothing, and reads no data."""
        recipients = (to,) if isinstance(to, str) else tuple(to or self.federation.recipients)
        return [*verdicts(text, self.catalog(), recipients)]

    def rules(self, query: str, to: str | Sequence[str] | None = None) -> str:
        """How the planner changes a query: its tree after each rule, as text."""
        text = RulesText()
        self.plan(query, to, text)
        return text.text()

    @as_run_error()
    def predict(self, plan: PlacedPlan) -> tuple[StepCost, ...]:
        """The predicted cost of a plan's secure steps over this federation's network."""
        simulating = (private.network for private in self.federation.privates.values())
        return predict(plan, network=predicted_on(self.federation.catalog.link, simulating))

    def private(self, owner: str, name: str) -> OwnedArray:
        """An array that an owner offers to programs, by its name or that of its file. It reads nothing."""
        from tacit.agent.owned import owned_array

        with as_run_error():
            return owned_array(self.federation.catalog, owner, name)

    def table(self, owner: str, name: str) -> OwnedTable:
        """A table that an owner offers, whose columns programs may read as arrays. It reads nothing."""
        from tacit.agent.owned import owned_table

        with as_run_error():
            return owned_table(self.federation.catalog, owner, name)

    def kept(self, name: str) -> KeptRows:
        """A table that the nodes keep, whose columns programs may read as arrays. It reads nothing."""
        from tacit.agent.federated_rows import kept_rows

        with as_run_error():
            return kept_rows(name, self.catalog(), self.federation.recipients)

    def keep(
        self,
        name: str,
        program: Pending,
        columns: Sequence[str] | None = None,
        *,
        scale: int = 4,
        replace: bool = False,
    ) -> KeptRows:
        """Run a program, and let the nodes keep its results as a table, which nobody sees. SQL reads it by its name.

        Each vector is a column, and so is each column of a matrix. columns: their names, by default those of results.
        scale: decimal digits of numbers that are no integers. replace: a kept table of this name gives way.
        """
        from tacit.agent.federated_keeping import keep

        keep(self, name, program, columns, scale, replace)
        return self.kept(name)

    def rows(self, query: str) -> QueryRows:
        """The rows of a query, whose columns programs may read as arrays. Nothing runs, and nobody is shown them."""
        from tacit.agent.federated_rows import query_rows

        with as_run_error():
            return query_rows(query, self.catalog(), self.federation.recipients)

    @overload
    def program(self, function: Callable[..., Any], /) -> FederatedProgram: ...

    @overload
    def program(
        self, function: None = None, /, *, fraction: int = 16, rounding: Rounding = "dither"
    ) -> Callable[[Callable[..., Any]], FederatedProgram]: ...

    def program(
        self, function: Callable[..., Any] | None = None, /, *, fraction: int = 16, rounding: Rounding = "dither"
    ) -> FederatedProgram | Callable[[Callable[..., Any]], FederatedProgram]:
        """Make a program of a function of NumPy, to call with arrays of owners: ``@federation.program``.

        fraction: bits after the point. rounding: "floor" makes every truncation exact. Needs the extra ``numpy``.
        """
        from tacit.agent.federated import FederatedProgram
        from tacit.array.program import settings

        with as_run_error():
            asked = settings(fraction, rounding)
        if function is not None:
            return FederatedProgram(self, function, asked)
        return lambda found: FederatedProgram(self, found, asked)

    def sql(self, query: str, to: str | Sequence[str] | None = None) -> Answer:
        """Ask a question and wait for the answer. Several may be asked at the same time.

        Raises a tacit.Error with the cause if any party cannot go on: tacit.InputError, tacit.PeerGoneError and others.

        CREATE TABLE ... AS SELECT ... lets the nodes keep the rows as shares, which later questions can read by the
        table's name; DROP TABLE removes them. Their answers are the table's name and number of rows.

        Warns if a party could not record the end of the run in its ledger.
        """
        plan = self.plan(query, to)
        done = self.run(plan)
        if done.unrecorded is not None:
            warnings.warn(str(done.unrecorded), RuntimeWarning, stacklevel=2)
        answer = done.answer
        if answer is None:
            raise RunError(
                Fault.INPUT,
                f"{self.party} is no recipient of this query; the answer went to {', '.join(plan.recipients)}.",
            )
        return answer if plan.recipients else answer.of_kept(self.kept)

    @as_run_error()
    def run(
        self,
        plan: PlacedPlan,
        watch: Watcher = lambda party, event: None,
        wait: float | None = None,
        start: Start = spawn,
        *,
        approved: bool = False,
    ) -> Run:
        """Run a placed plan. watch: called with every event of every party that runs here.

        wait: for how many seconds to wait for parties elsewhere that have not started yet; by default the time limit
        for connections of the private file. start: how the process of a party is started.
        approved: run it only if the parties here have approved the plan before, by `tacit approve`.
        """
        if (deployed := DEPLOYED.get()) is not None:
            wait, approved = deployed.wait if wait is None else wait, approved or deployed.approved
            if not deployed.begins(plan):
                return Run(None, {}, Cost((), ()))
        here = self.parties_here(plan)
        local = LocalRun(self.federation, self.path, self.party, plan, here, wait, approved)
        return local.run(watch, start, self.predict(plan))

    def parties_here(self, plan: PlacedPlan) -> tuple[str, ...]:
        """The participants whose processes this machine starts.

        Raises RunError if some are elsewhere, or if the party that this machine is takes no part.
        """
        names = participants(plan, self.federation.catalog.parties)
        for step in plan.steps:
            if isinstance(step, DropStep):
                return self._holders(step)
        if self.party is not None:
            if self.party not in names:
                raise RunError(
                    Fault.INPUT, f"{self.party} has no part in this query; it is {' and '.join(names)} that run it."
                )
            return (self.party,)
        elsewhere = [name for name in names if not is_loopback(self.federation.address(name))]
        if elsewhere and len(names) > 1:
            query = 'start `tacit party --name NAME "SELECT ..."` at each organisation instead, with the same query'
            script = "start `tacit run SCRIPT --name NAME` at each organisation instead, with the same script"
            raise RunError(
                Fault.INPUT,
                f"{self.path}: {' and '.join(elsewhere)} {'is' if len(elsewhere) == 1 else 'are'} at no address "
                f"of this machine alone, as 127.0.0.1 is; {script if gives_arrays(plan) else query}.",
            )
        return names

    def _holders(self, step: DropStep) -> tuple[str, ...]:
        """The parties that run here and have a part of the table to drop: each drops its own, without the others."""
        if self.party is not None and self.party not in step.parties:
            problem = f"{self.party} is no node and has no part of {step.table}; each node removes its own"
            raise RunError(Fault.INPUT, f"{problem}.")
        asked = step.parties if self.party is None else (self.party,)
        return tuple(name for name in asked if KeptStore(self.federation, name).path(step.table).exists())
