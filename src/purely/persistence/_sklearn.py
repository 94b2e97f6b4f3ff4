"""Objects of scikit-learn that are more than their attributes: compiled trees, losses, search trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.persistence._limits import LARGEST_WIDTH, integer, need

__all__ = ["BUILDERS", "DROPPED", "REBUILD", "STATES"]

#: Attributes that are made again when a model is loaded, by the stored name of its class.
DROPPED = {
    "sklearn.isotonic.IsotonicRegression": ("f_",),
    "sklearn.linear_model.Perceptron": ("_loss_function_",),
    "sklearn.linear_model.SGDClassifier": ("_loss_function_",),
    "sklearn.linear_model.SGDRegressor": ("_loss_function_",),
    "sklearn.neighbors.KNeighborsClassifier": ("_tree",),
    # The address of a list in memory, by which a check of the list is not repeated.
    **{
        f"sklearn.feature_extraction.text.{name}": ("_stop_words_id",)
        for name in ("CountVectorizer", "HashingVectorizer", "TfidfVectorizer")
    },
}


def _remake_isotonic(model: Any) -> None:
    if "X_thresholds_" in vars(model):
        x, y = model.X_thresholds_, model.y_thresholds_
        right = all(isinstance(a, np.ndarray) and a.ndim == 1 and a.dtype.kind == "f" for a in (x, y))
        need(right and x.size == y.size > 0, "the steps of an isotonic regression are torn")
        need(bool(np.all(np.diff(x) > 0)), "the steps of an isotonic regression must rise")
        need(model.out_of_bounds in ("nan", "clip", "raise"), "out_of_bounds must be 'nan', 'clip' or 'raise'")
        model._build_f(x, y)


def _remake_sgd_loss(model: Any) -> None:
    if "coef_" in vars(model) and isinstance(model.loss, str) and hasattr(model, "_get_loss_function"):
        need(model.loss in model.loss_functions, "the loss of a linear model has no known name")
        model._loss_function_ = model._get_loss_function(model.loss)


_NEIGHBOUR_METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski", "l1", "l2", "cityblock")


def _remake_neighbours(model: Any) -> None:
    if "_fit_method" not in vars(model):
        return
    from sklearn.neighbors import BallTree, KDTree

    model._tree = None
    if model._fit_method == "brute":
        return
    need(model._fit_method in ("kd_tree", "ball_tree"), "neighbours are searched by an unknown method")
    rows = model._fit_X
    need(
        isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind == "f", "neighbours must be rows of floats"
    )
    need(bool(np.isfinite(rows).all()) and len(rows) > 0, "neighbours must be finite")
    need(model.effective_metric_ in _NEIGHBOUR_METRICS, "the metric of neighbours has no known name")
    extra = model.effective_metric_params_
    need(isinstance(extra, dict) and set(extra) <= {"p"}, "the metric of neighbours has unknown parameters")
    need(all(isinstance(p, (int, float)) and 1 <= p < 1e6 for p in extra.values()), "p must be a number of at least 1")
    integer(model.leaf_size, 1, 2**31, "leaf_size")
    tree = {"kd_tree": KDTree, "ball_tree": BallTree}[model._fit_method]
    model._tree = tree(rows, model.leaf_size, metric=model.effective_metric_, **extra)


REBUILD: dict[str, Callable[[Any], None]] = {
    "sklearn.isotonic.IsotonicRegression": _remake_isotonic,
    "sklearn.linear_model.Perceptron": _remake_sgd_loss,
    "sklearn.linear_model.SGDClassifier": _remake_sgd_loss,
    "sklearn.linear_model.SGDRegressor": _remake_sgd_loss,
    "sklearn.neighbors.KNeighborsClassifier": _remake_neighbours,
}


# -- compiled trees ----------------------------------------------------------------------------------------------------


def _tree_state(tree: Any) -> dict[str, Any]:
    held = tree.__getstate__()
    nodes = held["nodes"]
    return {
        "n_features": int(tree.n_features),
        "n_classes": np.asarray(tree.n_classes, dtype=np.int64),
        "n_outputs": int(tree.n_outputs),
        "max_depth": int(held["max_depth"]),
        "values": np.ascontiguousarray(held["values"]),
        "nodes": {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names},
    }


def _build_tree(state: dict[str, Any]) -> Any:
    from sklearn.tree._tree import NODE_DTYPE, Tree

    names = {"n_features", "n_classes", "n_outputs", "max_depth", "values", "nodes"}
    need(set(state) == names, "a tree has other entries than a tree has")
    n_features = integer(state["n_features"], 1, LARGEST_WIDTH, "the columns of a tree")
    n_outputs = integer(state["n_outputs"], 1, 1000, "the outputs of a tree")
    n_classes, values = state["n_classes"], state["values"]
    need(_is_array(n_classes, np.int64, (n_outputs,)), "the classes of a tree must be counts")
    need(bool((n_classes >= 1).all() and (n_classes <= 10**6).all()), "the classes of a tree must be counts")
    nodes = _records(state["nodes"], NODE_DTYPE, "a tree")
    count = nodes.size
    need(
        _is_array(values, np.float64, (count, n_outputs, int(n_classes.max()))), "a tree's values do not fit its nodes"
    )
    left, right = nodes["left_child"], nodes["right_child"]
    depth = _check_children(left, right, leaf=left == -1, start=right == -1)
    inner = left != -1
    feature = nodes["feature"][inner]
    need(
        not feature.size or (feature.min() >= 0 and feature.max() < n_features), "a tree asks for a column out of range"
    )
    need(bool((nodes["n_node_samples"] >= 0).all()), "a node of a tree must have a count of rows")
    need(bool(np.isfinite(nodes["weighted_n_node_samples"]).all()), "a node of a tree must have a finite weight")
    need(bool((nodes["missing_go_to_left"] <= 1).all()), "a node of a tree must be left or right")
    need(state["max_depth"] == depth, "the depth of a tree is not what its nodes say")
    made = Tree(n_features, n_classes.astype(np.intp), n_outputs)
    made.__setstate__({"max_depth": depth, "node_count": count, "nodes": nodes, "values": values})
    return made


def _records(fields: Any, dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    """One array of records from an array for each field."""
    names = dtype.names or ()
    right = isinstance(fields, dict) and set(fields) == set(names)
    need(right, f"the nodes of {what} have other fields than those of the scikit-learn installed here")
    count = fields[names[0]].size if isinstance(fields[names[0]], np.ndarray) else 0
    need(0 < count < 2**31, f"{what} must have nodes")
    records = np.zeros(count, dtype=dtype)
    for name in names:
        need(_is_array(fields[name], dtype[name], (count,)), f"the nodes of {what} are torn at {name}")
        records[name] = fields[name]
    return records


def _is_array(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.dtype(dtype) and value.shape == shape


def _check_children(left: NDArray[Any], right: NDArray[Any], leaf: NDArray[Any], start: NDArray[Any]) -> int:
    """Depth of a tree whose children all come after their parents: no path can leave the nodes, or never end."""
    need(bool(np.array_equal(leaf, start)), "a node of a tree has one child")
    count, inner = left.size, np.flatnonzero(~leaf)
    children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
    parents = np.concatenate([inner, inner])
    need(bool((children > parents).all() and (children < count).all()), "a child of a tree is out of range")
    need(children.size == count - 1 and np.unique(children).size == children.size, "nodes of a tree are not a tree")
    depth, level = 0, np.zeros(1, dtype=np.int64)
    while True:
        level = level[~leaf[level]]
        if not level.size:
            return depth
        level = np.concatenate([left[level], right[level]]).astype(np.int64)
        depth += 1


def _predictor_state(predictor: Any) -> dict[str, Any]:
    nodes = predictor.nodes
    return {
        "nodes": {name: np.ascontiguousarray(nodes[name]) for name in nodes.dtype.names},
        "binned": predictor.binned_left_cat_bitsets,
        "raw": predictor.raw_left_cat_bitsets,
    }


def _build_predictor(state: dict[str, Any]) -> Any:
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    need(set(state) == {"nodes", "binned", "raw"}, "a tree of a boosting has other entries")
    nodes = _records(state["nodes"], np.dtype(PREDICTOR_RECORD_DTYPE), "a tree of a boosting")
    need(
        bool((nodes["is_leaf"] <= 1).all() and (nodes["missing_go_to_left"] <= 1).all()), "a node must be left or right"
    )
    leaf = nodes["is_leaf"] == 1
    _check_children(nodes["left"], nodes["right"], leaf, leaf)
    need(not nodes["is_categorical"].any(), "a tree of a boosting splits categories, which model files do not hold")
    need(bool((nodes["feature_idx"] >= 0).all()), "a tree asks for a column out of range")
    for name in ("binned", "raw"):
        need(_is_array(state[name], np.uint32, (0, 8)), "a tree of a boosting splits categories")
    return TreePredictor(nodes, state["binned"], state["raw"])


def _loss_state(loss: Any) -> dict[str, Any]:
    return {"n_classes": int(loss.n_classes or 0)}


def _build_loss(name: str) -> Callable[[dict[str, Any]], Any]:
    def build(state: dict[str, Any]) -> Any:
        from sklearn._loss import loss

        need(set(state) == {"n_classes"}, "a loss has other entries")
        n_classes = integer(state["n_classes"], 0, 10**6, "the classes of a loss")
        kind = getattr(loss, name)
        return kind(n_classes=max(n_classes, 2)) if name == "HalfMultinomialLoss" else kind()

    return build


_LOSSES = ("HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError")
_TREE = "sklearn.tree._tree.Tree"
_PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"

#: Stored name of a class -> function from an object to its state, for objects whose attributes are not their state.
STATES: dict[str, Callable[[Any], dict[str, Any]]] = {
    _TREE: _tree_state,
    _PREDICTOR: _predictor_state,
    **{f"sklearn._loss.loss.{name}": _loss_state for name in _LOSSES},
}
#: Stored name of a class -> function from a state, which it checks, to an object.
BUILDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    _TREE: _build_tree,
    _PREDICTOR: _build_predictor,
    **{f"sklearn._loss.loss.{name}": _build_loss(name) for name in _LOSSES},
}
