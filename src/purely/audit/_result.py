"""What an audit says: the pool's share of positives, and precision, recall, lift and error at any threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import check_array

from purely.assumptions import AssumptionCheck
from purely.audit._changes import Change, believed
from purely.audit._design import AuditSample, check_key, read_audit_labels, read_probability
from purely.audit._posterior import Pool, Posterior, draw_posterior, group_pool, promised_cut
from purely.audit._recalibrated import RecalibratedClassifier, calibration_of
from purely.audit._refinement import Refinement, fit_refinement, relevance_of
from purely.calibration import ScoreCalibration
from purely.checks import check_share, level_to_z
from purely.class_prior import Prior
from purely.crossfit import model_says
from purely.metrics import PUEstimate
from purely.typing import Estimator, Floats, Matrix

#: (positives above, rows above, positives of the pool, rows of the pool) -> value of each draw.
Functional = Callable[[Floats, float, Floats, float], Floats]

#: How far from .5 the share of pairs may be without a meaning. Out of fold it was .517 on average over 25 tables whose
#: labels were drawn at random; without a tolerance 10 % of such audits were called doubtful, with it 3 %.
TOLERANCE = 0.03
ASSUMPTION = (
    "The rows were drawn by the audit's design and labelled rightly; nothing is assumed of the model or of the "
    "labelled positives."
)


@dataclass(frozen=True)
class AuditCurve:
    """Predicted probabilities and the shares of positives that the audit found, in groups of the pool.

    Attributes
    ----------
    predicted, share, low, high : ndarray of shape (n_groups,)
        Mean probability of each group, its share of positives and the interval.
    rows : ndarray of shape (n_groups,)
        Rows of the pool in each group.
    level : float

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit, read_audit
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.beta(0.3, 3.0, 5000)
    >>> truth = rng.random(5000) < probability
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> curve = read_audit(sample, truth[sample.index], probability).calibration_curve()
    >>> int(curve.rows.sum()), bool((curve.low <= curve.high).all())
    (5000, True)
    """

    predicted: Floats
    share: Floats
    low: Floats
    high: Floats
    rows: Floats
    level: float


@dataclass(frozen=True)
class AuditResult:
    """What the labels of an audit say about a pool and a model.

    Attributes
    ----------
    sample : AuditSample
    labels : ndarray of shape (n,)
        1, 0, or NaN where nobody could tell.
    probability : ndarray of shape (n_pool,)
        What the model says of the pool.
    level : float
        Level of the intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit, read_audit
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(4000) < 200
    >>> probability = 1 / (1 + np.exp(-rng.normal(2.0 * truth - 2.0)))  # says far too many positives
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> result = read_audit(sample, truth[sample.index], probability)
    >>> share = result.share
    >>> bool(share.low < 0.05 < share.high), bool(probability.mean() > share.high)
    (True, True)
    """

    sample: AuditSample
    labels: Floats
    probability: Floats
    level: float = 0.9

    # -- what the labels say ------------------------------------------------------------------------------------------

    @property
    def n_labelled(self) -> int:
        """Rows that have a label."""
        return int(np.isfinite(self.labels).sum())

    @property
    def n_missing(self) -> int:
        """Rows that nobody could tell."""
        return int(np.isnan(self.labels).sum())

    @property
    def n_positive(self) -> int:
        """Positives that were found."""
        return int(np.nansum(self.labels))

    @cached_property
    def pool(self) -> Pool:
        """The pool in groups by score."""
        return group_pool(self.probability)

    @cached_property
    def posterior(self) -> Posterior:
        """Draws of the positives of each group, rows without a label left out."""
        told = np.isfinite(self.labels)
        return draw_posterior(self.pool, self.sample.index[told], self.labels[told] == 1.0)

    def _supposed(self, missing: Floats | float) -> Posterior:
        """The same with labels supposed for the rows without one."""
        if not self.n_missing:
            return self.posterior
        labels = np.where(np.isnan(self.labels), missing, self.labels)
        return draw_posterior(self.pool, self.sample.index, labels == 1.0)

    # -- estimates ----------------------------------------------------------------------------------------------------

    @cached_property
    def share(self) -> PUEstimate:
        """Share of positives in the pool."""
        return self._estimate("share of positives", lambda tp, m, total, n: total / n)

    @property
    def prior(self) -> Prior:
        """The share of positives as a class prior for classifiers and metrics; the pool stands for the population."""
        margin = 0.5 / self.sample.n_pool
        return Prior(self.share.value, self.share.low, self.share.high, self.level).within(margin)

    @cached_property
    def calibration(self) -> PUEstimate:
        """Mean predicted probability minus the share of positives: above 0 where the model says too many."""
        mean = float(self.probability.mean())
        return self._estimate("mean probability minus share", lambda tp, m, total, n: mean - total / n, legal=(-1, 1))

    def precision(self, threshold: float = 0.5) -> PUEstimate:
        """Share of positives among the rows above a threshold."""
        return self._estimate("precision", lambda tp, m, total, n: tp / max(m, 1.0), threshold)

    def recall(self, threshold: float = 0.5) -> PUEstimate:
        """Share of the pool's positives that lie above a threshold."""
        return self._estimate("recall", lambda tp, m, total, n: tp / np.maximum(total, 1.0), threshold)

    def lift(self, threshold: float = 0.5) -> PUEstimate:
        """Precision above a threshold over the share of positives in the pool."""
        most = 1.0 / max(self.share.low, 1.0 / self.sample.n_pool)

        def lift(tp: Floats, m: float, total: Floats, n: float) -> Floats:
            return tp / max(m, 1.0) / (np.maximum(total, 1.0) / n)

        return self._estimate("lift", lift, threshold, legal=(0.0, most))

    def error(self, threshold: float = 0.5) -> PUEstimate:
        """Share of the pool's rows that the threshold puts into the wrong class."""
        return self._estimate("error", lambda tp, m, total, n: (m + total - 2.0 * tp) / n, threshold)

    def changes(self, threshold: float = 0.5) -> dict[str, Change]:
        """Share, precision, recall and error, each beside what the model alone says of it."""
        found = {"share": self.share} | {n: getattr(self, n)(threshold) for n in ("precision", "recall", "error")}
        return {name: Change(found[name], without) for name, without in believed(self.probability, threshold).items()}

    def _estimate(
        self, name: str, functional: Functional, threshold: float | None = None, legal: tuple[float, float] = (0.0, 1.0)
    ) -> PUEstimate:
        """Median of the draws, with an interval that reaches over all labels that missing ones could have."""
        called = self.probability > (0.5 if threshold is None else check_share("threshold", threshold))
        n, m = float(self.sample.n_pool), float(called.sum())
        if threshold is not None and m == 0.0:
            nan = float("nan")
            return PUEstimate(name, nan, nan, *legal, self.level, ASSUMPTION, nan, "No row of the pool is above it.")

        def drawn(posterior: Posterior) -> Floats:
            return functional(posterior.above(self.pool.group, called), m, posterior.total, n)

        draws = drawn(self.posterior)
        value, error = float(np.median(draws)), float(draws.std(ddof=1))
        # missing labels are supposed to be all alike; above and below a threshold they may differ
        ways = [(0.0, 0.0), (1.0, 1.0), *([] if threshold is None else [(0.0, 1.0), (1.0, 0.0)])] * (self.n_missing > 0)
        others = [self._supposed(np.where(called[self.sample.index], over, under)) for over, under in ways]
        ends = [value, *self.posterior.ends(draws, self.level)]
        ends += [end for other in others for end in other.ends(drawn(other), self.level)]
        low, high = np.clip([min(ends), max(ends)], *legal).tolist()
        note = f"{self.n_missing} rows could not be told; the interval allows for either label." * (self.n_missing > 0)
        return PUEstimate(name, value, error, low, high, self.level, ASSUMPTION, value, note)

    def calibration_curve(self, n_groups: int = 5) -> AuditCurve:
        """Predicted probabilities against shares of positives in groups of the pool, see :class:`AuditCurve`."""
        width = np.diff(np.concatenate([[0.0], (self.pool.place[1:] + self.pool.place[:-1]) / 2.0, [1.0]]))
        part = np.minimum(((np.cumsum(width) - width / 2.0) * n_groups).astype(np.intp), n_groups - 1)
        _, part = np.unique(part, return_inverse=True)
        member = np.equal.outer(part, np.arange(part.max() + 1)).astype(np.float64)
        rows = self.pool.rows @ member
        shares = (self.posterior.positives @ member) / rows
        low, high = self.posterior.ends(shares, self.level)
        predicted = np.bincount(self.pool.group, self.probability) @ member / rows
        return AuditCurve(predicted, np.median(shares, axis=0), low, high, rows, self.level)

    # -- what follows -------------------------------------------------------------------------------------------------

    def threshold_for_precision(self, precision: float, confidence: float = 0.9) -> float:
        """The lowest probability above which the pool's rows have that precision, with some confidence.

        Parameters
        ----------
        precision : float
            Share of positives among the rows above, strictly between 0 and 1.
        confidence : float, default=0.9

        Returns
        -------
        float
            NaN, with a :class:`purely.exceptions.PromiseWarning`, where no threshold can promise it.
        """
        precision = check_share("precision", precision)
        confidence = check_share("confidence", confidence)
        return promised_cut(self._supposed(0.0), precision, confidence)

    def recalibrated(self, model: Estimator, X: Matrix | None = None) -> RecalibratedClassifier:
        """The same classifier with probabilities and a class prior that agree with the audit.

        Parameters
        ----------
        model : fitted classifier
            The one whose probabilities were audited.
        X : array or sparse matrix of shape (n, d), optional
            The audited rows, in the order of ``sample.index``. With them the ranking is refined as well, by a smooth
            correction (:mod:`purely.audit._refinement`); thresholds for a precision then need a new audit. The refined
            classifier keeps the audited rows.

        Returns
        -------
        RecalibratedClassifier
        """
        calibration = calibration_of(self.pool, self.posterior, self.share.value)
        refined = self._refined(model, X, calibration)
        return RecalibratedClassifier(model).adopt(calibration, self.prior, self._supposed(0.0), refined)

    def _refined(self, model: Estimator, X: Matrix | None, calibration: ScoreCalibration) -> Refinement | None:
        if X is None:
            return None
        rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        if rows.shape[0] != len(self.sample):
            raise ValueError(
                f"X must hold the {len(self.sample)} audited rows, in the order of sample.index; it has "
                f"{rows.shape[0]}."
            )
        told = np.isfinite(self.labels)
        log_odds = calibration(model_says(model, X, "log-odds", positive=getattr(model, "classes_", (0, 1))[1]))
        return fit_refinement(log_odds[told], rows[told], self.labels[told] == 1.0, relevance_of(model, X))

    def assumptions(self, labelled: ArrayLike | Estimator) -> AssumptionCheck:
        r"""Judge whether the labelled positives are a random draw of all positives, as far as the score tells.

        The statistic is the share of pairs in which a labelled positive scores higher than a positive of the pool, ties
        counted half: .5 for a random draw, whatever the score. The pool's positives are those of the posterior, so that
        the audit's design and its size are allowed for; .47 to .53 count as no difference. A difference that the score
        does not show is not found.

        Parameters
        ----------
        labelled : array-like, or fitted classifier of purely
            Probabilities of the labelled positives, out of fold, by the audited model; or the model itself, where it
            keeps them (`oof_table_`).

        Returns
        -------
        AssumptionCheck
        """
        table = getattr(labelled, "oof_table_", None)
        own = labelled if table is None else np.repeat(expit(table.score), table.count_p.astype(int))
        group = np.searchsorted(self.pool.cut[1:], read_probability(np.asarray(own)), side="right")
        counts = np.bincount(group, minlength=self.pool.rows.size)
        draws = self.posterior.positives
        rng = np.random.default_rng(1)
        share = rng.dirichlet(counts + 0.5 / counts.size, len(draws))  # as uncertain as so many rows are
        below = np.cumsum(draws, axis=1) - draws / 2.0
        area = (share * below).sum(axis=1) / np.maximum(draws.sum(axis=1), 1.0)
        middle, (low, high) = float(np.median(area)), self.posterior.ends(area, self.level)
        like = min((area < 0.5 + TOLERANCE).sum(), (area > 0.5 - TOLERANCE).sum())
        p_value = float(min(1.0, 2.0 * (like + 1.0) / (area.size + 1.0)))
        pairs = f"{middle:.0%} of pairs [{low:.0%}, {high:.0%}]"
        said = f"a labelled positive scores higher than one of the pool in {pairs}"
        if p_value > 0.05:
            message = f"By their scores, the labelled positives are like those of the pool: {said}; 50 % are expected."
        else:
            kind = "clear" if middle > 0.5 else "doubtful"
            message = (
                f"The labelled positives are not a random draw of all positives: {said}, where 50 % are expected. "
                f"{kind.capitalize()} positives were labelled first: use the recalibrated model and the audit's share."
            )
        status: Literal["ok", "doubtful", "violated"]
        status = "ok" if p_value > 0.05 else "doubtful" if p_value > 0.01 else "violated"
        return AssumptionCheck("labelling", status, middle, p_value, message, {"low": float(low), "high": float(high)})

    def __str__(self) -> str:
        missing = f", {self.n_missing} could not be told" if self.n_missing else ""
        return f"{self.n_labelled} rows labelled, {self.n_positive} of them positive{missing}; {self.share}"


def read_audit(sample: AuditSample, labels: ArrayLike, probability: ArrayLike, *, level: float = 0.9) -> AuditResult:
    """Read the labels of an audit: what they say about the pool and the model.

    Parameters
    ----------
    sample : AuditSample
        From :func:`draw_audit`.
    labels : array-like of shape (n,)
        The label of each row of ``sample.index``: 1, True or "yes"; 0, False or "no"; NaN, None, "" or "?" where nobody
        could tell, which makes intervals longer.
    probability : array-like of shape (n_pool,)
        The model's probabilities that :func:`draw_audit` was given.
    level : float, default=0.9
        Level of the intervals.

    Returns
    -------
    AuditResult

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit, read_audit
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.beta(0.3, 3.0, 5000)
    >>> truth = rng.random(5000) < probability
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> share = read_audit(sample, truth[sample.index], probability).share
    >>> bool(share.low < truth.mean() < share.high)
    True
    """
    level_to_z(level)
    q = read_probability(probability)
    check_key(sample, q)
    values = read_audit_labels(labels)
    if values.size != len(sample):
        raise ValueError(
            f"labels must have one entry for each of the {len(sample)} rows drawn; {values.size} were given. Leave "
            "empty what could not be told."
        )
    if not np.isfinite(values).any():
        raise ValueError("no row of the audit has a label yet; at least one is needed.")
    return AuditResult(sample, values, q, float(level))
