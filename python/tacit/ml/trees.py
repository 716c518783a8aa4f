"""Decision trees by histograms: complete trees of a public depth, whose splits and leaves nobody sees.

All nodes of a level are split at once. One product of matrices gives the sums of gradients left of every threshold of
every feature; the best gain is found by a tournament, and rows are routed by bits. No shape and no message depends on
the data. Abspoel, Escudero, Volgushev (PETS 2021) sort instead; histograms are those of XGBoost (KDD 2016), section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy

import tacit.array.namespace as np
from tacit.array.private import PrivateArray
from tacit.ml.base import Classifier, Regressor
from tacit.ml.checks import array, labels
from tacit.plan.programs.refusals import ProgramError


def quantile_edges(x: Any, bins: int = 16) -> Any:
    """Thresholds between bins of clear columns by their quantiles: (columns, bins - 1), for ``edges=``.

    They are public. An owner who does not want to show quantiles takes others, such as evenly spaced ones.
    """
    if bins < 2:
        raise ProgramError(f"there are {bins} bins; give at least two.")
    return numpy.quantile(numpy.asarray(x, dtype=float), numpy.arange(1, bins) / bins, axis=0, method="lower").T


def thermometers(x: Any, edges: Any) -> Any:
    """Whether each number is at most each threshold of its column: (rows, columns, thresholds).

    Owners who compute it in clear, and offer the bits, save the comparisons of a program.
    """
    if numpy.shape(edges)[:1] != (x.shape[1],):
        raise ProgramError(
            f"x has {x.shape[1]} columns, and edges are of {len(edges)}; give thresholds of each column."
        )
    return x[:, :, None] <= numpy.asarray(edges)[None]


@dataclass(frozen=True)
class Tree:
    """A complete tree. splits: of each inner node, level by level, its position among (columns x thresholds).

    values: of each leaf from left to right, (leaves, outputs). Left are the rows at most a threshold.
    """

    splits: Any
    values: Any

    def leaves(self, below: Any) -> Any:
        """In which leaf each row is: bits of (rows, leaves). below: thermometers."""
        flat = below.reshape(below.shape[0], -1)
        left = _chosen(flat, self.splits)
        found, depth = None, _depth(len(self.splits))
        for level in range(depth):
            first = 2**level - 1
            found = _children(found, left[:, first : 2 * first + 1])
        return found

    def predict(self, below: Any) -> Any:
        """The value of each row's leaf, (rows, outputs)."""
        return self.leaves(below).astype(np.float64) @ self.values


def _depth(splits: int) -> int:
    return (splits + 1).bit_length() - 1


def _chosen(flat: Any, splits: Any) -> Any:
    """Whether rows go left at nodes: the bit of each row at each node's split, (rows, nodes)."""
    chosen = (splits[:, None] == numpy.arange(flat.shape[1])).astype(np.int64)
    return (flat.astype(np.int64) @ chosen.T) > 0


def _children(nodes: Any, left: Any) -> Any:
    """In which of the next level's nodes rows are. nodes: None at the root, which has all rows."""
    both = [left, ~left] if nodes is None else [nodes & left, nodes & ~left]
    return np.stack(both, axis=2).reshape(left.shape[0], 2 * left.shape[1])


Weigh = Callable[[Any], Any]
"""What sums of gradients are divided by, made of sums of Hessians: above zero by its range."""


def grown(below: Any, gradients: Any, hessians: Any, depth: int, weigh: Weigh, inherit: bool = False) -> Tree:
    """A tree that lowers a loss most, level by level. gradients, hessians: (rows, outputs); each leaf's value is their
    negative quotient. inherit: whether a leaf in which no row is has the value of its parent instead.

    The gain of a split is the sum of G^2 / H of both its sides. That of no split has no place in it: it is the same for
    all splits of a node.
    """
    flat = below.reshape(below.shape[0], -1)
    outputs = gradients.shape[1]
    weights = np.concatenate([gradients, hessians], axis=1)
    nodes, splits, kept = None, list[Any](), np.sum(weights, axis=0)[None]
    for level in range(depth):
        spread = _spread(nodes, weights)
        left = (spread.T @ flat).reshape(2**level, weights.shape[1], flat.shape[1])
        whole = np.sum(spread, axis=0).reshape(2**level, weights.shape[1], 1)
        gain = _gain(left, outputs, weigh) + _gain(whole - left, outputs, weigh)
        splits.append(np.argmax(gain, axis=1))
        nodes = _children(nodes, _chosen(flat, splits[-1]))
        sums = np.sum(_spread(nodes, weights), axis=0).reshape(2 ** (level + 1), weights.shape[1])
        kept = _filled(sums, np.repeat(kept, 2, axis=0), outputs) if inherit else sums
    return Tree(np.concatenate(splits), -kept[:, :outputs] / weigh(kept[:, outputs:]))


def _filled(sums: Any, parents: Any, outputs: int) -> Any:
    """The sums of nodes, or those of their parents where no row is: where the first Hessian is zero."""
    return np.where((sums[:, outputs] == 0)[:, None], parents, sums)


def _spread(nodes: Any, weights: Any) -> Any:
    """The weights of rows in the columns of their nodes, zeros elsewhere: (rows, nodes x weights)."""
    if nodes is None:
        return weights
    return np.where(nodes[:, :, None], weights[:, None, :], 0).reshape(weights.shape[0], -1)


def _gain(sums: Any, outputs: int, weigh: Weigh) -> Any:
    """G^2 / H, added up over outputs. sums: (nodes, gradients and Hessians, splits)."""
    g, h = sums[:, :outputs], sums[:, outputs:]
    return np.sum(g * (g / weigh(h)), axis=1)


def _at_least_one(h: Any) -> Any:
    return np.maximum(h, 1)


def binned(x: Any, edges: Any) -> Any:
    """Thermometers: of numbers and thresholds, or given as they are. Raises ProgramError where one is missing."""
    found = array(x)
    if found.ndim == 3 and found.dtype == bool:
        return found
    if found.ndim != 2:
        raise ProgramError(f"x has the shape {found.shape}; give rows by columns, or the bits of ml.thermometers.")
    if edges is None:
        raise ProgramError("the thresholds of x are not known; set edges=ml.quantile_edges(...) of public numbers.")
    return thermometers(found, edges)


def edges_of(x: Any, edges: Any, bins: int) -> Any:
    """Thresholds that are given, or quantiles of clear rows."""
    clear = not isinstance(x, PrivateArray) and numpy.ndim(x) == 2
    return quantile_edges(x, bins) if edges is None and clear else edges


@dataclass(eq=False)
class _TreeSettings:
    """What trees are told.

    max_depth: of the complete tree, which is public. edges: public thresholds, (columns, thresholds); of clear rows
    they are quantiles of ``bins`` bins where none are given. Rows may also be given as the bits of ``ml.thermometers``.
    A leaf in which no row is has the value of its parent.
    """

    max_depth: int = 3
    edges: Any = None
    bins: int = 16
    tree_: Tree = field(init=False, repr=False)
    edges_: Any = field(init=False, repr=False)

    def _grow(self, x: Any, gradients: Any) -> None:
        if not 1 <= self.max_depth <= 10:
            raise ProgramError(f"max_depth is {self.max_depth}; give a depth from 1 to 10.")
        self.edges_ = edges_of(x, self.edges, self.bins)
        below = binned(x, self.edges_)
        ones = numpy.ones((below.shape[0], 1), dtype=numpy.int64)
        self.tree_ = grown(below, gradients, ones, self.max_depth, _at_least_one, inherit=True)

    def _values(self, x: Any) -> Any:
        return self.tree_.predict(binned(x, self.edges_))


@dataclass(eq=False)
class DecisionTreeClassifier(_TreeSettings, Classifier):
    """A classification tree by Gini's impurity. classes: their public number; y has 0 to classes - 1."""

    classes: int = 2

    def fit(self, x: Any, y: Any) -> Self:
        """Learn ``tree_``."""
        labels(y, self.classes)
        self._grow(x, -(array(y)[:, None] == numpy.arange(self.classes)).astype(np.int64))
        return self

    def predict_proba(self, x: Any) -> Any:
        """The shares of classes in each row's leaf, (rows, classes)."""
        return self._values(x)

    def predict(self, x: Any) -> Any:
        """The class that is most frequent in each row's leaf."""
        most = np.argmax(self.tree_.values, axis=1)
        leaves = self.tree_.leaves(binned(x, self.edges_))
        return leaves.astype(np.int64) @ most


@dataclass(eq=False)
class DecisionTreeRegressor(_TreeSettings, Regressor):
    """A regression tree by squared distances."""

    def fit(self, x: Any, y: Any) -> Self:
        """Learn ``tree_``."""
        self._grow(x, -array(y)[:, None])
        return self

    def predict(self, x: Any) -> Any:
        """The mean of each row's leaf."""
        return self._values(x)[:, 0]
