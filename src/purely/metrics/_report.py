"""One page about a classifier, from positive and unlabelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from purely.checks import draw_seed
from purely.class_prior import ClassPriors, KnownPrior, Prior
from purely.metrics._calibration import pu_calibration_error
from purely.metrics.estimate import OUT_OF_FOLD, Evaluation, PUEstimate, Resampling, widened
from purely.metrics.ranking import FUNCTIONALS as RANKING
from purely.metrics.ranking import ranking_metric
from purely.metrics.risk import pu_risk
from purely.metrics.thresholds import threshold_metric
from purely.notebook import html_table

_PREDICTED = ("accuracy", "precision", "recall", "f1", "specificity", "balanced_accuracy", "lift")


@dataclass(frozen=True, eq=False)
class PUReport:
    """All metrics of one score and threshold, from :func:`pu_report`; prints as a table.

    Attributes
    ----------
    estimates : dict of str to PUEstimate
        Also by ``report["f1"]``.
    class_prior : Prior
        The population's prior and its interval.
    priors : ClassPriors
        The same prior, the share among the unlabelled rows and the labelling frequency.
    n_positive, n_unlabelled : int
    threshold : float
    predicted_share : float
        Share of the unlabelled rows above the threshold.
    assumption : str
    notes : tuple of str
        What to look at, one sentence a metric.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_report
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> report = pu_report(data.y, data.posterior, class_prior=0.5, n_resamples=50)
    >>> report["recall"].name, report.to_dict()["recall"] == report["recall"].value
    ('recall', True)
    """

    estimates: dict[str, PUEstimate] = field(repr=False)
    class_prior: Prior
    priors: ClassPriors
    n_positive: int
    n_unlabelled: int
    threshold: float
    predicted_share: float
    assumption: str
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> PUEstimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[PUEstimate]:
        return iter(self.estimates.values())

    def to_dict(self) -> dict[str, float]:
        """Values by name, for a log or a table row."""
        return {name: estimate.value for name, estimate in self.estimates.items()}

    def __str__(self) -> str:
        level = next(iter(self)).level
        lines = [
            f"{self.n_positive} labelled positives, {self.n_unlabelled} unlabelled rows, {self.priors.scenario}; "
            f"class prior {self.class_prior}, {self.priors.unlabelled:.3f} among the unlabelled",
            f"{'':20}{'value':>8}{'error':>8}   {level:.0%} interval",
        ]
        lines += [
            f"{name:20}{e.value:8.3f}{e.standard_error:8.3f}   [{e.low:.3f}, {e.high:.3f}]"
            for name, e in self.estimates.items()
        ]
        lines.append(f"Above the threshold {self.threshold:g}: {self.predicted_share:.1%} of the unlabelled rows.")
        lines.append(f"Assumption: {self.assumption}")
        return "\n".join(lines + [f"Note: {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        rows = [
            [name.replace("_", " "), f"{e.value:.3f}", f"[{e.low:.3f}, {e.high:.3f}]"]
            for name, e in self.estimates.items()
        ]
        return html_table(["", "value", f"{next(iter(self)).level:.0%} interval"], rows, str(self).splitlines()[:1])


def pu_report(
    y: ArrayLike,
    score: ArrayLike,
    class_prior: KnownPrior,
    threshold: float = 0.5,
    *,
    out_of_fold: bool = False,
    **options: Unpack[Resampling],
) -> PUReport:
    """Everything that positive and unlabelled rows say about a score and a threshold.

    Parameters
    ----------
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    score : array-like of shape (n,)
        Scores or probabilities of rows that did not train the model. Where all lie in [0, 1] they are taken as
        probabilities, and their calibration error is reported too.
    class_prior : float, (low, high), (value, low, high), or fitted prior estimator
    threshold : float, default=0.5
        A row is predicted positive above it; 0 is usual for a decision function.
    out_of_fold : bool, default=False
        Whether the scores are out-of-fold predictions, each by a model that the other rows trained, rather than those
        of one model for new rows. Standard errors and intervals are then 1.25 times as long, see
        :mod:`purely.metrics`.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    n_resamples : int, default=500
    random_state : int, RandomState or None, default=0

    Returns
    -------
    PUReport

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> from purely.metrics import pu_report
    >>> data = make_gaussians(1000, 2000, random_state=1)
    >>> report = pu_report(data.y, data.posterior, class_prior=(0.45, 0.55), random_state=0)
    >>> round(report["accuracy"].value, 3)
    0.849
    >>> print(report)  # doctest: +ELLIPSIS
    1000 labelled positives, 2000 unlabelled rows, case-control; class prior 0.5 ...
                           value   error   90% interval
    accuracy               0.849   ...
    """
    options["random_state"] = draw_seed(options.get("random_state", 0))  # one for all metrics
    evaluation = Evaluation.read(y, class_prior, **options)
    scores = evaluation.column(score, "score")
    predicted = scores > float(threshold)
    labels, prior = evaluation.labels, evaluation.known_prior("the report")
    estimates = {name: threshold_metric(name, labels, predicted, prior, **options) for name in _PREDICTED}
    estimates |= {name: ranking_metric(name, labels, scores, prior, **options) for name in RANKING}
    estimates["risk"] = pu_risk(labels, scores, prior, threshold=threshold, **options)
    if ((scores >= 0.0) & (scores <= 1.0)).all():
        estimates["brier"] = pu_risk(labels, scores, prior, loss="brier", **options)
        estimates["calibration_error"] = pu_calibration_error(labels, scores, prior, **options)
    if out_of_fold:
        legal = {"lift": (0.0, np.inf)}
        estimates = {n: widened(e, OUT_OF_FOLD, legal.get(n, (0.0, 1.0))) for n, e in estimates.items()}
    n_p, n_u, scenario = labels.n_positive, labels.n_unlabelled, evaluation.scenario
    priors = ClassPriors.from_population(prior.value, n_positive=n_p, n_unlabelled=n_u, scenario=scenario)
    share, assumption = float(np.mean(predicted[~labels.positive])), evaluation.assumption()
    notes = tuple(f"{name}: {e.note}" for name, e in estimates.items() if e.note)
    return PUReport(estimates, prior, priors, n_p, n_u, float(threshold), share, assumption, notes)
