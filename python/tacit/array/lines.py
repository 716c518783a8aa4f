"""Which line of the program is running, and whose mistake an exception in it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, TracebackType

import numpy

from tacit.plan.programs.source_lines import Line

_TACIT = str(Path(__file__).parents[1])
_OURS = (_TACIT, str(Path(numpy.__file__).parent))


def current_line() -> Line | None:
    """The line of the nearest caller outside tacit and NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_OURS):
            return Line(frame.f_lineno, cell(frame.f_code))
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None


def cell(code: CodeType) -> str:
    """The cell of a notebook that has code, as IPython names it: "cell In[2]". Empty elsewhere."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    named = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if named is None else named(code.co_filename)
    return "" if found is None else f"cell {found[1]}"


def line_of(error: BaseException) -> Line | None:
    """The last line outside tacit and NumPy that an exception came through, from where it is caught on."""
    found = None
    for step in _steps(error):
        if not step.tb_frame.f_code.co_filename.startswith(_OURS):
            found = Line(step.tb_lineno, cell(step.tb_frame.f_code))
    return found


def is_of_tacit(error: BaseException) -> bool:
    """Whether an exception comes from code of tacit, and not from that of a program and of what it calls."""
    ours = False
    for step in _steps(error):
        name = step.tb_frame.f_code.co_filename
        if not name.startswith(_OURS):
            ours = False
        elif name.startswith(_TACIT):
            ours = True
    return ours


def _steps(error: BaseException) -> Iterator[TracebackType]:
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next
