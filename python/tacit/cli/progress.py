"""Live progress of a run: on a terminal a table that fills itself, elsewhere one line for each finished step."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table

from tacit.agent.cost import Metered, combined
from tacit.agent.events import Event
from tacit.cli.screen import table
from tacit.plan.account import describe
from tacit.plan.account.quantities import duration, size
from tacit.plan.physical.placed import ArrayStep, DropStep, LocalStep, PlacedPlan, ResultStep, Step, TailStep

COLUMNS = (
    ("step", "left"),
    ("where", "left"),
    ("rows", "right"),
    ("sent", "right"),
    ("rounds", "right"),
    ("time", "right"),
)


class Progress:
    """Follows the events of the parties that run here. Use as a context: the display ends with it.

    It begins with the first event, since parties are made of a process that has one thread, and a display has its own.
    """

    def __init__(self, plan: PlacedPlan, parties: Sequence[str], screen: Console) -> None:
        self._engine = plan.engine
        self._runners = {step.id: _runners(step, parties) for step in plan.steps}
        self._steps = [step for step in plan.steps if self._runners[step.id]]
        self._screen = screen
        self._metrics: dict[str, dict[str, Any]] = {}
        self._phases: dict[str, str] = {}
        self._told: set[int] = set()
        self._live = Live(console=screen, refresh_per_second=8, transient=False) if screen.is_terminal else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None and self._live.is_started:
            self._live.update(self._table(), refresh=True)
            self._live.stop()

    def __call__(self, party: str, event: Event) -> None:
        """Take in one event of one party."""
        if event["event"] == "phase":
            self._phases[party] = event["phase"]
        elif event["event"] == "metrics":
            self._metrics[party] = event["steps"]
        elif event["event"] == "waiting":
            self._screen.print(f"{party} waits for {' and '.join(event['missing'])}", soft_wrap=True, markup=False)
        if self._live is not None:
            self._live.start()
            self._live.update(self._table())
        else:
            self._tell_finished()

    def _finished(self, step: Step) -> bool:
        name = describe.name(step)
        return all(self._metrics.get(party, {}).get(name, {}).get("finished") for party in self._runners[step.id])

    def _costs(self) -> dict[str, Metered]:
        return {cost.step: cost for cost in combined(self._metrics)}

    def _tell_finished(self) -> None:
        costs = self._costs()
        for step in self._steps:
            if step.id not in self._told and self._finished(step):
                self._told.add(step.id)
                self._screen.print(self._line(step, costs[describe.name(step)]), soft_wrap=True)

    def _line(self, step: Step, cost: Metered) -> str:
        rows, sent, rounds, time = _cells(cost)
        where = describe.where(step, self._engine)
        rows_of = f"{rows:>12} rows" if rows else " " * 17
        return f"{describe.name(step):<14} {where:<20}{rows_of} {sent:>9} sent {rounds:>5} rounds {time:>8}"

    def _table(self) -> Table:
        costs = self._costs()
        found = table(self._screen, *COLUMNS)
        running = next((step for step in self._steps if not self._finished(step)), None)
        for step in self._steps:
            name = describe.name(step)
            mark = Spinner("dots", text=name) if step is running else f"  {name}"
            cells = _cells(costs[name]) if name in costs else ("", "", "", "")
            where = describe.where(step, self._engine)
            found.add_row(mark, where, *cells, style="" if name in costs else "dim")
        if running is not None:
            found.caption = ", ".join(f"{party} is {phase}" for party, phase in self._phases.items())
        return found


def _runners(step: Step, parties: Sequence[str]) -> tuple[str, ...]:
    """Which of the parties run a step."""
    match step:
        case LocalStep() | ArrayStep():
            return tuple(party for party in parties if party == step.party)
        case TailStep() | ResultStep():
            return tuple(party for party in parties if party in step.recipients)
        case DropStep():
            return tuple(party for party in parties if party in step.parties)
        case _:
            return tuple(parties)


def _cells(cost: Metered) -> tuple[str, str, str, str]:
    rows = "" if cost.rows is None else f"{cost.rows:,}"
    return rows, size(cost.bytes), f"{cost.rounds}", duration(cost.seconds)
