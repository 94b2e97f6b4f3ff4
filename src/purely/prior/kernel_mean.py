r"""Kernel mean estimation of the class prior (KM1, KM2).

With :math:`\mu_U, \mu_P` the means of the unlabelled rows and of the positives in the feature space of a Gaussian
kernel, the distance :math:`d(\lambda)` from :math:`\lambda \mu_U + (1 - \lambda) \mu_P` to the convex hull of all rows
is zero as long as the extrapolation is a distribution, that is up to :math:`\lambda^* = 1 / (1 - \pi_U)`, and grows
beyond [1]_.
On a sample it grows slowly at first, so the estimate is read where the slope passes a threshold :math:`\nu`:

.. math:: \hat\pi_U = 1 - 1 / \hat\lambda, \qquad d'(\hat\lambda) = \nu,

- *KM1*: :math:`\nu = 1 / \sqrt{\min(n_P, n_U)}`, consistent as both samples grow;
- *KM2*: :math:`\nu = 0.8\, d(1.05) / 0.05 + 0.2\, \lVert \mu_U - \mu_P \rVert`, a share of the largest slope; not
  consistent, often better on small samples.

References
----------
.. [1] Ramaswamy, H., Scott, C. and Tewari, A. Mixture proportion estimation via kernel embeddings of distributions.
   ICML 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from purely.base import number, one_of, with_parameters
from purely.checks import dense, draw_seed
from purely.folds import Folds, draw_rows
from purely.prior import gaussian
from purely.prior.base import PriorDiagnostics, PriorEstimate, PriorEstimator
from purely.prior.gaussian import FeatureProblem, GaussianProblem, Samples, WeightedRows
from purely.prior.mean_path import DistanceCurve, SlopeRoot, hull_distance
from purely.prior.scores import ScoreReading, ScoreTable
from purely.threads import one_blas_thread
from purely.typing import Floats, Indices, Mask, Matrix

#: Beyond this many distinct rows the features of `approximation="auto"` take over from the exact kernel.
MAX_EXACT = 10_000
#: Atoms that one column of rows, and a table of scores, are binned to.
_GRID_ATOMS, _SCORE_ATOMS = 1024, 768
_LANDMARKS = 5000
_SAME = 1e-7  # a distance between the means below this is rounding


@dataclass(frozen=True)
class KernelMeans:
    """Both readings of one curve.

    Attributes
    ----------
    kappa : dict of str to float
        Share of positives among the unlabelled rows, by variant.
    error : dict of str to float
        Its standard error by the delta method: sampling noise, not bias.
    bound : dict of str to (str or None)
        The bound of the search that was hit.
    threshold : dict of str to float
        Slope at which each was read.
    bandwidth, mmd : float
        Width of the kernel and distance of the two means.
    extrapolations, distances, slopes, gaps : ndarray
        The curve, where it was computed, and the Frank-Wolfe gaps of its programmes.
    fell_back : bool
        True where KM1's threshold was beyond nine tenths of the largest slope, so that KM2's was used.
    """

    kappa: dict[str, float]
    error: dict[str, float]
    bound: dict[str, str | None]
    threshold: dict[str, float]
    bandwidth: float
    mmd: float
    extrapolations: Floats
    distances: Floats
    slopes: Floats
    gaps: Floats
    fell_back: bool = False

    def reading(self, variant: str, **details: Any) -> ScoreReading:
        """The share by one of the variants, and the curve it was read from."""
        kappa, axes = self.kappa[variant], ("extrapolation lambda", "slope of the distance to the hull")
        chosen = 1.0 / (1.0 - kappa) if kappa < 1.0 else None
        return ScoreReading(kappa, self.extrapolations, self.slopes, *axes, chosen, details)


def kernel_mean(
    X: Matrix,
    positive: Mask,
    *,
    variants: Sequence[str] = ("km1", "km2"),
    bandwidth: float | None = None,
    approximation: str = "auto",
    n_features: int = 2048,
    search: str = "exact",
    seed: int = 0,
) -> KernelMeans:
    """Kernel mean estimates of the share of positives among the unlabelled rows.

    Parameters are those of :class:`KernelMeanPrior`; `X` is a validated array or CSR matrix and `positive` the mask of
    labelled positives.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.kernel_mean import kernel_mean
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (300, 1)), rng.normal(0, 1, (200, 1)), rng.normal(6, 1, (300, 1))])
    >>> means = kernel_mean(X, np.arange(800) < 300)
    >>> 0.3 < means.kappa["km1"] < 0.5
    True
    """
    X, positive = gaussian.in_own_order(X, positive)
    n_p, n_u = int(np.count_nonzero(positive)), int(np.count_nonzero(~positive))
    samples, spread = _embed(X, positive, bandwidth, approximation, n_features, seed)
    return _read_curve(samples, n_p, n_u, variants, spread, search)


def kernel_mean_scores(table: ScoreTable, variant: str = "km1") -> ScoreReading:
    """KM1 or KM2 on the scores of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.kernel_mean import kernel_mean_scores
    >>> from purely.prior.scores import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> U = np.concatenate([rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> round(kernel_mean_scores(ScoreTable.from_scores(rng.normal(4, 1, 500), U)).share, 1)
    0.3
    """
    cells = table.coarsen(_SCORE_ATOMS)
    mass = (cells.count_p + cells.count_u) / (cells.n_p + cells.n_u)
    centred = cells.score - float(mass @ cells.score)
    scale = float(np.abs(centred).max()) or 1.0
    position = (centred / scale)[:, None]
    rows = WeightedRows(position, cells.count_u / cells.n_u, cells.count_p / cells.n_p)
    # The median over rows, not over atoms: each atom as often as rows stand behind it.
    places = np.clip(np.searchsorted(np.cumsum(mass), (np.arange(512) + 0.5) / 512), 0, mass.size - 1)
    median = gaussian.median_distance(position[places])
    width = gaussian.choose_width(rows, median) if median > 0.0 else 0.0
    samples = _unless_equal(GaussianProblem(rows, width)) if width else None
    means = _read_curve(samples, int(table.n_p), int(table.n_u), (variant,), width)
    return means.reading(variant, standard_error=means.error[variant])


def _read_curve(
    samples: Samples | None, n_p: int, n_u: int, variants: Sequence[str], bandwidth: float, search: str = "exact"
) -> KernelMeans:
    """Read the curve of two embedded samples of `n_p` and `n_u` rows at the variants' thresholds.

    Samples that are equal, None, have no curve: every unlabelled row may be positive.
    """
    if samples is None:
        ones, none, nothing = dict.fromkeys(variants, 1.0), dict.fromkeys(variants, float("nan")), np.empty(0)
        upper: dict[str, str | None] = dict.fromkeys(variants, "upper")
        return KernelMeans(ones, none, upper, none, bandwidth, 0.0, nothing, nothing, nothing, nothing)
    curve = DistanceCurve(samples)
    mmd = float(np.sqrt(curve.squared_mmd))
    threshold = {"km1": 1.0 / np.sqrt(min(n_p, n_u))}
    fell_back = "km1" in variants and threshold["km1"] > 0.9 * mmd
    kappa, error = dict[str, float](), dict[str, float]()
    bound: dict[str, str | None] = {}
    with one_blas_thread():  # the programmes are many small solves
        if "km2" in variants or fell_back:
            threshold["km2"] = 0.8 * _first_slope(samples, mmd) + 0.2 * mmd
        if fell_back:
            threshold["km1"] = threshold["km2"]
        # The larger threshold first: supports grow as lambda falls, and adding to a support is cheaper than dropping.
        for name in sorted(variants, key=lambda v: -threshold[v]):
            if search == "authors":
                kappa[name], error[name], bound[name] = _authors_search(curve, threshold[name]), float("nan"), None
                if kappa[name] > 0.873 or kappa[name] < 0.014:
                    bound[name] = "upper" if kappa[name] > 0.5 else "lower"
                continue
            root = curve.find_slope(threshold[name])
            kappa[name], bound[name] = root.kappa, root.bound
            error[name] = _delta_error(curve, root, samples, n_p, n_u)
    points = sorted(curve.points, key=lambda p: p.extrapolation)
    t, distances, slopes, gaps = np.array([[p.extrapolation, p.distance, p.slope, p.gap] for p in points]).T
    read_at = {variant: threshold[variant] for variant in variants}
    return KernelMeans(kappa, error, bound, read_at, bandwidth, mmd, t, distances, slopes, gaps, fell_back)


def _embed(
    X: Matrix, positive: Mask, bandwidth: float | None, approximation: str, n_features: int, seed: int
) -> tuple[Samples | None, float]:
    """The two samples in feature space and the bandwidth in the units of `X`; None where the samples are equal."""
    every, scale = gaussian.centre_and_scale(X)
    rows = None  # for features; merging equal rows first would not pay
    if X.shape[1] == 1:
        rows = gaussian.grid_rows(dense(every).ravel(), positive, _GRID_ATOMS)
    elif approximation == "exact" or (approximation == "auto" and X.shape[0] <= 4 * MAX_EXACT):
        rows = gaussian.weigh_rows(every, positive)
        if approximation == "auto" and rows.X.shape[0] > MAX_EXACT:
            rows = None
    median = gaussian.median_distance(every)
    if median <= 0.0:
        return None, 0.0
    landmarks = _landmarks(every, positive, seed) if rows is None else np.empty(0, dtype=np.intp)
    if bandwidth is not None:
        chosen = bandwidth / scale
    else:
        chosen = gaussian.choose_width(rows or gaussian.weigh_rows(every[landmarks], positive[landmarks]), median)
    if rows is None:
        return _unless_equal(FeatureProblem(every, positive, landmarks, chosen, n_features, seed)), chosen * scale
    return _unless_equal(GaussianProblem(rows, chosen)), chosen * scale


def _unless_equal(samples: Samples) -> Samples | None:
    """The samples, or None where their means are the same."""
    return samples if samples.uu - 2.0 * samples.up + samples.pp > _SAME**2 else None


def _landmarks(X: Matrix, positive: Mask, seed: int) -> Indices:
    """Rows that span the hull: a fifth of them positives where there are enough."""
    p, u = np.flatnonzero(positive), np.flatnonzero(~positive)
    n_p = min(p.size, _LANDMARKS // 5)
    return np.concatenate([p[draw_rows(X[p], n_p, seed)], u[draw_rows(X[u], _LANDMARKS - n_p, seed)]])


def _first_slope(samples: Samples, mmd: float) -> float:
    """The slope over [1, 1.05], to within one fiftieth of what the rest of KM2's threshold amounts to."""
    step = 0.05
    first = hull_distance(samples, 1.0 + step, step * 0.004 * mmd)
    # d(1) = 0 where every row is in the hull; a hull of landmarks misses the mean by a little.
    at_one = hull_distance(samples, 1.0, 0.0) if isinstance(samples, FeatureProblem) else 0.0
    return (first - at_one) / step


def _authors_search(curve: DistanceCurve, threshold: float) -> float:
    """Bisection of [1, 8] down to a cell of 0.04, with a forward difference of 0.02 for the slope."""
    cell, low, high = 0.04, 1.0, 8.0
    while high - low > cell:
        middle = 0.5 * (low + high)
        ahead, here = curve.at(middle + cell / 2.0), curve.at(middle)
        if (ahead.distance - here.distance) / (cell / 2.0) > threshold:
            high = middle
        else:
            low = middle
    return 1.0 - 2.0 / (low + high)


def _delta_error(curve: DistanceCurve, root: SlopeRoot, samples: Samples, n_p: int, n_u: int) -> float:
    r"""Standard error of kappa.

    The witness :math:`f_\lambda = (u - v)/d` attains the distance, so to first order a change of the samples changes
    :math:`d` by the change of :math:`\lambda \bar f_U - (\lambda - 1) \bar f_P`, and the slope by its derivative in
    :math:`\lambda`: a mean over each sample, whose variance is that of its terms. Divided by :math:`d''` it is an error
    of :math:`\hat\lambda`, and by :math:`\lambda^2` one of :math:`\hat\pi_U`.
    """
    if root.bound is not None or isinstance(samples, FeatureProblem):
        return float("nan")
    t, f, g = root.point.extrapolation, root.point.witness, root.point.witness_slope
    variance = 0.0
    for weight, terms, n in ((samples.weight_u, f + t * g, n_u), (samples.weight_p, f + (t - 1.0) * g, n_p)):
        mean = float(weight @ terms)
        variance += float(weight @ (terms - mean) ** 2) / n
    bend = curve.bend(root)
    return float(np.sqrt(variance) / bend / t**2) if bend > 0.0 else float("nan")


@with_parameters
class KernelMeanPrior(PriorEstimator):
    r"""Class prior by kernel mean embedding.

    Parameters
    ----------
    variant : {"km1", "km2"}, default="km1"
        The slope threshold; see Notes.
    bandwidth : float, optional
        Width of the Gaussian kernel. By default the multiple of the median distance, out of
        :math:`10^{-1}, 10^{-1/2}, \dots, 10`, at which the two samples' means are furthest apart.
    approximation : {"auto", "exact", "features"}, default="auto"
        The exact kernel, or random Fourier features with 5,000 rows spanning the hull. "auto" is exact up to 10,000
        distinct rows. One column is binned to 1,024 atoms instead, whatever the number of rows.
    n_features : int, default=2048
        Number of random features; fewer than 2,048 are unreliable.
    search : {"exact", "authors"}, default="exact"
        "authors" mimics the published code: bisection of [1, 8] down to a cell of 0.04 with a forward difference for
        the slope, so that the share can only come out in [0.0135, 0.8748].
    ratio : "auto", str, estimator or list of these, default="auto"
        Models behind the interval, see :class:`purely.ClassPrior`; the estimate does not use them.
    scenario : {"case-control", "single-sample"}, default="case-control"
        How the data were sampled; see :class:`purely.class_prior.ClassPriors`.
    level : float, default=0.9
        Level of the confidence interval. It reflects sampling noise; the bias of the method is not in it.
    n_jobs : int or None, default=None
        Models that are fitted at a time, through joblib.
    random_state : int, RandomState instance or None, default=0
        Seed of the random features.

    Attributes
    ----------
    class_prior_ : float
        Share of positives in the population.
    unlabelled_prior_ : float
        Share of positives among the unlabelled rows.
    class_prior_interval_ : tuple of float
        Confidence interval of `class_prior_`.
    diagnostics_ : PriorDiagnostics
        Slope of the distance against lambda.
    result_ : KernelMeans
        The curve and the numbers of the method.

    Notes
    -----
    The method is in the description of :mod:`purely.prior.kernel_mean`. KM1's threshold can exceed the largest slope
    there is when samples are small or alike; KM2's is used then, as in the authors' code, and a warning says so.

    References
    ----------
    .. [1] Ramaswamy, H., Scott, C. and Tewari, A. Mixture proportion estimation via kernel embeddings of
       distributions. ICML 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.prior import KernelMeanPrior
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(0, 1, (300, 2))
    >>> U = np.concatenate([rng.normal(0, 1, (200, 2)), rng.normal(5, 1, (300, 2))])
    >>> prior = KernelMeanPrior().fit(*stack(P, U))
    >>> 0.3 < prior.class_prior_ < 0.5
    True
    """

    variant: str = one_of("km1", "km2", default="km1", kw_only=False)
    bandwidth: float | None = number(default=None, low=0.0, open_low=True)
    approximation: str = one_of("auto", "exact", "features", default="auto")
    n_features: int = number(default=2048, low=2, integer=True)
    search: str = one_of("exact", "authors", default="exact")

    def _estimate(self, X: Matrix, positive: Mask, folds: Folds | None) -> PriorEstimate:
        options = {name: getattr(self, name) for name in ("bandwidth", "approximation", "n_features", "search")}
        seed = draw_seed(self.random_state)
        self.result_ = result = kernel_mean(X, positive, variants=(self.variant,), seed=seed, **options)
        self.standard_error_ = result.error[self.variant]
        threshold = result.threshold[self.variant]
        reading = result.reading(self.variant, threshold=threshold, bandwidth=result.bandwidth, mmd=result.mmd)
        diagnostics = PriorDiagnostics.of(reading, result.bound[self.variant])
        return PriorEstimate(reading.share, diagnostics, warnings=_sentences(result, self.variant))


def _sentences(result: KernelMeans, variant: str) -> tuple[str, ...]:
    found = []
    if result.mmd <= _SAME:
        found.append(
            "The labelled positives and the unlabelled rows have the same distribution of features, so every "
            "unlabelled row may be positive and 1 is returned; check that the features carry information on the class."
        )
    elif result.bound[variant] == "upper":
        found.append(
            f"The class prior {result.kappa[variant]:.3f} is the upper bound of the search: the unlabelled rows "
            "look like the labelled positives. Check that they contain negatives, and use features that tell the "
            "classes apart."
        )
    elif result.bound[variant] == "lower":
        found.append(
            f"The class prior {result.kappa[variant]:.3f} is the lower bound of the search: hardly any unlabelled "
            "row looks like the labelled positives. Check that both come from one population, or use ClassPrior."
        )
    if result.fell_back and variant == "km1":
        found.append(
            "The samples are too small or too alike for KM1's threshold 1 / sqrt(min(n_P, n_U)) (it exceeds 0.9 of the "
            f"distance {result.mmd:.3g} between their means), so KM2's was used; more labelled positives would help."
        )
    return tuple(found)
