"""Products of matrices, and what is made of them, as nodes: each is one communication, whatever it adds up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import prod

from tacit.plan.programs import shapes
from tacit.plan.programs.arithmetic import add, counted, kept_of, multiply
from tacit.plan.programs.facts import norm1
from tacit.plan.programs.formats import Product, product, truncated
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.infer_convolution import Sizes, sizes_of
from tacit.plan.programs.inference import column_norms
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Convolve, MatMul
from tacit.plan.programs.public import Operand, Public, factor
from tacit.plan.programs.reductions import total
from tacit.plan.programs.refusals import OutOfDomain, TooWide
from tacit.plan.programs.shaping import part, reshape, transpose

PARTS = (2, 4, 8, 16)
"""Into how many parts a long sum may be split."""


def _matmul(graph: Graph) -> Product:
    return lambda a, b: graph.make(MatMul(), a, b)


def matmul(graph: Graph, a: Operand, b: Operand) -> Node:
    """a @ b."""
    a, b = counted(graph, a), counted(graph, b)
    shapes.product_of(_shape(a), _shape(b))
    if isinstance(b, Public):
        assert isinstance(a, Node)
        right = factor(graph, b, a.array, norm1(a.array), relative=False)
        return product(graph, _matmul(graph), a, right.node, right.kept)
    if isinstance(a, Public):
        left = factor(graph, a, b.array, column_norms(b)[0], relative=False)
        return product(graph, _matmul(graph), left.node, b, left.kept)
    kept = kept_of(a, b)
    inner = a.array.columns
    along = Along(inner, (len(a.array.shape) - 1, max(len(b.array.shape) - 2, 0)), (1, 1), inner)
    return _split(graph, _matmul(graph), a, b, kept, along) or product(graph, _matmul(graph), a, b, kept)


def _shape(a: Operand) -> tuple[int, ...]:
    return a.array.shape if isinstance(a, Node) else a.shape


def convolve(graph: Graph, operation: Convolve, a: Operand, b: Operand) -> Node:
    """A convolution of images by filters, or one of its gradients."""
    a, b = counted(graph, a), counted(graph, b)
    sizes = sizes_of(operation, _shape(a), _shape(b))
    multiply: Product = lambda x, y: graph.make(operation, x, y)  # noqa: E731
    if isinstance(b, Public):
        assert isinstance(a, Node)
        right = factor(graph, b, a.array, sizes.terms * a.array.largest, relative=False)
        return product(graph, multiply, a, right.node, right.kept)
    if isinstance(a, Public):
        reach = norm1(b.array) if operation.gives == "outputs" else sizes.terms * b.array.largest
        left = factor(graph, a, b.array, reach, relative=False)
        return product(graph, multiply, left.node, b, left.kept)
    kept = kept_of(a, b)
    return _split(graph, multiply, a, b, kept, _along(sizes)) or product(graph, multiply, a, b, kept)


def _along(sizes: Sizes) -> Along:
    """Channels, images or filters: what a convolution adds up along."""
    match sizes.operation.gives:
        case "outputs":
            return Along(sizes.channels, (1, 1), (1, prod(sizes.operation.window)), sizes.terms)
        case "filters":
            return Along(sizes.images, (0, 0), (1, 1), sizes.terms)
        case "images":
            return Along(sizes.filters, (0, 1), (1, 1), sizes.terms)


@dataclass(frozen=True)
class Along:
    """What a product adds up along. axes: of both operands. each: how many places of them are one. terms: of a sum."""

    length: int
    axes: tuple[int, int]
    each: tuple[int, int]
    terms: int


def _split(graph: Graph, multiply: Product, a: Node, b: Node, kept: int | None, along: Along) -> Node | None:
    """A long sum in parts, each cut off by itself, where it fits 64 bits only so."""
    if kept is None or 128 in (a.array.ring, b.array.ring) or _fits(multiply, a, b):
        return None
    for count in PARTS:
        if count >= along.length:
            return None
        try:
            return _sum_of_parts(graph, multiply, a, b, kept, along, count)
        except TooWide:
            continue
    return None


def _fits(multiply: Product, a: Node, b: Node) -> bool:
    try:
        multiply(a, b)
    except TooWide:
        return False
    return True


def _sum_of_parts(graph: Graph, multiply: Product, a: Node, b: Node, kept: int, along: Along, count: int) -> Node:
    cuts = pairwise(along.length * each // count for each in range(count + 1))
    pieces = [
        multiply(
            *(
                part(graph, node, axis, start * each, stop * each)
                for node, axis, each in zip((a, b), along.axes, along.each, strict=True)
            )
        )
        for start, stop in cuts
    ]
    short = [truncated(graph, piece, piece.array.fraction - kept) for piece in pieces]
    found = reduce(lambda x, y: add(graph, x, y), short)
    graph.notes[found.number] = f"a sum of {along.terms} products in {len(pieces)} parts, to fit 64 bits"
    return found


def dot(graph: Graph, a: Operand, b: Operand) -> Node:
    """np.dot: of numbers *, of vectors and matrices @."""
    if not _shape(a) or not _shape(b):
        return multiply(graph, a, b)
    if len(_shape(a)) > 2 or len(_shape(b)) > 2:
        raise OutOfDomain("np.dot takes vectors and matrices here; write np.matmul or np.einsum for more axes.")
    return matmul(graph, a, b)


def einsum(graph: Graph, text: str, arrays: list[Node]) -> Node:
    """np.einsum of one array or more: two by two, each pair as one product of matrices."""
    inputs, output = _subscripts(text, [len(each.array.shape) for each in arrays])
    labels, found = inputs[0], arrays[0]
    for place in range(1, len(arrays)):
        later = "".join(inputs[place + 1 :]) + output
        found, labels = _pair(graph, found, labels, arrays[place], inputs[place], later)
    found, labels = _summed(graph, found, labels, output)
    return transpose(graph, found, [labels.index(label) for label in output])


def _subscripts(text: str, dimensions: list[int]) -> tuple[list[str], str]:
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = left.split(",")
    counted_ = {label: left.count(label) for label in left if label != ","}
    output = right if arrow else "".join(sorted(label for label, count in counted_.items() if count == 1))
    plain = all(len(set(each)) == len(each) for each in [*inputs, output])
    if "." in text or not plain or [len(each) for each in inputs] != dimensions or not set(output) <= set(left):
        raise OutOfDomain(f"einsum takes {text!r} here only with one letter for each axis, each once an array.")
    return inputs, output


def _summed(graph: Graph, a: Node, labels: str, wanted: str) -> tuple[Node, str]:
    """An array summed over the labels that are not wanted."""
    for label in [each for each in labels if each not in wanted]:
        a = total(graph, a, labels.index(label))
        labels = labels.replace(label, "")
    return a, labels


def _pair(graph: Graph, a: Node, x: str, b: Node, y: str, later: str) -> tuple[Node, str]:
    """Two arrays as one: what both have and is wanted later is a batch, what both have else is summed over."""
    a, x = _summed(graph, a, x, y + later)
    b, y = _summed(graph, b, y, x + later)
    batch = [label for label in x if label in y and label in later]
    inner = [label for label in x if label in y and label not in later]
    left, right = [label for label in x if label not in y], [label for label in y if label not in x]
    sizes = dict(zip(x, a.array.shape, strict=True)) | dict(zip(y, b.array.shape, strict=True))
    lengths = [_size(sizes, each) for each in (left, inner, right)]
    front = [sizes[label] for label in batch]
    first = reshape(graph, _ordered(graph, a, x, batch + left + inner), [*front, lengths[0], lengths[1]])
    second = reshape(graph, _ordered(graph, b, y, batch + inner + right), [*front, lengths[1], lengths[2]])
    out = batch + left + right
    return reshape(graph, matmul(graph, first, second), [sizes[label] for label in out]), "".join(out)


def _size(sizes: dict[str, int], labels: list[str]) -> int:
    return reduce(lambda count, label: count * sizes[label], labels, 1)


def _ordered(graph: Graph, a: Node, labels: str, wanted: list[str]) -> Node:
    return transpose(graph, a, [labels.index(label) for label in wanted])
