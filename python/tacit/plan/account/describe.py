"""Steps in words, for explain."""

from __future__ import annotations

from dataclasses import replace

from tacit.plan.account.clauses import SIGNS, relation_text, window_call
from tacit.plan.facts.kinds import Kind
from tacit.plan.physical import operators as ops
from tacit.plan.physical import values
from tacit.plan.physical.placed import (
    ArrayStep,
    DropStep,
    GuardStep,
    InputStep,
    KeepStep,
    KeptStep,
    KeysStep,
    LocalStep,
    ProgramStep,
    PsiStep,
    ReleaseStep,
    Result,
    ResultStep,
    SecureStep,
    Step,
    TailStep,
)
from tacit.plan.physical.values import Value


def where(step: Step, engine: str) -> str:
    """The place of a step."""
    match step:
        case LocalStep() | ArrayStep():
            return f"local({step.party})"
        case TailStep() | ResultStep():
            return f"local({', '.join(step.recipients)})"
        case PsiStep():
            kind = step.operator.op.replace("_", "-")
            return f"{kind}({', '.join(side.owner for side in step.sides)})"
        case DropStep():
            return f"local({', '.join(step.parties)})"
        case (
            InputStep()
            | KeysStep()
            | KeptStep()
            | SecureStep()
            | ProgramStep()
            | KeepStep()
            | GuardStep()
            | ReleaseStep()
        ):
            return f"mpc({engine})"


def name(step: Step) -> str:
    """The name of a step."""
    match step:
        case LocalStep():
            return f"{step.id}.local"
        case ArrayStep():
            return f"{step.id}.array"
        case TailStep():
            return f"{step.id}.tail"
        case ResultStep():
            return f"{step.id}.result"
        case DropStep():
            return f"{step.id}.drop"
        case _:
            return f"{step.id}.{step.operator.op}"


def what(step: Step) -> str:
    """What a step does, in one line."""
    match step:
        case LocalStep() | TailStep():
            return relation_text(step.relation)
        case DropStep():
            return f"remove the kept table {step.table}"
        case ArrayStep():
            part = "" if step.block is None else f"rows {step.block[0]:,} to {step.block[1] - 1:,} of "
            return f"{part}the array {step.array}, row by row, with {step.fraction} bits after the point"
        case ResultStep():
            return "make " + ", ".join(map(_result, step.arrays))
        case _:
            return operator_text(step.operator)


def rows(step: Step) -> str:
    """The public row bound of a step's output."""
    match step:
        case InputStep():
            known = step.operator.rows if step.exact is None else step.exact
            return "announced" if known is None else f"{known:,}"
        case PsiStep():
            known = isinstance(step.operator, ops.CircuitPsi) and step.rows is not None
            return f"{step.rows:,}" if known else "announced"
        case KeptStep():
            return f"{step.operator.rows:,}"
        case SecureStep() | ProgramStep() | KeepStep():
            return step.rows_bound
        case LocalStep() | ArrayStep() | KeysStep() | GuardStep() | ReleaseStep() | TailStep() | ResultStep():
            return ""
        case DropStep():
            return ""


def column_text(name: str, kind: Kind) -> str:
    """A physical column with its kind: zip:17, score:ring64, name:hash88."""
    width = f"{kind.width}" if kind.repr == "bits" else kind.repr
    return f"{name}:{'' if kind.encode == 'int' else kind.encode}{width}{'?' if kind.nullable else ''}"


def _ordered_by(trusted: str | None) -> str:
    """How rows are brought together by their keys."""
    return "by a sort" if trusted is None else f"ordered by {trusted}, which sees the keys"


def operator_text(operator: ops.Operator) -> str:
    """What an operator does."""
    match operator:
        case ops.Input():
            given = " in order" if operator.ordered else ""
            order = f", sorted by {', '.join(operator.sorted_by)}" if operator.sorted_by else ""
            return f"share {_columns(operator.columns)}{given}{order}"
        case ops.Psi() | ops.CircuitPsi() | ops.UniversalIds():
            return _match_text(operator)
        case ops.Kept():
            return f"the kept table {operator.table}: {_columns(operator.columns)}"
        case ops.Filter():
            return f"keep rows where {value_text(operator.predicate)}"
        case ops.Project():
            return "compute " + ", ".join(map(_computed, operator.columns))
        case ops.Union():
            return "rows of steps " + ", ".join(map(str, operator.inputs))
        case ops.Join():
            on = _equal(operator)
            how = "by a merge of sorted inputs" if operator.merged else _ordered_by(operator.trusted)
            kept = {"none": "", "left": ", rows of the first kept", "right": ", rows of the second kept"}
            told = f", {operator.found} says which match" if operator.found is not None else ""
            stays = kept.get(operator.kept, ", rows of both kept")
            keys = "unique" if operator.repeats == 1 else f"up to {operator.repeats:,} rows a key"
            return f"step {operator.left} ({keys}) with step {operator.right} on {on}{stays}{told}, {how}"
        case ops.Pairs():
            return f"every row of step {operator.left} with every row of step {operator.right}"
        case ops.Broadcast():
            return f"step {operator.input} with the one row of step {operator.scalar}"
        case ops.GroupBy():
            found = ", ".join(map(_aggregated, operator.aggregates))
            seen = "" if operator.trusted is None else f", {_ordered_by(operator.trusted)}"
            return f"by {', '.join(operator.keys)}{seen}" + (f"; {found}" if found else "")
        case ops.GroupJoin():
            stays = ", its other rows kept" if operator.kept else ""
            found = ", ".join(map(_aggregated, operator.aggregates))
            sides = f"by step {operator.left} (unique) over step {operator.right}"
            return f"{sides} on {_equal(operator)}{stays}; {found}"
        case ops.Aggregate():
            return ", ".join(map(_aggregated, operator.aggregates))
        case ops.Window():
            by = [f"partition by {', '.join(operator.partition)}"] if operator.partition else []
            by += [f"order by {', '.join(map(_ordered, operator.order))}"] if operator.order else []
            return f"{', '.join(map(_windowed, operator.outputs))} over ({' '.join(by)})"
        case ops.Sort():
            return "by " + ", ".join(map(_ordered, operator.keys))
        case ops.Limit():
            skip = f" after {operator.offset}" if operator.offset else ""
            return f"first {'all' if operator.count is None else operator.count} rows{skip}"
        case ops.Resize():
            dropped = f"without the rows of step {operator.input} that are not valid"
            return f"{dropped}, counted" if operator.rows is None else f"{dropped}, but for public bounds"
        case ops.Program():
            taken = ", ".join(str(each.step) for each in operator.inputs)
            count = len(operator.nodes)
            return f"{', '.join(each.column for each in operator.outputs)} by {count} operations on steps {taken}"
        case ops.Keep():
            return f"keep {', '.join(operator.columns)} as {operator.table}"
        case ops.Release(guard=True):
            return f"open to {', '.join(operator.to)} whether a checked bound does not hold, which ends the run"
        case ops.Release():
            order = " in order" if operator.ordered else ""
            return f"open {', '.join(operator.columns)} to {', '.join(operator.to)}{order}"


def _result(result: Result) -> str:
    shape = " x ".join(map(str, result.shape)) or "one number"
    return f"{result.name} ({shape}, {result.dtype})"


def _equal(operator: ops.Join | ops.GroupJoin) -> str:
    return " and ".join(f"{a} = {b}" for a, b in zip(operator.left_keys, operator.right_keys, strict=True))


def _match_text(operator: ops.Matching) -> str:
    """Which steps match on which keys, and what their owners share of the rows."""
    left, right = operator.left, operator.right
    repeat = "" if isinstance(operator, ops.Psi) and not operator.right_unique else " (unique)"
    into = {
        "psi": "",
        "circuit_psi": " into shares",
        "universal_ids": " by universal ids, with all other rows",
    }
    on = " and ".join(f"{a.source} = {b.source}" for a, b in zip(left.keys, right.keys, strict=True))
    shared = _columns((*left.columns, *right.columns))
    share = f"; share {shared}" if shared else ""
    return f"match step {left.local} (unique) with step {right.local}{repeat} on {on}{into[operator.op]}{share}"


def value_text(value: Value) -> str:
    """A value that the native session computes."""
    match value:
        case values.Column():
            return value.name
        case values.Integer():
            return str(value.value)
        case values.Text():
            return f"'{value.text}'"
        case values.Null():
            return "NULL"
        case values.Call("convert", (arg,)):
            return value_text(arg)
        case values.Call("scale", (arg,), _, by):
            return f"({value_text(arg)} * {by})"
        case values.Call(function, (a, b)) if function in SIGNS:
            return f"({value_text(a)} {SIGNS[function]} {value_text(b)})"
        case values.Call(function, args):
            return f"{function}({', '.join(map(value_text, args))})"


def _columns(columns: tuple[ops.Shared, ...]) -> str:
    return ", ".join(column_text(each.name, replace(each.kind, encode=each.encode)) for each in columns)


def _computed(column: ops.Computed) -> str:
    text = value_text(column.expr)
    return text if text == column.name else f"{column.name} = {text}"


def _ordered(key: ops.Ordered) -> str:
    return f"{key.column}{' desc' if key.descending else ''}"


def _windowed(each: ops.Windowed) -> str:
    return window_call(each.function, (each.column, each.number, each.default), each.frame)


def _aggregated(each: ops.Aggregated) -> str:
    found = f"{each.function}({each.column or ''})"
    return found if each.where is None else f"{found} where {each.where}"
