"""A program as one text that is the same at all parties, and its hash, which owners approve.

The text has the operations as they are traced, and where the inputs come from. It has no facts: whoever reads it infers
them, and runs the optimiser. tacit.plan.programs.reading reads it. Lines of the source are not in it: a comment that is
added changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

from tacit.plan.programs.forms import name_of, parameters
from tacit.plan.programs.graph import Graph
from tacit.plan.programs.nodes import Node
from tacit.plan.programs.operations import Constant, Input, Known, Sample
from tacit.plan.programs.public import Public
from tacit.plan.programs.queries import NamedQuery

VERSION = 1
NODES: Final = "(nodes)"
"""Who has the rows of queries, where a program names an owner. No party can be called so."""
MARK = '{"fraction":'
"""How the text of a program begins, and no query does."""


@dataclass(frozen=True)
class Source:
    """Where an input comes from: an owner's array, by the name that its offer has for it; or a column of a query's
    rows (``RowArray``). rows: of which."""

    owner: str
    array: str
    rows: NamedQuery | None = None

    @property
    def is_rows(self) -> bool:
        """Whether it is of a query."""
        return self.owner == NODES


def canonical(graph: Graph, outputs: Mapping[str, Node], sources: Mapping[str, Source] | None = None) -> str:
    """The text of a program. sources: by the names of inputs; a program without them has a hash and cannot run."""
    nodes = in_order(graph, outputs.values())
    places = {node.number: place for place, node in enumerate(nodes)}
    samples = [node.number for node in nodes if isinstance(node.operation, Sample)]
    drawn = {number: place for place, number in enumerate(samples)}
    rows = _rows(nodes, sources or {})
    text = {
        "fraction": graph.settings.fraction,
        "nodes": [_node(graph, node, places, _Given(sources or {}, rows), drawn) for node in nodes],
        "outputs": [[name, places[node.number]] for name, node in outputs.items()],
        "program": VERSION,
        "rounding": graph.settings.rounding,
        **({"rows": [each.json() for each in rows]} if rows else {}),
    }
    return json.dumps(text, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(text: str) -> str:
    """The hash of a program's text."""
    return sha256(text.encode()).hexdigest()


def in_order(graph: Graph, outputs: Iterable[Node]) -> list[Node]:
    """The nodes that outputs need, each behind those that it and its proof need, whenever they were made."""
    found: dict[int, Node] = {}
    for output in outputs:
        waiting = [output]
        while waiting:
            node = waiting[-1]
            if node.number in found:
                waiting.pop()
                continue
            missing = [each for each in _needs(graph, node) if each.number not in found]
            if missing:
                waiting.extend(reversed(missing))
            else:
                found[waiting.pop().number] = node
    return list(found.values())


@dataclass(frozen=True)
class _Given:
    """Where inputs come from, by their names. rows: the place of each query's rows in the text."""

    sources: Mapping[str, Source]
    rows: Mapping[NamedQuery, int]


def _rows(nodes: Iterable[Node], sources: Mapping[str, Source]) -> dict[NamedQuery, int]:
    """The rows of queries that inputs are columns of, in the order in which they are first read."""
    given = (node.operation.name for node in nodes if isinstance(node.operation, Input))
    found = dict.fromkeys(sources[each].rows for each in given if each in sources)
    return {each: place for place, each in enumerate(each for each in found if each is not None)}


def _needs(graph: Graph, node: Node) -> tuple[Node, ...]:
    return (*node.args, graph.proofs[node.number].of) if isinstance(node.operation, Known) else node.args


def _node(
    graph: Graph, node: Node, places: Mapping[int, int], sources: _Given, samples: Mapping[int, int]
) -> dict[str, Any]:
    """A node as JSON. places: of nodes, samples: of those that are random, both by the numbers of nodes."""
    args = [places[arg.number] for arg in node.args]
    match node.operation:
        case Input() as given:
            said = _input(given, sources)
        case Constant() as public:
            said = _constant(public)
        case Sample() as drawn:
            said = parameters(replace(drawn, number=samples[node.number]))
        case Known():
            proof = graph.proofs[node.number]
            said = {"proof": proof.name, "of": places[proof.of.number], "parameters": list(proof.parameters)}
        case operation:
            said = parameters(operation)
    return {"op": name_of(type(node.operation)), "args": args} | said


def _input(given: Input, of: _Given) -> dict[str, Any]:
    array, source = given.array, of.sources.get(given.name)
    return {
        "name": given.name,
        "owner": None if source is None else source.owner,
        "array": None if source is None else source.array,
        "shape": list(array.shape),
        "dtype": array.dtype,
        "low": array.low,
        "high": array.high,
        "norm2": array.norm2,
        **({} if source is None or source.rows is None else {"rows": of.rows[source.rows]}),
    }


def _constant(public: Constant) -> dict[str, Any]:
    array = public.array
    one = Public(array.shape, array.dtype, public.reals).uniform is not None
    return {
        "shape": list(array.shape),
        "dtype": array.dtype,
        "fraction": array.fraction,
        "ring": array.ring,
        "reals": [_shown(each) for each in (public.reals[:1] if one else public.reals)],
    }


def _shown(real: Fraction) -> str:
    return str(real.numerator) if real.denominator == 1 else f"{real.numerator}/{real.denominator}"
