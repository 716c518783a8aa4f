"""Owners' arrays, and tables whose columns are arrays, as Python names them: what is public of them and no element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

import numpy

from tacit.agent.diagnosis import as_run_error
from tacit.agent.faults import Fault, RunError
from tacit.array.declared import Declared
from tacit.plan.account.arrays_text import array_text, elements_text, number_text, shape_text
from tacit.plan.account.notebook import facts_html
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.table_arrays import numbers, table_array
from tacit.plan.programs.identity import Source


@dataclass(frozen=True)
class OwnedArray:
    """An owner's array. Its shape, type and bounds are public; its elements nobody sees but a program."""

    offered: OfferedArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The public shape."""
        return self.offered.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.offered.size

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's type of the elements."""
        return numpy.dtype(self.offered.dtype)

    @property
    def name(self) -> str:
        """Whose array it is, and which."""
        return f"{self.offered.owner}.{self.offered.name}"

    @property
    def declared(self) -> Declared:
        """What its owner declares of it."""
        array = self.offered
        return Declared(array.shape, array.dtype, array.low, array.high, array.row_norm)

    def inputs(self, argument: str) -> dict[str, tuple[Declared, Source]]:
        """What a program reads where an argument of this name is given it: here the array itself."""
        return {argument: (self.declared, Source(self.offered.owner, self.offered.name))}

    def assembled(self, argument: str, given: Mapping[str, Any]) -> Any:
        """The argument, of what a program has read. given: by the names of ``inputs``."""
        return given[argument]

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        """NumPy's functions do not take it, and it is no array of NumPy."""
        problem = f"{self.offered.name} is an array of {self.offered.owner}, whose elements nobody sees"
        raise RunError(Fault.INPUT, f"{problem}; compute on it in a function with @federation.program.")

    __array__ = __array_ufunc__ = __array_function__ = _refuse

    def __repr__(self) -> str:
        return f"{self.name}: {array_text(self.offered)}"

    def _repr_html_(self) -> str:
        array = self.offered
        known = {"owner": array.owner, "shape": shape_text(array), "elements": elements_text(array)}
        if array.row_norm is not None:
            known["norm of a row"] = f"at most {number_text(array.row_norm)}"
        return facts_html(array.name, {**known, "values": "private: nobody sees them but a program"})


@dataclass(frozen=True)
class OwnedTable:
    """An owner's table, whose columns programs may read as arrays."""

    table: Table

    @as_run_error()
    def array(self, *columns: str) -> OwnedArray:
        """Columns side by side: of one column a vector, of several a matrix; by default all that programs may read.

        A row of the table is a row of the array, in the order of its owner's file. Raises a tacit.InputError where the
        number of rows is hidden: ``padded_array`` takes such a table.
        """
        table = self.table
        if not table.exact:
            raise QueryError(
                f"how many rows {table.name} has is hidden below rows in its offer; write x, valid = "
                f"table.padded_array(...), or ask {table.owner} for exact = true."
            )
        return OwnedArray(table_array(table, self._named(columns)))

    @as_run_error()
    def padded_array(self, *columns: str) -> tuple[OwnedArray, OwnedArray]:
        """The same with as many rows as its owner declares at most, and a bit for each row that the table has.

        The other rows come last. They are zero, or what of the declared bounds is nearest to it.
        """
        return OwnedArray(table_array(self.table, self._named(columns))), OwnedArray(table_array(self.table, ()))

    def _named(self, columns: Sequence[str]) -> tuple[str, ...]:
        found = tuple(columns) or numbers(self.table)
        if not found:
            raise QueryError(
                f'no column of {self.table.name} is open to programs; {self.table.owner} writes use = ["program"] at '
                "columns of numbers without NULL."
            )
        return found

    def __repr__(self) -> str:
        return f"{self.table.owner}.{self.table.name}: {', '.join(each.field.name for each in self.table.columns)}"


def owned_table(catalog: Catalog, owner: str, name: str) -> OwnedTable:
    """An owner's table by its name. Raises RunError if there is none."""
    if owner not in catalog.parties:
        raise RunError(Fault.INPUT, f"there is no party {owner!r}; {_perhaps(owner, catalog.parties)}.")
    tables = {each.name: each for each in catalog.tables if each.owner == owner}
    if name not in tables:
        advice = _perhaps(name, [*tables]) if tables else f"it declares [tables.NAME] in offers/{owner}.toml"
        raise RunError(Fault.INPUT, f"{owner} offers no table {name!r}; {advice}.")
    return OwnedTable(tables[name])


def owned_array(catalog: Catalog, owner: str, name: str) -> OwnedArray:
    """An owner's array by its name, or by that of its file. Raises RunError if there is none."""
    if owner not in catalog.parties:
        raise RunError(Fault.INPUT, f"there is no party {owner!r}; {_perhaps(owner, catalog.parties)}.")
    arrays = [each for each in catalog.arrays if each.owner == owner]
    stem = name.removesuffix(".npy")
    found = [each for each in arrays if each.name == name] or [each for each in arrays if each.name == stem]
    found = found or [each for each in arrays if each.path is not None and Path(each.path).stem == stem]
    if len(found) != 1:
        if not arrays:
            raise RunError(Fault.INPUT, f"{owner} offers no array; it declares [arrays.NAME] in offers/{owner}.toml.")
        advice = _perhaps(stem, [each.name for each in arrays])
        raise RunError(Fault.INPUT, f"{owner} offers no array {name!r}; {advice}.")
    return OwnedArray(found[0])


def _perhaps(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"perhaps you mean {near[0]}" if near else f"there is {', '.join(known)}"
