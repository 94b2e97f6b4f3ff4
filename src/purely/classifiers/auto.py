"""PUClassifier: the recommended classifier, one setting for every data set."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from purely.base import with_parameters
from purely.calibration import CALIBRATIONS, ScoreCalibration
from purely.checks import RandomState, check_choice, check_number, draw_seed
from purely.class_prior import PriorParameter
from purely.classifiers.base import BasePUClassifier
from purely.classifiers.distilled import DistilledPUClassifier
from purely.classifiers.members import Members, fit_member, known_scores, make_members, network_recipe, read_members
from purely.classifiers.nnpu import mean_output
from purely.collapsed import collapsed_ratio
from purely.crossfit import MOST_ROWS, cross_fit, log_ratio
from purely.folds import deal_folds, row_keys, sample_rows
from purely.labels import PULabels
from purely.nn.plan import StackPlan, TrainedStack, finish_together, out_of_fold
from purely.progress import showing
from purely.typing import Floats, Matrix
from purely.weighing import stacked_weights

#: Members that are a plain forest of positives against unlabelled rows.
PLAIN = ("forest", "trees")
#: How members are weighed.
WEIGHTS = ("stacked", "equal")
#: How often the forest, the plain classifier of positives against unlabelled rows, counts where rows are few: with 4
#: instead of 2 the stack ranks worse than it by .01 in .9 instead of 1.4 % of the draws from our tables for choosing,
#: and in 8.6 instead of 9.2 % of those from the strangers', for .001 of the area (`experiments/choices.py`).
FOREST_COUNTS = 4.0


@dataclass(frozen=True)
class FittedMember:
    """A member as it scores new rows.

    Attributes
    ----------
    name : str
    model : object
        The fitted model, or a list of networks.
    calibration : ScoreCalibration
        How its score becomes log-odds among the unlabelled rows.
    counts : tuple of int
        Numbers of positives and of unlabelled rows it was trained on.
    """

    name: str
    model: Any
    calibration: ScoreCalibration
    counts: tuple[int, int]

    def log_odds(self, X: Matrix) -> Floats:
        """Log-odds among the unlabelled rows."""
        score = mean_output(self.model, X) if self.name == "networks" else log_ratio(self.model, X, *self.counts)
        return self.calibration(score)


@dataclass(frozen=True)
class PreparedEnsemble:
    """What is known before the networks are trained.

    Attributes
    ----------
    stack : StackPlan or None
        The networks, if they are a member.
    labels : PULabels
    counts : tuple of int
        Positives and unlabelled rows that the models of all rows are trained on.
    scores : dict of ndarray
        Out-of-fold score of each row by each member, in the order of the members; None in the place of the networks.
    models : dict
        Models of all rows by member; None likewise.
    """

    stack: StackPlan | None
    labels: PULabels
    counts: tuple[int, int]
    scores: dict[str, Floats | None]
    models: dict[str, Any]


@with_parameters
class PUClassifier(BasePUClassifier):
    r"""The recommended classifier: several kinds of models, weighed and calibrated, and an estimate of the class prior.

    1. The class prior is estimated, with an interval (:class:`purely.ClassPrior`).
    2. Members score the rows, each row by models that have not seen it: the density ratio of positives to unlabelled
       rows by extremely randomised trees, a random forest and boosting, and logistic regression of the class, linear
       and with a kernel (:class:`PULogisticClassifier`). From 64 columns on, networks with the non-negative PU risk
       join them (:class:`NNPUClassifier`; three for each fold, with the logistic loss where positives are rare).
    3. Each member's scores become log-odds through the monotone density ratio of its scores
       (:func:`purely.calibration.calibrate_scores`). Members are weighed so that their out-of-fold log-odds predict
       best which rows are labelled, added up, and calibrated once more.

    Members and settings were chosen by studies on tables and rows that the reported figures do not use
    (`experiments/promises.py`, `experiments/classifier_choice.py`); they are the same for all data. The forest is the
    plain classifier of positives against unlabelled rows; since it is a member, the whole rarely ranks worse than it.

    Parameters
    ----------
    class_prior : float, Prior, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, a :class:`purely.Prior` with its uncertainty, or an
        estimator with `fit` and `class_prior_`, which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    members : {"auto", "light"} or list, default="auto"
        What is combined. "auto" is trees, forest, boosting and both logistic regressions, with networks from 64 columns
        on; "light" is trees, boosting, a kernel and a logistic regression: it takes little longer than the class prior
        and needs no torch. Or a list of "networks", "logistic", "kernel-logistic", models of the density ratio by name
        ("trees", "linear", "kernel", "forest", "boosting"), an :class:`NNPUClassifier` or :class:`PULogisticClassifier`
        with settings of its own, and classifiers of your own in scikit-learn's manner, which are trained to tell
        positives from unlabelled rows.
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
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState or None, default=0
    verbose : bool, default=False
        Show bars while models are fitted and networks are trained.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Interval of `class_prior_`; the number itself where one was given.
    prior_ : Prior
        All that is known of the class prior.
    prior_estimator_ : estimator or None
        The fitted prior estimator.
    members_ : list of FittedMember
        The members: a name, the model that scores new rows, and how its score becomes log-odds.
    history_ : History
        Risks of the networks, epoch by epoch, where they are a member.
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

    class_prior: PriorParameter = field(default="auto", kw_only=False)
    members: Members = "auto"
    weights: str = "stacked"
    cv: int = 5
    calibration: str = "averaged"
    device: str = "auto"
    checkpoint: str | Path | None = None
    n_jobs: int | None = None
    random_state: RandomState = 0
    verbose: bool = False

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
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
        with showing() if self.verbose else nullcontext():
            prepared = self.prepare_fit(X, y)
        if prepared.stack is None:
            self.finish_fit(prepared, None)
        else:
            finish_together([(self, prepared)])
        return self

    def prepare_fit(self, X: Matrix, y: ArrayLike) -> PreparedEnsemble:
        """All that comes before the networks: class prior, and the other members' scores and models."""
        check_choice("calibration", self.calibration, CALIBRATIONS)
        check_choice("weights", self.weights, WEIGHTS)
        cv = check_number("cv", self.cv, 2, integer=True)
        X, labels = self._start(X, y)
        asked = read_members(self.members, X.shape[1])
        positive, seed = labels.positive, draw_seed(self.random_state)
        keys = row_keys(X, seed)
        folds = deal_folds(X, positive, cv, seed, keys)
        priors = self._resolve_prior(X, labels, folds=folds)
        members = make_members(asked, X, self.unlabelled_prior_, seed)

        known = known_scores(self.prior_estimator_, self.class_prior)
        own = [m for m in members if m.prototype is not None]
        unknown = {m.name: m.prototype for m in own if m.name not in known}
        found = cross_fit([*unknown.values()], X, positive, folds, n_jobs=self.n_jobs, says=collapsed_ratio)
        known |= dict(zip(unknown, found, strict=True))
        rows = sample_rows(folds.order, positive, MOST_ROWS)
        fitted = Parallel(n_jobs=self.n_jobs)(delayed(fit_member)(m, X[rows], positive[rows]) for m in own)
        models = {m.name: model for m, model in zip(own, fitted, strict=True)}
        stack = None
        if any(m.name == "networks" for m in members):
            recipe = network_recipe(asked, self, X)
            stack = recipe.plan(X, positive, priors, keys=keys, folds=folds, seed=seed, most_rows=MOST_ROWS)
        names = [m.name for m in members]
        n_p = int(np.count_nonzero(positive[rows]))
        scores, fits = {n: known.get(n) for n in names}, {n: models.get(n) for n in names}
        return PreparedEnsemble(stack, labels, (n_p, rows.size - n_p), scores, fits)

    def finish_fit(self, preparation: PreparedEnsemble, trained: TrainedStack | None) -> None:
        """Calibrate the members, weigh them, and calibrate what they say together."""
        positive = preparation.labels.positive
        scores, models = dict(preparation.scores), dict(preparation.models)
        self.forget("history_")
        if trained is not None and preparation.stack is not None:
            trained.warn_diverged()
            self.history_ = trained.history
            scores["networks"] = out_of_fold(preparation.stack, trained.members, mean_output)
            models["networks"] = trained.for_new_rows()

        self.members_ = [
            FittedMember(name, models[name], self._calibrated(score, positive, self.calibration), preparation.counts)
            for name, score in scores.items()
            if score is not None
        ]
        log_odds = np.stack([member.calibration(scores[member.name]) for member in self.members_])
        if self.weights == "equal":
            self.member_weights_ = np.full(len(log_odds), 1.0 / len(log_odds))
        else:
            counts = np.array([FOREST_COUNTS if member.name == "forest" else 1.0 for member in self.members_])
            towards = counts / counts.sum()
            self.member_weights_ = stacked_weights(log_odds, positive, self.unlabelled_prior_, towards)
        total = self.member_weights_ @ log_odds
        self._final = self._calibrated(total, positive, self.calibration)
        self.oof_member_log_odds_ = log_odds + self._population_shift()
        log_odds = self._final(total) + self._population_shift()
        self._note_out_of_fold(log_odds, positive)

    def member_log_odds(self, X: Matrix) -> Floats:
        """Log-odds of the positive class by each member, calibrated by itself; shape (n_members, n)."""
        check_is_fitted(self, "oof_probability_")
        return self._member_log_odds(self._validate_rows(X)) + self._population_shift()

    def plain_log_odds(self, X: Matrix | None = None) -> Floats | None:
        """Log-odds by each forest alone, plain classifiers of positives against unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), optional
            None: the training rows, out of fold.

        Returns
        -------
        ndarray of shape (n_forests, n) or None
            None where neither "forest" nor "trees" is among the members.
        """
        check_is_fitted(self, "oof_probability_")
        places = [k for k, member in enumerate(self.members_) if member.name in PLAIN]
        if not places:
            return None
        if X is None:
            return self.oof_member_log_odds_[places]
        X = self._validate_rows(X)
        return np.stack([self.members_[k].log_odds(X) for k in places]) + self._population_shift()

    def distil(self, X: Matrix | None = None) -> DistilledPUClassifier:
        """A classifier that gives the same answers, or nearly so, faster; for many rows or for one at a time.

        Given rows, a small network is tried in the place of the stack, see :class:`DistilledPUClassifier`; without, or
        where it errs too much, the stack is multiplied out.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d), optional
            Rows of the pool, to learn from and to measure the difference on; by default it is measured on rows that a
            kernel member has kept, or on rows like the values at which trees divide columns.

        Returns
        -------
        DistilledPUClassifier
            What was measured is its `difference_`.

        Raises
        ------
        purely.exceptions.DistillationError
            Where probabilities differ by more than .01 on average, or the area under the curve by more than .001.
        """
        check_is_fitted(self, "oof_probability_")
        return DistilledPUClassifier.of(self, X)

    def _member_log_odds(self, X: Matrix) -> Floats:
        return np.stack([member.log_odds(X) for member in self.members_])

    def _log_odds(self, X: Matrix) -> Floats:
        return self._final(self.member_weights_ @ self._member_log_odds(X)) + self._population_shift()
