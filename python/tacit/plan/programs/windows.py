"""Convolutions and their gradients in clear, of floating-point numbers or of Python's integers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy
from numpy.lib.stride_tricks import sliding_window_view

from tacit.plan.programs.infer_convolution import Sizes, sizes_of
from tacit.plan.programs.operations import Convolve

Values = numpy.ndarray[Any, Any]


def convolved(operation: Convolve, a: Values, b: Values) -> Values:
    """What the operation gives of two arrays. Raises OutOfDomain where their shapes do not fit it."""
    sizes = sizes_of(operation, a.shape, b.shape)
    match operation.gives:
        case "outputs":
            rows: Values = numpy.matmul(_windows(sizes, a), b.T)
            return rows.reshape(sizes.images, *sizes.outputs, sizes.filters).transpose(0, 3, 1, 2)
        case "filters":
            gradient = b.transpose(1, 0, 2, 3).reshape(sizes.filters, -1)
            slopes: Values = numpy.matmul(gradient, _windows(sizes, a))
            return slopes
        case "images":
            return _spread(sizes, a, b)


def _windows(sizes: Sizes, images: Values) -> Values:
    """What filters cover in all channels: (images x outputs, channels x elements of a window)."""
    operation = sizes.operation
    rows, columns = operation.padding
    padded = numpy.pad(images, ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    all_places = sliding_window_view(padded, operation.window, axis=(2, 3))
    found = all_places[:, :, :: operation.stride[0], :: operation.stride[1]].transpose(0, 2, 3, 1, 4, 5)
    return found.reshape(sizes.images * prod(sizes.outputs), sizes.channels * prod(operation.window))


def _spread(sizes: Sizes, filters: Values, gradient: Values) -> Values:
    """The gradient of images: what each output adds to the pixels that its window covers."""
    operation = sizes.operation
    (rows, columns), (height, width) = operation.padding, operation.size
    shape = sizes.images, sizes.channels, height + 2 * rows, width + 2 * columns
    found = numpy.zeros(shape, dtype=numpy.result_type(filters, gradient))
    by_place = filters.reshape(sizes.filters, sizes.channels, *operation.window)
    flat = gradient.reshape(sizes.images, sizes.filters, -1)
    for i in range(operation.window[0]):
        for j in range(operation.window[1]):
            added = numpy.matmul(by_place[:, :, i, j].T, flat).reshape(shape[0], shape[1], *sizes.outputs)
            ends = [
                at + (count - 1) * step + 1
                for at, count, step in zip((i, j), sizes.outputs, operation.stride, strict=True)
            ]
            found[:, :, i : ends[0] : operation.stride[0], j : ends[1] : operation.stride[1]] += added
    return found[:, :, rows : rows + height, columns : columns + width]
