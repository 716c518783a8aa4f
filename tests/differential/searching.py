"""Generated questions, one after another, each with a seed that repeats it.

`make test` asks the same questions every time, `make nightly` new ones. TACIT_SEED=<number> fixes them all, and
TACIT_QUESTION=<seed of a question> asks that one alone.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from .chance import Chance
from .queries import Question, question
from .worlds import THREE, Members, worlds

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SEED = int(os.environ.get("TACIT_SEED", random.SystemRandom().randrange(2**32) if NIGHTLY else 1))
ONE = os.environ.get("TACIT_QUESTION")

Draw = Callable[[Chance], Members]
"""Who takes part in a world."""


def search(
    run: Callable[[Question], None],
    examples: int,
    *,
    each: int = 1,
    seed: int | str = SEED,
    who: Draw = lambda chance: THREE,
) -> None:
    """Run so many questions. each: questions over one world."""
    for at in range(examples):
        name = f"{seed}.{at // each}"
        if at % each == 0:
            world = worlds(Chance(name), who(Chance(f"{name}.who")))
        asked = question(world, f"{name}/{at % each}")
        if ONE in (None, asked.seed):
            _one(run, asked)


def _one(run: Callable[[Question], None], asked: Question) -> None:
    try:
        run(asked)
    except BaseException as error:
        error.add_note(f"{asked!r}\nRepeat with TACIT_QUESTION={asked.seed}")
        raise
