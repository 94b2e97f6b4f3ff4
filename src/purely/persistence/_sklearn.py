"""Classes of scikit-learn that our own models hold, and the vectorisers of text that pipelines start with.

All nodes of an ensemble of trees are in one array for each of their parts. Compiled code follows children and columns
without a look, so all of them are checked, and for all trees at once: every child comes after its parent and within its
tree, every node but the first of a tree has one parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn._loss.loss import HalfBinomialLoss
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree._tree import NODE_DTYPE, Tree

from purely.persistence._fields import (  # isort: skip
    FLAG, NOTHING, STARTS, WIDEST, Array, Field, Json, Length, Misfit, Place, array, either, ints, many, none_or,
    number, pairs, record, row, text, whole, word,
)  # fmt: skip
from purely.persistence._objects import FOREIGN, State, make, part
from purely.persistence._vocabulary import ANY_CURVE, COUNT, MODEL, NAME, NUMBER, declare, each, estimator, labels

Ints = np.ndarray[Any, np.dtype[np.int64]]

# -- trees -------------------------------------------------------------------------------------------------------------

_COUNT, _EITHER = ints("nodes", low=0), ints("nodes", low=0, high=1)
# fmt: off
#: Parts of a node, and where each tree starts; of a decision tree also the shares of the classes. A threshold is
#: infinite where only missing values go the other way.
SPLITS = {
    "starts": STARTS, **each("left_child right_child", ints("nodes", low=-1)), "feature": ints("nodes", low=-2),
    "threshold": array("nodes", finite=False), "impurity": array("nodes"), "n_node_samples": _COUNT,
    "missing_go_to_left": _EITHER, "weighted_n_node_samples": array("nodes", low=0.0),
    "shares": array("nodes", "c", low=0.0, high=1.0 + 1e-6)}
BOOSTED = {
    "starts": STARTS, **each("count depth left right bin_threshold", _COUNT), "value": array("nodes"),
    "feature_idx": ints("nodes", low=0, below="d"), **each("num_threshold gain", array("nodes", finite=False)),
    **each("missing_go_to_left is_leaf", _EITHER), **each("is_categorical bitset_idx", ints("nodes", low=0, high=0))}
# fmt: on


def pack(nodes: Sequence[Array], fields: dict[str, Field], **more: Array) -> dict[str, Array]:
    """The parts of all trees' nodes, and where each tree starts."""
    whole: Any = np.concatenate(nodes)
    parts = {"starts": np.cumsum([0, *map(len, nodes)]), **{name: whole[name] for name in whole.dtype.names}, **more}
    if parts.keys() != fields.keys():
        raise Misfit("trees of this version of scikit-learn are laid out otherwise than purely knows")
    return parts


def pack_trees(trees: Sequence[Tree]) -> dict[str, Array]:
    """Decision trees of one output as arrays."""
    states = [tree.__getstate__() for tree in trees]
    return pack([s["nodes"] for s in states], SPLITS, shares=np.concatenate([s["values"][:, 0] for s in states]))


def _records(parts: State, dtype: Any, at: Place) -> tuple[Array, Ints]:
    """Nodes of all trees as one array of records, and where each tree starts."""
    made = np.zeros(at.lengths["nodes"], dtype)
    at.need(parts.keys() >= set(made.dtype.names), "is laid out otherwise in the scikit-learn installed here")
    for name in made.dtype.names:
        made[name] = parts[name]
        at.need(made[name].dtype.kind == "f" or (made[name] == parts[name]).all(), f"has a {name} that is too large")
    return made, parts["starts"].astype(np.int64)


def _parents(left: Ints, right: Ints, columns: Ints, threshold: Array, starts: Ints, at: Place) -> Ints:
    """The parent of every node, the first of a tree being its own; no path leaves its tree, or never ends.

    The children of a leaf are -1; every other node has two, a column and a threshold.
    """
    leaf, sizes = left == -1, np.diff(starts)
    asked = columns[~leaf]
    at.need((leaf == (right == -1)).all(), "has a node with one child")
    at.need(not np.isnan(threshold[~leaf]).any(), "has a threshold that is no number")
    right_columns = not asked.size or 0 <= asked.min() <= asked.max() < at.lengths.get("d", 0)
    at.need(right_columns, "asks for a column out of range")
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


def _depths(parent: Ints, starts: Ints) -> Ints:
    """The depth of each tree. Every node asks its parent, then its parent's parent: the steps double."""
    depth = (parent != np.arange(parent.size)).astype(np.int64)
    while depth[parent].any():
        depth, parent = depth + depth[parent], parent[parent]
    return np.maximum.reduceat(depth, starts[:-1])


def _read_trees(node: Json, at: Place, number: Length = "trees") -> list[Tree]:
    """Decision trees of scikit-learn."""
    parts = record(SPLITS)(node, at)
    nodes, starts = _records(parts, NODE_DTYPE, at)
    at.measure(number, starts.size - 1)
    shares, width = parts["shares"].astype(np.float64), at.lengths.get("d", 0)
    parent = _parents(nodes["left_child"], nodes["right_child"], nodes["feature"], nodes["threshold"], starts, at)
    trees = []
    for (a, b), depth in zip(pairwise(starts.tolist()), _depths(parent, starts).tolist(), strict=True):
        trees.append(Tree(width, np.array([shares.shape[1]], dtype=np.intp), 1))
        values = np.ascontiguousarray(shares[a:b, None, :])
        trees[-1].__setstate__({"max_depth": depth, "node_count": b - a, "nodes": nodes[a:b], "values": values})
    return trees


def check_sums(state: State, at: Place) -> None:
    """Refuse tables of trees, :class:`purely.collapsed.TreeScore`, that a walk would leave."""
    left, right, starts = (state[name].astype(np.int64) for name in ("left", "right", "starts"))
    _parents(left, right, state["feature"], state["threshold"], starts, at)


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
    each = zip(found["nodes"], found["seeds"].tolist(), strict=True)
    return [_with(found["like"], {**vars(found["like"]), "tree_": tree, "random_state": seed}) for tree, seed in each]


def _read_rounds(node: Json, at: Place) -> list[list[TreePredictor]]:
    """Rounds of boosting for two classes: one tree each, without categories."""
    nodes, starts = _records(record(BOOSTED)(node, at), PREDICTOR_RECORD_DTYPE, at)
    left, right = (np.where(nodes["is_leaf"] == 1, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    _parents(left, right, nodes["feature_idx"], nodes["num_threshold"], starts, at)
    none = np.zeros((0, 8), dtype=np.uint32)
    return [[TreePredictor(nodes[a:b].copy(), none, none)] for a, b in pairwise(starts)]


TREE = Field(("dict",), "a decision tree", lambda node, at: _read_trees(node, at, 1)[0])
FOREST = Field(("dict",), "a list of classification trees with the same settings", _read_forest)
ROUNDS = Field(("dict",), "rounds of one tree each, without categories", _read_rounds)

# -- the classes -------------------------------------------------------------------------------------------------------


def _check_pipeline(state: State, at: Place) -> None:
    """What a step gives is what the next one takes."""
    at.need(state["steps"], "must have steps")
    width = None
    for i, (_, step) in enumerate(state["steps"]):
        known = at.store.lengths.get(id(step), (step, {}))[1]
        taken = known.get("d")
        at.need(None in (width, taken) or width == taken, f"has a step {i} that takes other columns than it is given")
        if i == 0 and taken is not None:
            at.measure("d", taken)
        width = width if step in (None, "passthrough") else known.get("out")
    if width is not None:
        at.measure("out", width)


def _check_scaler(state: State, at: Place) -> None:
    pairs = ("with_mean", "mean_"), ("with_std", "scale_")
    right = all(state[held] is not None for used, held in pairs if state.get(used, True))
    at.need(right, "has no mean to take away, or no scale to divide by")
    _keeps_columns(state, at)


def _keeps_columns(state: State, at: Place) -> None:
    if "d" in at.lengths:
        at.measure("out", at.lengths["d"])


def _check_regression(state: State, at: Place) -> None:
    classes = at.lengths["c"]
    at.need(len(state["coef_"]) == (1 if classes == 2 else classes), "has other coefficients than classes")


def _take_tree(tree: Any) -> State:
    return {**vars(tree), "tree_": pack_trees([tree.tree_])} if hasattr(tree, "tree_") else vars(tree)


def _make_forest(cls: type, state: State) -> Any:
    made = make(cls, state)
    if hasattr(made, "estimators_"):
        made.estimator_ = made.estimator
    return made


def _take_boosting(model: Any) -> State:
    state = dict(vars(model))
    rounds = state.get("_predictors", ())
    if rounds and all(len(trees) == 1 for trees in rounds):
        state["_predictors"] = pack([trees[0].nodes for trees in rounds], BOOSTED)
    return state


def _make_boosting(cls: type, state: State) -> Any:
    """What prediction needs besides the trees is the same in every model of two classes without categories."""
    made = make(cls, state)
    if hasattr(made, "_predictors"):
        made._bin_mapper = bins = _BinMapper(n_bins=made.max_bins + 1)
        bins.is_categorical_, bins.bin_thresholds_ = np.zeros(made.n_features_in_, dtype=np.uint8), []
        bins.missing_values_bin_idx_ = made.max_bins
        made._preprocessor = made._is_categorical_remapped = None
        made._loss, made.n_trees_per_iteration_, made._n_features = HalfBinomialLoss(), 1, made.n_features_in_
    return made


def _check_words(state: State, at: Place) -> None:
    """Columns beyond the vocabulary would go into a sparse matrix, and compiled code would follow them."""
    places = sorted(state["vocabulary_"].values())
    at.need(places == list(range(len(places))), "has words that do not make up its columns")
    at.measure("out", len(places))


def _take_sparse(matrix: Any) -> State:
    parts = {"data": matrix.data, "indices": matrix.indices, "starts": matrix.indptr}
    return {"shape": tuple(map(int, matrix.shape)), **parts}


def _make_sparse(cls: Any, state: State) -> Any:
    places = (state[name].astype(np.int32) for name in ("indices", "starts"))
    return cls((state["data"], *places), shape=state["shape"])


def _check_sparse(state: State, at: Place) -> None:
    starts, entries = state["starts"], state["data"].size
    right = starts.size == state["shape"][0] + 1 and starts[0] == 0 and starts[-1] == entries < 2**31
    at.need(right, "has rows that do not make up the whole")


# fmt: off
_SPARSE = {
    "shape": row(whole(0, 2**31 - 2, length="rows"), whole(0, WIDEST, length="columns")), "data": array("entries"),
    "indices": ints("entries", low=0, below="columns"), "starts": STARTS}
for _name in ("csr_matrix", "csr_array"):
    declare(f"scipy.sparse:{_name}", take=_take_sparse, make=_make_sparse, check=_check_sparse, **_SPARSE)
_STEP = either(NOTHING, word("passthrough"), MODEL)
_SCALE = none_or(array("d", low=1e-300))
_SEEN = either(number(0.0), array("d", kind="iuf", low=0.0))
_TREE = {"classes_": labels("c"), "n_classes_": whole(1, length="c"), "n_outputs_": whole(1, 1)}
_WORDS = pairs(text(10_000), whole(0, 2**24))
_VECTORISER = {
    "vocabulary_": _WORDS, "fixed_vocabulary_": FLAG, "input": word("content"), "dtype": FOREIGN,
    "analyzer": word("word", "char", "char_wb"), "ngram_range": row(whole(1, 10), whole(1, 10)),
    # No expression of the file's own is ever matched: one of sixty optional groups takes longer than anyone's life.
    "token_pattern": none_or(word(r"(?u)\b\w\w+\b", r"(?u)\b\w+\b")), **each("preprocessor tokenizer", NOTHING),
    "stop_words": none_or(word("english"), many(text(200))), "vocabulary": none_or(many(text(10_000)), _WORDS),
    "strip_accents": none_or(word("ascii", "unicode")),
}

declare("sklearn.pipeline:Pipeline", check=_check_pipeline, steps=many(row(NAME, _STEP)), transform_input=NOTHING)
estimator("sklearn.preprocessing:StandardScaler", check=_check_scaler, mean_=none_or(array("d")),
    var_=none_or(array("d", low=0.0, high=1.7e308)), scale_=_SCALE, n_samples_seen_=_SEEN)
estimator("sklearn.preprocessing:MaxAbsScaler", check=_keeps_columns, max_abs_=array("d"), scale_=_SCALE,
    n_samples_seen_=_SEEN)
estimator("sklearn.preprocessing:FunctionTransformer", "n_features_in_?", check=_keeps_columns,
    **each("func inverse_func", none_or(FOREIGN)))
estimator("sklearn.kernel_approximation:Nystroem", "_n_features_out",
    components_=either(array("out", "d"), part("csr_matrix", "csr_array", rows="out", columns="d")),
    component_indices_=ints("out", low=0), normalization_=array("out", "out"), kernel=word("rbf"),
    gamma=none_or(number(0.0)), **each("degree coef0 kernel_params", NOTHING))
estimator("sklearn.linear_model:LogisticRegression", check=_check_regression, classes_=labels("c"),
    coef_=array("rows", "d"), intercept_=array("rows"), n_iter_=ints(None))
for _name in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
    estimator(f"sklearn.tree:{_name}", "tree_?", take=_take_tree, **_TREE, max_features_=COUNT, tree_=TREE)
for _name in ("ExtraTreesClassifier", "RandomForestClassifier"):
    estimator(f"sklearn.ensemble:{_name}", "oob_score_? oob_decision_function_? _n_samples_bootstrap? _sample_weight?",
        take=taken_forest, make=_make_forest, left_out="estimator estimator_ estimator_params", **_TREE,
        estimators_=FOREST, _n_samples=COUNT, _n_samples_bootstrap=none_or(COUNT),
        _sample_weight=none_or(array("n", low=0.0)), oob_score_=NUMBER,
        oob_decision_function_=array("n", "c", finite=False))
estimator("sklearn.ensemble:HistGradientBoostingClassifier", "classes_", take=_take_boosting, make=_make_boosting,
    left_out="_bin_mapper _feature_subsample_rng _is_categorical_remapped _label_encoder _loss _n_features "
    "_preprocessor _random_seed _scorer _use_validation_data n_trees_per_iteration_",
    _predictors=ROUNDS, _baseline_prediction=array(1, 1), max_bins=whole(2, 255), is_categorical_=NOTHING,
    **each("train_score_ validation_score_", ANY_CURVE), **each("do_early_stopping_ warm_start", FLAG))
_TEXT, _LEFT = "sklearn.feature_extraction.text", "_stop_words_id stop_words_"
declare(f"{_TEXT}:CountVectorizer", check=_check_words, left_out=_LEFT, **_VECTORISER)
declare(f"{_TEXT}:TfidfVectorizer", check=_check_words, left_out=_LEFT, **_VECTORISER,
    _tfidf=part("TfidfTransformer", d="out"))
estimator(f"{_TEXT}:TfidfTransformer", "n_features_in_? idf_?", check=_keeps_columns, idf_=array("d"))
