"""What has to hold between the parts of an object: compiled code takes it for granted and does not look."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from purely.persistence._limits import LARGEST_WIDTH, integer, need

__all__ = ["check"]

#: Beyond this many workers a number of jobs is not a wish but an attack.
LARGEST_JOBS = 1024


def check(made: Any, name: str) -> None:
    """Refuse an object whose parts do not fit together, in as far as code that does not look would be led astray."""
    held = vars(made)
    for attribute in ("n_jobs", "n_threads"):
        if held.get(attribute) is not None:
            integer(held[attribute], -LARGEST_JOBS, LARGEST_JOBS, f"{name}.{attribute}")
    for attribute in ("n_features_in_", "_n_features", "_n_features_out"):
        if attribute in held and not isinstance(held[attribute], np.integer):
            integer(held[attribute], 1, LARGEST_WIDTH, f"{name}.{attribute}")
    classes = held.get("classes_")
    if isinstance(classes, np.ndarray) and classes.ndim == 1:
        count = 2 if name.startswith("purely.") else held.get("n_classes_", classes.size)
        need(
            not isinstance(count, (int, np.integer)) or classes.size == count, f"{name} has other classes than it says"
        )
    # A cache folder named by the file would be read as pickles at the next fit.
    need(held.get("memory") is None, f"{name}.memory must be None")
    if name in CHECKS:
        CHECKS[name](held, name)


def _tree(held: dict[str, Any], name: str) -> None:
    from sklearn.tree._tree import Tree

    if "tree_" not in held:
        return
    tree = held["tree_"]
    need(isinstance(tree, Tree), f"{name}.tree_ must be a tree")
    need(held.get("n_features_in_") == tree.n_features, f"{name} takes other columns than its tree")
    need(held.get("n_outputs_") == tree.n_outputs, f"{name} has other outputs than its tree")
    if "Classifier" in name and tree.n_outputs == 1:
        need(held.get("n_classes_") == tree.n_classes[0], f"{name} has other classes than its tree")


def _forest(held: dict[str, Any], name: str) -> None:
    from sklearn.tree import BaseDecisionTree

    if "estimators_" not in held:
        return
    trees = held["estimators_"]
    need(isinstance(trees, list) and len(trees) > 0, f"{name}.estimators_ must be a list of trees")
    for tree in trees:
        own = vars(tree) if isinstance(tree, BaseDecisionTree) else {}
        need("tree_" in own, f"{name}.estimators_ must be fitted trees")
        for attribute in ("n_features_in_", "n_outputs_"):
            need(own[attribute] == held.get(attribute), f"{name} and a tree of it differ in {attribute}")


def _boosting(held: dict[str, Any], name: str) -> None:
    from sklearn.tree import DecisionTreeRegressor

    if "estimators_" not in held:
        return
    trees = held["estimators_"]
    need(
        isinstance(trees, np.ndarray) and trees.ndim == 2 and trees.size, f"{name}.estimators_ must be a table of trees"
    )
    for tree in trees.ravel():
        need(isinstance(tree, DecisionTreeRegressor) and "tree_" in vars(tree), f"{name} must hold fitted trees")
        need(tree.tree_.n_features == held.get("n_features_in_"), f"{name} takes other columns than its trees")
        need(tree.tree_.value.shape[1:] == (1, 1), f"{name} must hold trees of one number")
    if "Classifier" in name:
        classes: Any = held.get("classes_")
        need(isinstance(classes, np.ndarray) and classes.ndim == 1, f"{name}.classes_ must be a list of classes")
        need(trees.shape[1] == (1 if classes.size == 2 else classes.size), f"{name} has other trees than classes")


def _histogram_boosting(held: dict[str, Any], name: str) -> None:
    if "_predictors" not in held:
        return
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    need(held.get("_preprocessor") is None, f"{name} has categories, which model files do not hold")
    n_features = integer(held.get("n_features_in_"), 1, LARGEST_WIDTH, f"{name}.n_features_in_")
    baseline, rounds = held.get("_baseline_prediction"), held["_predictors"]
    width = integer(held.get("n_trees_per_iteration_"), 1, 10**6, f"{name}.n_trees_per_iteration_")
    right = isinstance(baseline, np.ndarray) and baseline.dtype == np.float64 and baseline.shape == (1, width)
    need(right, f"{name} must start from one number for each tree of a round")
    need(isinstance(rounds, list) and all(isinstance(r, list) and len(r) == width for r in rounds), f"{name} is torn")
    for tree in (tree for trees in rounds for tree in trees):
        need(isinstance(tree, TreePredictor), f"{name} must hold trees")
        need(int(tree.nodes["feature_idx"].max()) < n_features, f"a tree of {name} asks for a column out of range")
    mapper = vars(held["_bin_mapper"]) if hasattr(held.get("_bin_mapper"), "fit") else {}
    marks: Any = mapper.get("is_categorical_")
    right = isinstance(marks, np.ndarray) and marks.shape == (n_features,) and marks.dtype.kind in "bu"
    need(right and not marks.any(), f"the columns of {name} do not fit its bins")


def _neighbours(held: dict[str, Any], name: str) -> None:
    if "_fit_X" not in held:
        return
    rows: Any
    y: Any
    classes: Any
    rows, y, classes = (held.get(k) for k in ("_fit_X", "_y", "classes_"))
    need(getattr(rows, "ndim", 0) == 2, f"{name} must hold rows")
    right = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind == "i" and isinstance(classes, np.ndarray)
    need(right and y.size == rows.shape[0] == held.get("n_samples_fit_"), f"{name} must hold one class a row")
    need(y.size and y.min() >= 0 and y.max() < classes.size, f"a class of {name} is out of range")
    need(held.get("n_features_in_") == rows.shape[1], f"{name} takes other columns than its rows have")


def _vocabulary(held: dict[str, Any], name: str) -> None:
    # Columns beyond the vocabulary's size would go unchecked into a sparse matrix, and SciPy's code would follow them.
    if "vocabulary_" in held:
        words = held["vocabulary_"]
        need(isinstance(words, dict) and all(type(w) is str for w in words), f"{name}.vocabulary_ must be words")
        places = list(words.values())
        right = all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) for i in places)
        need(right and sorted(map(int, places)) == list(range(len(places))), f"columns of {name} are out of range")


def _pipeline(held: dict[str, Any], name: str) -> None:
    steps = held.get("steps")
    right = isinstance(steps, list) and all(
        isinstance(s, tuple) and len(s) == 2 and isinstance(s[0], str) for s in steps
    )
    need(right and len(steps or ()) > 0, f"{name}.steps must be pairs of a name and an estimator")


def _network(held: dict[str, Any], name: str) -> None:
    layers = [*_layers(held["encoder"], name), *_layers(held["head"], name)]
    for before, after in pairwise(layers):
        need(before.shape[1] == after.shape[0], f"the layers of {name} do not fit together")


def _layers(layers: Any, name: str) -> list[Any]:
    need(isinstance(layers, tuple) and layers, f"{name} must be made of layers")
    for layer in layers:
        right = isinstance(layer, tuple) and len(layer) == 3 and isinstance(layer[2], (bool, np.bool_))
        need(right and all(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in layer[:2]), f"{name} is torn")
        need(layer[0].ndim == 2 and layer[1].shape == layer[0].shape[1:], f"the layers of {name} do not fit together")
    return [layer[0] for layer in layers]


def _calibration(held: dict[str, Any], name: str) -> None:
    knots, values = held["knots"], held["log_odds"]
    right = all(isinstance(a, np.ndarray) and a.ndim == 1 and a.dtype.kind == "f" for a in (knots, values))
    need(right and knots.size == values.size > 0, f"{name} must have one value a knot")
    need(isinstance(held["end_slope"], (float, np.floating)), f"{name} must have a slope")


_TREES = ["DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"]
_FORESTS = ["ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier", "RandomForestRegressor"]
_TEXT = "sklearn.feature_extraction.text"
CHECKS: dict[str, Callable[[dict[str, Any], str], None]] = {
    **{f"sklearn.tree.{short}": _tree for short in _TREES},
    **{f"sklearn.ensemble.{short}": _forest for short in _FORESTS},
    "sklearn.ensemble.GradientBoostingClassifier": _boosting,
    "sklearn.ensemble.GradientBoostingRegressor": _boosting,
    "sklearn.ensemble.HistGradientBoostingClassifier": _histogram_boosting,
    "sklearn.ensemble.HistGradientBoostingRegressor": _histogram_boosting,
    "sklearn.neighbors.KNeighborsClassifier": _neighbours,
    "sklearn.feature_extraction.DictVectorizer": _vocabulary,
    f"{_TEXT}.CountVectorizer": _vocabulary,
    f"{_TEXT}.TfidfVectorizer": _vocabulary,
    "sklearn.pipeline.Pipeline": _pipeline,
    "purely.nn.fitted.NetworkArrays": _network,
    "purely.calibration.ScoreCalibration": _calibration,
}
