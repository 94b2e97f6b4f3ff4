r"""Positive-unlabelled problems whose truth is known.

A problem is a class prior :math:`\pi` and two densities, so everything that an estimator can be asked for has a true
value:

.. math::

    p(x) = \pi p_1(x) + (1 - \pi) p_0(x), \qquad
    w(x) = \frac{p_1(x)}{p(x)}, \qquad
    p(y = 1 \mid x) = \pi w(x), \qquad
    I = \tfrac12 \int (w(x) - 1)^2 p(x)\,dx, \qquad
    \mathrm{SMI} = \frac{\pi}{1 - \pi} I .

*I* needs no class prior and is :math:`-J_{PU}(w) - 1/2` at the true ratio; SMI is the paper's (its theorem 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from sklearn.utils import check_array

from purely.checks import RandomState, check_number, check_share, draw_seed, refuse_huge
from purely.class_prior import ClassPriors
from purely.datasets._densities import Density, SelectedGaussian, integrate_line
from purely.labels import Scenario, check_scenario
from purely.typing import Floats, Indices

#: Rows of the large sample that stands in for a quadrature in more than one dimension.
N_SAMPLES = 400_000

_BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class TrueValue:
    """A true value, how it was computed and how far off it may be.

    Attributes
    ----------
    value : float
    error : float
        Bound on the error of the quadrature, or standard error of the large sample.
    method : {"quadrature", "sample"}

    Examples
    --------
    >>> from purely.datasets import paper_problem
    >>> truth = paper_problem().smi()
    >>> truth.method, bool(truth.error < 1e-6)
    ('quadrature', True)
    """

    value: float
    error: float
    method: Literal["quadrature", "sample"]


@dataclass(frozen=True, eq=False)
class PUSample:
    """A positive-unlabelled sample with its truth: first the labelled positives, then the unlabelled rows.

    Attributes
    ----------
    X : ndarray of shape (n_positive + n_unlabelled, d)
    y : ndarray of int, shape (n,)
        1 for a labelled positive, 0 for an unlabelled row.
    y_true : ndarray of int, shape (n,)
        The class of every row, 1 or 0.
    class_prior : float
        p(y=1) in the population.
    posterior : ndarray of shape (n,)
        p(y=1 | x) at each row, in the population.
    density_ratio : ndarray of shape (n,)
        p(x | y=1) / p(x) at each row, with p(x) the population's density. In the single-sample scenario the
        unlabelled rows are what labelling left over and follow another density than p(x); the ratio does not change.
    propensity : ndarray of shape (n,)
        Relative chance of a positive at x to be picked for labelling; 1 everywhere where labels are selected at random.
    labelled_density_ratio : ndarray of shape (n,)
        p(x | labelled) / p(x) at each row: `density_ratio` where labels are selected at random.
    scenario : {"case-control", "single-sample"}
    problem : PUProblem
        What the rows were drawn from, to evaluate the truth at other points.

    Examples
    --------
    >>> from purely.datasets import make_gaussians
    >>> sample = make_gaussians(100, 300, class_prior=0.4, random_state=0)
    >>> sample.n_positive, sample.n_unlabelled, sample.class_prior
    (100, 300, 0.4)
    >>> bool((sample.y_true[sample.y == 1] == 1).all())
    True
    """

    X: Floats
    y: Indices
    y_true: Indices
    class_prior: float
    posterior: Floats
    density_ratio: Floats
    propensity: Floats
    labelled_density_ratio: Floats
    scenario: Scenario
    problem: PUProblem = field(repr=False)

    @property
    def n_positive(self) -> int:
        """Number of labelled positives."""
        return int(np.count_nonzero(self.y))

    @property
    def n_unlabelled(self) -> int:
        """Number of unlabelled rows."""
        return int(self.y.size - self.n_positive)

    @property
    def priors(self) -> ClassPriors:
        """The expected population prior, prior among the unlabelled rows and labelling frequency."""
        return ClassPriors.from_population(
            self.class_prior, n_positive=self.n_positive, n_unlabelled=self.n_unlabelled, scenario=self.scenario
        )


@dataclass(frozen=True, eq=False)
class PUProblem:
    r"""Two class densities and a class prior: a positive-unlabelled problem with known answers.

    Parameters
    ----------
    positive, negative : Density
        The class densities :math:`p_1 = p(x \mid y = 1)` and :math:`p_0 = p(x \mid y = 0)`.
    class_prior : float
        :math:`\pi = p(y=1)` in the population, strictly between 0 and 1.
    projection : array-like of shape (d,), default=None
        A direction *b* such that the ratio depends on *x* through :math:`b^\top x` alone. It turns the integral of
        :meth:`information` into one over the line; None where there is no such direction.
    labelled : SelectedGaussian, default=None
        Density of the labelled positives where it is not :math:`p_1`, that is where the selection is biased.
    name : str, default="problem"

    Examples
    --------
    >>> from purely.datasets import Gaussian, PUProblem
    >>> problem = PUProblem(Gaussian([2.0]), Gaussian([0.0]), class_prior=0.3)
    >>> problem.posterior([[0.0], [1.0], [2.0]]).round(3)
    array([0.055, 0.3  , 0.76 ])
    >>> truth = problem.information()
    >>> round(truth.value, 4), truth.method
    (0.6149, 'quadrature')
    >>> sample = problem.sample(n_positive=100, n_unlabelled=300, random_state=0)
    >>> sample.X.shape, int(sample.y.sum())
    ((400, 1), 100)
    """

    positive: Density
    negative: Density
    class_prior: float
    projection: ArrayLike | None = None
    labelled: SelectedGaussian | None = None
    name: str = "problem"

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_prior", check_share("class_prior", self.class_prior))
        if self.positive.n_features != self.negative.n_features:
            raise ValueError(
                f"positive and negative must have the same dimension; they have {self.positive.n_features} "
                f"and {self.negative.n_features}."
            )
        if self.projection is not None:
            direction = np.asarray(self.projection, dtype=np.float64)
            if direction.shape != (self.n_features,):
                raise ValueError(f"projection must have shape ({self.n_features},); its shape is {direction.shape}.")
            object.__setattr__(self, "projection", direction)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.positive.n_features

    # -- the truth at given points ------------------------------------------------------------------------------------

    def positive_density(self, X: ArrayLike) -> Floats:
        """p(x | y=1) at each row."""
        return np.asarray(np.exp(self.positive.log_density(self._rows(X))))

    def negative_density(self, X: ArrayLike) -> Floats:
        """p(x | y=0) at each row."""
        return np.asarray(np.exp(self.negative.log_density(self._rows(X))))

    def density(self, X: ArrayLike) -> Floats:
        """p(x), the population's density, at each row."""
        return np.asarray(np.exp(self._log_density(self._rows(X))))

    def density_ratio(self, X: ArrayLike) -> Floats:
        """w(x) = p(x | y=1) / p(x) at each row, between 0 and 1 / class_prior."""
        return self._ratio(self.positive, self._rows(X))

    def posterior(self, X: ArrayLike) -> Floats:
        """p(y=1 | x) = class_prior * w(x) at each row."""
        # the ratio may exceed 1 / class_prior by a rounding error
        return np.minimum(self.class_prior * self.density_ratio(X), 1.0)

    def propensity(self, X: ArrayLike) -> Floats:
        """Relative chance of a positive at each row to be picked for labelling; 1 where it does not depend on x."""
        rows = self._rows(X)
        return np.ones(rows.shape[0]) if self.labelled is None else self.labelled.propensity(rows)

    def labelled_density_ratio(self, X: ArrayLike) -> Floats:
        """p(x | labelled) / p(x) at each row: :meth:`density_ratio` where labels are selected at random."""
        return self._ratio(self.labelled or self.positive, self._rows(X))

    def _log_density(self, X: Floats) -> Floats:
        log_positive = np.log(self.class_prior) + self.positive.log_density(X)
        log_negative = np.log1p(-self.class_prior) + self.negative.log_density(X)
        return np.asarray(np.logaddexp(log_positive, log_negative), dtype=np.float64)

    def _ratio(self, numerator: Density, X: Floats) -> Floats:
        # p_1 / p = sigmoid(log odds) / prior: nothing but the difference of two logarithms enters, so that far out,
        # where both are large, the ratio is still exactly 0 or 1 / prior
        log_positive = self.positive.log_density(X)
        log_odds = logit(self.class_prior) + log_positive - self.negative.log_density(X)
        ratio = expit(log_odds) / self.class_prior
        if numerator is not self.positive:
            ratio = ratio * np.exp(numerator.log_density(X) - log_positive)
        return np.asarray(ratio, dtype=np.float64)

    def _rows(self, X: ArrayLike) -> Floats:
        rows = check_array(X, dtype=np.float64, input_name="X")
        if rows.shape[1] != self.n_features:
            raise ValueError(f"X has {rows.shape[1]} column(s); this problem has {self.n_features}.")
        refuse_huge(rows)
        return np.asarray(rows)

    # -- the true information -----------------------------------------------------------------------------------------

    def information(self, *, n_samples: int = N_SAMPLES, random_state: RandomState = 0) -> TrueValue:
        r"""The prior-free information :math:`\frac12 E_{p}[(w - 1)^2] = -J_{PU}(w) - \frac12`.

        By quadrature in one dimension, and in more where `projection` reduces the problem to one: with
        :math:`t = b^\top x` sufficient, :math:`w(x) = w(t)` and the integral over *x* is the one over *t* with the
        densities of *t*. Otherwise the mean over a large sample of both classes, weighted by the prior.

        Parameters
        ----------
        n_samples : int, default=400_000
            Rows of the large sample; a quadrature does not use it.
        random_state : int, RandomState, Generator or None, default=0
            Randomness of the large sample.

        Returns
        -------
        TrueValue
        """
        return self._half_pearson(False, n_samples, random_state)

    def labelled_information(self, *, n_samples: int = N_SAMPLES, random_state: RandomState = 0) -> TrueValue:
        """What :meth:`information` becomes with the labelled positives' density in the place of p(x | y=1).

        An estimator that sees only labelled and unlabelled rows estimates this value, not :meth:`information`.
        """
        return self._half_pearson(True, n_samples, random_state)

    def smi(self, *, n_samples: int = N_SAMPLES, random_state: RandomState = 0) -> TrueValue:
        r"""The squared-loss mutual information :math:`\frac{\pi}{1 - \pi} I` of class and *x* (the paper's SMI)."""
        truth = self.information(n_samples=n_samples, random_state=random_state)
        odds = self.class_prior / (1.0 - self.class_prior)
        return TrueValue(odds * truth.value, odds * truth.error, truth.method)

    def reduced(self) -> PUProblem:
        """The problem on the line that `projection` leads to, with the same ratio, information and SMI."""
        if self.n_features == 1:
            return self
        if self.projection is None:
            raise ValueError(f"no direction is known to which the problem {self.name!r} reduces.")
        b = np.asarray(self.projection)
        labelled = None if self.labelled is None else self.labelled.project(b)
        positive, negative = self.positive.project(b), self.negative.project(b)
        return replace(self, positive=positive, negative=negative, labelled=labelled, projection=None)

    def _half_pearson(self, labelled: bool, n_samples: int, random_state: RandomState) -> TrueValue:
        if self.n_features > 1 and self.projection is None:
            return self.information_by_sample(n_samples, random_state, labelled=labelled)
        line = self.reduced()
        numerator = (line.labelled if labelled else None) or line.positive

        def integrand(t: Floats) -> Floats:
            return line._excess(numerator, t[:, None]) * np.exp(line._log_density(t[:, None]))

        marks = [mark for density in (line.positive, line.negative, numerator) for mark in density.landmarks()]
        return TrueValue(*integrate_line(integrand, marks), "quadrature")

    def _excess(self, numerator: Density, X: Floats) -> Floats:
        return np.asarray(0.5 * (self._ratio(numerator, X) - 1.0) ** 2)

    def information_by_sample(
        self, n_samples: int, random_state: RandomState = 0, *, labelled: bool = False
    ) -> TrueValue:
        r"""The information by a large sample, the second route to the value that :meth:`information` returns.

        Half of the rows come from each class, so that a rare one is seen as often as the other:
        :math:`E_p[f] = \pi E_1[f] + (1 - \pi) E_0[f]`, and the squared standard errors add up.

        Parameters
        ----------
        n_samples : int
            Rows of the sample, at least 4.
        random_state : int, RandomState, Generator or None, default=0
        labelled : bool, default=False
            Use the density of the labelled positives in the place of p(x | y=1).
        """
        n_class = check_number("n_samples", n_samples, 4, integer=True) // 2
        rng = generator(random_state)
        numerator = (self.labelled if labelled else None) or self.positive
        value, variance = 0.0, 0.0
        for share, density in ((self.class_prior, self.positive), (1.0 - self.class_prior, self.negative)):
            sizes = np.diff([*range(0, n_class, _BLOCK_ROWS), n_class])
            terms = np.concatenate([self._excess(numerator, density.sample(int(size), rng)) for size in sizes])
            value += share * float(terms.mean())
            variance += share**2 * float(terms.var(ddof=1)) / n_class
        return TrueValue(value, float(np.sqrt(variance)), "sample")

    # -- samples ------------------------------------------------------------------------------------------------------

    def sample(
        self,
        n_positive: int,
        n_unlabelled: int,
        random_state: RandomState = 0,
        *,
        scenario: Scenario = "case-control",
        exact_counts: bool = False,
    ) -> PUSample:
        """Draw labelled positives and unlabelled rows.

        Parameters
        ----------
        n_positive, n_unlabelled : int
            Number of labelled positives and of unlabelled rows, at least 1 each.
        random_state : int, RandomState, Generator or None, default=0
        scenario : {"case-control", "single-sample"}, default="case-control"
            Two samples, or one sample of ``n_positive + n_unlabelled`` rows of the population of which
            `n_positive` positives get a label. In the latter a biased selection picks the rows one after the other
            with chances in proportion to the propensity.
        exact_counts : bool, default=False
            True fixes the number of positives at its rounded expectation; False draws it (a binomial number; in the
            single-sample scenario given that there are at least `n_positive`).

        Returns
        -------
        PUSample
        """
        n_p = check_number("n_positive", n_positive, 1, integer=True)
        n_u = check_number("n_unlabelled", n_unlabelled, 1, integer=True)
        rng = generator(random_state)
        if check_scenario(scenario) == "case-control":
            n_hidden = draw_count(n_u, self.class_prior, rng, exact=exact_counts)
            P = (self.labelled or self.positive).sample(n_p, rng)
            hidden_rows = self.positive.sample(n_hidden, rng)
        else:
            n_true = draw_count(n_p + n_u, self.class_prior, rng, exact=exact_counts, at_least=n_p)
            n_hidden = n_true - n_p
            positives = self.positive.sample(n_true, rng)
            # the rows whose exponential clocks of rate e(x) ring first: drawn one after the other in proportion to e(x)
            clocks = rng.exponential(size=n_true) / np.maximum(self.propensity(positives), 1e-300)
            P, hidden_rows = np.split(positives[np.argsort(clocks, kind="stable")], [n_p])
        U = np.concatenate([hidden_rows, self.negative.sample(n_u - n_hidden, rng)])
        shuffle = rng.permutation(n_u)
        X = np.concatenate([P, U[shuffle]])
        y = np.repeat(np.array([1, 0], dtype=np.intp), [n_p, n_u])
        y_true = np.concatenate([np.ones(n_p, dtype=np.intp), (shuffle < n_hidden).astype(np.intp)])
        truth = self.posterior(X), self.density_ratio(X), self.propensity(X), self.labelled_density_ratio(X)
        return PUSample(X, y, y_true, self.class_prior, *truth, scenario, self)


def generator(random_state: RandomState) -> np.random.Generator:
    """A private generator from whatever scikit-learn accepts as `random_state`, or from a Generator as it is."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(draw_seed(random_state))


def draw_count(n: int, class_prior: float, rng: np.random.Generator, *, exact: bool, at_least: int = 0) -> int:
    """Number of positives among `n` rows of the population: binomial or its rounded mean, given at least so many."""
    expected = round(class_prior * n)
    if expected < at_least:
        raise ValueError(
            f"class_prior={class_prior:g} leaves about {expected} positives in a single sample of {n} rows, but "
            f"n_positive={at_least} of them are to be labelled; raise n_unlabelled or class_prior, or lower n_positive."
        )
    if exact:
        return expected
    while True:  # at_least is at most the mean, so about every second draw is accepted
        count = int(rng.binomial(n, class_prior))
        if count >= at_least:
            return count
