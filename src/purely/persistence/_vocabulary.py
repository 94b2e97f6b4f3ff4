"""Parameters and attributes mean the same in every class, so most of them are described here, once, by name."""

from __future__ import annotations

from typing import Any

from purely.persistence._fields import (  # isort: skip
    FLAG, NOTHING, WIDEST, Field, array, either, ints, items, many, none_or, number, pairs, row, text, whole,
    word,
)  # fmt: skip
from purely.persistence._objects import FOREIGN, SCHEMAS, Schema, part

COUNT, NUMBER, SHARE, NAME, WORD = whole(), number(), number(0.0, 1.0), text(10_000, name=True), text(200, name=True)
#: Shares whose logarithm is taken.
INSIDE = number(1e-300, 1.0 - 1e-16)
#: What is reported and never computed with need not be finite.
ANY_NUMBER, ANY_CURVE = number(finite=False), array(None, finite=False)
_SCALAR = none_or(FLAG, number(-1e18, 1e18), WORD)


def model(**lengths: str) -> Field:
    """An estimator: one that is declared, or one of another package, which has to be trusted."""
    return either(part(**lengths), FOREIGN)


def labels(length: str | int) -> Field:
    """An array of labels of any type."""
    return either(array(length, kind="biuf"), items(_SCALAR, length))


def each(names: str, field: Field) -> dict[str, Field]:
    """The same field under several names."""
    return dict.fromkeys(names.split(), field)


MODEL = model()
_MODELS = many(either(WORD, MODEL))
# fmt: off
#: Parameters that are more than a plain value, or that more than `fit` reads. A cache is a folder of pickles.
SETTINGS = {
    "class_prior": none_or(WORD, SHARE, many(SHARE), part("Prior"), MODEL), "estimator": none_or(MODEL),
    "members": either(WORD, _MODELS), "ratio": none_or(WORD, _MODELS, MODEL), "method": none_or(WORD, MODEL),
    "encoder": none_or(FOREIGN), "basis": either(WORD, FOREIGN),
    "centers": none_or(array(None, None), many(many(NUMBER))),
    **each("alpha bandwidth", none_or(NUMBER, many(NUMBER), array(None))), "memory": NOTHING, "prior_min": SHARE,
    "n_estimators": whole(1, 10**6), "n_jobs": none_or(whole(-256, 256)), "verbose": either(FLAG, whole(0, 100)),
    "random_state": none_or(whole(0, 2**32 - 1), part("RandomState")), **each("with_mean with_std", FLAG),
    "threshold": either(INSIDE, many(number(0.0), 2)),
}
#: All other parameters.
SETTING = either(_SCALAR, many(_SCALAR), pairs(_SCALAR, number(-1e18, 1e18)))
#: What fits have found. Lengths: n rows and d columns that were seen, k functions or coefficients, s scales, m members.
FITTED = {
    "n_features_in_": whole(1, WIDEST, length="d"), "feature_names_in_": items(NAME, "d"), "classes_": labels(2),
    "_sklearn_output_config": pairs(word("transform"), none_or(word("default", "pandas", "polars"))),
    **each("_n_features_out n_components_", whole(1, WIDEST, length="out")), "components_": array("out", "d"),
    "prior_": part("Prior"), "prior_estimator_": none_or(MODEL), "class_prior_interval_": row(SHARE, SHARE),
    **each("class_prior_ unlabelled_prior_ label_frequency_", SHARE), "diagnostics_": part("PriorDiagnostics"),
    "upper_bound_": SHARE, "determined_": FLAG, "same_rows": FLAG, "oof_table_": part("ScoreTable"),
    "estimator_": model(d="d"), "history_": part("History"),
    "networks_": many(either(part("NetworkArrays", d="d"), part("ModuleNetwork")), "m"),
    **each("_map calibration_ _final", none_or(part("ScoreCalibration"))), "_counts": row(whole(1), whole(1)),
    "_order": ints("n", low=0, below="n"), **each("oof_density_ratio_ oof_score_", array("n")),
    "oof_probability_": array("n", low=0.0, high=1.0), **each("reliable_negative_ _oof_positive", array("n", kind="b")),
    "_bases": either(part("GaussianBases", d="d", k="k", s="s"), part("UserBasis", k="k", s="s")),
    "_chosen": whole(below="s"), "coef_": array("k"), "centers_": array("b", "d"), "bandwidth_": none_or(NUMBER),
    "cv_results_": pairs(NAME, either(array(None, kind="iuf", finite=False), items(none_or(ANY_NUMBER)))),
    **each("alpha_ _share _shift _log_counts", NUMBER), **each("_squared _logistic overfitting_", FLAG),
    **each("n_iter_ n_positive_ n_unlabelled_ n_copied_ _seed", COUNT),
    **each("information_ information_in_sample_ train_information_ oof_information_", ANY_NUMBER),
    **each("smi_ smi_in_sample_ _fold_variance", ANY_NUMBER),
    **each("held_out_objective_ train_objective_ objectives_ class_prior_path_", ANY_CURVE),
}
# fmt: on


def declare(home: str, names: str = "", /, **more: Any) -> None:
    """Let model files hold a class.

    Parameters
    ----------
    home : str
        Where the class is, ``"module:class"``.
    names : str
        Attributes that are known by name (`FITTED`); a question mark follows what an object need not have.
    **more
        Fields of all other attributes. And `left_out`, names of attributes that are not saved (a checkpoint never is:
        it is a path of the machine that trained the model); `check`, a function of (values by name, place) that refuses
        values that do not agree with each other; `take` and `make`, what an object holds and an object of that, where
        it is more than its attributes; `called`, what files call the class, where that is not its name today.
    """
    name, left_out = more.pop("called", home.partition(":")[2]), more.pop("left_out", "").split()
    options = {key: more.pop(key) for key in ("check", "take", "make") if key in more}
    optional, without = {n[:-1] for n in names.split() if n.endswith("?")}, frozenset([*left_out, "checkpoint"])
    own = {n: FITTED[n] for n in names.replace("?", "").split() if n in FITTED} | more
    SCHEMAS[name] = Schema(home, name, own, lambda n: SETTINGS.get(n, SETTING), frozenset(optional), without, **options)


def estimator(home: str, names: str = "", /, **more: Any) -> None:
    """Let model files hold a class of estimators, which know the columns of their rows."""
    declare(home, f"n_features_in_ feature_names_in_? _sklearn_output_config? {names}", **more)
