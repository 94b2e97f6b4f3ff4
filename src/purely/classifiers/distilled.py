"""A stack without what only training needs: the same answers, several times as fast."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone

from purely.calibration import ScoreCalibration
from purely.checks import dense
from purely.classifiers.base import BasePUClassifier
from purely.classifiers.imitation import Imitation, imitate
from purely.classifiers.nnpu import mean_output
from purely.collapsed import KernelScore, Score, TreeScore, collapse
from purely.exceptions import DistillationError
from purely.folds import draw_rows
from purely.threads import one_blas_thread
from purely.typing import Floats, Indices, Keys, Matrix

#: Rows that are scored at a time, and elements of them: walks through trees like many rows, memory likes few.
MOST_ROWS, MOST_ELEMENTS = 32768, 1 << 23
#: Rows that the difference to the stack is measured on at most.
JUDGED_ROWS = 10_000
#: Rows that are made to measure it on where none are given or kept.
N_MADE = 400
#: A network is tried with at least so many rows to learn from, and at most so many columns.
LEAST_POOL, MOST_COLUMNS = 1000, 200
#: Mean difference of the probabilities, and difference of the areas under the curve, up to which a model is handed out.
LARGEST_MEAN, LARGEST_AREA = 0.01, 0.001
#: What a distilled classifier has from the stack as it is.
TAKEN = {"classes_", "n_features_in_", "feature_names_in_", "class_prior_", "unlabelled_prior_"}
TAKEN |= {"label_frequency_", "prior_", "class_prior_interval_", "oof_table_"}


@dataclass(frozen=True)
class NetworkScore:
    """The mean output of networks.

    Attributes
    ----------
    networks : list of NetworkArrays
    """

    networks: list[Any]

    def __call__(self, X: Floats) -> Floats:
        """Scores of dense rows."""
        return mean_output(self.networks, X)


@dataclass(frozen=True)
class DistilledMember:
    """A member of a stack, ready to score.

    Attributes
    ----------
    name : str
    score : LinearScore, KernelScore, TreeScore, ModelScore or NetworkScore
    calibration : ScoreCalibration
        How its score becomes log-odds among the unlabelled rows.
    weight : float
    """

    name: str
    score: Score | NetworkScore
    calibration: ScoreCalibration
    weight: float


@dataclass(frozen=True)
class Difference:
    """What distilling has changed, on rows that nothing was fitted to.

    Attributes
    ----------
    n_rows : int
        Rows it was measured on.
    mean, largest : float
        Mean and largest difference of the probabilities.
    area : float
        Difference of the areas under the curve that are to be expected if the stack's probabilities hold.
    """

    n_rows: int
    mean: float
    largest: float
    area: float

    def __str__(self) -> str:
        return (
            f"probabilities differ by {self.mean:.2g} on average and by {self.largest:.2g} at most, the area under the "
            f"curve by {self.area:.2g} ({self.n_rows:,} rows)"
        )


class DistilledPUClassifier(BasePUClassifier):
    r"""A fitted :class:`PUClassifier` in as little arithmetic as its answers need.

    Where rows of the pool are given, one small network learns the stack's log-odds
    (:mod:`purely.classifiers.imitation`); it is used if its probabilities of rows that it has not seen differ from the
    stack's by at most .01 on average, and the area under the curve by at most .001. Otherwise, and without rows, steps
    that training takes one after another are multiplied out (:mod:`purely.collapsed`), members of weight 0 and
    everything that only training needs are left out: these probabilities are those of the stack up to rounding. How
    far they differ is measured either way.

    Parameters
    ----------
    estimator : PUClassifier
        What `fit` trains and distils; :meth:`PUClassifier.distil` makes this object of one that is fitted.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    n_jobs : int or None, default=None
        Blocks of rows that are scored at a time, through joblib; threads are enough.

    Attributes
    ----------
    imitation_ : Imitation or None
        The network, where one is used.
    members_ : list of DistilledMember
        The stack multiplied out.
    difference_, members_difference_ : Difference
        What distilling has changed, and what multiplying out alone has.
    class_prior_, unlabelled_prior_, class_prior_interval_, prior_, classes_
        As those of the stack.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import PUClassifier, stack
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(2, 1, (100, 2))
    >>> U = np.concatenate([rng.normal(2, 1, (100, 2)), rng.normal(-2, 1, (100, 2))])
    >>> model = PUClassifier(0.5, members="light").fit(*stack(P, U))
    >>> fast = model.distil()
    >>> bool(abs(fast.predict_proba(U) - model.predict_proba(U)).max() < 1e-3)
    True
    """

    def __init__(
        self, estimator: Any, *, threshold: float | tuple[float, float] = 0.5, n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.n_jobs = n_jobs

    @property
    def scenario(self) -> str:  # type: ignore[override]
        """The scenario of the estimator."""
        return str(self.estimator.scenario)

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Fit the estimator and distil it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.

        Returns
        -------
        self
        """
        if not hasattr(self.estimator, "distil"):
            raise TypeError(f"estimator must be a PUClassifier; {type(self.estimator).__name__} cannot be distilled.")
        return self.take_over(clone(self.estimator).fit(X, y), X)

    @classmethod
    def of(cls, stack: Any, X: Matrix | None = None, keys: Keys | None = None) -> Self:
        """The distilled form of a fitted :class:`PUClassifier`; see :meth:`take_over`."""
        return cls(clone(stack), threshold=stack.threshold).take_over(stack, X, keys)

    def take_over(self, stack: Any, X: Matrix | None = None, keys: Keys | None = None) -> Self:
        """Become what a fitted :class:`PUClassifier` is, if rows `X` show no difference.

        Without rows, those that members have kept or divide are looked at. The keys of `X`
        (:func:`purely.folds.row_keys`, seed 0) are found where they are not given.
        """
        self.forget(*TAKEN)
        for name in TAKEN:
            if hasattr(stack, name):
                setattr(self, name, getattr(stack, name))
        self.members_ = [
            DistilledMember(member.name, _score_of(member), member.calibration, float(weight))
            for member, weight in zip(stack.members_, stack.member_weights_, strict=True)
            if weight > 0.0
        ]
        self._final = stack._final
        self.imitation_: Imitation | None = None
        rows = _kept_rows([_score_of(member) for member in stack.members_]) if X is None else stack._validate_rows(X)
        if rows is None:
            raise ValueError("no member has kept rows on which the distilled classifier could be judged; give X.")
        order = draw_rows(rows, rows.shape[0], 0, keys)
        some = rows[order[:JUDGED_ROWS]]
        self.difference_ = self.members_difference_ = compare(self._log_odds(some), stack._log_odds(some))
        if self.difference_.mean > LARGEST_MEAN or self.difference_.area > LARGEST_AREA:
            raise DistillationError(
                f"the distilled classifier is not handed out: {self.difference_}, and {LARGEST_MEAN:g} and "
                f"{LARGEST_AREA:g} are allowed. Use the classifier itself."
            )
        if X is not None:
            self._imitate(rows, order)
        return self

    def multiplied_out(self) -> Self:
        """The same classifier without its network: the answers of the stack up to rounding."""
        made = copy(self)
        made.imitation_, made.difference_ = None, self.members_difference_
        return made

    def _imitate(self, rows: Floats, order: Indices) -> None:
        """Use a network from now on, if it says what the members say of rows that it has not learnt from."""
        n_judged = min(JUDGED_ROWS, rows.shape[0] // 5)
        if sp.issparse(rows) or rows.shape[0] - n_judged < LEAST_POOL or rows.shape[1] > MOST_COLUMNS:
            return
        judged = order[:n_judged]
        others = np.delete(np.arange(rows.shape[0]), judged)
        exact = self._log_odds(rows[judged])

        def error(network: Imitation) -> float:
            found = compare(network(rows[judged]), exact)
            return max(found.mean / LARGEST_MEAN, found.area / LARGEST_AREA)

        with one_blas_thread():
            found = imitate(self._log_odds, rows[others], error)
        if found is not None:
            self.imitation_, self.difference_ = found, compare(found(rows[judged]), exact)

    def _log_odds(self, X: Matrix) -> Floats:
        n = X.shape[0]
        step = max(1, min(MOST_ROWS, MOST_ELEMENTS // X.shape[1]))
        if n <= step:
            return self._block_log_odds(X)
        blocks = (X[start : start + step] for start in range(0, n, step))
        tasks = (delayed(self._block_log_odds)(block) for block in blocks)
        with one_blas_thread():
            return np.concatenate(Parallel(n_jobs=self.n_jobs, prefer="threads")(tasks))

    def _block_log_odds(self, block: Matrix) -> Floats:
        rows = dense(block)
        if self.imitation_ is not None:
            return self.imitation_(rows)
        total = np.zeros(rows.shape[0])
        for member in self.members_:
            total += member.weight * member.calibration(member.score(rows))
        return self._final(total) + self._population_shift()


def compare(own: Floats, exact: Floats) -> Difference:
    """How log-odds differ from exact ones."""
    probability = expit(exact)
    away = np.abs(expit(own) - probability)
    area = abs(expected_area(own, probability) - expected_area(exact, probability))
    return Difference(exact.size, float(away.mean()), float(away.max()), area)


def _score_of(member: Any) -> Score | NetworkScore:
    return NetworkScore(member.model) if member.name == "networks" else collapse(member.model, member.counts)


def _kept_rows(scores: list[Score | NetworkScore]) -> Floats | None:
    """Rows that a kernel has for centres; or rows like the values at which trees divide columns."""
    for score in scores:
        if isinstance(score, KernelScore):
            return score.centers.astype(np.float64) * score.scale + score.mean
    for score in scores:
        if isinstance(score, TreeScore):
            rng, rows = np.random.default_rng(0), np.tile(score.offset, (N_MADE, 1))
            for column in np.unique(score.feature[score.feature >= 0]):
                divided = score.threshold[score.feature == column]
                rows[:, column] += rng.normal(divided.mean(), divided.std() or 1.0, N_MADE)
            return rows
    return None


def expected_area(score: Floats, probability: Floats) -> float:
    r"""Area under the curve of a score that is to be expected where each row is positive with some probability.

    .. math:: \frac{\sum_{i, j} p_i (1 - p_j) \, [s_i > s_j]}{\sum_i p_i \sum_j (1 - p_j)}

    Examples
    --------
    >>> import numpy as np
    >>> from purely.classifiers.distilled import expected_area
    >>> expected_area(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 1.0]))
    1.0
    """
    p = probability[np.argsort(score, kind="stable")]
    below = np.concatenate([[0.0], np.cumsum(1.0 - p)[:-1]])
    return float(p @ below / max(p.sum() * (1.0 - p).sum(), 1e-300))
