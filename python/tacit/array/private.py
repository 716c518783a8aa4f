"""A private array inside a program that is traced: it has a shape and a type, and nobody may see its elements.

NumPy's functions take it by NumPy's own protocols (NEP 13 and NEP 18); its operators are NumPy's.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy
from numpy.lib.mixins import NDArrayOperatorsMixin

from tacit.array import teaching
from tacit.array.lines import current_line
from tacit.array.operands import clear, numpy_dtype
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node

UFUNCS: dict[Any, Callable[..., PrivateArray]] = {}
"""What NumPy's universal functions do with private arrays; tacit.array.ufuncs fills it."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""What NumPy's other functions, and Python's own for elements, do with private arrays; this room's files fill it."""

NAMESPACES: list[ModuleType] = []
"""The one namespace of the Array API standard for private arrays."""

REDUCTIONS: dict[Any, Any] = {
    numpy.add: numpy.sum,
    numpy.multiply: numpy.prod,
    numpy.maximum: numpy.max,
    numpy.minimum: numpy.min,
    numpy.logical_and: numpy.all,
    numpy.logical_or: numpy.any,
}


ACTIVE: ContextVar[Graph | None] = ContextVar("ACTIVE", default=None)
"""The graph of the program that is being traced."""


class Family:
    """Private arrays that share elements: one may be changed in place only while no other is used."""

    def __init__(self) -> None:
        self.members: weakref.WeakSet[PrivateArray] = weakref.WeakSet()


class PrivateArray(NDArrayOperatorsMixin):
    """An array of a traced program. Everything but its shape and type is private."""

    def __init__(self, graph: Graph, node: Node, family: Family | None = None) -> None:
        self.graph = graph
        self.node = node
        self.family = family or Family()
        self.family.members.add(self)
        self.part_of: tuple[PrivateArray, Any] | None = None

    # --- what is public ----------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The public shape."""
        return self.node.array.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.node.array.size

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's type of the elements."""
        return numpy_dtype(self.node.array.dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"PrivateArray(shape={self.shape}, dtype={self.dtype})"

    def __hash__(self) -> int:
        return id(self)

    # --- NumPy's protocols -------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """A universal function of NumPy."""
        out = options.pop("out", None)
        if options.pop("where", True) is not True:
            raise teaching.refused(teaching.WHERE, current_line())
        if method == "reduce" and ufunc in REDUCTIONS:
            return self._into(out, REDUCTIONS[ufunc](*inputs, **{"axis": 0, **options}))
        if method == "outer" and ufunc in UFUNCS and len(inputs) == 2:
            return self._into(out, UFUNCS[ufunc](*_outer(*inputs)))
        options.pop("dtype", None)
        if method != "__call__" or ufunc not in UFUNCS or options:
            raise teaching.unknown(ufunc.__name__, current_line())
        return self._into(out, UFUNCS[ufunc](*inputs))

    def _into(self, out: Any, found: PrivateArray) -> PrivateArray:
        if out is None:
            return found
        if not (isinstance(out, tuple) and len(out) == 1 and isinstance(out[0], PrivateArray)):
            raise teaching.refused(teaching.OUT, current_line())
        if found.dtype.kind == "f" and out[0].dtype.kind != "f":
            raise teaching.refused(teaching.CAST, current_line())
        if out[0].shape == () == found.shape:
            return found  # NumPy's scalars never change: x += 1 makes another one.
        out[0].replace(found if found.shape == out[0].shape else found._call(numpy.broadcast_to, out[0].shape))
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """Another function of NumPy."""
        if function not in FUNCTIONS:
            raise teaching.unknown(function.__name__, current_line())
        return FUNCTIONS[function](*args, **options)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """The namespace of the Array API standard."""
        return NAMESPACES[0]

    # --- elements ----------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> PrivateArray:
        found = FUNCTIONS[operator.getitem](self, key)
        assert isinstance(found, PrivateArray)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        written = isinstance(value, PrivateArray) and value.part_of is not None and value.part_of[0] is self
        if written and value.part_of[1] == key:
            return  # x[key] += y: Python changes the part in place before it assigns it.
        self.replace(FUNCTIONS[operator.setitem](self, key, value))

    def replace(self, other: PrivateArray) -> None:
        """Take another array's elements in place of its own; the array that it is a part of takes them too."""
        whole = None if self.part_of is None else self.part_of[0]
        stale = [each for each in self.family.members if each is not self and each is not whole]
        if stale or (whole is not None and whole.part_of is not None):
            raise teaching.refused(teaching.VIEW, current_line())
        self.node = other.node
        if self.part_of is not None:
            base, key = self.part_of
            base.node = FUNCTIONS[operator.setitem](base, key, other).node

    def view(self, node: Node, key: Any = None) -> PrivateArray:
        """An array that shares elements with this one: those at a key of it, if one is given."""
        found = PrivateArray(self.graph, node, self.family)
        found.part_of = None if key is None else (self, key)
        return found

    # --- what would reveal -------------------------------------------------------------------------------------------

    @property
    def public(self) -> numpy.ndarray[Any, Any] | None:
        """The elements, where all of them are public: of np.zeros, until private ones are put into it."""
        return clear(self.node)

    def _revealed(self, sentence: str) -> numpy.ndarray[Any, Any]:
        found = self.public
        if found is None:
            raise teaching.refused(sentence, current_line())
        return found

    def __bool__(self) -> bool:
        return bool(self._revealed(teaching.BRANCH))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._revealed(teaching.ITERATE))

    def __float__(self) -> float:
        return float(self._revealed(teaching.NUMBER))

    def __int__(self) -> int:
        return int(self._revealed(teaching.NUMBER))

    def __complex__(self) -> complex:
        return complex(self._revealed(teaching.NUMBER))

    def item(self) -> Any:
        """One public number."""
        return self._revealed(teaching.NUMBER).item()

    def tolist(self) -> Any:
        """Public numbers."""
        return self._revealed(teaching.NUMBER).tolist()

    def __index__(self) -> int:
        return operator.index(self._revealed(teaching.INDEX).item())

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray[Any, Any]:
        return numpy.array(self._revealed(teaching.CONVERT), dtype=dtype)

    # --- methods that are NumPy's functions --------------------------------------------------------------------------

    @property
    def T(self) -> PrivateArray:
        """The transpose."""
        return self.transpose()

    @property
    def mT(self) -> PrivateArray:
        """The transpose of the last two axes."""
        return self._call(numpy.matrix_transpose)

    def _call(self, function: Any, *args: Any, **options: Any) -> PrivateArray:
        found = FUNCTIONS[function](self, *args, **options)
        assert isinstance(found, PrivateArray)
        return found

    def transpose(self, *axes: Any) -> PrivateArray:
        """Axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return self._call(numpy.transpose, order)

    def reshape(self, *shape: Any) -> PrivateArray:
        """The same elements in another shape."""
        return self._call(numpy.reshape, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> PrivateArray:
        """One axis."""
        return self._call(numpy.ravel)

    def flatten(self) -> PrivateArray:
        """One axis, of other elements."""
        return self.ravel().copy()

    def copy(self) -> PrivateArray:
        """Elements of its own."""
        return PrivateArray(self.graph, self.node)

    def astype(self, dtype: Any, copy: bool = True) -> PrivateArray:
        """Another type."""
        return self._call(numpy.astype, dtype, copy=copy)


def _outer(a: Any, b: Any) -> tuple[Any, Any]:
    return numpy.reshape(a, (*numpy.shape(a), *(1,) * numpy.ndim(b))), b


def _method(function: Any) -> Callable[..., Any]:
    def call(self: PrivateArray, *args: Any, **options: Any) -> Any:
        return FUNCTIONS[function](self, *args, **options)

    call.__name__ = function.__name__
    call.__doc__ = f"numpy.{function.__name__} of the array."
    return call


for _function in (
    numpy.sum, numpy.prod, numpy.mean, numpy.var, numpy.std, numpy.cumsum, numpy.min, numpy.max, numpy.argmin,
    numpy.argmax, numpy.argsort, numpy.clip, numpy.dot, numpy.repeat, numpy.squeeze, numpy.swapaxes, numpy.take,
    numpy.all, numpy.any, numpy.trace, numpy.searchsorted,
):  # fmt: skip
    setattr(PrivateArray, _function.__name__, _method(_function))
