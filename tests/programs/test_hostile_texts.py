"""Texts of programs that are written to harm: each is refused in a sentence, or read with work that is counted.

What is counted: operations that are inferred, and public numbers that are brought to a format. No clock is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from sys import getrecursionlimit
from typing import Any

import numpy
import pytest

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.array.tracing import trace
from tacit.plan.programs import graph as graphs
from tacit.plan.programs import inference, limits, optimiser, public
from tacit.plan.programs.elimination import as_held
from tacit.plan.programs.facts import Array
from tacit.plan.programs.functions import whole_of_powers
from tacit.plan.programs.graph import Graph, Settings
from tacit.plan.programs.identity import Source, canonical, in_order
from tacit.plan.programs.inference import column_norms
from tacit.plan.programs.nodes import behind, reachable
from tacit.plan.programs.operations import Input, Narrow, Widen
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import read
from tacit.plan.programs.refusals import ProgramError
from tacit.sql.bind import MOST_BOUND, MOST_OPERATORS

from .running import SEED, compare
from .test_placing import placed

Said = dict[str, Any]
P = (1 << 61) - 1
"""Python's own hashes of integers are modulo this prime."""


def node(op: str, *args: int, **members: Any) -> Said:
    return {"op": op, "args": list(args)} | members


def given(name: str = "x", shape: tuple[int, ...] = (4,), low: int = -(1 << 18), high: int = 1 << 18) -> Said:
    place = {"name": name, "owner": "a", "array": "features"}
    return node("input", **place, shape=list(shape), dtype="fixed", low=low, high=high, norm2=None)


def constant(*reals: str, shape: tuple[int, ...] = (), fraction: int = 0, ring: int = 64) -> Said:
    return node("constant", shape=list(shape), dtype="fixed", fraction=fraction, ring=ring, reals=list(reals))


def text(nodes: list[Said], outputs: list[tuple[str, int]] | None = None) -> str:
    ends = outputs or [("0", len(nodes) - 1)]
    said = {"fraction": 16, "nodes": nodes, "outputs": ends, "program": 1, "rounding": "dither"}
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def chain(count: int, first: Said, op: str, **members: Any) -> list[Said]:
    return [first, *(node(op, place, **members) for place in range(count))]


def squares(count: int) -> list[Said]:
    """x squared again and again: its range stays, and its error doubles its digits."""
    nodes = [given(low=-(1 << 16), high=1 << 16)]
    for _ in range(count):
        nodes += [node("multiply", len(nodes) - 1, len(nodes) - 1), node("truncate", len(nodes), bits=16, floor=False)]
    return nodes


SAMPLE = {"shape": [], "bits": 3, "fraction": 3}
REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "characters": (lambda: '{"fraction":' + " " * limits.MOST_TEXT, "more than 16,777,216 characters"),
    "lists": (lambda: '{"nodes":[' + "[]," * limits.MOST_LISTS, "more than 524,288 lists and objects"),
    "long integer": (lambda: '{"program":' + "1" * 4000 + "}", "no JSON of integers and strings"),
    "deep": (lambda: text([given() | {"shape": deep(900)}]), "lacks a member, or has a wrong one"),
    "deep name": (lambda: text([given() | {"op": deep(900)}]), "operation 0 .without a name. lacks a member"),
    "long name": (lambda: text([node("x" * 100_000)]), "there is no operation 'x{40}'"),
    "control characters": (lambda: text([given(), node("sum", 0, **{"\x1b[2J": 1})]), r"and not '\\x1b\[2J'"),
    "many operations": (lambda: text([given()] * (limits.MOST_NODES + 1)), "no list of 1 to 32,768 operations"),
    "operands": (lambda: text([given(), node("concatenate", *[0] * 140_000, axis=0)]), "more than 131,072 operands"),
    "inputs": (lambda: text([given(f"x{each}") for each in range(1100)]), "more than 1,024 inputs"),
    "outputs": (lambda: text([given()], [(f"{each}", 0) for each in range(1100)]), "more than 1,024 outputs"),
    "elements": (lambda: text([constant("1/3", shape=(1 << 21,))]), "more than 1,048,576 public numbers"),
    "numbers": (lambda: text([constant(*["1"] * ((1 << 20) + 1), shape=(1,))]), "more than 1,048,576 public numbers"),
    "positions": (
        lambda: text([given(), node("take", 0, positions=[0] * ((1 << 20) + 1), axis=0)]),
        "more than 1,048,576 public numbers",
    ),
    "huge number": (
        lambda: text([constant("9" * 1100, shape=(1 << 20,), fraction=8000)]),
        "a public number may reach any number from 0 to 2.3655, which needs",
    ),
    "digits": (lambda: text([constant("9" * 1101)]), "lacks a member, or has a wrong one"),
    "other number": (lambda: text([node("sample", number=1 << 90, **SAMPLE)]), "these are number 0"),
    "no bits": (lambda: text([node("sample", number=0, **SAMPLE | {"bits": 0})]), "have 1 to 62 bits"),
    "far shift": (lambda: text([constant("0"), node("shift", 0, bits=100)]), "cannot have these bits"),
    "proof of public numbers": (
        lambda: text([constant("1/3", shape=(9,), fraction=40), node("known", 0, of=0, proof="mean", parameters=[0])]),
        "is of public numbers",
    ),
    "error of exp": (
        lambda: text([
            given(shape=(2,), high=1 << 61), node("truncate", 0, bits=62, floor=True), node("scale", 1, bits=0),
            node("truncate", 2, bits=58, floor=True), node("function", 3, name="exp", fraction=16),
        ]),
        "exp takes no numbers whose own error is so large",
    ),
    "error squared": (lambda: text(squares(60)), "products square large errors with every step"),
}  # fmt: skip


def deep(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


class Work:
    """Operations inferred, and public numbers rounded."""

    operations = numbers = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    found = Work()
    inferred, rounded = inference.inferred, public._rounded

    def operation(*given: Any) -> Any:
        found.operations += 1
        return inferred(*given)

    def number(*given: Any) -> Any:
        found.numbers += 1
        return rounded(*given)

    monkeypatch.setattr(graphs, "inferred", operation)
    monkeypatch.setattr(public, "_rounded", number)
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_a_sentence_with_little_work(name: str, work: Work) -> None:
    written, sentence = REFUSED[name]
    with pytest.raises(ProgramError, match=sentence) as caught:
        read(written())
    shown = str(caught.value)
    assert len(shown) < 500 and shown.isprintable() and shown.endswith("write it anew with this version of tacit.")
    assert work.operations <= 1100 and work.numbers <= 1100


def test_a_number_for_all_elements_is_rounded_once(work: Work) -> None:
    read(text([constant("1/3", shape=(100, 100), fraction=40)]))
    assert work.numbers == 1


def test_operations_are_inferred_once(work: Work) -> None:
    for nodes in (chain(500, given(), "negate"), chain(500, constant("0"), "shift", bits=1), many_parents(300)):
        work.operations = 0
        found = read(text(nodes))
        assert work.operations == len(nodes) == len(in_order(found.graph, found.outputs.values()))


def many_parents(count: int) -> list[Said]:
    """One operation with many operands, that many others take."""
    wide = [given(shape=(1,)), node("concatenate", *[0] * count, axis=0)]
    return [*wide, *(node("concatenate", len(wide) - 1 + each, 1, axis=0) for each in range(count))]


def test_random_numbers_are_ordered_in_one_pass() -> None:
    samples = [node("sample", number=each, **SAMPLE | {"shape": [1]}) for each in range(3000)]
    read(text([*samples, node("concatenate", *range(3000), axis=0)]))


def test_numbers_with_one_hash_are_told_apart() -> None:
    """Numbers that differ by multiples of the prime have one hash in Python: a table of them would be a list."""
    reals = [f"{1 + each * P}" for each in range(600)]
    assert len({hash(int(each)) for each in reals}) == 1
    constants = [constant(each, shape=(1,), ring=128) for each in reals]
    found = read(text([*constants, node("concatenate", *range(600), axis=0)]))
    assert len(found.graph.nodes) == 601 and len({hash(key) for key in found.graph.nodes}) == 601


def test_chains_are_longer_than_calls_are_deep() -> None:
    """Proofs look below moved elements and bits, and no further than one operation."""
    length = getrecursionlimit() + 200
    shapes = [node("reshape", place, shape=[1, 4] if place % 2 else [4, 1]) for place in range(length)]
    for nodes in ([given(), *shapes], chain(length, given(shape=(4, 4)), "transpose", axes=[1, 0])):
        mean = node("known", 0, of=len(nodes) - 1, proof="mean", parameters=[0])
        with pytest.raises(ProgramError, match="makes another array"):
            read(text([*nodes, mean]))


def test_the_optimiser_stops(monkeypatch: pytest.MonkeyPatch, work: Work) -> None:
    """What it visits is limited, and the same at every party."""
    factors = [f"{(1 << 1000) + 2 * each + 1}/{1 << 1001}" for each in range(40)]
    nodes = [given(low=0, high=1)]
    for each in factors:
        nodes += [constant(each, fraction=16), node("multiply", max(len(nodes) - 1, 0), len(nodes))]
        nodes += [node("truncate", len(nodes) - 1, bits=16, floor=False)]
    found = read(text(nodes))
    after = optimised(found.graph, found.outputs).after
    for left in in_order(found.graph, after.values()):
        for real in getattr(left.operation, "reals", ()):
            assert max(real.numerator.bit_length(), real.denominator.bit_length()) <= limits.MOST_FOLDED
    monkeypatch.setattr(optimiser, "MOST_VISITS", 0)
    again = read(text(nodes))
    assert optimised(again.graph, again.outputs).after == again.outputs


def test_rules_have_a_share_of_the_public_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x: Any) -> Any:
        return (x * np.array([0.3, 0.7, 0.9]) * 0.3).sum()

    written = Program(scaled, {"x": Declared((8, 3), "float64", -4, 4)}, Settings()).text({"x": Source("a", "x")})
    assert "constants folded" in {each.rule for each in _optimised(written).savings}
    monkeypatch.setattr(optimiser, "FOR_RULES", 2)
    assert "constants folded" not in {each.rule for each in _optimised(written).savings}


def _optimised(written: str) -> optimiser.Optimised:
    found = read(written)
    return optimised(found.graph, found.outputs)


def test_public_numbers_are_limited_while_a_program_is_traced() -> None:
    small = Graph(Settings(), room=5)
    public.encoded(small, public.Public((5,), "fixed", (Fraction(1, 3),) * 5), 16, "fixed")
    with pytest.raises(ProgramError, match="encodes too many public numbers"):
        public.encoded(small, public.number(1), 16, "fixed")


def test_what_is_behind_each_output() -> None:
    draw = Random(SEED)

    def sums(a: Any, b: Any, c: Any) -> Any:
        made = [a, b, c]
        for _ in range(30):
            made.append(draw.choice(made) + draw.choice(made))
        return tuple(made)

    found = trace(sums, {name: Declared((4,), "int8", -1, 1) for name in "abc"}, Settings())
    inside = behind(found.outputs, Input)
    assert len({len(each) for each in inside.values()}) > 1
    for output, nodes in inside.items():
        assert nodes == [each for each in reachable([found.outputs[output]]) if isinstance(each.operation, Input)]


def test_limits_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "numpy.md").read_text(encoding="utf-8")
    most = (
        limits.MOST_TEXT, limits.MOST_NODES, limits.MOST_OPERANDS, limits.MOST_ENDS, limits.MOST_QUERIES,
        limits.MOST_QUERY, MOST_OPERATORS, MOST_BOUND, limits.MOST_ELEMENTS, limits.MOST_PUBLIC, limits.MOST_DIGITS,
        limits.MOST_ERROR,
    )  # fmt: skip
    section = page.split("## Limits\n")[1].split("\n## ")[0]
    assert [int(each.replace(",", "")) for each in re.findall(r"\| ([\d,]+)", section)] == [*most]


def test_softmax_of_a_wide_range() -> None:
    """exp of numbers far below zero is zero, whatever engines compute."""
    assert placed(lambda x: np.softmax(x * 100)).steps
    assert placed(lambda x: np.softmax(x * 100, axis=0)).steps
    x = numpy.random.default_rng(SEED).uniform(-4, 4, (6, 5))
    x[0], x[1, 0] = 1.0, 4.0
    for axis in (0, 1):
        compare(lambda x, axis=axis: np.softmax(x * 100, axis=axis), {"x": x})


def test_a_fact_is_proved_once() -> None:
    """To prove that eigenvalues are near takes half a second, and a copy of it in the text takes 80 bytes."""
    declared = {"a": Declared((2, 2), "float64", -1, 1)}
    traced = trace(lambda a: np.linalg.eigvalsh(a), declared, Settings(24))
    said = json.loads(canonical(traced.graph, traced.outputs, {}))
    again = next(each for each in said["nodes"] if each.get("proof") == "eigenvalues")
    said["nodes"].append(again)
    with pytest.raises(ProgramError, match="the same as one before it"):
        read(json.dumps(said, sort_keys=True, separators=(",", ":")))


def test_facts_are_looked_for_through_few_operations() -> None:
    graph = Graph(Settings())
    node = graph.make(Input("x", Array((2, 2), "fixed", -4, 4, 2)))
    for _ in range(2000):
        node = graph.make(Narrow(), graph.make(Widen(), node))
    assert column_norms(node) == (2 * 4, 2 * 16)


def test_another_number_has_other_bounds() -> None:
    """What is taken as it is held stands for itself, and no longer for what rounding moved it from."""
    graph = Graph(Settings())
    whole = whole_of_powers(graph, graph.make(Input("x", Array((2, 1), "fixed", -4 << 16, 4 << 16, 16))), 1)
    held = as_held(graph, whole, 0).array
    assert whole.array.exact is not None
    assert (held.exact, held.error) == (None, 0)
