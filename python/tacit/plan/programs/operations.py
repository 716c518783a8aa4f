"""The operations of a program's graph. Each says what it gives; tacit.plan.programs.inference says what is known of it.

Operands of one operation have one number of bits after the point, except those of products, and one ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tacit.plan.programs.dtypes import Dtype
from tacit.plan.programs.facts import Array, Interval, Shape


@dataclass(frozen=True)
class Input:
    """An owner's array, with what is declared of it."""

    name: str
    array: Array


@dataclass(frozen=True)
class Constant:
    """A public array. values: its integers, row by row. reals: what they stand for."""

    array: Array
    values: tuple[int, ...]
    reals: tuple[Fraction, ...]


@dataclass(frozen=True)
class Sample:
    """Numbers that the nodes draw together and nobody knows: bits / 2^fraction. number: no two samples are the same."""

    number: int
    shape: Shape
    bits: int
    fraction: int


@dataclass(frozen=True)
class Add:
    """a + b."""


@dataclass(frozen=True)
class Subtract:
    """a - b."""


@dataclass(frozen=True)
class Negate:
    """-a."""


@dataclass(frozen=True)
class Multiply:
    """a * b, with the bits after the point of both: nothing is cut off. A factor may be of bits."""


@dataclass(frozen=True)
class MatMul:
    """a @ b, with the bits after the point of both. One communication, whatever the inner length."""


Gives = Literal["outputs", "filters", "images"]
Pair = tuple[int, int]
"""A height and a width, or rows and columns."""


@dataclass(frozen=True)
class Convolve:
    """A convolution of images and filters, or a gradient of one, with the bits after the point of both operands.

    Images and outputs are (images, channels, height, width), filters (filters, channels x height x width of a window):
    a row each, not flipped. gives: "outputs" of images and filters; the gradient of "filters" from images and that of
    the outputs; the gradient of "images" from filters and that of the outputs. size, window: of an image and a filter.
    padding: zeros on each side. One communication, however many terms.
    """

    gives: Gives
    size: Pair
    window: Pair
    stride: Pair
    padding: Pair


@dataclass(frozen=True)
class Truncate:
    """The last bits cut off: rounded down if floor, else down or up, with a mean error of zero."""

    bits: int
    floor: bool


@dataclass(frozen=True)
class Floor:
    """The integer below X / 2^bits, as a number without bits after the point."""

    bits: int


@dataclass(frozen=True)
class Shift:
    """The same numbers with more bits after the point."""

    bits: int


@dataclass(frozen=True)
class Scale:
    """Numbers divided by 2^bits: the point moves, the integers stay."""

    bits: int


@dataclass(frozen=True)
class Cast:
    """The same integers under the name of another type. They must be numbers that NumPy's type has."""

    dtype: Dtype


@dataclass(frozen=True)
class Widen:
    """The same integers in the ring of 128 bits."""


@dataclass(frozen=True)
class Narrow:
    """The same integers in the ring of 64 bits."""


@dataclass(frozen=True)
class Sum:
    """The sum along an axis."""

    axis: int


@dataclass(frozen=True)
class CumulativeSum:
    """The sums of the first elements along an axis."""

    axis: int


@dataclass(frozen=True)
class Less:
    """Whether a < b."""


@dataclass(frozen=True)
class Equal:
    """Whether a == b."""


@dataclass(frozen=True)
class Not:
    """Whether a bit is not set."""


@dataclass(frozen=True)
class Both:
    """Whether two bits are set."""


@dataclass(frozen=True)
class Either:
    """Whether one of two bits is set."""


@dataclass(frozen=True)
class Differ:
    """Whether two bits differ."""


@dataclass(frozen=True)
class Count:
    """Bits as the integers 0 and 1."""


@dataclass(frozen=True)
class Select:
    """The second operand where the first is set, the third elsewhere."""


@dataclass(frozen=True)
class Maximum:
    """The larger of two."""


@dataclass(frozen=True)
class Minimum:
    """The smaller of two."""


@dataclass(frozen=True)
class Absolute:
    """abs(a)."""


@dataclass(frozen=True)
class Largest:
    """The largest along an axis."""

    axis: int


@dataclass(frozen=True)
class Smallest:
    """The smallest along an axis."""

    axis: int


@dataclass(frozen=True)
class Place:
    """The position of the largest, or of the smallest, along an axis: the first of equal ones."""

    axis: int
    largest: bool


@dataclass(frozen=True)
class Sort:
    """Elements in ascending order along an axis."""

    axis: int


@dataclass(frozen=True)
class Order:
    """The positions that sort an axis; equal elements stay in their order."""

    axis: int


@dataclass(frozen=True)
class Reshape:
    """The same elements in another shape."""

    shape: Shape


@dataclass(frozen=True)
class Transpose:
    """Axes in another order."""

    axes: tuple[int, ...]


@dataclass(frozen=True)
class Broadcast:
    """An array repeated along new axes and those of length one."""

    shape: Shape


@dataclass(frozen=True)
class Slice:
    """Every step-th element from a start to before a stop, for each axis. A stop of -1 is before element 0."""

    ranges: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Take:
    """The elements at public positions along an axis."""

    positions: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class Concatenate:
    """Arrays one behind the other along an axis."""

    axis: int


FunctionName = Literal["exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "erf", "sin", "cos"]


@dataclass(frozen=True)
class Function:
    """A function of every element. fraction: bits after the point of its result."""

    name: FunctionName
    fraction: int


@dataclass(frozen=True)
class Divide:
    """a / b for b of one sign. fraction: bits after the point of the quotient."""

    fraction: int


@dataclass(frozen=True)
class FloorDivide:
    """a // b for integers with b > 0."""


@dataclass(frozen=True)
class Known:
    """The same array, of which algebra knows more than its operations tell. why: the fact's name.

    exact: bounds of what real arithmetic gives. error, near: what they are instead of what the operations tell.
    """

    why: str
    low: int
    high: int
    row_sum: Interval | None = None
    one_hot: bool = False
    error: Fraction | None = None
    exact: tuple[Fraction, Fraction] | None = None
    near: bool | None = None
    norm2: int | None = None


@dataclass(frozen=True)
class Check:
    """The same array, checked to be within bounds. One bit for all checks of a run is opened at its end."""

    low: int
    high: int


Bilinear = MatMul | Convolve
Logic = Less | Equal | Not | Both | Either | Differ | Count | Select
Arithmetic = Add | Subtract | Negate | Multiply | Maximum | Minimum | Absolute | Function | Divide | FloorDivide
Format = Truncate | Floor | Shift | Scale | Cast | Widen | Narrow | Known | Check
Shaping = Reshape | Transpose | Broadcast | Slice | Take | Concatenate
Along = Sum | CumulativeSum | Largest | Smallest | Place | Sort | Order
Operation = Input | Constant | Sample | Bilinear | Logic | Arithmetic | Format | Shaping | Along
