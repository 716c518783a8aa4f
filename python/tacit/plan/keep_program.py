"""The way from a program whose results the nodes keep as a table, to its placed plan. Nobody is told anything of them.

    CREATE TABLE name (column, other DECIMAL(18, 4)) AS {the text of a program}

Each result is a column, and each of its elements a row. DECIMALs are whole numbers in the program.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

from tacit.plan.algebra.refusals import InvalidSQL, QueryError
from tacit.plan.algebra.types import Boolean, Decimal, Field, Integer
from tacit.plan.facts.allowances import Ruling
from tacit.plan.facts.arrays import OfferedArray
from tacit.plan.facts.catalog import Catalog
from tacit.plan.physical.kept import About, AboutField
from tacit.plan.physical.operators import Keep
from tacit.plan.physical.placed import KeepStep, PlacedPlan
from tacit.plan.place import KeptAs
from tacit.plan.place_program import place_lowered
from tacit.plan.place_rows import Bind
from tacit.plan.policy.programs import check_kept_program, program_hash
from tacit.plan.program_blocks import in_memory
from tacit.plan.program_steps import Placing
from tacit.plan.programs.facts import Array
from tacit.plan.programs.identity import digest
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.reading import KEEPING
from tacit.plan.programs.refusals import ProgramError
from tacit.plan.taking_part import check_engine, check_queries

COLUMN = re.compile(r"(\w+)(?: DECIMAL\((\d+), (\d+)\))?", re.ASCII)
MOST_DIGITS = 38
LONGEST_NAME = 100
WHOLE = (("INTEGER", 31), ("BIGINT", 63), ("HUGEINT", 127))


def keep_program(query: str, catalog: Catalog, bind: Bind, today: date | None = None) -> PlacedPlan | None:
    """The placed plan of a statement that keeps a program's results; None for any other text. Raises QueryError.

    today: the day by which owners' offers are read, by default this one in UTC.
    """
    found = KEEPING.fullmatch(query)
    if found is None:
        return None
    check_engine(catalog)
    check_queries(catalog)
    kept = KeptAs(found["name"], replace=found["replace"] is not None, single=False)
    _check_name(kept, catalog)
    digits = _digits(found["columns"])
    day = today or datetime.now(UTC).date()
    hash = program_hash(digest(found["program"]))

    def ruled(offered: tuple[OfferedArray, ...]) -> Ruling:
        return check_kept_program(offered, hash, day)

    placing, offered = place_lowered(found["program"], catalog, (), bind, ruled)
    if placing.lowered.checked:
        raise ProgramError("the results of a program that checks bounds are revealed, and not kept; use np.clip.")
    if list(digits) != list(placing.outputs):
        raise InvalidSQL(
            f"the columns of {kept.name} are not the results of the program: {', '.join(placing.outputs)}."
        )
    fields = tuple(_field(name, node.array, digits[name]) for name, node in placing.outputs.items())
    about, rows, ruling = _about(placing, fields, hash), placing.rows, ruled(offered)
    why = rows.joins, rows.slicing, rows.resizing

    def planned(placing: Placing) -> PlacedPlan:
        before, program = placing.computed(one_table=True)
        operator = Keep(program.id + 2, program.id + 1, kept.name, tuple(placing.outputs))
        keep = KeepStep(operator, kept.replace, fields, about, f"{_rows(placing.outputs):,}")
        steps = (*before, program, keep)
        told = placing.announced()
        return PlacedPlan(query, catalog.engine, catalog.nodes, (), steps, told, rows.catalog, *why, ruling=ruling)

    return in_memory(catalog.program_memory, placing, planned)


def _check_name(kept: KeptAs, catalog: Catalog) -> None:
    name = kept.name
    if len(name) > LONGEST_NAME or name[0].isdigit():
        raise InvalidSQL(f"{name!r} cannot name a kept table; use letters, digits and _, at most {LONGEST_NAME}.")
    taken = [*(each.name.lower() for each in catalog.tables), *(each.name.lower() for each in catalog.united)]
    if name.lower() in taken:
        raise InvalidSQL(f"an owner offers a table {name!r}; choose another name.")
    known = [*(each.name.lower() for each in catalog.kept), *(each.lower() for each, _ in catalog.broken)]
    if not kept.replace and name.lower() in known:
        raise InvalidSQL(f"there is a kept table {name!r} already; replace it, or DROP TABLE {name} first.")


def _digits(columns: str) -> dict[str, tuple[int, int] | None]:
    """Precision and scale of each column that is a DECIMAL."""
    found: dict[str, tuple[int, int] | None] = {}
    for name, precision, scale in COLUMN.findall(columns):
        if name in found:
            raise InvalidSQL(f"the column {name} is named twice; name each once.")
        if max(len(precision), len(scale)) > len(str(MOST_DIGITS)):
            raise InvalidSQL(f"the DECIMAL of {name} has more than {MOST_DIGITS} digits; write at most that many.")
        found[name] = (int(precision), int(scale)) if precision else None
    return found


def _field(name: str, array: Array, digits: tuple[int, int] | None) -> Field:
    """The column of a result. Raises QueryError for one that no column holds."""
    if len(array.shape) != 1 or not array.size:
        raise QueryError(f"the result {name} is no vector, and a column of a kept table is one; reshape it.")
    if array.dtype == "bool" and digits is None:
        return Field(name, Boolean(), False)
    if array.fraction or array.dtype in ("bool", "fixed"):
        problem = f"the result {name} is not of whole numbers, as columns of kept tables are shared"
        raise QueryError(f"{problem}; round it to digits behind the point, and write DECIMAL.")
    if digits is not None:
        precision, scale = digits
        if not scale <= precision <= MOST_DIGITS or max(-array.low, array.high) >= 10**precision:
            raise QueryError(f"the result {name} may be from {array.low} to {array.high}, beyond DECIMAL{digits}.")
        return Field(name, Decimal(precision, scale, array.low, array.high), False)
    for sql, bits in WHOLE:
        if -(1 << bits) <= array.low and array.high < 1 << bits:
            return Field(name, Integer(array.low, array.high, sql), False)  # type: ignore[arg-type]  # they are names
    raise QueryError(f"the result {name} may be from {array.low} to {array.high}, which no column holds; use np.clip.")


def _rows(outputs: Mapping[str, Node]) -> int:
    """How many rows the table has. Raises QueryError where results differ in that."""
    sizes = {name: node.array.size for name, node in outputs.items()}
    if len({*sizes.values()}) > 1:
        listed = ", ".join(f"{name} has {size:,} elements" for name, size in sizes.items())
        raise QueryError(f"columns of one table are of one length, and {listed}; keep them in several tables.")
    return next(iter(sizes.values()))


def _about(placing: Placing, fields: tuple[Field, ...], program: str) -> About:
    """What later plans have to know: a column derives from the inputs behind it. That rows are there says nothing.

    program: its hash.
    """
    uses = placing.made_of()
    tables = {use.source.table for each in uses.values() for use in each}
    return About(
        tuple(AboutField(each, (), uses[each.name]) for each in fields),
        (),
        _rows(placing.outputs) == 1,
        (),
        tuple(sorted(placing.given.parties)),
        tuple(sorted(tables)),
        exact=True,
        told=True,
        program=program,
    )
