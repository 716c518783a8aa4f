"""What a run costs: as predicted from public bounds, and as every party metered it, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tacit.plan import StepCost
from tacit.plan.account.notebook import listing_html
from tacit.plan.account.quantities import duration, size
from tacit.plan.physical.cost import total as predicted_total

Metrics = Mapping[str, Mapping[str, Any]]
"""One party's figures: step name to {rows, rounds, rounds_ahead, bytes_sent, bytes_received, seconds, finished}."""


@dataclass(frozen=True)
class Metered:
    """One step's actual cost.

    rounds_ahead: rounds of background preprocessing for this step, in a second session.
    rows: of its output, None where no party that was asked knows. bytes: sent by all parties together. seconds: the
    slowest party's.
    """

    step: str
    rows: int | None
    rounds: int
    bytes: int
    seconds: float
    rounds_ahead: int = 0


@dataclass(frozen=True)
class Cost:
    """A run's predicted and actual cost, each step by step in the order of execution. predicted: secure steps only."""

    predicted: tuple[StepCost, ...]
    actual: tuple[Metered, ...]

    @property
    def as_predicted(self) -> bool:
        """Whether bytes and rounds of every step were exactly as predicted."""
        return _traffic(self.predicted) == _traffic(self.actual)

    @property
    def predicted_total(self) -> StepCost:
        """The prediction for all steps together."""
        return predicted_total(self.predicted)

    @property
    def actual_total(self) -> Metered:
        """All steps together. Steps follow each other, so times add up."""
        return Metered(
            "total",
            None,
            sum(cost.rounds for cost in self.actual),
            sum(cost.bytes for cost in self.actual),
            sum(cost.seconds for cost in self.actual),
            sum(cost.rounds_ahead for cost in self.actual),
        )

    def _repr_html_(self) -> str:
        """Rounds and bytes of each step, and how long it took. A time that is predicted stands where there is one."""
        predicted = {cost.step: duration(cost.seconds) for cost in (*self.predicted, self.predicted_total)}
        head = ("step", "sent by all", "rounds", "time", "predicted")
        rows = [
            (each.step, size(each.bytes), f"{each.rounds:,}", duration(each.seconds), predicted.get(each.step, ""))
            for each in (*self.actual, self.actual_total)
        ]
        return listing_html("cost of the run", head, rows)

    def as_json(self) -> dict[str, list[dict[str, Any]]]:
        """Both accounts as JSON objects."""
        return {
            "predicted": [asdict(cost) for cost in self.predicted],
            "actual": [asdict(cost) for cost in self.actual],
        }


def combined(metrics: Mapping[str, Metrics]) -> tuple[Metered, ...]:
    """The cost over all parties, from each party's own figures (party to metrics)."""
    reports: dict[str, list[Mapping[str, Any]]] = {}
    for steps in metrics.values():
        for step, figures in steps.items():
            reports.setdefault(step, []).append(figures)
    return tuple(_over_parties(step, reports[step]) for step in sorted(reports, key=_position))


def _over_parties(step: str, reports: list[Mapping[str, Any]]) -> Metered:
    rows = [figures["rows"] for figures in reports if figures["rows"] is not None]
    return Metered(
        step,
        max(rows, default=None),
        max(figures["rounds"] for figures in reports),
        sum(figures["bytes_sent"] for figures in reports),
        max(figures["seconds"] for figures in reports),
        max(figures["rounds_ahead"] for figures in reports),
    )


def _position(step: str) -> int:
    """The step's id, with which its name begins."""
    return int(step.partition(".")[0])


def _traffic(costs: tuple[StepCost, ...] | tuple[Metered, ...]) -> dict[str, tuple[int, int, int]]:
    found = {cost.step: (cost.bytes, cost.rounds, cost.rounds_ahead) for cost in costs}
    return {step: traffic for step, traffic in found.items() if any(traffic)}
