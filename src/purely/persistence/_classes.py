"""Every class of ours that a model file may hold, and what its objects hold.

A class is declared by where it is, the attributes that are known by name, and a field for each other attribute; the
parameters of its constructor need no word. See :func:`purely.persistence._vocabulary.declare`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from purely.persistence._fields import (  # isort: skip
    FLAG, STARTS, Place, array, either, ints, many, none_or, number, pairs, row, text, whole, word,
)  # fmt: skip
from purely.persistence._objects import FOREIGN, State, part
from purely.persistence._sklearn import FOREST, check_sums, taken_forest

from purely.persistence._vocabulary import (  # isort: skip
    ANY_CURVE, ANY_NUMBER, COUNT, INSIDE, NAME, NUMBER, SHARE, declare, each, estimator, model,
)  # fmt: skip

# -- what estimators are made of ---------------------------------------------------------------------------------------


def _check_posterior(state: State, at: Place) -> None:
    at.need((state["positives"] <= state["rows"]).all(), "has more positives than rows")
    at.need((state["found"] <= state["seen"]).all(), "has more positives than labels")


def _check_network(state: State, at: Place) -> None:
    layers = [*state["encoder"], *state["head"]]
    at.need(state["head"], "must have a layer that ends in the outputs")
    at.need(all(weights.shape[1:] == bias.shape for weights, bias, _ in layers), "has constants that do not fit")
    at.need(all(a[0].shape[1] == b[0].shape[0] for a, b in pairwise(layers)), "has layers that do not fit together")
    at.measure("d", layers[0][0].shape[0])


def _check_logistic(state: State, at: Place) -> None:
    if state["kernel"] is None:
        at.measure("d", state["coef"].size)


def _check_member(state: State, at: Place) -> None:
    at.need((state["name"] == "networks") == isinstance(state["model"], list), "must be networks where it says so")


def _check_solution(state: State, at: Place) -> None:
    at.need(("coef_" in state) == ("_chosen" in state), "has half a solution")


def _check_scores(state: State, at: Place) -> None:
    at.need(state["count_p"].sum() > 0 and state["count_u"].sum() > 0, "must count rows of both kinds")
    at.need((np.diff(state["score"]) < 0).all(), "must have scores that fall")


def _check_gaussians(state: State, at: Place) -> None:
    at.measure("k", state["centers"].shape[0] + state["intercept"])


def _take_random_state(value: np.random.RandomState) -> State:
    state: Any = value.get_state(legacy=False)
    return {**state.pop("state"), **state}


def _make_random_state(cls: type, state: State) -> np.random.RandomState:
    made = np.random.RandomState(0)
    made.set_state(tuple(state[name] for name in ("bit_generator", "key", "pos", "has_gauss", "gauss")))
    return made


# fmt: off
_LAYERS = many(row(array(None, None), array(None), FLAG))
_DETAIL = none_or(FLAG, ANY_NUMBER, text(), ANY_CURVE)

declare("purely.class_prior:Prior", "same_rows?", **each("value low high", SHARE), level=INSIDE,
    upper_bound=none_or(SHARE), determined=FLAG)
declare("purely.calibration:ScoreCalibration", **each("knots log_odds", array("k", rising=True)), end_slope=number(0.0))
declare("purely.audit:Posterior", check=_check_posterior, rows=array("g", low=1.0), cut=array("g", low=0.0, high=1.0),
    **each("found seen", array("g", low=0.0)), positives=array("draws", "g", low=0.0))
declare("purely.classifiers.selection_aware:SelectionCurve", columns=ints("c", low=0), knots=array("c", None),
    coef=array("c", 2), centre=NUMBER)
declare("purely.audit._refinement:Refinement", slope=number(0.0), intercept=NUMBER, coef=array("d"),
    scale=array("d", low=0.0), centres=array("m", "d"), weight=array("m"))
declare("purely.nn.fitted:NetworkArrays", check=_check_network, **each("encoder head", _LAYERS))
declare("purely.nn.networks:ModuleNetwork", module=FOREIGN, scaling=none_or(part("Scaling")))
declare("purely.nn.scaling:Scaling", mean=none_or(array("d")), scale=array("d", low=1e-300))
declare("purely.nn.fitted:History", **each("train_loss train_j held_loss held_j", array("epochs", "m", finite=False)),
    best_epoch=ints("m", low=0, below="epochs"), interrupted=FLAG)
declare("purely.classifiers.logistic:LogisticModel", check=_check_logistic, coef=array("k"), intercept=NUMBER,
    kernel=none_or(part("Pipeline", d="d", out="k")), n_iter=COUNT)
declare("purely.classifiers.auto:FittedMember", check=_check_member, name=NAME, counts=row(whole(1), whole(1)),
    calibration=part("ScoreCalibration"),
    model=either(part("LogisticModel", d="d"), many(part("NetworkArrays", d="d")), model(d="d")))
declare("purely.smi.basis:GaussianBases", check=_check_gaussians, centers=array("b", "d"), origin=none_or(array("d")),
    bandwidths=array("s", low=1e-300), intercept=FLAG)
declare("purely.smi.basis:UserBasis", function=FOREIGN, n_functions=whole(1, length="k"),
    n_bases=whole(1, 1, length="s"))
declare("purely.smi.objective:BasisSums", count=array(2, "folds"), first=array(2, "s", "folds", "k"),
    second=array(None, "s", "folds", "k", "k"))
declare("purely.prior.base:PriorDiagnostics", **each("x curve", array("points", finite=False)),
    **each("x_label curve_label", NAME), bound=none_or(NAME), chosen=none_or(ANY_NUMBER), details=pairs(NAME, _DETAIL))
declare("purely.prior.scores:ScoreTable", check=_check_scores, score=array("cells"),
    **each("count_p count_u", array("cells", low=0.0)))
declare("purely.prior.kernel_mean:KernelMeans", **each("kappa error bound threshold", pairs(NAME, none_or(ANY_NUMBER))),
    **each("bandwidth mmd", ANY_NUMBER), **each("extrapolations distances slopes gaps", array("steps", finite=False)),
    fell_back=FLAG)
declare("numpy.random:RandomState", take=_take_random_state, make=_make_random_state, bit_generator=word("MT19937"),
    key=ints(624, low=0, high=2**32 - 1), pos=whole(0, 624), has_gauss=whole(0, 1), gauss=NUMBER)

# -- information and representations -----------------------------------------------------------------------------------

_SUMS = {
    "sums_": part("BasisSums", k="k", s="s", folds="folds"), "_beta": array(2, "k"), "fold_coef_": array("folds", "k"),
    "_fold_bases": many(whole(below="s"), "folds"), "fold_bandwidth_": none_or(array("folds")),
    "folds_": ints("n", low=0, below="folds")}
_SOLUTION = (
    "classes_ centers_? _bases _seed _chosen? bandwidth_? alpha_? coef_? cv_results_? oof_density_ratio_? folds_? "
    "information_? information_in_sample_? _beta? _fold_bases? fold_bandwidth_? fold_coef_?")
_NETWORKS = (
    "classes_ _n_features_out n_components_ networks_ history_ information_ train_objective_ held_out_objective_ "
    "components_?")

estimator("purely.smi:PUSMI", f"{_SOLUTION} _oof_positive? _fold_variance?", check=_check_solution, **_SUMS)
estimator("purely.smi:PNSMI", f"{_SOLUTION} class_prior_? smi_? smi_in_sample_?", check=_check_solution, **_SUMS)
estimator("purely.representation:LSDR",
    "classes_ components_ n_components_ _n_features_out bandwidth_ alpha_ information_ n_iter_ objectives_")
estimator("purely.representation:PNRL", f"{_NETWORKS} class_prior_", best_network_=whole(below="m"))
estimator("purely.representation:PURL",
    f"{_NETWORKS} _logistic _share train_information_ overfitting_ oof_density_ratio_? oof_information_?",
    best_network_=whole(below="m"))

# -- class priors ------------------------------------------------------------------------------------------------------

_PRIOR = "prior_ class_prior_ unlabelled_prior_ label_frequency_ class_prior_interval_"
_ESTIMATE = f"classes_ n_positive_ n_unlabelled_ diagnostics_ upper_bound_ determined_ {_PRIOR}"
for _name in ("AlphaMax", "BestBin", "DEDPUL", "ElkanNoto", "LogisticCeiling", "MonotoneRatio", "PenL1", "RankPruning"):
    estimator(f"purely.prior:{_name}Prior", _ESTIMATE)
estimator("purely.prior:TIcEPrior", _ESTIMATE)
estimator("purely.prior:ClassPrior", _ESTIMATE, model_scores_=array("models", "n"), scores_=array("n"),
    model_weights_=array("models", low=0.0), loss_=NUMBER)
estimator("purely.prior:KernelMeanPrior", _ESTIMATE, result_=part("KernelMeans"), standard_error_=ANY_NUMBER)
estimator("purely.prior:RegroupingPrior", f"{_ESTIMATE} n_copied_")

# -- classifiers -------------------------------------------------------------------------------------------------------

_META = "_counts _order"
_MAPPED = f"{_META} _map oof_probability_"
_INSIDE = each("class_prior_ unlabelled_prior_", INSIDE)


def _classifier(name: str, names: str, /, **more: Any) -> None:
    names = f"classes_ {_PRIOR} prior_estimator_ oof_table_? {names}"
    estimator(f"purely.classifiers:{name}", names, **_INSIDE, **more)


_classifier("PUClassifier", "_final history_? oof_probability_ distilled_?",
    distilled_=part("DistilledPUClassifier", d="d"), members_=many(part("FittedMember", d="d"), "m"),
    member_weights_=array("m", low=0.0, high=1.0 + 1e-9), oof_member_log_odds_=array("m", "n"))
declare("purely.collapsed:LinearScore", coef=array("d"), intercept=NUMBER, limited=FLAG)
declare("purely.collapsed:KernelScore", mean=array("d"), scale=array("d", low=1e-300), centers=array("k", "d"),
    coef=array("k"), gamma=number(0.0), intercept=NUMBER, limited=FLAG)
declare("purely.collapsed:TreeScore", check=check_sums, left_out="trees stages n_sorting", offset=array("d"),
    starts=STARTS, **each("left right", ints("nodes", low=-1)), feature=ints("nodes", low=-2, below="d"),
    **each("threshold value", array("nodes")), shares=FLAG, constant=NUMBER)
declare("purely.collapsed:ModelScore", model=either(part("LogisticModel", d="d"), model(d="d")),
    counts=row(whole(1), whole(1)))
declare("purely.classifiers.distilled:NetworkScore", networks=many(part("NetworkArrays", d="d")))
declare("purely.classifiers.distilled:DistilledMember", name=NAME, weight=number(0.0, 1.0 + 1e-9),
    calibration=part("ScoreCalibration"),
    score=part("LinearScore", "KernelScore", "TreeScore", "ModelScore", "NetworkScore", d="d"))
declare("purely.classifiers.distilled:Difference", n_rows=COUNT, **each("mean largest area", number(0.0, 1.0)))
declare("purely.classifiers.imitation:Imitation", network=part("NetworkArrays", d="d"), offset=array("d"),
    **each("low high", NUMBER))
estimator("purely.classifiers:DistilledPUClassifier", f"classes_ {_PRIOR} oof_table_? _final",
    imitation_=none_or(part("Imitation", d="d")), **_INSIDE,
    members_=many(part("DistilledMember", d="d")), **each("difference_ members_difference_", part("Difference")))
_classifier("NNPUClassifier", "networks_ history_ _map _squared oof_probability_? oof_score_?")
_classifier("PULogisticClassifier", "n_iter_", _model=part("LogisticModel", d="d", k="k"), coef_=array(1, "k"),
    intercept_=array(1))
_classifier("PULeastSquaresClassifier", "_bases centers_? _chosen bandwidth_ alpha_ coef_ cv_results_",
    _scaling=none_or(part("Scaling", d="d")))
_classifier("BaggingPUClassifier", _MAPPED, take=taken_forest, estimators_=either(FOREST, many(model(d="d"))))
_classifier("CalibratedPUClassifier", f"{_MAPPED} estimator_ calibration_")
_classifier("ElkanNotoClassifier", f"{_META} estimator_ _log_counts _shift")
_classifier("ReweightedPUClassifier", f"{_META} _map? oof_probability_? estimator_")
_classifier("SelectionAwareClassifier", "_map oof_probability_ oof_table_", classifier_=part("PUClassifier", d="d"),
    selection_=none_or(part("SelectionCurve")))
_classifier("SelfTrainingPUClassifier", f"{_MAPPED} estimator_ class_prior_path_")
estimator("purely.audit:RecalibratedClassifier",
    "classes_ prior_ class_prior_ unlabelled_prior_ class_prior_interval_ calibration_",
    **_INSIDE, posterior_=part("Posterior"),
    refinement_=none_or(part("Refinement", d="d")))
_classifier("TwoStepPUClassifier", f"{_MAPPED} estimator_ reliable_negative_")

# -- tables ------------------------------------------------------------------------------------------------------------


def _check_report(state: State, at: Place) -> None:
    found = sum(plan.n_features for plan in state["columns"])
    at.need(found == state["n_features"] > 0, "has another number of features than it says")


def _check_encoder(state: State, at: Place) -> None:
    at.need(len(state["report_"].columns) == state["n_features_in_"], "has another number of columns than it says")
    at.measure("out", state["report_"].n_features)


_KINDS = ("number", "boolean", "date", "category", "text", "vector", "sparse", "dropped")

declare("purely.tables:ColumnPlan", **each("name action warning form", NAME), kind=word(*_KINDS),
    n_missing=COUNT, **each("missing other", FLAG), places=ints(None), **each("fill centre weights", array(None)),
    scale=array(None, low=1e-300), origin=whole(-(2**62), 2**62), levels=many(text()))
declare("purely.tables:EncodingReport", check=_check_report, columns=many(part("ColumnPlan")),
    **each("n_rows n_features", COUNT), sparse=FLAG)
declare("purely.tables:Origin", **each("label positive negative", none_or(text())), file=text(), ids=many(text()),
    n_rows=COUNT)
estimator("purely.tables:TableEncoder", "origin_?", check=_check_encoder, report_=part("EncodingReport"),
    origin_=part("Origin"), dtype=word("float64", "float32"))
