"""What a private array cannot do, and what to write instead: one sentence each."""

from __future__ import annotations

from tacit.plan.programs.refusals import ProgramError

BRANCH = (
    "a private value cannot decide which way a program goes, for everybody would see it go; write "
    "np.where(condition, a, b), or count with np.sum(condition)."
)
ITERATE = (
    "a private array cannot be iterated over; write the operation on the whole array, or x[i] for i in range(len(x)), "
    "whose length is public."
)
NUMBER = (
    "a private value is no Python number, for that would reveal it; compute with the array itself and reveal the "
    "result at the end."
)
INDEX = (
    "a private value cannot be a position, for everybody would see which element is read; write np.where, or a "
    "product with the one-hot vector positions == np.arange(n)."
)
MASK = (
    "a private mask cannot select elements, for their number would be revealed; write np.where(mask, x, 0), and "
    "np.sum(mask) for their number."
)
CONVERT = (
    "a private array cannot become a NumPy array before it is revealed; call functions on it directly, and make arrays "
    "that it is put into with tacit.numpy."
)
OUT = "out= must be the one private array that is changed; write y = f(x) instead."
VIEW = (
    "an array that shares its elements with another one that is still used cannot be changed in place; write "
    "y = x[...].copy() before, or make a new array."
)
CAST = "an array of integers or bits cannot take numbers with a point in place; write y = x.astype(np.float64) before."
POSITIONS = "np.where with a condition alone would reveal positions; write np.where(condition, a, b)."
WHERE = "where= of a NumPy function is not supported; write np.where(condition, f(x), other)."


def refused(sentence: str, line: int | None = None) -> ProgramError:
    """The error of a sentence."""
    return ProgramError(sentence, line)


def unknown(name: str, line: int | None = None) -> ProgramError:
    """The error of a function that private arrays do not have."""
    return ProgramError(f"np.{name} is not supported on private arrays; docs/numpy.md lists what is.", line)


LOOP = (
    "a private condition cannot decide how often a loop runs, for everybody would see it; write a loop over a public "
    "range, and np.where inside."
)
WORDS = "`and`, `or` and `not` need a public truth; write {better}."
CHAIN = "a chain of comparisons needs a public truth; write (a < x) & (x < b)."
BUILTIN = "Python's {name} iterates over its argument, and a private array cannot be; write np.{better} instead."
