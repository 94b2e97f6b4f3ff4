"""Artificial problems whose truth is known, from easy to hard.

Each function returns a :class:`~purely.datasets.PUProblem`: densities, posterior, ratio and information at any point.
:mod:`purely.datasets.synthetic` draws samples from them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from purely.checks import check_number
from purely.datasets._densities import Density, Gaussian, Mixture, SelectedGaussian, StudentT
from purely.datasets._problem import PUProblem
from purely.typing import Floats


def gaussians_problem(*, shift: float = 2.0, class_prior: float = 0.5, n_features: int = 1) -> PUProblem:
    r"""Two normal classes: positives :math:`N(\delta e_1, I)`, negatives :math:`N(0, I)`.

    Parameters
    ----------
    shift : float, default=2.0
        The distance :math:`\delta` between the class means, along column 0.
    class_prior : float, default=0.5
    n_features : int, default=1
        Columns beyond the first carry no information.

    Returns
    -------
    PUProblem
        It reduces to column 0.

    Examples
    --------
    >>> from purely.datasets import gaussians_problem
    >>> [round(gaussians_problem(shift=s).information().value, 3) for s in (0.5, 1.0, 2.0)]
    [0.029, 0.102, 0.275]
    """
    first = _first_column(n_features)
    return PUProblem(Gaussian(shift * first), Gaussian(0.0 * first), class_prior, projection=first, name="gaussians")


def paper_problem(*, class_prior: float = 0.7) -> PUProblem:
    r"""The paper's artificial data, in two dimensions (section 5.2).

    .. math::

        p(x \mid y=1) &= N(0, \Sigma), \qquad \Sigma = \mathrm{diag}(0.25, 4), \\
        p(x \mid y=0) &= \tfrac12 N((3, 0)^\top, \Sigma) + \tfrac12 N((-3, 0)^\top, \Sigma).

    Column 1 has the larger variance and the same law in both classes, so the problem reduces to column 0.

    Parameters
    ----------
    class_prior : float, default=0.7
        The paper uses 0.7 in its illustration and 0.5 in its appendix D.

    Returns
    -------
    PUProblem

    Examples
    --------
    >>> from purely.datasets import paper_problem
    >>> problem = paper_problem()
    >>> problem.posterior([[0.0, 0.0], [1.5, 0.0], [3.0, 0.0]]).round(3)
    array([1.   , 0.824, 0.   ])
    >>> round(problem.smi().value, 4), problem.smi().method
    (0.4969, 'quadrature')
    """
    std = [0.5, 2.0]
    negative = Mixture([0.5, 0.5], [Gaussian([3.0, 0.0], std), Gaussian([-3.0, 0.0], std)])
    return PUProblem(Gaussian([0.0, 0.0], std), negative, class_prior, projection=_first_column(2), name="paper")


def overlapping_problem(
    *, shift: float = 1.5, contamination: float = 0.2, class_prior: float = 0.5, n_features: int = 2
) -> PUProblem:
    r"""Classes that overlap everywhere: a share of the negatives looks exactly like the positives.

    .. math::

        p_1 = N(\delta e_1, I), \qquad p_0 = (1 - \varepsilon) N(0, I) + \varepsilon\, p_1 .

    The posterior stays below :math:`\pi / (\pi + (1 - \pi) \varepsilon) < 1`: no region is purely positive, which
    is what most class prior estimators assume.

    Parameters
    ----------
    shift : float, default=1.5
        The distance :math:`\delta` along column 0.
    contamination : float, default=0.2
        The share :math:`\varepsilon`, at least 0 and below 1. At 0 the largest posterior is 1, reached only far out.
    class_prior : float, default=0.5
    n_features : int, default=2
        Columns beyond the first carry no information.

    Returns
    -------
    PUProblem
        It reduces to column 0.

    Examples
    --------
    >>> from purely.datasets import overlapping_problem
    >>> overlapping_problem().posterior([[100.0, 0.0]]).round(3)
    array([0.833])
    """
    if not 0.0 <= contamination < 1.0:
        raise ValueError(f"contamination must lie in [0, 1); {contamination!r} was given.")
    first = _first_column(n_features)
    positive, negative = Gaussian(shift * first), Gaussian(0.0 * first)
    mixed = Mixture([1.0 - contamination, contamination], [negative, positive]) if contamination else negative
    return PUProblem(positive, mixed, class_prior, projection=first, name="overlapping")


def high_dimensional_problem(
    *,
    n_features: int = 50,
    n_informative: int = 3,
    separation: float = 3.0,
    two_sided: bool = False,
    class_prior: float = 0.5,
) -> PUProblem:
    r"""Many columns, few of them informative.

    With :math:`\delta` of length `separation`, equal in its first `n_informative` entries and 0 elsewhere:

    .. math::

        p_1 = N(0, I), \qquad p_0 = N(\delta, I) \quad\text{or}\quad \tfrac12 N(\delta, I) + \tfrac12 N(-\delta, I).

    All means lie on one line and the covariance is the identity, so :math:`\delta^\top x` is sufficient and the problem
    reduces to one dimension.

    Parameters
    ----------
    n_features : int, default=50
    n_informative : int, default=3
    separation : float, default=3.0
        Distance between the class means, whatever the number of informative columns.
    two_sided : bool, default=False
        True puts the negatives on both sides of the positives: the class means agree, and nothing linear helps.
    class_prior : float, default=0.5

    Returns
    -------
    PUProblem

    Examples
    --------
    >>> from purely.datasets import high_dimensional_problem
    >>> problem = high_dimensional_problem()
    >>> problem.n_features, problem.information().method
    (50, 'quadrature')
    """
    d = check_number("n_features", n_features, 1, integer=True)
    k = check_number("n_informative", n_informative, 1, integer=True)
    if k > d:
        raise ValueError(f"n_informative must be at most n_features={d}; {k} was given.")
    direction = np.where(np.arange(d) < k, 1.0 / np.sqrt(k), 0.0)
    delta = separation * direction
    one_side = Gaussian(delta)
    negative = Mixture([0.5, 0.5], [one_side, Gaussian(-delta)]) if two_sided else one_side
    return PUProblem(Gaussian(0.0 * delta), negative, class_prior, projection=direction, name="high-dimensional")


def imbalanced_problem(*, class_prior: float = 0.01, n_features: int = 5) -> PUProblem:
    r"""One rare class: a compact group of positives, :math:`N(3, 0.5^2)`, beside negatives, :math:`N(0, 1)`.

    The other columns are standard normal in both classes, so the problem reduces to column 0.

    Parameters
    ----------
    class_prior : float, default=0.01
        0.01 for rare positives, 0.95 for rare negatives.
    n_features : int, default=5

    Returns
    -------
    PUProblem

    Examples
    --------
    >>> from purely.datasets import imbalanced_problem
    >>> rare_positives, rare_negatives = imbalanced_problem(), imbalanced_problem(class_prior=0.95)
    >>> rare_positives.information().value > 100 * rare_negatives.information().value
    True
    """
    first = _first_column(n_features)
    positive = Gaussian(3.0 * first, 1.0 - 0.5 * first)
    return PUProblem(positive, Gaussian(0.0 * first), class_prior, projection=first, name="imbalanced")


def heavy_tailed_problem(
    *,
    shift: float = 4.0,
    df: float = 1.5,
    outlier_share: float = 0.02,
    outlier_scale: float = 100.0,
    class_prior: float = 0.5,
    n_features: int = 2,
) -> PUProblem:
    r"""Heavy tails, and gross outliers that say nothing about the class.

    .. math::

        p_y(x) = (1 - \varepsilon) \prod_j t_\nu(x_j - y \delta) + \varepsilon\, N(x; 0, s^2 I), \qquad y = 0, 1 .

    An outlier spoils the whole row, so the columns depend on each other and nothing of lower dimension is sufficient:
    beyond one column the information is computed from a large sample.

    Parameters
    ----------
    shift : float, default=4.0
        The shift :math:`\delta` of the positives in each column.
    df : float, default=1.5
        Degrees of freedom :math:`\nu`; the variance is infinite up to 2.
    outlier_share : float, default=0.02
        The share :math:`\varepsilon` of outliers in both classes, at least 0 and below 1.
    outlier_scale : float, default=100.0
        Their standard deviation *s*.
    class_prior : float, default=0.5
    n_features : int, default=2

    Returns
    -------
    PUProblem

    Examples
    --------
    >>> from purely.datasets import heavy_tailed_problem
    >>> heavy_tailed_problem(n_features=1).information().method
    'quadrature'
    """
    if not 0.0 <= outlier_share < 1.0:
        raise ValueError(f"outlier_share must lie in [0, 1); {outlier_share!r} was given.")
    ones = np.ones(check_number("n_features", n_features, 1, integer=True))

    def with_outliers(location: Floats) -> Density:
        clean = StudentT(location, df=df)
        if not outlier_share:
            return clean
        return Mixture([1.0 - outlier_share, outlier_share], [clean, Gaussian(0.0 * ones, outlier_scale)])

    return PUProblem(with_outliers(shift * ones), with_outliers(0.0 * ones), class_prior, name="heavy-tailed")


def label_biased_problem(
    *, bias: float = 1.5, shift: float = 2.0, class_prior: float = 0.5, n_features: int = 2
) -> PUProblem:
    r"""Labels that are not selected at random: clear positives are labelled more often than doubtful ones.

    The classes are those of :func:`gaussians_problem`, and a positive at *x* is picked for labelling with the chance

    .. math::

        e(x) = \Phi(\beta (x_1 - \delta)), \qquad p(x \mid \text{labelled}) = 2 e(x) p(x \mid y=1),

    whose mean over the positives is 1/2 whatever the bias. The problem reduces to column 0.

    Parameters
    ----------
    bias : float, default=1.5
        The bias :math:`\beta`; 0 selects at random.
    shift : float, default=2.0
        The distance :math:`\delta` between the class means.
    class_prior : float, default=0.5
    n_features : int, default=2

    Returns
    -------
    PUProblem
        ``propensity(X)`` is :math:`e(x)`; ``density_ratio(X)`` and ``information()`` refer to all positives,
        ``labelled_density_ratio(X)`` and ``labelled_information()`` to the labelled ones.

    Examples
    --------
    >>> from purely.datasets import label_biased_problem
    >>> problem = label_biased_problem()
    >>> problem.propensity([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]).round(3)
    array([0.001, 0.5  , 0.999])
    >>> problem.labelled_information().value > problem.information().value
    True
    """
    if not np.isfinite(bias):
        raise ValueError(f"bias must be a finite number; {bias!r} was given.")
    plain = gaussians_problem(shift=shift, class_prior=class_prior, n_features=n_features)
    first = _first_column(plain.n_features)
    labelled = SelectedGaussian(Gaussian(shift * first), first, float(bias), float(shift))
    return replace(plain, labelled=labelled, name="label-biased")


def independent_problem(*, class_prior: float = 0.5, n_features: int = 2) -> PUProblem:
    """Both classes standard normal: positives and unlabelled rows share one law and the information is 0.

    Parameters
    ----------
    class_prior : float, default=0.5
    n_features : int, default=2

    Returns
    -------
    PUProblem

    Examples
    --------
    >>> from purely.datasets import independent_problem
    >>> independent_problem(class_prior=0.3).posterior([[0.0, 1.0], [5.0, -5.0]]).round(6)
    array([0.3, 0.3])
    """
    first = _first_column(n_features)
    return PUProblem(Gaussian(0.0 * first), Gaussian(0.0 * first), class_prior, projection=first, name="independent")


def _first_column(n_features: int) -> Floats:
    return np.where(np.arange(check_number("n_features", n_features, 1, integer=True)) == 0, 1.0, 0.0)
