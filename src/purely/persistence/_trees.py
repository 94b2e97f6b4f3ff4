"""Decision trees and boosted trees: all nodes of an ensemble in one array for each of their parts.

Compiled code follows children and columns without a look, so all of them are checked, and for all trees at once: every
child comes after its parent and within its tree, every node but the first of a tree has one parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree._tree import NODE_DTYPE, Tree

from purely.persistence._errors import Misfit
from purely.persistence._fields import STARTS, Field, Json, Place, array, ints, record
from purely.persistence._schema import State, part

Ints = NDArray[np.int64]

_NUMBER, _ANY, _COUNT = array("nodes"), array("nodes", finite=False), ints("nodes", low=0)
_EITHER, _ZERO = ints("nodes", low=0, high=1), ints("nodes", low=0, high=0)
_CHILD = ints("nodes", low=-1)
# fmt: off
#: Parts of a node, and where each tree starts; of a decision tree also the shares of the classes. A threshold is
#: infinite where only missing values go the other way.
SPLITS = {
    "starts": STARTS, "left_child": _CHILD, "right_child": _CHILD, "feature": ints("nodes", low=-2),
    "threshold": _ANY, "impurity": _NUMBER, "n_node_samples": _COUNT, "missing_go_to_left": _EITHER,
    "weighted_n_node_samples": array("nodes", low=0.0), "shares": array("nodes", "c", low=0.0, high=1.0 + 1e-6),
}
BOOSTED = {
    "starts": STARTS, "value": _NUMBER, "count": _COUNT, "feature_idx": ints("nodes", low=0, below="d"),
    "depth": _COUNT, "num_threshold": _ANY, "missing_go_to_left": _EITHER, "left": _COUNT,
    "right": _COUNT, "gain": _ANY, "is_leaf": _EITHER, "bin_threshold": _COUNT,
    "is_categorical": _ZERO, "bitset_idx": _ZERO,
}
# fmt: on


def pack(nodes: Sequence[NDArray[Any]], fields: dict[str, Field], **more: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The parts of all trees' nodes, and where each tree starts."""
    whole: Any = np.concatenate(nodes)
    parts = {"starts": np.cumsum([0, *map(len, nodes)]), **{name: whole[name] for name in whole.dtype.names}, **more}
    if parts.keys() != fields.keys():
        raise Misfit("trees of this version of scikit-learn are laid out otherwise than purely knows")
    return parts


def pack_trees(trees: Sequence[Tree]) -> dict[str, NDArray[Any]]:
    """Decision trees of one output as arrays."""
    states = [tree.__getstate__() for tree in trees]
    return pack([s["nodes"] for s in states], SPLITS, shares=np.concatenate([s["values"][:, 0] for s in states]))


def _records(parts: State, dtype: Any, at: Place) -> tuple[NDArray[Any], Ints]:
    """Nodes of all trees as one array of records, and where each tree starts."""
    starts, made = parts["starts"].astype(np.int64), np.zeros(at.lengths["nodes"], dtype)
    at.need(parts.keys() >= set(made.dtype.names), "is laid out otherwise in the scikit-learn installed here")
    for name in made.dtype.names:
        made[name] = parts[name]
        at.need(made[name].dtype.kind == "f" or (made[name] == parts[name]).all(), f"has a {name} that is too large")
    return made, starts


def _parents(left: Ints, right: Ints, leaf: NDArray[np.bool_], starts: Ints, at: Place) -> Ints:
    """The parent of every node, the first of a tree being its own; no path leaves its tree, or never ends."""
    sizes = np.diff(starts)
    at.need(starts.size > 1 and starts[0] == 0 and starts[-1] == leaf.size, "has trees that do not make up the whole")
    at.need((sizes > 0).all(), "has a tree without nodes")
    first, end = np.repeat(starts[:-1], sizes), np.repeat(starts[1:], sizes)
    inner = np.flatnonzero(~leaf)
    children, parents = np.concatenate([(first + left)[inner], (first + right)[inner]]), np.tile(inner, 2)
    at.need((children > parents).all() and (children < np.tile(end[inner], 2)).all(), "has a child outside its tree")
    times = np.bincount(children, minlength=leaf.size)
    times[starts[:-1]] += 1
    at.need((times == 1).all(), "has a node without a parent, or with two")
    parent = np.arange(leaf.size)
    parent[children] = parents
    return parent


def _checked(left: Ints, right: Ints, columns: Ints, threshold: NDArray[Any], starts: Ints, at: Place) -> Ints:
    """The parents of nodes whose children are -1 in leaves; every inner node has two, a column and a threshold."""
    leaf = left == -1
    asked = columns[~leaf]
    at.need((leaf == (right == -1)).all(), "has a node with one child")
    at.need(not np.isnan(threshold[~leaf]).any(), "has a threshold that is no number")
    at.need(
        not asked.size or 0 <= asked.min() <= asked.max() < at.lengths.get("d", 0), "asks for a column out of range"
    )
    return _parents(left, right, leaf, starts, at)


def _depths(parent: Ints, starts: Ints) -> Ints:
    """The depth of each tree. Every node asks its parent, then its parent's parent: the steps double."""
    depth = (parent != np.arange(parent.size)).astype(np.int64)
    while depth[parent].any():
        depth, parent = depth + depth[parent], parent[parent]
    return np.maximum.reduceat(depth, starts[:-1])


def _read_trees(node: Json, at: Place) -> list[Tree]:
    """Decision trees of scikit-learn."""
    parts = record(SPLITS)(node, at)
    nodes, starts = _records(parts, NODE_DTYPE, at)
    shares, width = parts["shares"].astype(np.float64), at.lengths.get("d", 0)
    parents = _checked(nodes["left_child"], nodes["right_child"], nodes["feature"], nodes["threshold"], starts, at)
    depths = _depths(parents, starts)
    trees = []
    for (a, b), depth in zip(pairwise(starts.tolist()), depths.tolist(), strict=True):
        trees.append(Tree(width, np.array([shares.shape[1]], dtype=np.intp), 1))
        values = np.ascontiguousarray(shares[a:b, None, :])
        trees[-1].__setstate__({"max_depth": depth, "node_count": b - a, "nodes": nodes[a:b], "values": values})
    return trees


def check_sums(state: State, at: Place) -> None:
    """Refuse tables of trees, :class:`purely.collapsed.TreeScore`, that a walk would leave."""
    left, right, starts = (state[name].astype(np.int64) for name in ("left", "right", "starts"))
    _checked(left, right, state["feature"], state["threshold"], starts, at)


def _read_tree(node: Json, at: Place) -> Tree:
    trees = _read_trees(node, at)
    at.need(len(trees) == 1, "must be one tree")
    return trees[0]


def taken_forest(forest: Any) -> State:
    """What an ensemble holds; its trees as arrays, where they differ in nothing but their nodes and seeds."""
    trees = getattr(forest, "estimators_", [])
    states = [dict(vars(tree), type=type(tree)) for tree in trees]
    nodes, seeds = ([state.pop(name, None) for state in states] for name in ("tree_", "random_state"))
    plain = all(type(n) is Tree and n.n_outputs == 1 and type(s) is int for n, s in zip(nodes, seeds, strict=True))
    if not trees or not plain or not all(_same(state, states[0]) for state in states):
        return vars(forest)
    like = _with(trees[0], {name: held for name, held in states[0].items() if name != "type"})
    return {**vars(forest), "estimators_": {"like": like, "seeds": np.array(seeds), "nodes": pack_trees(nodes)}}


def _same(state: State, other: State) -> bool:
    return state.keys() == other.keys() and all(v is other[k] or np.array_equal(v, other[k]) for k, v in state.items())


def _with(tree: Any, state: State) -> Any:
    bare = object.__new__(type(tree))
    vars(bare).update(state)
    return bare


def _read_forest(node: Json, at: Place) -> list[Any]:
    like = part("DecisionTreeClassifier", "ExtraTreeClassifier", d="d", c="c")
    nodes, seeds = Field(("dict",), "trees", _read_trees), ints("trees", low=0, high=2**32 - 1)
    found = record({"like": like, "seeds": seeds, "nodes": nodes})(node, at)
    at.measure("trees", len(found["nodes"]))
    each = zip(found["nodes"], found["seeds"].tolist(), strict=True)
    return [_with(found["like"], {**vars(found["like"]), "tree_": tree, "random_state": seed}) for tree, seed in each]


def _read_rounds(node: Json, at: Place) -> list[list[TreePredictor]]:
    """Rounds of boosting for two classes: one tree each, without categories."""
    nodes, starts = _records(record(BOOSTED)(node, at), PREDICTOR_RECORD_DTYPE, at)
    leaf = nodes["is_leaf"] == 1
    _parents(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), leaf, starts, at)
    at.need(not np.isnan(nodes["num_threshold"][~leaf]).any(), "has a threshold that is no number")
    none = np.zeros((0, 8), dtype=np.uint32)
    return [[TreePredictor(nodes[a:b].copy(), none, none)] for a, b in pairwise(starts)]


TREE = Field(("dict",), "a decision tree", _read_tree)
FOREST = Field(("dict",), "a list of classification trees with the same settings", _read_forest)
ROUNDS = Field(("dict",), "rounds of one tree each, without categories", _read_rounds)
