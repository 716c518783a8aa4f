"""Programs on a federation's arrays, from Python: a NumPy function, called with arrays that nobody may see.

    x = federation.private("hospital_a", "features")

    @federation.program
    def mean(x): return x.mean(axis=0)

    mean(x).reveal(to="hospital_a")

Nothing runs before ``reveal``. What a program gives may be an argument of another one, and nobody sees it then. Called
with NumPy's own arrays, the function gives the clear result.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy

from tacit.agent.array_answer import ArrayAnswer, check_file
from tacit.agent.diagnosis import as_run_error
from tacit.agent.explanation import PredictedCost
from tacit.agent.faults import Fault, RunError
from tacit.agent.federation import Federation
from tacit.agent.local_run import Run
from tacit.agent.own_files import check_not_own, own_files
from tacit.agent.owned import OwnedArray
from tacit.array.operands import numpy_dtype
from tacit.array.program import Arguments, Part, Program
from tacit.plan import StepCost, explain_text
from tacit.plan.account.arrays_text import array_text
from tacit.plan.account.notebook import Explanation, Sentences, facts_html, listing_html
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.cost import total
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.policy.programs import program_hash
from tacit.plan.programs.graph import Settings
from tacit.plan.programs.identity import digest
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.text import described
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


class FederatedProgram:
    """A function of arrays. Called with owners' arrays it is a question; with NumPy's own it gives the clear result.

    Results of other programs, not yet revealed, are arguments as owners' arrays are.
    """

    def __init__(self, connection: Asking, function: Callable[..., Any], settings: Settings) -> None:
        self.connection = connection
        self.function = function
        self.settings = settings
        self.__name__ = getattr(function, "__name__", "program")
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The clear result, or a Pending one of owners' arrays."""
        if any(isinstance(each, OwnedArray | Pending) for each in (*args, *options.values())):
            return self._asked(args, options)
        return self.function(*args, **options)

    def __repr__(self) -> str:
        return f"program {self.__name__}{inspect.signature(self.function)}, {_settings(self.settings)}"

    def _repr_html_(self) -> str:
        known = {"arguments": str(inspect.signature(self.function)), "numbers": _settings(self.settings)}
        if self.__doc__:
            known["computes"] = inspect.cleandoc(self.__doc__).splitlines()[0]
        return facts_html(f"program {self.__name__}", known)

    def explain(self, *args: Any, to: To = None, **options: Any) -> Explanation:
        """What the program computes, what owners' rules say of it, what each party would learn, and its cost."""
        return self._asked(args, options).explain(to)

    def cost(self, *args: Any, to: To = None, **options: Any) -> PredictedCost:
        """The predicted cost of a run."""
        return self._asked(args, options).cost(to)

    def check(self, *args: Any, to: To = None, **options: Any) -> Sentences:
        """What was rewritten, and by which rules owners allow the program. Raises a tacit.Error where it cannot run."""
        return self._asked(args, options).check(to)

    @as_run_error()
    def _asked(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> Pending:
        signature = inspect.signature(self.function)
        try:
            bound = signature.bind(*args, **options)
        except TypeError as error:
            raise ProgramError(f"{error}; the program is {self.__name__}{signature}.") from error
        for name in bound.arguments:
            if bound.signature.parameters[name].kind not in NAMED:
                raise ProgramError(f"{self.__name__} has an argument {name} without a name; write `def f(x, y)`.")
        inputs = {name: each for name, each in bound.arguments.items() if isinstance(each, OwnedArray)}
        pending = {name: each for name, each in bound.arguments.items() if isinstance(each, Pending)}
        public = {name: each for name, each in bound.arguments.items() if name not in inputs and name not in pending}
        if not inputs and not pending:
            raise ProgramError(f"{self.__name__} is given no owner's array; `private` of the federation names one.")
        declared = {part: said for name, each in inputs.items() for part, (said, _) in each.inputs(name).items()}
        arguments = _arguments(inputs)
        parts = {name: self._part(name, each, inputs, bound.arguments) for name, each in pending.items()}
        program = Program(self.function, declared, self.settings, public, arguments, parts=parts)
        return Pending(self.connection, program, inputs)

    def _part(self, name: str, given: Pending, inputs: dict[str, OwnedArray], taken: Mapping[str, Any]) -> Part:
        """A result of another program as an argument. inputs: gets the arrays that it needs, and each has one name."""
        if given.program.settings != self.settings:
            raise ProgramError(
                f"{self.__name__} has {_settings(self.settings)}, and its argument {name} comes from a program with "
                f"{_settings(given.program.settings)}; give both the same."
            )
        names: dict[str, str] = {}
        for own, array in given.inputs.items():
            found = next((known for known, each in inputs.items() if each == array), None)
            if found is None:
                found = own
                while found in inputs or found in taken:
                    found = f"{name}_{found}"
                inputs[found] = array
            names |= zip(array.inputs(own), array.inputs(found), strict=True)
        return Part(given.program, names)


def _arguments(inputs: Mapping[str, OwnedArray]) -> Arguments:
    """How the arguments that are arrays of owners, or rows of queries, are made of what a program reads."""
    own = dict(inputs)

    def assembled(given: Mapping[str, Any]) -> dict[str, Any]:
        return {name: each.assembled(name, given) for name, each in own.items()}

    return Arguments({name: each.shape for name, each in own.items()}, assembled)


def _settings(settings: Settings) -> str:
    return f"{settings.fraction} bits after the point, rounding {settings.rounding}"


@dataclass(frozen=True, eq=False)
class Pending:
    """A program with its arrays, of which nothing has run. inputs: by their names in the program.

    Its shape and type are public. Its elements nobody has: another program may take it, and computes it then, too.
    """

    connection: Asking
    program: Program
    inputs: Mapping[str, OwnedArray]

    def __repr__(self) -> str:
        listed = ", ".join(each.name for each in self.inputs.values())
        return f"{self.program.__name__} of {listed}, not yet revealed"

    def _repr_html_(self) -> str:
        """What goes in and comes out, without any element. A refusal is part of it."""
        said = {name: (f"{each.offered.owner}.{each.offered.name}", array_text(each.offered))
                for name, each in self.inputs.items()}  # fmt: skip
        rows = [("input", name, of, known) for name, (of, known) in said.items()]
        try:
            with as_run_error():
                outputs = self.program.traced.outputs
        except RunError as error:
            rows.append(("refused", "", "", str(error)))
        else:
            rows += [("result", name, "nobody has it yet", described(node.array)) for name, node in outputs.items()]
        return listing_html(repr(self), ("", "name", "of", "what is public"), rows)

    @property
    def shape(self) -> tuple[int, ...]:
        """The public shape of the one array that the program gives."""
        return self._one.array.shape

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's type of its elements."""
        return numpy_dtype(self._one.array.dtype)

    @property
    def _one(self) -> Node:
        with as_run_error():
            traced = self.program.traced
            if traced.form != "array":
                raise ProgramError(f"{self.program.__name__} gives {len(traced.outputs)} arrays; ask for one of them.")
            return traced.outputs["result"]

    def _refuse(self, *args: Any, **options: Any) -> NoReturn:
        """NumPy's functions do not take it, and it is no array of NumPy."""
        problem = f"what {self.program.__name__} gives is not revealed, and nobody has it"
        raise RunError(Fault.INPUT, f"{problem}; compute on it in a function with @federation.program, or reveal it.")

    __array__ = __array_ufunc__ = __array_function__ = __iter__ = _refuse

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
        answer = self.answer(to, file, stacklevel=3)
        return None if answer is None else self.program.traced.returned(answer.arrays)

    def answer(self, to: To = None, file: Path | str | None = None, *, stacklevel: int = 2) -> ArrayAnswer | None:
        """As reveal, but the arrays by their names, with what each party learnt, the plan and the cost of the run."""
        plan = self.connection.plan(self.text, to)
        if file is not None:
            check_file(Path(file), plan)
            federation = self.connection.federation
            check_not_own(Path(file), own_files(federation.members, federation.privates.values()))
        done = self.connection.run(plan)
        if done.unrecorded is not None:
            warnings.warn(str(done.unrecorded), RuntimeWarning, stacklevel=stacklevel)
        if file is not None and done.arrays is not None:
            try:
                done.arrays.write(file)
            except OSError as error:
                problem = f"{file}: cannot be written ({error.strerror})"
                warnings.warn(problem, RuntimeWarning, stacklevel=stacklevel)
        return done.arrays

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

    def cost(self, to: To = None) -> PredictedCost:
        """See ``FederatedProgram.cost``. It is the same whether owners allow the program or not."""
        with as_run_error():
            return PredictedCost(**vars(total(self.connection.predict(self._unruled(to)))))

    def check(self, to: To = None) -> Sentences:
        """See ``FederatedProgram.check``."""
        plan = self.connection.plan(self.text, to)
        allowed = [f"{each.owner} allows: {each.sentence}" for each in plan.ruling.allowances]
        return Sentences([*self.program.rewrites, *allowed])

    def _unruled(self, to: To) -> PlacedPlan:
        """The plan without owners' rules, for its cost alone."""
        federation = self.connection.federation
        catalog = self.connection.catalog()
        arrays = tuple(replace(each, terms=None) for each in catalog.arrays)
        tables = tuple(replace(each, terms=None) for each in catalog.tables)
        recipients = (to,) if isinstance(to, str) else tuple(to or federation.recipients)
        return compile_query(self.text, replace(catalog, arrays=arrays, tables=tables), recipients)
