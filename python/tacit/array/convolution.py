"""Convolutions of images, private and public: one communication each, whatever windows add up."""

from __future__ import annotations

from typing import Any

import numpy

from tacit.array.private import PrivateArray
from tacit.array.ufuncs import operands
from tacit.plan.programs import products
from tacit.plan.programs.operations import Convolve
from tacit.plan.programs.refusals import OutOfDomain
from tacit.plan.programs.windows import convolved


def convolve(operation: Convolve, a: Any, b: Any) -> Any:
    """A convolution or one of its gradients, of private arrays or of NumPy's own."""
    if isinstance(a, PrivateArray) or isinstance(b, PrivateArray):
        graph, (x, y) = operands(a, b)
        return PrivateArray(graph, products.convolve(graph, operation, x, y))
    return convolved(operation, numpy.asarray(a), numpy.asarray(b))


def conv2d(x: Any, weight: Any, stride: Any = 1, padding: Any = 0) -> Any:
    """The cross-correlation of images (images, channels, height, width) with filters, as networks have it.

    weight: (filters, channels, height, width). stride, padding: of rows and columns, one number or two; padding is
    zeros on each side. Returns (images, filters, height, width). Raises OutOfDomain where shapes do not fit.
    """
    shapes = numpy.shape(x), numpy.shape(weight)
    if [len(shape) for shape in shapes] != [4, 4]:
        raise OutOfDomain(
            f"conv2d takes images and filters of four axes, not of shapes {shapes[0]} and {shapes[1]}; reshape them."
        )
    (_, _, *size), (filters, channels, *window) = shapes
    sizes = (size[0], size[1]), (window[0], window[1]), _pair(stride), _pair(padding)
    return convolve(Convolve("outputs", *sizes), x, numpy.reshape(weight, (filters, channels * window[0] * window[1])))


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (int(value[0]), int(value[1]))
