"""The answer of a program: NumPy's arrays, on their way from a party's process to who asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from tacit.agent.cost import Cost
from tacit.agent.durable import whole_file
from tacit.agent.faults import Fault, RunError
from tacit.agent.own_files import check_place
from tacit.agent.proof import Proof
from tacit.plan import learnt
from tacit.plan.account.notebook import facts_html, learnt_html
from tacit.plan.physical.disclosure import Disclosure
from tacit.plan.physical.placed import PlacedPlan, ResultStep

if TYPE_CHECKING:
    import numpy

    Values = numpy.ndarray[Any, Any]

FILES = (".npy", ".npz")
MEMBER = re.compile(r"\w+")
"""Names of results in a file: whoever unpacks it gets files of these names, and has not chosen them."""


@dataclass(frozen=True)
class ArrayAnswer:
    """What a program has revealed. arrays: by their names. cost: predicted and actual, step by step.

    proof: who has signed the run.
    """

    arrays: Mapping[str, Values]
    plan: PlacedPlan
    cost: Cost
    proof: Proof | None = None

    @property
    def disclosures(self) -> tuple[Disclosure, ...]:
        """Everything that any party learnt besides its own input, as data."""
        return self.plan.disclosures

    @property
    def learnt(self) -> tuple[str, ...]:
        """The same in sentences, also about parties that learnt nothing."""
        return learnt(self.plan)

    def _repr_html_(self) -> str:
        shown = {name: f"{_shape(array)}, {array.dtype}\n{array}" for name, array in self.arrays.items()}
        return facts_html("revealed", shown) + learnt_html(self.learnt)

    def write(self, path: Path | str) -> None:
        """Write one array to a .npy file, or one or several to a .npz file, by their names. ``numpy.load`` reads both.

        A certificate is written beside it, FILE.tacit.json, which `tacit verify FILE` checks. The file appears whole or
        not at all. Raises RunError for another file, OSError if it cannot be written.
        """
        import numpy

        path = Path(path)
        check_file(path, self.plan)
        with whole_file(path) as whole:
            if path.suffix == ".npy":
                (array,) = self.arrays.values()
                with whole.open("wb") as file:
                    numpy.save(file, array, allow_pickle=False)
            else:
                with ZipFile(whole, "w") as archive:
                    for name, array in self.arrays.items():
                        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                            numpy.lib.format.write_array(member, numpy.asarray(array), allow_pickle=False)
        if self.proof is not None:
            self.proof.certify(path)


def _shape(array: Values) -> str:
    return "one number" if not array.shape else "array of " + " x ".join(f"{each:,}" for each in array.shape)


def check_file(path: Path, plan: PlacedPlan) -> None:
    """Refuse a file that the arrays of a program are not written to, before it runs. Raises RunError."""
    names = _names(plan)
    if path.suffix not in FILES:
        raise RunError(Fault.INPUT, f"{path}: name it .npy for one array, or .npz for one or several.")
    if path.suffix == ".npy" and len(names) > 1:
        raise RunError(
            Fault.INPUT, f"{path}: a .npy file has one array, and the program gives {len(names)}; name it .npz."
        )
    odd = [name for name in names if not MEMBER.fullmatch(name)]
    if path.suffix == ".npz" and odd:
        problem = f"the result {odd[0]!r} has no name for a file"
        raise RunError(Fault.INPUT, f"{path}: {problem}; name it with letters, digits and _ in the program.")
    check_place(path)


def _names(plan: PlacedPlan) -> list[str]:
    """The names of a program's results, in order."""
    return [each.name for step in plan.steps if isinstance(step, ResultStep) for each in step.arrays]


def gives_arrays(plan: PlacedPlan) -> bool:
    """Whether a plan is that of a program."""
    return any(isinstance(step, ResultStep) for step in plan.steps)


def save_arrays(arrays: Mapping[str, Values], path: Path) -> None:
    """Write a recipient's arrays, in their order, to a new file."""
    import numpy

    with path.open("xb") as file:
        numpy.savez(file, *arrays.values())


def load_arrays(path: Path, plan: PlacedPlan) -> dict[str, Values]:
    """The arrays of such a file, by the names that the plan has for them."""
    import numpy

    with numpy.load(path, allow_pickle=False) as found:
        return {name: found[f"arr_{place}"] for place, name in enumerate(_names(plan))}
