"""PUClassifier: the recommended classifier, one setting for every data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from purely._base import draw_seed
from purely._rows import row_keys
from purely.classifiers._base import BasePUClassifier
from purely.classifiers._calibration import CALIBRATIONS, ScoreCalibration, calibrate_scores
from purely.classifiers._stacked_fit import fit_classifiers
from purely.classifiers._stacking import stacked_weights
from purely.classifiers.logistic import PULogisticClassifier
from purely.classifiers.nnpu import NNPUClassifier
from purely.prior._ratio import AUTO_MODELS, MODEL_NAMES, cross_fit, log_ratio, resolve_models
from purely.prior.auto import ClassPrior

__all__ = ["PUClassifier", "recommended_prior"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Members that are logistic regressions of the class, and what they describe rows by.
LOGISTIC = {"logistic": "linear", "kernel-logistic": "gaussian"}
#: Members by name; "ratio" is the average of the ratio models behind the recommended class prior.
MEMBERS = ("networks", *LOGISTIC, "ratio", *MODEL_NAMES)
#: Members that may be given with settings of their own.
OWN_SETTINGS = (NNPUClassifier, PULogisticClassifier)
#: What "light" and "auto" stand for; chosen by `experiments/member_weights.py`.
LIGHT_MEMBERS = ("trees", *LOGISTIC)
AUTO_MEMBERS = ("networks", *LIGHT_MEMBERS)
#: How members are weighed.
WEIGHTS = ("stacked", "equal")
#: How the member "networks" differs from NNPUClassifier's own settings. Width 300 and 30 networks gave the same error
#: within .1 points on the rows for choosing (`experiments/classifier_choice.py`) with over ten times the arithmetic.
NETWORK_SETTINGS: dict[str, Any] = {"hidden": (100, 100, 100), "n_ensemble": 3, "refit": False}
#: Class prior below which their loss is the logistic one: the sigmoid loss is bounded, so a network that calls all rows
#: negative has almost nothing to gain from the few positives. At priors .03, .1 and .2 the networks alone then rank
#: better (AUC .974 against .972, at .03 .977 against .972); averaged with the ratio, both losses do the same
#: (`experiments/results/classifier_choice_rare.csv`).
RARE = 0.2


def recommended_prior() -> Any:
    """The class prior that "auto" stands for."""
    return ClassPrior()


class PUClassifier(BasePUClassifier):
    r"""The classifier we recommend: several kinds of models, weighed and calibrated, with a class prior's interval.

    1. The class prior is estimated, with an interval (:class:`purely.ClassPrior`).
    2. Members score the rows, each row by models that have not seen it: networks with the non-negative PU risk
       (:class:`NNPUClassifier`; three for each fold, with the logistic loss where positives are rare), the density
       ratio of positives to unlabelled rows by trees, and logistic regression of the class, linear and with a kernel
       (:class:`PULogisticClassifier`).
    3. Each member's scores become log-odds through the monotone density ratio of its scores
       (:func:`purely.calibration.calibrate_scores`). Members are weighed so that their out-of-fold log-odds predict
       best which rows are labelled, added up, and calibrated once more.

    Members and settings were chosen by studies on rows that the reported errors do not use
    (`experiments/member_weights.py`, `experiments/classifier_choice.py`); they are the same for all data.

    Parameters
    ----------
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    members : {"auto", "light"} or list, default="auto"
        What is combined. "auto" is networks, trees and both logistic regressions; "light" is the same without the
        networks, which needs no torch. Or a list of "networks", "logistic", "kernel-logistic", one model of the density
        ratio by name ("trees", "linear", "kernel", "forest", "boosting"), "ratio", which is the average of those behind
        :class:`purely.ClassPrior`, or an :class:`NNPUClassifier` or :class:`PULogisticClassifier` with settings of its
        own.
    weights : {"stacked", "equal"}, default="stacked"
        How members are weighed: by what they say of rows that they have not seen, or alike.
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    calibration : {"averaged", "isotonic", "sigmoid"}, default="averaged"
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where networks are trained.
    checkpoint : path, optional
        File that the networks' training saves to every ten epochs, and resumes from where it exists.
    random_state : int, RandomState or None, default=None
    verbose : bool, default=False
        Show a progress bar while networks are trained.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Interval of `class_prior_`; the number itself where one was given.
    prior_estimator_ : estimator or None
        The fitted prior estimator.
    networks_member_ : NNPUClassifier
        The fitted networks, where they are a member.
    oof_probability_ : ndarray of shape (n,)
        Probability of each training row by models that have not seen it.
    oof_member_log_odds_ : ndarray of shape (n_members, n)
        The same of each member, as log-odds.
    member_weights_ : ndarray of shape (n_members,)
        Weights of the members; they sum to 1.
    classes_ : ndarray of shape (2,)

    Notes
    -----
    `fit` takes no `sample_weight`, since its networks do not (see :class:`NNPUClassifier`); draw rows in proportion to
    their weights instead.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import PUClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (100, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (100, 2)), rng.normal(-2, 1, (100, 2))])
    >>> model = PUClassifier(members="light", random_state=0).fit(*stack(P, U))
    >>> model.predict([[2.0, 2.0], [-2.0, -2.0]])
    array([1, 0])
    >>> low, high = model.class_prior_interval_
    >>> bool(low < 0.5 < high)
    True
    """

    def __init__(
        self,
        class_prior: Any = "auto",
        *,
        members: Any = "auto",
        weights: str = "stacked",
        cv: int = 5,
        calibration: str = "averaged",
        threshold: Any = 0.5,
        scenario: str = "case-control",
        device: str = "auto",
        checkpoint: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.class_prior = class_prior
        self.members = members
        self.weights = weights
        self.cv = cv
        self.calibration = calibration
        self.threshold = threshold
        self.scenario = scenario
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Estimate the class prior, train the members and calibrate.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.

        Returns
        -------
        self
        """
        fit_classifiers([self], [(X, y)])
        return self

    def _begin(self, X: Any, y: ArrayLike) -> None:
        """Prior and ratios; the networks, where they are a member, are set up to be trained on the same rows."""
        members = self._check_members()
        X, labels = self._start(X, y)
        self._resolve_prior(X, labels)
        self._seed = draw_seed(self.random_state)
        self._positive = labels.positive
        self._scores: list[tuple[Any, Floats | None]] = []
        self.__dict__.pop("networks_member_", None)
        for member in members:
            if isinstance(member, NNPUClassifier) or member == "networks":
                self._scores.append(("networks", None))
                self.networks_member_ = self._networks(member)
            else:
                self._scores.append(self._ratio_member(member, X, labels.positive))

    def _check_members(self) -> list[Any]:
        if self.calibration not in CALIBRATIONS:
            known = ", ".join(map(repr, CALIBRATIONS))
            raise ValueError(f"calibration must be one of {known}; {self.calibration!r} was given.")
        if not isinstance(self.weights, str) or self.weights not in WEIGHTS:
            raise ValueError(f"weights must be one of {', '.join(map(repr, WEIGHTS))}; {self.weights!r} was given.")
        if isinstance(self.cv, bool) or not isinstance(self.cv, (int, np.integer)) or self.cv < 2:
            raise ValueError(f"cv must be an integer of at least 2; {self.cv!r} was given.")
        given = self.members
        named = {"auto": AUTO_MEMBERS, "light": LIGHT_MEMBERS}
        members = named.get(given, given) if isinstance(given, str) else given
        listed = isinstance(members, Sequence) and not isinstance(members, str) and len(members) > 0
        if not listed or not all(isinstance(m, OWN_SETTINGS) or m in MEMBERS for m in members):
            raise ValueError(
                f"members must be 'auto', 'light' or a list of {', '.join(map(repr, MEMBERS))}, an NNPUClassifier or a "
                f"PULogisticClassifier; {given!r} was given."
            )
        members = list(members)
        if sum(isinstance(m, NNPUClassifier) or m == "networks" for m in members) > 1:
            raise ValueError("members may hold networks once only; raise n_ensemble of one NNPUClassifier instead.")
        return members

    def _networks(self, member: Any) -> NNPUClassifier:
        if isinstance(member, str):
            loss = "logistic" if self.class_prior_ < RARE else "sigmoid"
            own = NNPUClassifier(**NETWORK_SETTINGS, loss=loss)
        else:
            own = clone(member)
        return own.set_params(
            checkpoint=self.checkpoint,
            class_prior=self.class_prior_,
            cross_fit=int(self.cv),
            calibration=self.calibration,
            scenario=self.scenario,
            device=self.device,
            random_state=self._seed,
            verbose=self.verbose,
        )

    def _ratio_member(self, member: Any, X: Any, positive: Mask) -> tuple[Any, Floats]:
        """Fitted models and the out-of-fold score; scores of the recommended prior's models are used as they are."""
        ratio = self._models_of(member)
        known = self.prior_estimator_ if isinstance(self.prior_estimator_, ClassPrior) else None
        if known is not None and member == "ratio":
            score = known.scores_
        elif known is not None and member in AUTO_MODELS:
            score = known.model_scores_[AUTO_MODELS.index(member)]
        else:
            score = cross_fit(ratio, X, positive, cv=int(self.cv), seed=self._seed, score=_score).score
        order = np.lexsort((positive, row_keys(X, self._seed)))
        models = resolve_models(ratio, X.shape[0], X.shape[1], sparse=sp.issparse(X), seed=self._seed)
        target = positive.astype(np.intp)
        fitted = [model.fit(X[order], target[order]) for model in models]
        self._counts = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
        return fitted, np.asarray(score, dtype=np.float64)

    def _models_of(self, member: Any) -> Any:
        """What :func:`resolve_models` makes the member's models from."""
        if isinstance(member, str) and member not in LOGISTIC:
            return AUTO_MODELS if member == "ratio" else member
        own = PULogisticClassifier(basis=LOGISTIC[member]) if isinstance(member, str) else clone(member)
        # The rows it is given are a part of P and of U, so what is known of them is the share of positives among U.
        return own.set_params(class_prior=self.unlabelled_prior_, scenario="case-control", random_state=self._seed)

    def _end(self) -> None:
        """Calibrate each member, add up by weight, and calibrate the sum."""
        positive = self._positive
        self._maps: list[tuple[Any, ScoreCalibration]] = []
        parts = []
        for models, found in self._scores:
            score = self.networks_member_.oof_score_ if found is None else found
            self._maps.append((models, self._calibrated(score, positive)))
            parts.append(self._maps[-1][1](score))
        log_odds = np.stack(parts)
        self.oof_member_log_odds_ = log_odds + self._population_shift()
        self.member_weights_ = self._weigh(log_odds, positive)
        total = self.member_weights_ @ log_odds
        self._final = self._calibrated(total, positive)
        self.oof_probability_ = expit(self._final(total) + self._population_shift())
        del self._scores, self._positive

    def _weigh(self, log_odds: Floats, positive: Mask) -> Floats:
        if self.weights == "stacked":
            return stacked_weights(log_odds, positive, self.unlabelled_prior_)
        return np.full(len(log_odds), 1.0 / len(log_odds))

    def _calibrated(self, score: Floats, positive: Mask) -> ScoreCalibration:
        return calibrate_scores(score[positive], score[~positive], self.unlabelled_prior_, method=self.calibration)

    def member_log_odds(self, X: Any) -> Floats:
        """Log-odds of the positive class by each member, calibrated by itself; shape (n_members, n)."""
        check_is_fitted(self, "oof_probability_")
        return self._member_log_odds(self._validate_rows(X)) + self._population_shift()

    def _member_log_odds(self, X: Any) -> Floats:
        parts = []
        for models, found in self._maps:
            if isinstance(models, str):
                score = self.networks_member_._raw_score(X)
            else:
                score = np.mean([_score(model, X, *self._counts) for model in models], axis=0)
            parts.append(found(score))
        return np.stack(parts)

    def _log_odds(self, X: Any) -> Floats:
        return self._final(self.member_weights_ @ self._member_log_odds(X)) + self._population_shift()


def _score(model: Any, X: Any, n_positive: int, n_unlabelled: int) -> Floats:
    """What a member's model says of rows: log-odds, or the logarithm of a ratio."""
    if isinstance(model, PULogisticClassifier):
        return model.decision_function(X)
    return log_ratio(model, X, n_positive, n_unlabelled)
