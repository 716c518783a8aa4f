"""Asking a person at a terminal before something runs that cannot be taken back."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from tacit.agent.faults import Fault, RunError

YES = ("y", "yes")


def question(what: str, *, yes: bool, quiet: bool) -> Callable[[Sequence[str]], None]:
    """What asks whether ``what`` is to be done. It takes the account, which it shows if nothing else has been shown.

    yes: do not ask. quiet: the account has not been shown. The question raises RunError unless the answer is yes.
    """

    def ask(account: Sequence[str]) -> None:
        if yes or not _can_be_asked():
            return
        shown = [f"{line}\n" for line in account] if quiet else []
        sys.stderr.write("".join([*shown, f"{what}? [y/N] "]))
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in YES:
            raise RunError(Fault.INTERRUPTED, "nothing has run: the answer was not y.")

    return ask


def _can_be_asked() -> bool:
    """Whether a person at a terminal reads and answers. A command in the background would be stopped by a question."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (AttributeError, OSError, ValueError):  # there is no standard input
        return False
