"""Programs on a federation's arrays, from Python: a NumPy function, called with arrays that nobody may see.

    x = federation.private("hospital_a", "features")

    @federation.program
    def mean(x): return x.mean(axis=0)

    mean(x).reveal(to="hospital_a")

Nothing runs before ``reveal``. Called with NumPy's own arrays, the function gives the clear result.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy

from tacit.agent.array_answer import check_file
from tacit.agent.diagnosis import as_run_error
from tacit.agent.explanation import Explanation
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.local_run import Run
from tacit.agent.own_files import check_not_own, own_files
from tacit.array.declared import Declared
from tacit.array.program import Arguments, Program
from tacit.plan import StepCost, explain_text
from tacit.plan.account.arrays_text import array_text
from tacit.plan.algebra.refusals import QueryError
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog, Table
from tacit.plan.facts.table_arrays import numbers, table_array
from tacit.plan.physical.cost import total
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.policy.programs import program_hash
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import Source, digest
from tacit.plan.programs.refusals import ProgramError
from tacit.sql import compile_query

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
"""The kinds of arguments that programs have."""

To = str | Sequence[str] | None
"""Who gets a result; None for the recipients of the federation file."""


class Asking(Protocol):
    """What a tacit.Connection does with a question."""

    federation: Federation

    def catalog(self) -> Catalog:
        """What owners offer, and the kept tables that there are now."""

    def plan(self, query: str, to: To = None) -> PlacedPlan:
        """The placed plan of a text."""

    def predict(self, plan: PlacedPlan) -> tuple[StepCost, ...]:
        """The predicted cost of its secure steps."""

    def run(self, plan: PlacedPlan) -> Run:
        """Run it."""


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


class FederatedProgram:
    """A function of arrays. Called with owners' arrays it is a question; with NumPy's own it gives the clear result."""

    def __init__(self, connection: Asking, function: Callable[..., Any], settings: Settings) -> None:
        self.connection = connection
        self.function = function
        self.settings = settings
        self.__name__ = getattr(function, "__name__", "program")
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The clear result, or a Pending one of owners' arrays."""
        given = (*args, *options.values())
        return self._asked(args, options) if any(isinstance(each, OwnedArray) for each in given) else (
            self.function(*args, **options)
        )  # fmt: skip

    def explain(self, *args: Any, to: To = None, **options: Any) -> Explanation:
        """What the program computes, what owners' rules say of it, what each party would learn, and its cost."""
        return self._asked(args, options).explain(to)

    def cost(self, *args: Any, to: To = None, **options: Any) -> StepCost:
        """The predicted cost of a run."""
        return self._asked(args, options).cost(to)

    def check(self, *args: Any, to: To = None, **options: Any) -> list[str]:
        """What was rewritten, and by which rules owners allow the program. Raises a tacit.Error where it cannot run."""
        return self._asked(args, options).check(to)

    @as_run_error()
    def _asked(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> Pending:
        bound = inspect.signature(self.function).bind(*args, **options)
        for name in bound.arguments:
            if bound.signature.parameters[name].kind not in NAMED:
                raise ProgramError(f"{self.__name__} has an argument {name} without a name; write `def f(x, y)`.")
        private = {name: each for name, each in bound.arguments.items() if isinstance(each, OwnedArray)}
        public = {name: each for name, each in bound.arguments.items() if name not in private}
        if not private:
            raise ProgramError(f"{self.__name__} is given no owner's array; `private` of the federation names one.")
        inputs = {part: said for name, each in private.items() for part, (said, _) in each.inputs(name).items()}
        shapes = {name: each.shape for name, each in private.items()}

        def assembled(given: Mapping[str, Any]) -> dict[str, Any]:
            return {name: each.assembled(name, given) for name, each in private.items()}

        program = Program(self.function, inputs, self.settings, public, Arguments(shapes, assembled))
        return Pending(self.connection, program, private)


@dataclass(frozen=True, eq=False)
class Pending:
    """A program with its arrays, of which nothing has run. inputs: by the names of the function's arguments."""

    connection: Asking
    program: Program
    inputs: Mapping[str, OwnedArray]

    def __repr__(self) -> str:
        listed = ", ".join(each.name for each in self.inputs.values())
        return f"{self.program.__name__} of {listed}, not yet revealed"

    @cached_property
    def text(self) -> str:
        """The program as the one text that all parties read."""
        given = (each.inputs(name) for name, each in self.inputs.items())
        sources = {part: source for inputs in given for part, (_, source) in inputs.items()}
        with as_run_error():
            return self.program.text(sources)

    @property
    def hash(self) -> str:
        """The program's hash, as owners list it in their offers."""
        return program_hash(digest(self.text))

    def reveal(self, to: To = None, file: Path | str | None = None) -> Any:
        """Run the program, and get its result: arrays as the function returns them. None where another party gets it.

        file: a .npy file of one array, or a .npz file of several, which gets the result, too. Its certificate lies
        beside it. Raises a tacit.Error with the cause if any party cannot go on, and warns if a party could not record
        its end, or the file cannot be written.
        """
        plan = self.connection.plan(self.text, to)
        if file is not None:
            check_file(Path(file), plan)
            federation = self.connection.federation
            check_not_own(Path(file), own_files(federation.members, federation.privates.values()))
        done = self.connection.run(plan)
        if done.unrecorded is not None:
            warnings.warn(str(done.unrecorded), RuntimeWarning, stacklevel=2)
        if file is not None and done.arrays is not None:
            try:
                done.arrays.write(file)
            except OSError as error:
                warnings.warn(f"{file}: cannot be written ({error.strerror})", RuntimeWarning, stacklevel=2)
        return None if done.arrays is None else self.program.traced.returned(done.arrays.arrays)

    def explain(self, to: To = None) -> Explanation:
        """See ``FederatedProgram.explain``. A refusal is part of it."""
        with as_run_error():
            said = self.program.explained(self.hash, {name: repr(each) for name, each in self.inputs.items()})
        try:
            plan = self.connection.plan(self.text, to)
        except RunError as error:
            if error.fault is not Fault.POLICY:
                raise
            return Explanation(f"{said}\n{error.sentence}\n")
        return Explanation(f"{said}\n{explain_text(plan, self.connection.predict(plan))}")

    def cost(self, to: To = None) -> StepCost:
        """See ``FederatedProgram.cost``. It is the same whether owners allow the program or not."""
        with as_run_error():
            return total(self.connection.predict(self._unruled(to)))

    def check(self, to: To = None) -> list[str]:
        """See ``FederatedProgram.check``."""
        plan = self.connection.plan(self.text, to)
        allowed = [f"{each.owner} allows: {each.sentence}" for each in plan.ruling.allowances]
        return [*self.program.source.rewrites, *allowed]

    def _unruled(self, to: To) -> PlacedPlan:
        """The plan without owners' rules, for its cost alone."""
        federation = self.connection.federation
        catalog = self.connection.catalog()
        arrays = tuple(replace(each, terms=None) for each in catalog.arrays)
        tables = tuple(replace(each, terms=None) for each in catalog.tables)
        recipients = (to,) if isinstance(to, str) else tuple(to or federation.recipients)
        return compile_query(self.text, replace(catalog, arrays=arrays, tables=tables), recipients)
