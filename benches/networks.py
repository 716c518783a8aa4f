"""Inference of networks: an owner's images through another owner's parameters, a process for each party, by TLS.

    python benches/networks.py                      all networks, at batches of 1, 10, 100 and 1000
    python benches/networks.py --networks lenet5 --batches 1
    python benches/networks.py --smoke              a small perceptron and LeNet-5 for one image, in seconds

Images are made up and have MNIST's shape. Prints one JSON object a network and batch: rounds, bytes and seconds of the
program beside those of sharing its inputs, the seconds of planning, and how far results are from NumPy's, relative to
the largest of them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from floors import NETWORK_SECONDS
from queries import PARTIES, free_ports

from tacit import ml
from tacit.ml.networks_offers import offers, private_files, save

OPEN = 'use = ["program"]\nprograms = "any"\nrecipients = ["a"]'
BATCHES = (1, 10, 100, 1000)


def perceptron(inputs: int, *hidden: int) -> ml.Network:
    """Dense layers with ReLU between them, and ten outputs."""
    layers = [each for units in hidden for each in (ml.Dense(units), ml.Relu())]
    return ml.Network([*layers, ml.Dense(10)], (inputs,))


NETWORKS = {
    "mlp": lambda: perceptron(784, 625, 625),
    "lenet5": ml.lenet5,
    "lenet5-relu": lambda: ml.lenet5(ml.MaxPool, ml.Relu),
    "lenet5-normalized": lambda: ml.lenet5(normalized=True),
    "small": lambda: perceptron(784, 16),
}


@dataclass(frozen=True)
class Made:
    """A network with parameters as trained ones are, its normalisations folded, and images."""

    network: ml.Network
    parameters: dict[str, Any]
    images: Any


def made(name: str, batch: int) -> Made:
    """The same for all runs."""
    network = NETWORKS[name]()
    draw = numpy.random.default_rng(batch)
    parameters = network.initial(1)
    for each, value in parameters.items():
        if "normalization" in each:
            parameters[each] = value + draw.uniform(0, 0.5, value.shape)
    network, parameters = network.folded(parameters)
    pixels = draw.uniform(size=(batch, 784)) * (draw.uniform(size=(batch, 784)) < 0.2)
    return Made(network, parameters, numpy.floor(pixels * 256) / 256)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure the inference of networks on private images.")
    every = [name for name in NETWORKS if name != "small"]
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=every, help="all but small by default")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="a small perceptron and LeNet-5, one image, once")
    options = parser.parse_args()
    asked = options.networks, options.batches, options.repeats
    names, batches, repeats = (("small", "lenet5"), (1,), 1) if options.smoke else asked
    for name in names:
        for batch in batches:
            found = measured(made(name, batch), name, repeats)
            print(json.dumps({"network": name, "batch": batch, **found}), flush=True)


def measured(given: Made, name: str, repeats: int) -> dict[str, Any]:
    """The fastest of a few runs. What it reveals has to be near NumPy's."""
    with tempfile.TemporaryDirectory(prefix="tacit-bench-") as folder:
        asked = question(Path(folder), given)
        runs = [once(asked, given) for _ in range(repeats)]
    found = min(runs, key=lambda each: each["seconds"])
    batch = len(given.images)
    floor = NETWORK_SECONDS.get(name, {}).get(batch)
    return {**found, "seconds_per_image": found["seconds"] / batch, "floor": floor, "load": os.getloadavg()[0]}


def question(folder: Path, given: Made) -> Any:
    """The program on files of parties that all run on this machine: images of a, parameters of b."""
    import tacit
    from tacit.agent.federation_members import Members
    from tacit.agent.keys import make_keys

    parties = zip(PARTIES, free_ports(len(PARTIES)), strict=True)
    sections = [f'[parties.{party}]\naddress = "127.0.0.1:{port}"\n' for party, port in parties]
    path = folder / "federation.toml"
    path.write_text('recipients = ["a"]\n' + "".join(sections))
    for each in ("offers", "private"):
        (folder / each).mkdir(mode=0o700)
    shape = f'shape = {list(given.images.shape)}\ndtype = "float64"\nmin = 0\nmax = 1'
    (folder / "offers" / "a.toml").write_text(f"[arrays.images]\n{shape}\n{OPEN}\n")
    (folder / "offers" / "b.toml").write_text(offers(given.parameters, OPEN))
    (folder / "private" / "a.toml").write_text('[arrays.images]\npath = "images.npy"\n')
    (folder / "private" / "b.toml").write_text(private_files(given.parameters))
    save({"images": given.images}, folder / "private")
    save(given.parameters, folder / "private")
    make_keys(Members.load(path), PARTIES, replace=False)
    connection = tacit.connect(path)
    arrays = [connection.private("b", name) for name in given.parameters]
    return connection.program(given.network.function)(connection.private("a", "images"), *arrays)


def once(asked: Any, given: Made) -> dict[str, Any]:
    """One run: its figures."""
    start = time.perf_counter()
    plan = asked.connection.plan(asked.text, "a")
    planned = time.perf_counter() - start
    done = asked.connection.run(plan)
    expected = given.network(given.images, given.parameters)
    error = float(numpy.abs(done.arrays.arrays["result"] - expected).max() / numpy.abs(expected).max())
    if error > 0.01:
        raise SystemExit(f"results are {error:.2g} of the largest away from NumPy's")
    steps = {kind: [each for each in done.arrays.cost.actual if kind in each.step] for kind in ("program", "input")}
    return {
        "rounds": sum(each.rounds for each in steps["program"]),
        "bytes": sum(each.bytes for each in steps["program"]),
        "seconds": sum(each.seconds for each in steps["program"]),
        "input_bytes": sum(each.bytes for each in steps["input"]),
        "input_seconds": sum(each.seconds for each in steps["input"]),
        "plan_seconds": planned,
        "waited_seconds": time.perf_counter() - start,
        "as_predicted": done.arrays.cost.as_predicted,
        "relative_error": error,
    }


if __name__ == "__main__":
    main()
