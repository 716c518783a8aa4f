"""What is known of convolutions and their gradients: what is known of the products of matrices that windows make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tacit.plan.programs.facts import Array, Shape, norm1, norm2
from tacit.plan.programs.infer_along import bare
from tacit.plan.programs.infer_arithmetic import matmul
from tacit.plan.programs.limits import MOST_ELEMENTS
from tacit.plan.programs.operations import Convolve
from tacit.plan.programs.refusals import OutOfDomain


@dataclass(frozen=True)
class Sizes:
    """The sizes of a convolution that its operation does not say: how many there are of each, and outputs' pixels."""

    operation: Convolve
    images: int
    channels: int
    filters: int
    outputs: tuple[int, ...]

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of images, filters and outputs."""
        return {
            "images": (self.images, self.channels, *self.operation.size),
            "filters": (self.filters, self.channels * prod(self.operation.window)),
            "outputs": (self.images, self.filters, *self.outputs),
        }

    @property
    def terms(self) -> int:
        """How many products are summed for one element, at most."""
        operation = self.operation
        match operation.gives:
            case "outputs":
                return self.channels * prod(operation.window)
            case "filters":
                return self.images * prod(self.outputs)
            case "images":
                over = (-(-of // step) for of, step in zip(operation.window, operation.stride, strict=True))
                return self.filters * prod(over)


def sizes_of(operation: Convolve, a: Shape, b: Shape) -> Sizes:
    """The sizes for operands of two shapes. Raises OutOfDomain where they do not fit the operation, or each other."""
    gives = operation.gives
    if min(*operation.size, *operation.window, *operation.stride) < 1:
        raise OutOfDomain("a convolution needs images, windows and strides of at least 1; leave out what is empty.")
    if (len(a), len(b)) != {"outputs": (4, 2), "filters": (4, 4), "images": (2, 4)}[gives]:
        raise _unfit(operation, a, b)
    filters = {"outputs": b[0], "filters": b[1], "images": a[0]}[gives]
    images, channels = (b[0], a[1] // prod(operation.window)) if gives == "images" else a[:2]
    along = zip(operation.size, operation.padding, operation.window, operation.stride, strict=True)
    outputs = tuple((size + 2 * zeros - window) // stride + 1 for size, zeros, window, stride in along)
    found = Sizes(operation, images, channels, filters, outputs)
    taken = [shape for name, shape in found.shapes.items() if name != gives]
    if min(outputs) < 1 or [a, b] != taken:
        raise _unfit(operation, a, b)
    _check_room(found)
    return found


def _unfit(operation: Convolve, a: Shape, b: Shape) -> OutOfDomain:
    return OutOfDomain(
        f"a convolution of images of {operation.size} with windows of {operation.window}, strides of "
        f"{operation.stride} and zeros of {operation.padding} around them does not take arrays of shapes {a} and {b}; "
        "reshape them."
    )


def _check_room(sizes: Sizes) -> None:
    """Refuse images that are too large with the zeros around them, or outputs spread over the images with theirs."""
    operation = sizes.operation
    pairs = list(zip(operation.size, operation.padding, operation.window, strict=True))
    padded = sizes.images * sizes.channels * prod(size + 2 * zeros for size, zeros, _ in pairs)
    spread = sizes.images * sizes.filters * prod(size + window - 1 for size, _, window in pairs)
    if max(padded, spread) > MOST_ELEMENTS:
        raise OutOfDomain(
            f"a convolution's images have more than {MOST_ELEMENTS:,} elements with the zeros around them; take fewer "
            "images at a time."
        )


def convolve(operation: Convolve, a: Array, b: Array) -> Array:
    """A convolution, or a gradient of one."""
    sizes = sizes_of(operation, a.shape, b.shape)
    terms = sizes.terms
    match operation.gives:
        case "outputs":
            found = matmul(_row(a, terms, any(operation.padding)), _column(b, terms), norm1(b), norm2(b))
        case "filters":
            found = matmul(_row(b, terms), _column(a, terms, any(operation.padding)), *_norms(a, terms))
        case "images":
            found = matmul(_row(a, terms), _column(b, terms, True), *_norms(b, terms))
    return replace(found, shape=sizes.shapes[operation.gives])


def _row(array: Array, terms: int, zeros: bool = False) -> Array:
    """Elements of an array side by side. zeros: whether some may be zeros around the array."""
    found = replace(bare(array), shape=(1, terms))
    return replace(found, low=min(found.low, 0), high=max(found.high, 0)) if zeros else found


def _column(array: Array, terms: int, zeros: bool = False) -> Array:
    return replace(_row(array, terms, zeros), shape=(terms, 1))


def _norms(array: Array, terms: int) -> tuple[int, int]:
    return terms * array.largest, terms * array.largest**2
