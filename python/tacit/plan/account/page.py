"""The page that people approve and sign: who asks, who gets what, what besides, what the nodes see, and nothing else.

Its order is the same for every question. What engineers need follows it, apart (tacit.plan.account.explain).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from tacit.plan.account.learnt import DECIDED, dropping, no_answer, nothing_new
from tacit.plan.account.phrases import deciding, listed, plain
from tacit.plan.account.programs import question
from tacit.plan.account.statement import Answered, Output, Statement, statement
from tacit.plan.physical.placed import PlacedPlan
from tacit.plan.programs.reading import program_of

WIDTH = 100
MOST_NAME = 48
"""Columns of a page for names; longer ones move what is said of them to the right."""
GETS_TITLE = "Who gets what"
BESIDES_TITLE = "What else anybody learns"
TECHNICAL = "For engineers: how it runs, and what it costs"


def page(plan: PlacedPlan) -> list[str]:
    """The page's lines."""
    found = statement(plan)
    sections = [
        ("Who asks", _asks(plan, found)),
        (GETS_TITLE, dropping(plan) or _gets(found)),
        (BESIDES_TITLE, [] if dropping(plan) else _besides(found)),
        ("What the nodes see", items(found.nodes_see)),
    ]
    shown = [line for title, lines in sections if lines for line in (title, *indented(lines), "")]
    return [*shown, found.closing]


def _asks(plan: PlacedPlan, found: Statement) -> list[str]:
    """Who takes part, and the question's own text, marked at the left so that nothing in it passes for the page."""
    program = program_of(plan.query)
    keeps = plan.query.removesuffix(program or "")
    asked = plan.query if program is None else "\n".join([*([keeps.strip()] if keeps else []), *question(program)])
    return [*wrapped(_part(found)), "", *quoted(asked)]


def _part(found: Statement) -> str:
    to = f"{listed(found.recipients)} {_gets_or_get(found.recipients)} the answer. " if found.recipients else ""
    if len(found.parties) < 2:
        return f"{to}Nobody else takes part."
    return f"{to}{listed(found.parties)} take part: nothing runs unless each of them starts this question."


def _gets_or_get(parties: tuple[str, ...]) -> str:
    return "gets" if len(parties) == 1 else "get"


def quoted(query: str) -> list[str]:
    """A question's text. Signs that nobody sees are written as escapes."""
    first, _, rest = query.strip().partition("\n")
    lines = [line.rstrip() for line in (first, *textwrap.dedent(rest).splitlines())]
    return [f"| {part}" for line in lines for part in _cut(plain(line))]


def _cut(line: str) -> list[str]:
    """A line that is too wide goes on in the next one."""
    kept = textwrap.wrap(line, WIDTH - 4, replace_whitespace=False, break_on_hyphens=False)
    return [part.rstrip() for part in kept] or [""]


def _gets(found: Statement) -> list[str]:
    if found.answer is None:
        return [*wrapped(no_answer(found)), *_keeps(found)]
    answer = found.answer
    who = f"{listed(answer.recipients)} {_gets_or_get(answer.recipients)}"
    what = answer.rows if answer.each_row == "element" else f"a table, {answer.rows}"
    lines = [*wrapped(f"{who} {what}{_most(answer)}:"), *_outputs(answer.outputs)]
    if answer.beyond:
        also = (
            f"{who} these numbers too, which the answer alone does not tell; {listed(answer.divided)} is computed from"
        )
        lines += ["", *wrapped(f"{also} them:"), *_outputs(answer.beyond)]
    lines += _deciding(DECIDED[answer.each_row], deciding(answer.decided_by, answer.recipients))
    return [*lines, "", *items([*answer.notes, *(f"Allowed by {each}." for each in answer.allowed)])]


def _keeps(found: Statement) -> list[str]:
    """What nodes keep as shares. Later questions may open what it is made of."""
    if not found.keeps:
        return []
    columns = ["", *wrapped("The nodes keep, as shares:"), *_outputs(found.keeps)]
    allowed = items(f"Allowed by {each}." for each in found.keeps_allowed)
    return [*columns, *_deciding(DECIDED["row"], deciding(found.keeps_rows, ())), *([""] * bool(allowed)), *allowed]


def _deciding(title: str, columns: Sequence[tuple[str, str]]) -> list[str]:
    return ["", *wrapped(f"{title}:"), *_table(columns)] if columns else []


def _most(answer: Answered) -> str:
    """How many values these are at most."""
    if answer.most_values is None or answer.most_values < 2:
        return ""
    return f" ({answer.most_values:,} values at most)"


def _outputs(outputs: tuple[Output, ...]) -> list[str]:
    """A column a line, and under it the rules that allow it."""
    allowed = {plain(each.name): each.allowed for each in outputs}
    return _table([(plain(each.name), each.made_of) for each in outputs], allowed)


def _table(rows: Sequence[tuple[str, str]], below: Mapping[str, tuple[str, ...]] = MappingProxyType({})) -> list[str]:
    """Names, and what is said of each. below: what is said beneath, by the name."""
    width = min(max(len(name) for name, _ in rows), MOST_NAME)
    rest = " " * (width + 4)
    lines = []
    for name, said in rows:
        lines += wrapped(said, f"  {name.ljust(width)}  ", rest)
        lines += [line for each in below.get(name, ()) for line in wrapped(f"allowed by {each}", rest, rest + "  ")]
    return lines


def _besides(found: Statement) -> list[str]:
    nothing = ["Nothing but the sizes that everybody knows."] if found.sizes else ["Nothing."]
    told = [each.sentence for each in found.besides] or nothing
    return items([*told, *nothing_new(found), *found.sizes, *found.kept])


def items(sentences: Iterable[str]) -> list[str]:
    """A list of the page."""
    return [line for each in sentences for line in wrapped(each, "- ", "  ")]


def indented(lines: Iterable[str]) -> list[str]:
    """What stands below a title."""
    return [f"  {line}".rstrip() for line in lines]


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """A paragraph of the page."""
    return textwrap.wrap(text, WIDTH - 2, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def technical_title() -> str:
    """A line between the page and what engineers need."""
    return f"{f' {TECHNICAL} ':-^{WIDTH}}"


def hash_line(plan_hash: str) -> str:
    """The last line."""
    return f"Plan hash {plan_hash}"
