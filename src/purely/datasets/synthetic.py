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

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from purely.datasets import problems
from purely.datasets._problem import PUProblem, PUSample


def draws_from(
    problem: Callable[..., PUProblem], n_unlabelled: int = 1000
) -> Callable[[Callable[[], None]], Callable[..., PUSample]]:
    """Turn a description into the generator it describes: sizes, then the problem's keywords and those of sampling."""
    _, _, _, *of_sampling = signature(PUProblem.sample).parameters.values()
    sizes = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=size, annotation="int")
        for name, size in (("n_positive", 400), ("n_unlabelled", n_unlabelled))
    ]
    keywords = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*signature(problem).parameters.values(), *of_sampling)]

    def decorate(description: Callable[[], None]) -> Callable[..., PUSample]:
        @wraps(description)
        def make(n_positive: int = 400, n_unlabelled: int = n_unlabelled, **options: Any) -> PUSample:
            sampling = {p.name: options.pop(p.name) for p in of_sampling if p.name in options}
            return problem(**options).sample(n_positive, n_unlabelled, **sampling)

        make.__signature__ = signature(description).replace(  # type: ignore[attr-defined]
            parameters=[*sizes, *keywords], return_annotation="PUSample"
        )
        return make

    return decorate


@draws_from(problems.gaussians_problem)
def make_gaussians() -> None:
    """Two normal classes apart by a shift.

    Draws from :func:`~purely.datasets.gaussians_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> sample = make_gaussians(100, 200, shift=1.0, random_state=0)
    >>> sample.X.shape, sample.y[:3], sample.y[-3:]
    ((300, 1), array([1, 1, 1]), array([0, 0, 0]))
    """


@draws_from(problems.paper_problem)
def make_paper_data() -> None:
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


@draws_from(problems.overlapping_problem)
def make_overlapping() -> None:
    """Classes that overlap everywhere, so that no region is purely positive.

    Draws from :func:`~purely.datasets.overlapping_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_overlapping
    >>> bool(make_overlapping(random_state=0).posterior.max() < 0.8334)
    True
    """


@draws_from(problems.high_dimensional_problem)
def make_high_dimensional() -> None:
    """Many columns, few of them informative.

    Draws from :func:`~purely.datasets.high_dimensional_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_high_dimensional
    >>> make_high_dimensional(random_state=0).X.shape
    (1400, 50)
    """


@draws_from(problems.imbalanced_problem, n_unlabelled=10_000)
def make_imbalanced() -> None:
    """One rare class: positives at the default prior, negatives at 0.95.

    Draws from :func:`~purely.datasets.imbalanced_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_imbalanced
    >>> sample = make_imbalanced(exact_counts=True, random_state=0)
    >>> int(sample.y_true[sample.y == 0].sum())
    100
    """


@draws_from(problems.heavy_tailed_problem)
def make_heavy_tailed() -> None:
    """Heavy tails, and gross outliers that say nothing about the class.

    Draws from :func:`~purely.datasets.heavy_tailed_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_heavy_tailed
    >>> bool(abs(make_heavy_tailed(random_state=0).X).max() > 50)
    True
    """


@draws_from(problems.label_biased_problem)
def make_label_biased() -> None:
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


@draws_from(problems.independent_problem)
def make_independent() -> None:
    """Nothing to learn: both classes have the same law, the true information is 0.

    Draws from :func:`~purely.datasets.independent_problem`, which says what the arguments mean.

    Examples
    --------
    >>> from purely.datasets import make_independent
    >>> make_independent(random_state=0).problem.information().value < 1e-12
    True
    """
