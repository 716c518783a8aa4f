"""A program's instructions in clear, by themselves: what an engine does, with nothing of the graph but the JSON."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy

from tacit.plan.programs.evaluation import FUNCTIONS, Integers
from tacit.plan.programs.operations import Convolve
from tacit.plan.programs.quotients import quotient
from tacit.plan.programs.windows import convolved

JSON = dict[str, Any]
SIZES = ("size", "window", "stride", "padding")


def evaluate(nodes: list[JSON], given: list[Integers], coin: Random) -> list[Integers]:
    """The integers of all nodes. Each is checked against its bounds, and against its ring before bits are cut off."""
    found: list[Integers] = []
    for node in nodes:
        args = [found[place] for place in node["args"]]
        value = numpy.asarray(_value(node, args, [nodes[place] for place in node["args"]], given, coin), dtype=object)
        assert value.shape == tuple(node["shape"]), (node, value.shape)
        low, high = int(node["low"]), int(node["high"])
        assert all(low <= each <= high for each in value.reshape(-1).tolist()), (node, value)
        found.append(_within(node, value))
    return found


def _within(node: JSON, value: Integers) -> Integers:
    most = 2 if node["ring"] == 1 else 1 << node["ring"] - 2
    assert all(abs(each) < most for each in value.reshape(-1).tolist()), (node, value)
    return value


def _value(node: JSON, args: list[Integers], of: list[JSON], given: list[Integers], coin: Random) -> Any:
    match node["op"]:
        case "input":
            return given[node["index"]]
        case "constant":
            return numpy.array([int(each) for each in node["values"]], dtype=object).reshape(node["shape"])
        case "multiply" | "matmul" | "convolve":
            product = _product(node, *args)
            return _cut(_within(node, numpy.asarray(product, dtype=object)), node["cut"], node["floor"], coin)
        case "truncate":
            return _cut(args[0], node["bits"], node["floor"], coin)
        case "floor":
            return args[0] >> node["bits"]
        case "shift":
            return args[0] << node["bits"]
        case "function":
            return _each(lambda x: _function(node, of[0], x), args[0])
        case "divide":
            extra = node["fraction"] + of[1]["fraction"] - of[0]["fraction"]
            bits = max(abs(int(node["low"])), abs(int(node["high"]))).bit_length()
            x, y = numpy.broadcast_arrays(*args)
            pairs = zip(x.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True)
            cut = lambda a, count: a << -count if count <= 0 else a >> count  # noqa: E731 # as quotient takes it
            return _shaped([quotient(a, b, extra, bits, cut) for a, b in pairs], x.shape)
        case _:
            return _plain(node, args)


def _product(node: JSON, a: Integers, b: Integers) -> Integers:
    match node["op"]:
        case "multiply":
            return numpy.asarray(a * b)
        case "matmul":
            return numpy.asarray(numpy.matmul(a, b))
        case _:
            sizes = [(int(each[0]), int(each[1])) for each in (node[name] for name in SIZES)]
            return convolved(Convolve(node["gives"], *sizes), a, b)


def _function(node: JSON, of: JSON, x: int) -> int:
    return round(FUNCTIONS[node["name"]](x / 2 ** of["fraction"]) * 2 ** node["fraction"])


def _cut(values: Integers, bits: int, floor: bool, coin: Random) -> Integers:
    if bits == 0:
        return values
    up = 0 if floor else 1
    return _each(lambda x: (x >> bits) + up * int(coin.randrange(1 << bits) < x & (1 << bits) - 1), values)


def _each(function: Any, values: Integers) -> Integers:
    return _shaped([function(each) for each in values.reshape(-1).tolist()], values.shape)


def _shaped(values: list[int], shape: tuple[int, ...]) -> Integers:
    found = numpy.empty(len(values), dtype=object)
    found[:] = values
    return found.reshape(shape)


def _plain(node: JSON, args: list[Integers]) -> Any:
    a, axis, b = args[0], node.get("axis"), args[-1]
    match node["op"]:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "negate":
            return -a
        case "sum":
            return numpy.sum(a, axis=axis, initial=0)
        case "cumulative_sum":
            return numpy.cumsum(a, axis=axis)
        case "less":
            return (a < b).astype(int)
        case "equal":
            return (a == b).astype(int)
        case "outside":
            return ((a < int(node["from"])) | (a > int(node["to"]))).astype(int)
        case "not":
            return 1 - a
        case "both":
            return a * b
        case "either":
            return a + b - a * b
        case "differ":
            return a + b - 2 * a * b
        case "select":
            return a * args[1] + (1 - a) * b
        case "maximum":
            return numpy.maximum(a, b)
        case "minimum":
            return numpy.minimum(a, b)
        case "clip":
            return numpy.minimum(numpy.maximum(a, args[1]), b)
        case "absolute":
            return abs(a)
        case "floor_divide":
            return a // b
        case "largest":
            return numpy.max(a, axis=axis)
        case "smallest":
            return numpy.min(a, axis=axis)
        case "place":
            return numpy.argmax(a if node["largest"] else -a, axis=axis)
        case "sort":
            return numpy.sort(a, axis=axis)
        case "order":
            return numpy.argsort(a, axis=axis, kind="stable")
        case "reshape":
            return a.reshape(node["shape"])
        case "broadcast":
            return numpy.broadcast_to(a, node["shape"])
        case "transpose":
            return a.transpose(node["axes"])
        case "slice":
            return a[tuple(slice(start, None if stop < 0 else stop, step) for start, stop, step in node["ranges"])]
        case "take":
            return numpy.take(a, numpy.array(node["positions"], dtype=int), axis=axis)
        case "concatenate":
            return numpy.concatenate(args, axis=axis)
        case "widen" | "narrow" | "count":
            return a
        case other:
            raise AssertionError(f"no engine knows {other}")
