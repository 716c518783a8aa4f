"""Convolutions and pooling of images.

Images are arrays of (images, channels, height, width), kernels are pairs (height, width). A convolution is the field's
cross-correlation: kernels are not flipped. Pools gather elements at public positions, which sends nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy

import tacit.array.namespace as np
from tacit.array.convolution import convolve as convolved
from tacit.plan.programs.operations import Convolve, Gives, Pair
from tacit.plan.programs.refusals import ProgramError

OUTSIDE = -1
"""The position of what lies in the padding."""


@dataclass(frozen=True)
class Grid:
    """Where kernels stand on an image. padding: rows and columns added (top, left, bottom, right)."""

    size: Pair
    kernel: Pair
    stride: Pair = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilation: Pair = (1, 1)

    @property
    def output(self) -> Pair:
        """The height and width of the result. Raises ProgramError if no kernel fits the image."""
        ends = (self.padding[0] + self.padding[2], self.padding[1] + self.padding[3])
        found = tuple(
            (size + end - dilation * (kernel - 1) - 1) // stride + 1
            for size, end, dilation, kernel, stride in zip(
                self.size, ends, self.dilation, self.kernel, self.stride, strict=True
            )
        )
        if min(found) < 1:
            raise ProgramError(
                f"a kernel of {self.kernel} does not fit an image of {self.size}; use a smaller one, or padding."
            )
        return found[0], found[1]


@lru_cache(maxsize=64)
def gathered(grid: Grid) -> numpy.ndarray[Any, Any]:
    """Positions in an image of what each kernel covers: (places of kernels, elements of a kernel)."""
    rows, columns = (_covered(grid, axis) for axis in (0, 1))
    found = rows[:, None, :, None] * grid.size[1] + columns[None, :, None, :]
    outside = (rows < 0)[:, None, :, None] | (columns < 0)[None, :, None, :]
    return numpy.where(outside, OUTSIDE, found).reshape(prod(grid.output), prod(grid.kernel))


def _covered(grid: Grid, axis: int) -> numpy.ndarray[Any, Any]:
    """Positions along an axis: (places of kernels, elements of a kernel)."""
    starts = numpy.arange(grid.output[axis])[:, None] * grid.stride[axis] - grid.padding[axis]
    found = starts + numpy.arange(grid.kernel[axis])[None, :] * grid.dilation[axis]
    return numpy.where((found >= 0) & (found < grid.size[axis]), found, OUTSIDE)


@lru_cache(maxsize=64)
def scattered(grid: Grid) -> numpy.ndarray[Any, Any]:
    """Which kernel covers an element of the image with each of its own elements: (elements, elements of a kernel)."""
    table = gathered(grid)
    found = numpy.full((prod(grid.size), table.shape[1]), OUTSIDE)
    places, elements = numpy.nonzero(table != OUTSIDE)
    found[table[places, elements], elements] = places
    return found


def taken(x: Any, positions: numpy.ndarray[Any, Any]) -> Any:
    """Elements of the last axis at positions, zeros where they are outside: (..., *shape of positions)."""
    if (positions == OUTSIDE).any():
        zeros = numpy.zeros((*x.shape[:-1], 1))
        x = np.concatenate([x, zeros], axis=-1)
        positions = numpy.where(positions == OUTSIDE, x.shape[-1] - 1, positions)
    return np.take(x, positions, axis=x.ndim - 1)


def convolve(x: Any, weight: Any, grid: Grid) -> Any:
    """The convolution of images. weight: one row a filter, (filters, channels x elements of a kernel).

    Padding that is not the same on both sides is drawn around the images, and a dilated kernel with zeros inside.
    """
    _ = grid.output
    top, left, bottom, right = grid.padding
    padding = top, left
    if (top, left) != (bottom, right):
        x, padding = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right))), (0, 0)
    window = _dilated(grid)
    operation = Convolve("outputs", (x.shape[2], x.shape[3]), window, grid.stride, padding)
    return convolved(operation, x, weight if window == grid.kernel else _with_distances(weight, grid, window))


def _dilated(grid: Grid) -> Pair:
    """The height and width of a kernel with the distances inside."""
    (rows, columns), (height, width) = grid.dilation, grid.kernel
    return rows * (height - 1) + 1, columns * (width - 1) + 1


def _with_distances(weight: Any, grid: Grid, window: Pair) -> Any:
    """Filters with zeros inside."""
    positions = numpy.full(window, OUTSIDE)
    positions[:: grid.dilation[0], :: grid.dilation[1]] = numpy.arange(prod(grid.kernel)).reshape(grid.kernel)
    elements = prod(grid.kernel)
    by_channel = weight.reshape(weight.shape[0], weight.shape[1] // elements, elements)
    return taken(by_channel, positions.reshape(-1)).reshape(weight.shape[0], -1)


def convolve_back(gradient: Any, weight: Any, grid: Grid) -> Any:
    """The gradient of a convolution's images. grid: of a layer, with as much padding on each side and no distances."""
    return convolved(_of_layer("images", grid), weight, gradient)


def convolve_slopes(gradient: Any, x: Any, grid: Grid) -> Any:
    """The gradient of a convolution's filters. grid: of a layer."""
    return convolved(_of_layer("filters", grid), x, gradient)


def _of_layer(gives: Gives, grid: Grid) -> Convolve:
    return Convolve(gives, grid.size, grid.kernel, grid.stride, grid.padding[:2])


def windows(x: Any, grid: Grid) -> Any:
    """What kernels cover in each channel by itself: (images, channels, places, elements of a kernel)."""
    return taken(x.reshape(*x.shape[:2], prod(grid.size)), gathered(grid))


def max_pool(x: Any, grid: Grid) -> Any:
    """The largest of each window. Padding is never the largest: elements of the window stand in its place."""
    table = gathered(grid)
    if (table == OUTSIDE).all(axis=1).any():
        raise ProgramError("a window of a max-pool lies in the padding alone; use less padding.")
    inside = numpy.where(table == OUTSIDE, table.max(axis=1, keepdims=True), table)
    found = np.max(taken(x.reshape(*x.shape[:2], prod(grid.size)), inside), axis=-1)
    return found.reshape(*x.shape[:2], *grid.output)


def average_pool(x: Any, grid: Grid, with_padding: bool = True) -> Any:
    """The mean of each window. with_padding: whether zeros of the padding count."""
    sums = np.sum(windows(x, grid), axis=-1)
    counts = numpy.full(prod(grid.output), prod(grid.kernel))
    if not with_padding:
        counts = (gathered(grid) != OUTSIDE).sum(axis=1)
    size = counts[0] if (counts == counts[0]).all() else counts
    return (sums / float(size) if numpy.ndim(size) == 0 else sums * (1 / size)).reshape(*x.shape[:2], *grid.output)


def average_pool_back(gradient: Any, grid: Grid) -> Any:
    """The gradient of an average pool's input."""
    shares = gradient.reshape(*gradient.shape[:2], prod(grid.output)) / float(prod(grid.kernel))
    return np.sum(taken(shares, scattered(grid)), axis=-1).reshape(*gradient.shape[:2], *grid.size)


def max_pool_back(gradient: Any, x: Any, grid: Grid) -> Any:
    """The gradient of a max-pool's input: that of a window goes to the first of its largest elements."""
    seen = windows(x, grid)
    elements = prod(grid.kernel)
    largest = np.argmax(seen, axis=-1)[..., None] == numpy.arange(elements)
    shares = np.where(largest, gradient.reshape(*gradient.shape[:2], prod(grid.output), 1), 0.0)
    places = scattered(grid)
    position = numpy.where(places == OUTSIDE, OUTSIDE, places * elements + numpy.arange(elements))
    flat = shares.reshape(*gradient.shape[:2], prod(grid.output) * elements)
    return np.sum(taken(flat, position), axis=-1).reshape(*gradient.shape[:2], *grid.size)
