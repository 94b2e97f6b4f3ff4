"""Generators of artificial positive-unlabelled samples that return the truth beside the data.

================================ ================================================ ===============================
data                             what makes it hard                               information
================================ ================================================ ===============================
:func:`make_gaussians`           nothing; one shift between two normal classes    quadrature along the shift
:func:`make_paper_data`          negatives on both sides; variance misleads       quadrature over column 0
:func:`make_overlapping`         no region is purely positive                     quadrature over column 0
:func:`make_high_dimensional`    few informative columns among many               quadrature along the shift
:func:`make_imbalanced`          one class is rare                                quadrature over column 0
:func:`make_heavy_tailed`        infinite variance and gross outliers             large sample, or quadrature in 1-D
:func:`make_label_biased`        labels are not selected at random                quadrature over column 0
:func:`make_independent`         there is nothing to learn                        quadrature, 0
================================ ================================================ ===============================

Every generator returns a :class:`~purely.datasets.PUSample`: rows, labels, and the class, the posterior and the
density ratio at each row; ``sample.problem`` evaluates the truth anywhere else. The keywords `scenario`,
`exact_counts` and `random_state` (default 0) are those of :meth:`PUProblem.sample <purely.datasets.PUProblem.sample>`,
the rest the problem's own.
"""

from __future__ import annotations

from typing import TypedDict, Unpack

from purely.checks import RandomState
from purely.datasets import problems
from purely.datasets._problem import PUSample
from purely.labels import Scenario

__all__ = [
    "make_gaussians",
    "make_heavy_tailed",
    "make_high_dimensional",
    "make_imbalanced",
    "make_independent",
    "make_label_biased",
    "make_overlapping",
    "make_paper_data",
]


class Sampling(TypedDict, total=False):
    """How every generator draws; see :meth:`PUProblem.sample <purely.datasets.PUProblem.sample>`."""

    scenario: Scenario
    exact_counts: bool
    random_state: RandomState


def make_gaussians(
    n_positive: int = 400,
    n_unlabelled: int = 1000,
    *,
    shift: float = 2.0,
    class_prior: float = 0.5,
    n_features: int = 1,
    **sampling: Unpack[Sampling],
) -> PUSample:
    """Two normal classes apart by a shift.

    Draws from :func:`~purely.datasets.gaussians_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> sample = make_gaussians(100, 200, shift=1.0, random_state=0)
    >>> sample.X.shape, sample.y[:3], sample.y[-3:]
    ((300, 1), array([1, 1, 1]), array([0, 0, 0]))
    """
    problem = problems.gaussians_problem(shift=shift, class_prior=class_prior, n_features=n_features)
    return problem.sample(n_positive, n_unlabelled, **sampling)


def make_paper_data(
    n_positive: int = 400, n_unlabelled: int = 1000, *, class_prior: float = 0.7, **sampling: Unpack[Sampling]
) -> PUSample:
    """The paper's artificial data: negatives on both sides of the positives, and a column of misleading variance.

    The default sizes are the paper's.
    Draws from :func:`~purely.datasets.paper_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_paper_data
    >>> sample = make_paper_data(random_state=0)
    >>> sample.X.shape, sample.class_prior
    ((1400, 2), 0.7)
    """
    problem = problems.paper_problem(class_prior=class_prior)
    return problem.sample(n_positive, n_unlabelled, **sampling)


def make_overlapping(
    n_positive: int = 400,
    n_unlabelled: int = 1000,
    *,
    shift: float = 1.5,
    contamination: float = 0.2,
    class_prior: float = 0.5,
    n_features: int = 2,
    **sampling: Unpack[Sampling],
) -> PUSample:
    """Classes that overlap everywhere, so that no region is purely positive.

    Draws from :func:`~purely.datasets.overlapping_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_overlapping
    >>> bool(make_overlapping(random_state=0).posterior.max() < 0.8334)
    True
    """
    problem = problems.overlapping_problem(
        shift=shift, contamination=contamination, class_prior=class_prior, n_features=n_features
    )
    return problem.sample(n_positive, n_unlabelled, **sampling)


def make_high_dimensional(
    n_positive: int = 400,
    n_unlabelled: int = 1000,
    *,
    n_features: int = 50,
    n_informative: int = 3,
    separation: float = 3.0,
    two_sided: bool = False,
    class_prior: float = 0.5,
    **sampling: Unpack[Sampling],
) -> PUSample:
    """Many columns, few of them informative.

    Draws from :func:`~purely.datasets.high_dimensional_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_high_dimensional
    >>> make_high_dimensional(random_state=0).X.shape
    (1400, 50)
    """
    problem = problems.high_dimensional_problem(
        n_features=n_features,
        n_informative=n_informative,
        separation=separation,
        two_sided=two_sided,
        class_prior=class_prior,
    )
    return problem.sample(n_positive, n_unlabelled, **sampling)


def make_imbalanced(
    n_positive: int = 400,
    n_unlabelled: int = 10_000,
    *,
    class_prior: float = 0.01,
    n_features: int = 5,
    **sampling: Unpack[Sampling],
) -> PUSample:
    """One rare class: positives at the default prior, negatives at 0.95.

    Draws from :func:`~purely.datasets.imbalanced_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_imbalanced
    >>> sample = make_imbalanced(exact_counts=True, random_state=0)
    >>> int(sample.y_true[sample.y == 0].sum())
    100
    """
    problem = problems.imbalanced_problem(class_prior=class_prior, n_features=n_features)
    return problem.sample(n_positive, n_unlabelled, **sampling)


def make_heavy_tailed(
    n_positive: int = 400,
    n_unlabelled: int = 1000,
    *,
    shift: float = 4.0,
    df: float = 1.5,
    outlier_share: float = 0.02,
    outlier_scale: float = 100.0,
    class_prior: float = 0.5,
    n_features: int = 2,
    **sampling: Unpack[Sampling],
) -> PUSample:
    """Heavy tails, and gross outliers that say nothing about the class.

    Draws from :func:`~purely.datasets.heavy_tailed_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_heavy_tailed
    >>> bool(abs(make_heavy_tailed(random_state=0).X).max() > 50)
    True
    """
    problem = problems.heavy_tailed_problem(
        shift=shift,
        df=df,
        outlier_share=outlier_share,
        outlier_scale=outlier_scale,
        class_prior=class_prior,
        n_features=n_features,
    )
    return problem.sample(n_positive, n_unlabelled, **sampling)


def make_label_biased(
    n_positive: int = 400,
    n_unlabelled: int = 1000,
    *,
    bias: float = 1.5,
    shift: float = 2.0,
    class_prior: float = 0.5,
    n_features: int = 2,
    **sampling: Unpack[Sampling],
) -> PUSample:
    """Labels that are not selected at random: clear positives are labelled more often than doubtful ones.

    ``propensity`` and ``labelled_density_ratio`` of the sample tell what the selection did.
    Draws from :func:`~purely.datasets.label_biased_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_label_biased
    >>> sample = make_label_biased(random_state=0)
    >>> labelled = sample.propensity[sample.y == 1].mean()
    >>> bool(labelled > sample.propensity[(sample.y == 0) & (sample.y_true == 1)].mean())
    True
    """
    problem = problems.label_biased_problem(bias=bias, shift=shift, class_prior=class_prior, n_features=n_features)
    return problem.sample(n_positive, n_unlabelled, **sampling)


def make_independent(
    n_positive: int = 400,
    n_unlabelled: int = 1000,
    *,
    class_prior: float = 0.5,
    n_features: int = 2,
    **sampling: Unpack[Sampling],
) -> PUSample:
    """Nothing to learn: both classes have the same law, the true information is 0.

    Draws from :func:`~purely.datasets.independent_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_independent
    >>> make_independent(random_state=0).problem.information().value < 1e-12
    True
    """
    problem = problems.independent_problem(class_prior=class_prior, n_features=n_features)
    return problem.sample(n_positive, n_unlabelled, **sampling)
