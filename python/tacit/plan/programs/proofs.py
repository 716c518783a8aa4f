"""The proofs of facts of algebra: what makes an array of which algebra knows more, made again.

Nobody believes such a fact that is written in a text. Its reader makes the array anew, and compares.
"""

from __future__ import annotations

from collections.abc import Callable

from tacit.plan.programs.choleskys import cholesky_factor
from tacit.plan.programs.eigenvalues import eigenvalues, eigenvectors
from tacit.plan.programs.elimination import as_held, rows_within
from tacit.plan.programs.functions import below_largest, softmax, whole_of_powers
from tacit.plan.programs.graph import Graph, Proof
from tacit.plan.programs.inverses import inverse_of_any, inverse_of_positive
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Known
from tacit.plan.programs.orthogonal import orthogonal_factor
from tacit.plan.programs.reductions import centred, mean, root_of_squares, squares_of_distances
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.programs.rotations import share_of_larger

MAKERS: dict[str, tuple[int, Callable[..., Node]]] = {
    "mean": (1, mean),
    "centred": (1, centred),
    "squares_of_distances": (1, squares_of_distances),
    "root_of_squares": (2, root_of_squares),
    "below_largest": (1, below_largest),
    "whole_of_powers": (1, whole_of_powers),
    "rows_within": (2, rows_within),
    "share_of_larger": (1, share_of_larger),
    "softmax": (1, softmax),
    "as_held": (1, as_held),
    "cholesky_factor": (3, cholesky_factor),
    "eigenvalues": (2, eigenvalues),
    "eigenvectors": (3, eigenvectors),
    "inverse_of_any": (3, inverse_of_any),
    "inverse_of_positive": (3, inverse_of_positive),
    "orthogonal_factor": (3, orthogonal_factor),
}
"""By name: how many parameters, the first an axis, and what makes the array."""


def proved(graph: Graph, a: Node, proof: Proof) -> Node:
    """The array that a proof makes, which has to be the given one with a fact."""
    count, make = MAKERS.get(proof.name, (0, None))
    if make is None or len(proof.parameters) != count:
        raise ProgramError(f"there is no proof {proof.name[:40]!r} with {len(proof.parameters)} parameters.")
    if not 0 <= proof.parameters[0] < len(proof.of.array.shape) or min(proof.parameters[1:], default=1) < 1:
        raise ProgramError(f"the proof {proof.name!r} is of an axis that its array does not have, or divides by zero.")
    if proof.of.is_public:
        raise ProgramError(f"the proof {proof.name!r} is of public numbers, which NumPy computes.")
    found = make(graph, proof.of, *proof.parameters)
    if not isinstance(found.operation, Known) or found.args != (a,):
        raise ProgramError(f"the proof {proof.name!r} makes another array.")
    graph.proofs[found.number] = proof
    return found
