"""The text of a program: whoever reads it makes the same graph and infers the same facts, and believes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import tacit.numpy as np
from tacit.array.declared import Declared
from tacit.array.program import Program
from tacit.array.tracing import Traced, trace
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import Source, canonical, digest, in_order
from tacit.plan.programs.operations import Sample
from tacit.plan.programs.optimiser import optimised
from tacit.plan.programs.reading import is_program, read
from tacit.plan.programs.refusals import ProgramError

from .running import SEED, declaration
from .test_numpy import CASES, VALUES
from .test_programs import VALUES as PROGRAMS
from .test_random_programs import SHAPE, Step, program, steps


def written(traced: Traced) -> str:
    sources = {name: Source("a", f"array of {name}") for name in traced.inputs}
    return canonical(traced.graph, traced.outputs, sources)


def same_after_reading(traced: Traced) -> str:
    """Assert that reading makes the same operations with the same facts, and that its optimiser finds the same."""
    text = written(traced)
    found = read(text)
    old = in_order(traced.graph, traced.outputs.values())
    new = in_order(found.graph, found.outputs.values())
    assert [node.array for node in new] == [node.array for node in old]
    for one, other in zip(new, old, strict=True):
        assert one.operation == other.operation or isinstance(one.operation, Sample)
    assert canonical(found.graph, found.outputs, found.sources) == text
    again = read(text)
    after = [optimised(each.graph, each.outputs).after for each in (found, again)]
    assert canonical(found.graph, after[0]) == canonical(again.graph, after[1])
    return text


@pytest.mark.parametrize("name", CASES)
def test_functions(name: str) -> None:
    function = CASES[name]
    taken = function.__code__.co_varnames[: function.__code__.co_argcount]
    same_after_reading(trace(function, {each: declaration(VALUES[each]) for each in taken}, Settings()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    function, values, _ = PROGRAMS[name]
    same_after_reading(trace(function, {each: declaration(value) for each, value in values.items()}, Settings()))


def test_random_programs() -> None:
    @seed(SEED)
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None, print_blob=True)
    @given(steps, st.sampled_from([1.0, 3.7, 255.0]), st.sampled_from(["dither", "floor"]))
    def holds(drawn: list[Step], most: float, rounding: Any) -> None:
        inputs = {name: Declared(SHAPE, "float64", -most, most) for name in "xy"}
        try:
            traced = trace(lambda x, y: program(drawn, x, y), inputs, Settings(16, rounding))
        except ProgramError:
            return
        same_after_reading(traced)

    holds()


def centred(x: Any, y: Any) -> Any:
    return {"w": np.softmax(x @ y, axis=1) + x.mean(axis=0), "b": x > 0.5, "v": np.var(y)}


INPUTS = {
    "x": Declared((2, 3), "float64", -4, 4, row_norm=5),
    "y": Declared((3, 3), "float64", 0, 1),
}


def example() -> str:
    return written(trace(centred, INPUTS, Settings()))


def test_random_numbers_are_told_apart() -> None:
    def drawn(x: Any) -> Any:
        return np.random.uniform(size=3), np.random.uniform(size=3), x

    found = read(same_after_reading(trace(drawn, {"x": INPUTS["x"]}, Settings())))
    assert found.outputs["0"] is not found.outputs["1"]


def test_the_hash_covers_operations_declarations_and_sources() -> None:
    base = Program(centred, INPUTS, Settings())
    others = [
        Program(lambda x, y: {**centred(x, y), "v": np.var(x)}, INPUTS, Settings()),
        Program(centred, {**INPUTS, "x": Declared((2, 3), "float64", -4, 5, row_norm=5)}, Settings()),
        Program(centred, INPUTS, Settings(rounding="floor")),
        Program(centred, INPUTS, Settings(18)),
    ]
    assert len({base.hash, *(each.hash for each in others)}) == 5
    sources = {"x": Source("a", "one"), "y": Source("b", "two")}
    swapped = {"x": Source("b", "two"), "y": Source("a", "one")}
    assert len({base.hash, digest(base.text(sources)), digest(base.text(swapped))}) == 3


def test_where_inputs_come_from() -> None:
    sources = {"x": Source("hospital_a", "features"), "y": Source("hospital_b", "weights")}
    found = read(Program(centred, INPUTS, Settings()).text(sources))
    assert found.sources == sources
    assert not read(Program(centred, INPUTS, Settings()).text()).sources


def test_a_table_may_have_many_columns() -> None:
    sources = {"x": Source("a", f"scores({','.join(f'column_{each}' for each in range(900))})")}
    text = Program(lambda x: x.sum(), {"x": INPUTS["x"]}, Settings()).text(sources)
    assert read(text).sources == sources
    with pytest.raises(ProgramError, match="lacks a member, or has a wrong one"):
        read(text.replace("column_0", "column_0" * 2000))


def test_queries_are_told_from_programs() -> None:
    assert is_program(example())
    assert not is_program("SELECT 1") and not is_program("  WITH x AS (SELECT 1) SELECT * FROM x")


Change = Callable[[dict[str, Any]], object]


def at(said: dict[str, Any], op: str) -> dict[str, Any]:
    """The first operation of a name."""
    found: dict[str, Any] = next(each for each in said["nodes"] if each["op"] == op)
    return found


def pushed(said: dict[str, Any]) -> None:
    """Move the point of an input again and again."""
    nodes = said["nodes"]
    place = nodes.index(at(said, "input"))
    for _ in range(9):
        nodes.append({"args": [place], "bits": 1000, "op": "scale"})
        place = len(nodes) - 1


CHANGES: dict[str, tuple[Change, str]] = {
    "version": (lambda said: said.update(program=2), "has the version 2, and this tacit reads version 1"),
    "no version": (lambda said: said.pop("program"), "does not say its version"),
    "member": (lambda said: said.update(facts=[]), "members are not"),
    "fraction": (lambda said: said.update(fraction=60), "1 to 40 bits after the point"),
    "rounding": (lambda said: said.update(rounding="up"), "the rounding"),
    "no operation": (lambda said: said.update(nodes=[]), "no list of 1 to"),
    "no output": (lambda said: said.update(outputs=[]), "no output"),
    "output": (lambda said: said.update(outputs=[["w", 999]]), "outputs are not names"),
    "two of one name": (lambda said: said.update(outputs=[["w", 0], ["w", 1]]), "two of one name"),
    "operation": (lambda said: at(said, "sum").update(op="guess"), "there is no operation 'guess'"),
    "parameter": (lambda said: at(said, "sum").update(bits=3), "sum has the parameters axis, and not"),
    "its value": (lambda said: at(said, "sum").update(axis=-1), "the parameter axis has no such value"),
    "axis": (lambda said: at(said, "sum").update(axis=7), "not those of an array of shape"),
    "argument": (lambda said: at(said, "sum").update(args=[999]), "lacks a member, or has a wrong one"),
    "itself": (lambda said: at(said, "matmul").update(args=[0, 2]), "lacks a member|of shapes"),
    "count": (lambda said: at(said, "sum").update(args=[0, 1]), "has 2 operands, and takes 1"),
    "shape": (lambda said: at(said, "input").update(shape=[1 << 20, 1 << 20]), "is too large"),
    "bounds": (lambda said: at(said, "input").update(low="-1"), "lacks a member, or has a wrong one"),
    "crossed": (lambda said: at(said, "input").update(low=5, high=1), "lower bound is above"),
    "wide": (lambda said: at(said, "input").update(high=1 << 126), "more than 126 bits"),
    "numbers": (lambda said: at(said, "constant").update(shape=[1 << 30], reals=["0"]), "public numbers"),
    "number": (lambda said: at(said, "constant").update(reals=["1/0"]), "lacks a member, or has a wrong one"),
    "digits": (lambda said: at(said, "constant").update(reals=["1" * 5000]), "lacks a member, or has a wrong one"),
    "proof": (lambda said: at(said, "known").update(proof="it is so"), "there is no proof 'it is so'"),
    "another proof": (lambda said: at(said, "known").update(proof="softmax"), "makes another array"),
    "proof of another": (lambda said: at(said, "known").update(of=0), "makes another array|of an axis"),
    "function": (lambda said: at(said, "function").update(fraction=60), "exp gives at most 24 bits after the point"),
    "name": (lambda said: said.update(outputs=[["a\nb", 0]]), "outputs are not names"),
    "far point": (lambda said: pushed(said), "has 9016 bits after the point"),
    "not canonical": (lambda said: said["nodes"].append(said["nodes"][0] | {"name": "z"}), "not written as its own"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_bad_texts_are_refused_in_a_sentence(name: str) -> None:
    change, sentence = CHANGES[name]
    said = json.loads(example())
    change(said)
    with pytest.raises(ProgramError, match=sentence) as caught:
        read(json.dumps(said, sort_keys=True, separators=(",", ":")))
    assert "\n" not in str(caught.value) and str(caught.value).endswith("write it anew with this version of tacit.")


@pytest.mark.parametrize("text", ["{", "{}", "[1]", "{" * 5000, '{"program":1.0}', "{" + '"a":[' * 100000, '{"a":NaN}'])
def test_what_is_no_program_is_refused(text: str) -> None:
    with pytest.raises(ProgramError, match="the text is no program"):
        read(text)


def test_a_bound_that_is_only_said_is_not_believed() -> None:
    """A text says of a sum what is proved of a mean: the reader proves it, and finds another array."""
    said = json.loads(written(trace(lambda x: x.sum(axis=0) / 2, {"x": INPUTS["x"]}, Settings())))
    last = len(said["nodes"]) - 1
    said["nodes"].append({"op": "known", "args": [last], "of": 0, "parameters": [0], "proof": "mean"})
    said["outputs"] = [["result", last + 1]]
    at(said, "sum")["axis"] = 1
    with pytest.raises(ProgramError, match="makes another array"):
        read(json.dumps(said, sort_keys=True, separators=(",", ":")))


def test_random_changes_are_refused_or_make_a_program() -> None:
    """Whatever stands in a text, reading ends with a program or with a sentence."""
    draw = Random(SEED)
    base = [written(trace(centred, INPUTS, Settings()))]
    base += [written(trace(CASES[name], {k: declaration(VALUES[k]) for k in taken}, Settings())) for name, taken in (
        ("index", ["x"]), ("searchsorted right", ["s"]), ("softmax", ["x"]), ("repeat of matrix", ["x"]),
    )]  # fmt: skip
    refused = 0
    for _ in range(400):
        said = json.loads(draw.choice(base))
        for _ in range(draw.randint(1, 2)):
            mutate(said, draw)
        try:
            read(json.dumps(said, sort_keys=True, separators=(",", ":")))
        except ProgramError:
            refused += 1
    assert refused > 200


def mutate(said: Any, draw: Random) -> None:
    """Change one value somewhere."""
    where = said
    while True:
        keys = list(where) if isinstance(where, dict) else range(len(where))
        if not keys:
            return
        key = draw.choice(list(keys))
        if isinstance(where[key], dict | list) and where[key] and draw.random() < 0.95:
            where = where[key]
            continue
        where[key] = draw.choice([0, 1, 2, -1, 7, 63, 1 << 80, -(1 << 200), None, True, "x", "", [], {}, [[]], "1/3"])
        return


def test_small_factors_have_many_bits_after_the_point() -> None:
    def small(x: Any) -> Any:
        return x * 2.0**-500, x * 1.7e-300, x / 2**70

    same_after_reading(trace(small, {"x": INPUTS["x"]}, Settings()))


def test_random_numbers_have_a_size() -> None:
    said = json.loads(written(trace(lambda x: np.random.uniform(size=3) + x[0], {"x": INPUTS["x"]}, Settings())))
    at(said, "sample")["bits"] = 1 << 100
    with pytest.raises(ProgramError, match="random numbers have 1 to 62 bits"):
        read(json.dumps(said, sort_keys=True, separators=(",", ":")))


def test_text_of_large_public_arrays_is_short() -> None:
    def scaled(x: Any) -> Any:
        return x + numpy.zeros((100, 100))

    assert len(same_after_reading(trace(scaled, {"x": Declared((100, 100), "int8")}, Settings()))) < 2000
