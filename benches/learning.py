"""Learning on private arrays: rounds, bytes and seconds of a step, and errors beside NumPy's own result.

    python benches/learning.py                          predicted cost of a step, for data of published shapes
    python benches/learning.py --only k-means --run     the same, and measured: a process for each of three parties
    python benches/learning.py --smoke                  small shapes, trained by three parties; takes seconds

A step's cost is the difference of two programs that differ by eight steps. Its measured seconds are the difference of
two programs that differ by 32, each the fastest of three runs. So what comes before and after is left out. Errors are
the largest of a result, divided by the largest number of NumPy's. Data are made up, with the shapes of what others
publish: Adult (UCI, Becker and Kohavi 1996, one column for each value: 32,561 x 123), card fraud (Dal Pozzolo et al.,
IEEE SSCI 2015: 284,807 x 30), MovieLens 100k (Harper and Konstan, ACM TiiS 2015: 943 users, 1,682 films).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from facts import facts
from queries import PARTIES, free_ports
from report import seconds, section

from tacit import ml

Made = Callable[[], dict[str, Any]]
Function = Callable[..., Any]
HEAD = (
    "program",
    "rows",
    "columns",
    "rounds a step",
    "MB a step",
    "predicted",
    "measured",
    "ms a row",
    "target",
    "run",
    "error",
)
FEW, MORE, MANY = 9, 17, 41
"""Steps of the programs that are compared: cuts come every eight steps."""


@dataclass(frozen=True)
class Case:
    """A program whose number of steps is given. made: NumPy's arrays. floor: milliseconds a row and step, at most."""

    made: Made
    program: Callable[[int], Function]
    floor: float | None = None


def rows(count: int, columns: int, extra: str = "") -> Made:
    """Columns on one scale. extra: "labels", of which a linear model knows most."""

    def made() -> dict[str, Any]:
        draw = numpy.random.default_rng(1)
        x = numpy.clip(draw.normal(size=(count, columns)), -4, 4)
        if not extra:
            return {"x": x}
        return {"x": x, "y": x @ draw.normal(size=columns) + draw.normal(size=count) > 0}

    return made


def adult(count: int) -> Made:
    """Bits, one column for each value of 14 attributes, as Adult is used by those who publish on it."""

    def made() -> dict[str, Any]:
        draw = numpy.random.default_rng(1)
        x = (draw.random((count, 123)) < 14 / 123).astype(float)
        return {"x": x, "y": x @ draw.normal(size=123) + draw.normal(size=count) > 0.5}

    return made


def card_fraud(count: int) -> Made:
    """30 columns, and one row of 578 that is a fraud."""

    def made() -> dict[str, Any]:
        draw = numpy.random.default_rng(1)
        x = numpy.clip(draw.normal(size=(count, 30)), -4, 4)
        y = draw.random(count) < 1 / 578
        return {"x": numpy.clip(x + 2 * y[:, None], -4, 4), "y": y}

    return made


def ratings(users: int, films: int) -> Made:
    """Ratings from 1 to 5 of one film in 16, as in MovieLens 100k, and which there are."""

    def made() -> dict[str, Any]:
        draw = numpy.random.default_rng(1)
        liked = 3.5 + draw.normal(size=(users, 6)) @ draw.normal(size=(6, films)) * 0.4 + draw.normal(size=films) / 2
        return {"x": numpy.clip(numpy.round(liked), 1, 5), "there": draw.random((users, films)) < 100_000 / 943 / 1682}

    return made


def descent(steps: int) -> Function:
    """Logistic regression, all rows a batch."""
    model = ml.LogisticRegression(solver="sgd", steps=steps, batch_size=1 << 30)
    return lambda x, y: model.fit(x, y).coef_


def newton(steps: int) -> Function:
    """Logistic regression by the bound of its Hessian."""
    return lambda x, y: ml.LogisticRegression(steps=steps).fit(x, y).coef_


def clusters(steps: int) -> Function:
    """Five clusters."""
    return lambda x: ml.KMeans(5, steps=steps, init="random").fit(x).cluster_centers_


def factors(rank: int) -> Callable[[int], Function]:
    """Users' and films' factors."""

    def program(steps: int) -> Function:
        model = ml.MatrixFactorisation(rank, steps=steps)
        return lambda x, there=None: model.fit(x, there).item_factors_

    return program


CASES = {
    "logistic, batch 1": Case(rows(1, 100, "labels"), descent, 2),
    "logistic, batch 1000": Case(rows(1000, 100, "labels"), descent, 0.004),
    "k-means": Case(rows(1000, 100), clusters, 0.01),
    "factorisation, rank 5": Case(rows(1000, 100), factors(5), 0.01),
    "factorisation, rank 10": Case(rows(1000, 100), factors(10), 0.01),
    "MovieLens 100k, rank 10": Case(ratings(943, 1682), factors(10), 2000 / 943),
    "Adult, newton": Case(adult(32_561), newton),
    "card fraud, newton": Case(card_fraud(284_807), newton),
}
SMOKE = {
    "logistic": Case(rows(40, 5, "labels"), descent),
    "newton": Case(rows(40, 5, "labels"), newton),
    "k-means": Case(rows(40, 4), clusters),
    "factorisation": Case(ratings(12, 8), factors(2)),
}


def main() -> None:
    """Measure what the command line asks for and print it as a table."""
    parser = argparse.ArgumentParser(description="Cost and errors of learning on private arrays.")
    parser.add_argument("--only", help=f"of: {'; '.join(CASES)} (default all)")
    parser.add_argument("--run", action="store_true", help="train between three parties on this machine, too")
    parser.add_argument("--smoke", action="store_true", help="small shapes, with --run")
    options = parser.parse_args()
    cases = SMOKE if options.smoke else CASES
    repeats = 1 if options.smoke else 3 if options.run else 0
    chosen = options.only.split(";") if options.only else [*cases]
    lines = [line(each.strip(), cases[each.strip()], repeats) for each in chosen]
    print("\n".join(f"{name:9} {value}" for name, value in facts()), end="\n\n")
    print(section("Learning on private arrays, rep3: seconds of a step", HEAD, lines))


def line(name: str, case: Case, repeats: int) -> list[str]:
    """A line of the table. repeats: of what is measured; 0: nothing is."""
    values = case.made()
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        asked = federation(Path(folder), values)
        few, more, many = (asked(case.program(steps)) for steps in (FEW, MORE, MANY))
        one, two = few.cost(to="a"), more.cost(to="a")
        step = predicted = (two.seconds - one.seconds) / (MORE - FEW)
        count, columns = values["x"].shape
        cost = [f"{(two.rounds - one.rounds) / 8:.1f}", f"{(two.bytes - one.bytes) / 8e6:.3g}", seconds(predicted)]
        ran = ["", "", ""]
        if repeats:
            start = time.perf_counter()
            found = few.reveal(to="a")
            taken = time.perf_counter() - start
            step = (fastest(many, repeats) - fastest(few, repeats)) / (MANY - FEW)
            true = case.program(FEW)(**values)
            error = numpy.abs(found - true).max() / numpy.abs(true).max()
            ran = [seconds(step), seconds(taken), f"{error:.1g}"]
    target = "" if case.floor is None else f"{case.floor:.2g}"
    return [name, f"{count:,}", str(columns), *cost, ran[0], f"{step / count * 1000:.2g}", target, *ran[1:]]


def fastest(asked: Any, repeats: int) -> float:
    """The seconds of a program's steps: without its start, and without the sharing of its inputs."""
    plan = asked.connection.plan(asked.text, "a")
    runs = (asked.connection.run(plan).arrays.cost.actual for _ in range(repeats))
    return min(sum(float(each.seconds) for each in actual if "program" in each.step) for actual in runs)


def federation(folder: Path, values: dict[str, Any]) -> Callable[[Function], Any]:
    """Three parties, of which the first has all arrays, and what makes a question of a function."""
    import tacit
    from tacit.agent.federation_members import Members
    from tacit.agent.keys import make_keys
    from tacit.cli.demo.scenario import write_membership

    path = write_membership(
        folder,
        f'engine = "rep3"\nnodes = {json.dumps(PARTIES)}\nrecipients = ["a"]\n',
        dict(zip(PARTIES, free_ports(len(PARTIES)), strict=True)),
    )
    for kind in ("offers", "private"):
        (folder / kind).mkdir(exist_ok=True)
    for name, value in values.items():
        numpy.save(folder / "private" / f"{name}.npy", value)
        bounds = "" if value.dtype == bool else f"min = {value.min()}\nmax = {value.max()}\n"
        offer = (
            f'[arrays.{name}]\nshape = {json.dumps(value.shape)}\ndtype = "{value.dtype}"\n{bounds}use = ["program"]\n'
        )
        for kind, text in (("offers", offer), ("private", f'[arrays.{name}]\npath = "{name}.npy"\n')):
            with (folder / kind / "a.toml").open("a") as file:
                file.write(text)
    make_keys(Members.load(path), PARTIES, replace=False)
    connected = tacit.connect(path)
    arrays = [connected.private("a", name) for name in values]
    return lambda function: connected.program(function)(*arrays)


if __name__ == "__main__":
    main()
