"""The recommended class prior: cross-fitted density ratios, weighed, and read by one method."""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import Self

import numpy as np

from purely.base import with_parameters
from purely.checks import check_number, level_to_z
from purely.folds import Folds
from purely.labels import check_scenario
from purely.prior.base import PriorEstimate, PriorEstimator, read_scores, read_table
from purely.prior.ceiling import ceiling_profile, logistic_ceiling
from purely.prior.dedpul import dedpul
from purely.prior.kernel_mean import KernelMeanPrior, kernel_mean_scores
from purely.prior.one_dimensional import OneDimensionalPrior, best_bin, monotone_top
from purely.prior.ratio import Ratio
from purely.prior.scores import Reader, ScoreTable
from purely.typing import Estimator, Mask, Matrix

#: One-dimensional methods by name.
METHODS: dict[str, Reader] = {
    "best-bin": best_bin,
    "dedpul": dedpul,
    "kernel-mean": kernel_mean_scores,
    "logistic-ceiling": logistic_ceiling,
    "monotone": monotone_top,
}


@with_parameters
class ClassPrior(PriorEstimator):
    r"""The recommended estimator of the class prior: how many positives are among the unlabelled rows.

    The ratio :math:`w(x) = p(x \mid y=1) / p(x)` is a sufficient one-dimensional representation: the posterior is
    :math:`\pi_U w(x)`. Several models of positives against unlabelled rows are trained on all folds but one and score
    the rows of the fold that is left out, so no row is scored by a model that was trained on it or on a copy of it.
    The models get the weights with which they best predict, out of fold, which rows are labelled, and a method reads
    the share off the weighted mean. Models and method were chosen by a study over many tables
    (`experiments/promises.py`), on which no reported error was measured.

    Without an assumption, positive and unlabelled rows give only an upper bound of the share. They give a value if some
    rows are purely positive; `determined_` says which is the case.

    Parameters
    ----------
    ratio : "auto", str, estimator or list of these, default="auto"
        Models of positives against unlabelled rows. An estimator needs `fit(X, y)` and one of `density_ratio`,
        `predict_proba` or `decision_function`: :class:`purely.PUSMI`, :class:`purely.PURL` or any classifier. Built in
        are "trees" (extremely randomised, leaves of three), "linear" (logistic regression), "kernel" (logistic
        regression on Nystroem features), "boosting" (histogram gradient boosting) and "forest" (random forest); "auto"
        is the first four.
    method : str or estimator, default="logistic-ceiling"
        "logistic-ceiling", "best-bin", "monotone", "dedpul", "kernel-mean", or an instance of one of their classes.
    cv : int, default=5
        Number of folds; fewer where there are fewer rows of a kind.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of folds and models.

    Attributes
    ----------
    class_prior_ : float
        Share of positives in the population.
    unlabelled_prior_ : float
        Share of positives among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Interval of `class_prior_`, at `level`.
    upper_bound_ : float
        The class prior is below this with a confidence of 95 %.
    determined_ : bool
        Whether the data determine the class prior; if they do not, say "at most `upper_bound_`".
    prior_ : Prior
        All of these in one object.
    scores_ : ndarray of shape (n,)
        Out-of-fold log-ratio of each row.
    model_scores_ : ndarray of shape (n_models, n)
        The same of each model.
    model_weights_ : ndarray of shape (n_models,)
        Weights of the models.
    loss_ : float
        Out-of-fold logistic loss of telling positives from unlabelled rows; .693 where nothing tells them apart.
    diagnostics_ : PriorDiagnostics
        What the share was read from.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import ClassPrior, stack
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(4, 1, (300, 2))])
    >>> prior = ClassPrior().fit(*stack(P, U))
    >>> low, high = prior.class_prior_interval_
    >>> bool(low < 0.4 < high), prior.determined_
    (True, True)
    """

    ratio: Ratio = field(default="auto", kw_only=False)
    method: str | Estimator = field(default="logistic-ceiling", kw_only=False)
    cv: int = 5

    def _estimate(self, X: Matrix, positive: Mask, folds: Folds | None) -> PriorEstimate:
        reader = resolve_method(self.method)
        found = self._ratios(X, positive, folds, check_number("cv", self.cv, 2, integer=True))
        self.scores_, self.model_scores_ = found.score, found.by_model
        self.model_weights_, self.loss_ = found.weights, found.loss
        return read_scores(found.score, positive, reader)

    def fit_table(self, table: ScoreTable, *, n_features: int) -> Self:
        """Read the class prior off a table of out-of-fold log-ratios, where there are more rows than fit into memory.

        Parameters
        ----------
        table : ScoreTable
            Counts of positives and of unlabelled rows by log-ratio; tables with the same cells add up.
        n_features : int
            Columns of the rows that were scored.

        Returns
        -------
        self
        """
        self.forget("scores_", "model_scores_", "model_weights_", "loss_", "feature_names_in_")
        scenario = check_scenario(self.scenario)
        level_to_z(self.level)
        self.n_features_in_, self.classes_ = n_features, np.array([0, 1])
        self.n_positive_, self.n_unlabelled_ = int(table.n_p), int(table.n_u)
        estimate = read_table(table, resolve_method(self.method))
        self._publish(estimate, estimate.posterior or ceiling_profile(table).posterior(), scenario)
        return self


def resolve_method(method: object) -> Reader:
    """The reader that a `method` parameter stands for."""
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    if isinstance(method, OneDimensionalPrior):
        return method._reader()
    if isinstance(method, KernelMeanPrior):
        return partial(kernel_mean_scores, variant=method.variant)
    raise ValueError(
        f"method must be one of {', '.join(map(repr, METHODS))} or an instance of a one-dimensional estimator such as "
        f"BestBinPrior(); {method!r} was given."
    )
