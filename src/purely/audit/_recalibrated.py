"""A classifier whose probabilities agree with an audit."""

from __future__ import annotations

from typing import NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from purely.audit._posterior import Pool, Posterior, promised_cut
from purely.audit._refinement import Refinement
from purely.calibration import RAMP, ScoreCalibration, shift_to_share
from purely.class_prior import Prior
from purely.classifiers.base import BasePUClassifier
from purely.crossfit import finite_log_odds, model_says
from purely.typing import Estimator, Floats, Matrix

#: Slope of the recalibrated log-odds beyond the pool's scores.
END_SLOPE = 0.5


def calibration_of(pool: Pool, posterior: Posterior, share: float) -> ScoreCalibration:
    """An increasing map from a model's log-odds to log-odds that agree with the draws.

    The mean of the probabilities over the pool is `share`.
    Isotonic regression of the groups' mean shares, each with its rows as weight, and a slight slope where it is level.
    """
    level = isotonic_regression(posterior.positives.mean(axis=0) / pool.rows, sample_weight=pool.rows)
    half_a_row = 0.5 / pool.rows.sum()
    z = finite_log_odds(np.clip(level, half_a_row, 1.0 - half_a_row))
    knots, first = np.unique(pool.log_odds, return_index=True)  # beyond the largest log-odds groups share a knot
    z, weight = z[first], np.add.reduceat(pool.rows, first) / pool.rows.sum()
    z = z + RAMP * np.linspace(-0.5, 0.5, z.size)
    share = float(np.clip(share, half_a_row, 1.0 - half_a_row))
    return ScoreCalibration(knots, z + shift_to_share(z, weight, share), END_SLOPE)


class RecalibratedClassifier(BasePUClassifier):
    """A fitted classifier whose probabilities and class prior were set right by an audit.

    Made by :meth:`AuditResult.recalibrated`; the ranking is the classifier's own, unless the audited rows were given.

    Parameters
    ----------
    estimator : fitted classifier
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.

    Attributes
    ----------
    calibration_ : ScoreCalibration
        From the classifier's log-odds to those that agree with the audit.
    posterior_ : Posterior
        What the audit says of the pool.
    refinement_ : Refinement or None
        A correction of the ranking, where the audited rows were given.
    class_prior_, unlabelled_prior_ : float
        Share of positives in the audited pool.
    class_prior_interval_ : tuple of float
    prior_ : Prior
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.audit import draw_audit, read_audit
    >>> from purely.classifiers import PULogisticClassifier
    >>> rng = np.random.default_rng(0)
    >>> pool = np.concatenate([rng.normal(1, 1, (100, 2)), rng.normal(-1, 1, (900, 2))])
    >>> model = PULogisticClassifier(class_prior=0.3).fit(*stack(rng.normal(1, 1, (100, 2)), pool))  # .1 is right
    >>> probability = model.predict_proba(pool)[:, 1]
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> better = read_audit(sample, (sample.index < 100).astype(int), probability).recalibrated(model)
    >>> bool(abs(better.class_prior_ - 0.1) < abs(model.class_prior_ - 0.1))
    True
    """

    def __init__(self, estimator: Estimator, *, threshold: float | tuple[float, float] = 0.5) -> None:
        self.estimator = estimator
        self.threshold = threshold

    #: The audited pool stands for the population.
    scenario = "case-control"

    def fit(self, X: Matrix, y: ArrayLike) -> NoReturn:
        """Refused: labels of positives cannot replace an audit."""
        raise ValueError(
            "a recalibrated classifier cannot be fitted: its probabilities come from an audit. Fit the classifier anew "
            "and audit it."
        )

    def adopt(
        self, calibration: ScoreCalibration, prior: Prior, posterior: Posterior, refinement: Refinement | None = None
    ) -> Self:
        """Take over what an audit has found."""
        model = self.estimator
        self.calibration_ = calibration
        self.posterior_ = posterior
        self.refinement_ = refinement
        self.classes_ = np.asarray(getattr(model, "classes_", np.array([0, 1])))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.prior_, self.class_prior_, self.class_prior_interval_ = prior, prior.value, prior.interval
        self.unlabelled_prior_ = prior.value
        return self

    def _log_odds(self, X: Matrix) -> Floats:
        z = self.calibration_(model_says(self.estimator, X, "log-odds", positive=self.classes_[1]))
        return z if self.refinement_ is None else self.refinement_(z, X)

    def threshold_for_precision(self, precision: float, confidence: float = 0.9) -> float:
        """A probability above which the audited pool has that precision, with some confidence; NaN where there is none.

        Parameters
        ----------
        precision : float
        confidence : float, default=0.9

        Returns
        -------
        float
        """
        if self.refinement_ is not None:
            raise ValueError(
                "this model promises no precision, because its ranking was refined after the audit: the labels were "
                "drawn for the ranking before. Recalibrate without X (on the command line: purely audit read "
                "--precision), or audit this model too."
            )
        cut = promised_cut(self.posterior_, precision, confidence)
        return float(expit(self.calibration_(finite_log_odds(cut)))) if np.isfinite(cut) else cut
