"""Classes of scikit-learn that our own models hold, and the vectorisers of text that pipelines start with."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn._loss.loss import HalfBinomialLoss
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from purely.persistence._fields import (  # isort: skip
    FLAG, NOTHING, STARTS, WIDEST, Place, array, either, ints, many, none_or, number, pairs, row, text, whole, word,
)  # fmt: skip
from purely.persistence._foreign import FOREIGN
from purely.persistence._schema import State, make, part
from purely.persistence._trees import BOOSTED, FOREST, ROUNDS, TREE, pack, pack_trees, taken_forest
from purely.persistence._vocabulary import ANY_CURVE, COUNT, MODEL, NAME, NUMBER, declare, each, estimator, labels


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
    right = all(state[held] is not None for used, held in _USED.items() if state.get(used, True))
    at.need(right, "has no mean to take away, or no scale to divide by")
    _keeps_columns(state, at)


_USED = {"with_mean": "mean_", "with_std": "scale_"}


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
    parts = (state["data"], state["indices"].astype(np.int32), state["starts"].astype(np.int32))
    return cls(parts, shape=state["shape"])


def _check_sparse(state: State, at: Place) -> None:
    starts, entries = state["starts"], state["data"].size
    right = starts.size == state["shape"][0] + 1 and starts[0] == 0 and starts[-1] == entries < 2**31
    at.need(right, "has rows that do not make up the whole")


# fmt: off
_SPARSE = {
    "shape": row(whole(0, 2**31 - 2, length="rows"), whole(0, WIDEST, length="columns")), "data": array("entries"),
    "indices": ints("entries", low=0, below="columns"), "starts": STARTS}
for _name in ("csr_matrix", "csr_array"):
    declare(f"scipy.sparse:{_name}", "", _SPARSE, take=_take_sparse, make=_make_sparse, check=_check_sparse)
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

declare("sklearn.pipeline:Pipeline", check=_check_pipeline, fields={
    "steps": many(row(NAME, _STEP)), "transform_input": NOTHING})
estimator("sklearn.preprocessing:StandardScaler", check=_check_scaler, fields={
    "mean_": none_or(array("d")), "var_": none_or(array("d", low=0.0, high=1.7e308)), "scale_": _SCALE,
    "n_samples_seen_": _SEEN})
estimator("sklearn.preprocessing:MaxAbsScaler", check=_keeps_columns, fields={
    "max_abs_": array("d"), "scale_": _SCALE, "n_samples_seen_": _SEEN})
estimator("sklearn.preprocessing:FunctionTransformer", "n_features_in_?", check=_keeps_columns, fields=each(
    "func inverse_func", none_or(FOREIGN)))
estimator("sklearn.kernel_approximation:Nystroem", "_n_features_out", {
    "components_": either(array("out", "d"), part("csr_matrix", "csr_array", rows="out", columns="d")),
    "component_indices_": ints("out", low=0), "normalization_": array("out", "out"), "kernel": word("rbf"),
    "gamma": none_or(number(0.0)), **each("degree coef0 kernel_params", NOTHING)})
estimator("sklearn.linear_model:LogisticRegression", check=_check_regression, fields={
    "classes_": labels("c"), "coef_": array("rows", "d"), "intercept_": array("rows"), "n_iter_": ints(None)})
for _name in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
    estimator(f"sklearn.tree:{_name}", "tree_?", {**_TREE, "max_features_": COUNT, "tree_": TREE}, take=_take_tree)
for _name in ("ExtraTreesClassifier", "RandomForestClassifier"):
    estimator(
        f"sklearn.ensemble:{_name}", "oob_score_? oob_decision_function_? _n_samples_bootstrap? _sample_weight?",
        {
            **_TREE, "estimators_": FOREST, "_n_samples": COUNT, "_n_samples_bootstrap": none_or(COUNT),
            "_sample_weight": none_or(array("n", low=0.0)), "oob_score_": NUMBER,
            "oob_decision_function_": array("n", "c", finite=False)},
        take=taken_forest, make=_make_forest, left_out="estimator estimator_ estimator_params")
estimator(
    "sklearn.ensemble:HistGradientBoostingClassifier", "classes_", take=_take_boosting, make=_make_boosting,
    fields={
        "_predictors": ROUNDS, "_baseline_prediction": array(1, 1), "max_bins": whole(2, 255),
        "is_categorical_": NOTHING, **each("train_score_ validation_score_", ANY_CURVE),
        **each("do_early_stopping_ warm_start", FLAG)},
    left_out="_bin_mapper _feature_subsample_rng _is_categorical_remapped _label_encoder _loss _n_features "
    "_preprocessor _random_seed _scorer _use_validation_data n_trees_per_iteration_")
_TEXT, _LEFT = "sklearn.feature_extraction.text", "_stop_words_id stop_words_"
declare(f"{_TEXT}:CountVectorizer", "", _VECTORISER, check=_check_words, left_out=_LEFT)
declare(f"{_TEXT}:TfidfVectorizer", check=_check_words, left_out=_LEFT, fields={
    **_VECTORISER, "_tfidf": part("TfidfTransformer", d="out")})
estimator(f"{_TEXT}:TfidfTransformer", "n_features_in_? idf_?", {"idf_": array("d")}, check=_keeps_columns)
