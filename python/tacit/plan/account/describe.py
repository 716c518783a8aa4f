"""Steps in words, for explain."""

from __future__ import annotations

from tacit.plan.account.clauses import SIGNS, relation_text
from tacit.plan.physical.placed import (
    JSON,
    DropStep,
    InputStep,
    KeepStep,
    KeptStep,
    LocalStep,
    PsiStep,
    ReleaseStep,
    SecureStep,
    Step,
    TailStep,
)


def where(step: Step, engine: str) -> str:
    """The place of a step."""
    match step:
        case LocalStep():
            return f"local({step.party})"
        case TailStep():
            return f"local({', '.join(step.recipients)})"
        case PsiStep(_, left, right):
            kind = "circuit-psi" if step.operator["op"] == "circuit_psi" else "psi"
            return f"{kind}({left.owner}, {right.owner})"
        case DropStep():
            return f"local({', '.join(step.parties)})"
        case InputStep() | KeptStep() | SecureStep() | KeepStep() | ReleaseStep():
            return f"mpc({engine})"


def name(step: Step) -> str:
    """The name of a step."""
    match step:
        case LocalStep():
            return f"{step.id}.local"
        case TailStep():
            return f"{step.id}.tail"
        case DropStep():
            return f"{step.id}.drop"
        case InputStep() | PsiStep() | KeptStep() | SecureStep() | KeepStep() | ReleaseStep():
            return f"{step.id}.{step.operator['op']}"


def what(step: Step) -> str:
    """What a step does, in one line."""
    match step:
        case LocalStep() | TailStep():
            return relation_text(step.relation)
        case InputStep():
            columns = ", ".join(column_text(each) for each in step.operator["columns"])
            order = step.operator.get("sorted_by")
            given = " in order" if step.operator.get("ordered") else ""
            return f"share {columns}{given}" + (f", sorted by {', '.join(order)}" if order else "")
        case PsiStep():
            return psi_text(step)
        case KeptStep():
            return f"the kept table {step.table}: {', '.join(map(column_text, step.operator['columns']))}"
        case SecureStep():
            return operator_text(step.operator)
        case KeepStep():
            return f"keep {', '.join(step.operator['columns'])} as {step.table}"
        case DropStep():
            return f"remove the kept table {step.table}"
        case ReleaseStep():
            order = " in order" if step.operator["ordered"] else ""
            return f"open {', '.join(step.operator['columns'])} to {', '.join(step.recipients)}{order}"


def rows(step: Step) -> str:
    """The public row bound of a step's output."""
    match step:
        case InputStep():
            if step.rows is not None:
                return f"{step.rows:,}"
            return "announced"
        case PsiStep():
            if step.operator["op"] == "circuit_psi" and step.rows is not None:
                return f"{step.rows:,}"
            return "announced"
        case KeptStep():
            return f"{step.rows:,}"
        case SecureStep() | KeepStep():
            return step.rows_bound
        case LocalStep() | ReleaseStep() | TailStep() | DropStep():
            return ""


def column_text(column: JSON) -> str:
    """A physical column with its kind: zip:17, score:ring64, name:hash88."""
    kind = column["kind"]
    width = f"{kind['width']}" if kind["repr"] == "bits" else kind["repr"]
    encode = column.get("encode", "int")
    return f"{column['name']}:{'' if encode == 'int' else encode}{width}{'?' if kind['nullable'] else ''}"


def psi_text(step: PsiStep) -> str:
    """Which steps match on which keys, and what their owners share of the rows that do."""
    left, right = step.left, step.right
    repeat = " (unique)" if step.operator.get("right_unique", True) else ""
    on = " and ".join(f"{a} = {b}" for a, b in zip(left.keys, right.keys, strict=True))
    shared = ", ".join(column_text(each) for side in ("left", "right") for each in step.operator[side]["columns"])
    share = f"; share {shared}" if shared else ""
    if step.operator["op"] == "circuit_psi":
        share = f" into shares{share}"
    return f"match step {left.local} (unique) with step {right.local}{repeat} on {on}{share}"


def operator_text(operator: JSON) -> str:
    """A secure operator."""
    match operator["op"]:
        case "filter":
            return f"keep rows where {secure_text(operator['predicate'])}"
        case "project":
            return "compute " + ", ".join(_projected(each) for each in operator["columns"])
        case "union":
            return "rows of steps " + ", ".join(map(str, operator["inputs"]))
        case "join":
            pairs = zip(operator["left_keys"], operator["right_keys"], strict=True)
            on = " and ".join(f"{a} = {b}" for a, b in pairs)
            how = "by a merge of sorted inputs" if operator.get("merged") else "by a sort"
            return f"step {operator['left']} (unique) with step {operator['right']} on {on}, {how}"
        case "broadcast":
            return f"step {operator['input']} with the one row of step {operator['scalar']}"
        case "group_by" | "aggregate":
            found = [f"{a['function']}({a['column'] or ''})" for a in operator["aggregates"]]
            by = f"by {', '.join(operator['keys'])}" if operator.get("keys") else ""
            return "; ".join(part for part in (by, ", ".join(found)) if part)
        case "sort":
            return "by " + ", ".join(f"{k['column']}{' desc' if k['descending'] else ''}" for k in operator["keys"])
        case "limit":
            skip = f" after {operator['offset']}" if operator["offset"] else ""
            return f"first {'all' if operator['count'] is None else operator['count']} rows{skip}"
        case op:
            return str(op)


def secure_text(expr: JSON) -> str:
    """An expression of an operator."""
    match expr:
        case {"col": column}:
            return str(column)
        case {"int": value}:
            return str(value)
        case {"text": value}:
            return f"'{value}'"
        case {"null": _}:
            return "NULL"
        case {"op": "convert", "args": [arg]}:
            return secure_text(arg)
        case {"op": "scale", "args": [arg], "by": by}:
            return f"({secure_text(arg)} * {by})"
        case {"op": op, "args": [a, b]} if op in SIGNS:
            return f"({secure_text(a)} {SIGNS[op]} {secure_text(b)})"
        case _:
            return f"{expr['op']}({', '.join(map(secure_text, expr['args']))})"


def _projected(column: JSON) -> str:
    text = secure_text(column["expr"])
    return text if text == column["name"] else f"{column['name']} = {text}"
