"""Positive-unlabelled draws from fully labelled data, the way experiments are made of benchmark sets."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from purely.checks import RandomState, check_choice, check_number, check_share, refuse_length
from purely.class_prior import ClassPriors
from purely.datasets._problem import draw_count, generator
from purely.datasets.labelling import Labelling, Mechanism, inclusion, pick, ranks
from purely.labels import Scenario, check_scenario, read_labels
from purely.typing import Floats, Indices, Mask, Matrix


class DrawError(ValueError):
    """The data cannot give the draw that was asked for.

    Attributes
    ----------
    lack : str
        What is missing.
    remedy : str
        What helps in every draw; the text also names the setting of :func:`make_pu` that would help.
    """

    def __init__(self, lack: str, remedy: str, setting: str) -> None:
        super().__init__(f"{lack} {remedy}, or {setting}.")
        self.lack, self.remedy = lack, remedy


@dataclass(frozen=True, eq=False)
class PUDraw:
    """A positive-unlabelled sample of labelled data, with the truth and the rows held out.

    In every part the labelled positives come first, then the unlabelled rows in random order. Labels and truth are
    coded 1 and 0 whatever the coding of the data.

    Attributes
    ----------
    X : of the kind that came in, shape (n_positive + n_unlabelled, d)
    y : ndarray of int
        1 for a labelled positive, 0 for an unlabelled row.
    y_true : ndarray of int
        The class of each row: 1 positive, 0 negative.
    indices : ndarray of int
        The row of the data that each row was drawn from.
    propensity : ndarray of float
        At each row, the chance that a positive like it carries a label in this sample: one number for all rows where
        labels are given at random.
    X_validation, y_validation, y_true_validation, validation_indices, propensity_validation
        A second positive-unlabelled sample for validation; ``X_validation`` is None where none was asked for.
    X_test, y_test, test_indices
        The test set at the same prior, with its true classes; ``X_test`` is None where none was asked for.
    class_prior : float
        The population's prior that was asked for.
    unlabelled_prior : float
        The share of positives among the unlabelled rows as drawn.
    scenario : {"case-control", "single-sample"}
    labelling : Labelling
        How positives were chosen for labelling, with the column that decided.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.datasets import make_pu
    >>> X, y = np.arange(40.0).reshape(-1, 1), np.repeat([1, -1], 20)
    >>> draw = make_pu(X, y, n_positive=5, n_unlabelled=20, class_prior=0.5)
    >>> bool((draw.X == X[draw.indices]).all()), draw.unlabelled_prior, draw.priors.population
    (True, 0.5, 0.5)
    """

    X: Matrix
    y: Indices
    y_true: Indices
    indices: Indices
    propensity: Floats
    X_validation: Matrix | None
    y_validation: Indices
    y_true_validation: Indices
    validation_indices: Indices
    propensity_validation: Floats
    X_test: Matrix | None
    y_test: Indices
    test_indices: Indices
    class_prior: float
    unlabelled_prior: float
    scenario: Scenario
    labelling: Labelling

    @property
    def priors(self) -> ClassPriors:
        """Prior among the unlabelled rows as drawn, with the population prior and labelling frequency it implies."""
        n_positive = int(self.y.sum())
        return ClassPriors.from_unlabelled(
            self.unlabelled_prior, n_positive=n_positive, n_unlabelled=self.y.size - n_positive, scenario=self.scenario
        )


@dataclass(frozen=True)
class _Need:
    """How many rows of each class one part of the draw asks for; `spare` positives more to choose the labelled from."""

    name: str
    labelled: int
    hidden: int
    negative: int
    spare: int = 0

    @property
    def positive(self) -> int:
        return self.labelled + self.spare + self.hidden


@dataclass(frozen=True)
class _Part:
    """Rows of one part, the labelled positives first, with their labels and propensities."""

    indices: Indices
    y: Indices
    propensity: Floats


def make_pu(
    X: Matrix,
    y: ArrayLike,
    *,
    n_positive: int,
    n_unlabelled: int,
    class_prior: float | None = None,
    scenario: Scenario = "case-control",
    counts: Literal["exact", "binomial"] = "exact",
    replace: bool = False,
    n_validation_positive: int = 0,
    n_validation_unlabelled: int = 0,
    n_test: int = 0,
    labelling: Mechanism | Labelling = "random",
    random_state: RandomState = 0,
) -> PUDraw:
    r"""Draw a positive-unlabelled sample from fully labelled data.

    Among :math:`n` rows of the population :math:`\pi n` are positive (rounded, or a binomial number with that mean).

    - *case-control*: `n_positive` positives, and apart from them `n_unlabelled` rows of the population;
    - *single-sample*: one sample of ``n_positive + n_unlabelled`` rows of the population; `n_positive` of its positives
      get a label, the unlabelled rows are what is left, so they hold fewer positives than the population.

    Training, validation and test rows are always disjoint. Without replacement, positives and unlabelled rows are
    disjoint too.

    With `labelling` other than "random", which positives are labelled depends on *x*: the odds of being labelled vary
    by at most the labelling's ratio. In a single sample the labelled rows are picked among its positives; in the
    case-control scenario among all positives that are not in the other parts, and these must be more than `n_positive`.
    The truth comes back as ``propensity``.

    Parameters
    ----------
    X : array, sparse matrix, or pandas or polars data frame of shape (n, d)
        The rows.
    y : array-like of shape (n,)
        The class of *every* row: 1 or True positive, 0, -1 or False negative; other values as
        :mod:`purely.labels` reads them.
    n_positive, n_unlabelled : int
        Number of labelled positives and of unlabelled rows, at least 1 each.
    class_prior : float, default=None
        The prior p(y=1) of the population to draw; None keeps that of the data.
    scenario : {"case-control", "single-sample"}, default="case-control"
    counts : {"exact", "binomial"}, default="exact"
        Whether the number of positives in a sample of the population is its rounded mean or drawn.
    replace : bool, default=False
        True draws rows with replacement, for data that has too few. The rows of each class are then first divided
        between training, validation and test in proportion to their sizes, so nothing leaks from one to the other.
    n_validation_positive, n_validation_unlabelled : int, default=0
        Size of a second positive-unlabelled sample (the paper: 50 and 200); both or neither.
    n_test : int, default=0
        Rows of a test set drawn from the population at the same prior.
    labelling : {"random", "easy", "hard", "column", "group"} or Labelling, default="random"
        How positives are chosen for labelling, in the training and in the validation sample: at random, clear ones
        first, doubtful ones first, by one column, or by a hidden group; see :mod:`purely.datasets.labelling`. All but
        "random" need columns of numbers.
    random_state : int, RandomState, Generator or None, default=0

    Returns
    -------
    PUDraw

    Examples
    --------
    >>> import numpy as np
    >>> from purely.datasets import make_pu
    >>> X, y = np.arange(20.0).reshape(-1, 1), np.repeat([1, -1], 10)
    >>> draw = make_pu(X, y, n_positive=3, n_unlabelled=10, class_prior=0.4, n_test=5, random_state=0)
    >>> draw.X.shape, int(draw.y.sum()), int(draw.y_true[draw.y == 0].sum())
    ((13, 1), 3, 4)
    >>> draw.X_test.shape, int(draw.y_test.sum())
    ((5, 1), 2)
    >>> make_pu(X, y, n_positive=8, n_unlabelled=10, class_prior=0.4)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    purely.datasets.sampling.DrawError: 12 positives are needed (8 labelled and 4 unlabelled), but y has 10: 2 ...

    Labels that depend on a column: positives with a large value in it are labelled more often.

    >>> X, y = np.arange(400.0).reshape(-1, 1), np.repeat([1, -1], 200)
    >>> draw = make_pu(X, y, n_positive=20, n_unlabelled=100, labelling="column", random_state=0)
    >>> labelled, hidden = draw.X[draw.y == 1], draw.X[(draw.y == 0) & (draw.y_true == 1)]
    >>> draw.labelling.column, bool(labelled.mean() > hidden.mean() + 20)
    (0, True)
    """
    X, positive = _read_truth(X, y)
    check_number("n_positive", n_positive, 1, integer=True)
    check_number("n_unlabelled", n_unlabelled, 1, integer=True)
    n_vp = check_number("n_validation_positive", n_validation_positive, 0, integer=True)
    n_vu = check_number("n_validation_unlabelled", n_validation_unlabelled, 0, integer=True)
    check_number("n_test", n_test, 0, integer=True)
    if (n_vp == 0) != (n_vu == 0):
        raise ValueError(
            "n_validation_positive and n_validation_unlabelled must both be 0 or both be at least 1; "
            f"{n_vp} and {n_vu} were given."
        )
    exact = check_choice("counts", counts, ("exact", "binomial")) == "exact"
    single = check_scenario(scenario) == "single-sample"
    prior = float(positive.mean()) if class_prior is None else check_share("class_prior", class_prior)
    rng = generator(random_state)
    how = labelling if isinstance(labelling, Labelling) else Labelling(labelling)
    rank, how = ranks(how, X, positive, rng)

    needs = [
        _need("n_unlabelled", n_positive, n_unlabelled, prior, single, exact, rng),
        _need("n_validation_unlabelled", n_vp, n_vu, prior, single, exact, rng),
        _need("n_test", 0, n_test, prior, False, exact, rng),
    ]
    if how.mechanism != "random" and not single:
        needs = _with_candidates(needs, int(positive.sum()), from_any=replace)
    ones = _draw_class(np.flatnonzero(positive), needs, "positive", replace, rng)
    zeros = _draw_class(np.flatnonzero(~positive), needs, "negative", replace, rng)
    log_odds = None if how.mechanism == "random" else rank * np.log(how.ratio)
    train, validation, test = (_arrange(*rows, single, log_odds, rng) for rows in zip(needs, ones, zeros, strict=True))

    def told(part: _Part, n: int) -> tuple[Any, Indices, Indices, Indices, Floats]:
        """What is told of a part: rows, labels, true classes, where the rows stand, propensities."""
        rows, truth = part.indices, positive.astype(np.intp)
        return _take(X, rows) if n else None, part.y, truth[rows], rows, part.propensity

    X_test, _, y_test, test_rows, _ = told(test, n_test)
    both, share = (*told(train, n_unlabelled), *told(validation, n_vu)), needs[0].hidden / n_unlabelled
    return PUDraw(*both, X_test, y_test, test_rows, prior, share, scenario, how)


def _read_truth(X: Matrix, y: ArrayLike) -> tuple[Matrix, Mask]:
    """Rows that can be indexed and the mask of the positives among them."""
    if sp.issparse(X):
        X = sp.csr_matrix(X)
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X must have two dimensions (rows, columns); its shape is {tuple(X.shape)}.")
    values = column_or_1d(np.asarray(y), warn=True)
    refuse_length("X", X.shape[0], values.size)
    if values.size and len(set(values.tolist())) == 1:
        raise ValueError(
            f"y must hold both classes, to draw unlabelled rows from; every row is {values.tolist()[0]!r}."
        )
    return X, read_labels(values).positive


def _need(
    size_name: str, n_labelled: int, n: int, prior: float, single: bool, exact: bool, rng: np.random.Generator
) -> _Need:
    """Rows of each class for `n_labelled` labelled positives and `n` further rows."""
    if n == 0:
        return _Need(size_name, 0, 0, 0)
    population = n + n_labelled if single else n
    if exact and not 0 < round(prior * population) < population:
        enough = next(m for m in itertools.count(population) if 0 < round(prior * m) < m)
        raise DrawError(
            f"class_prior={prior:.3g} rounds to 0 {'positive' if prior < 0.5 else 'negative'}s among {population} rows "
            f"({size_name}={n});",
            f"ask for at least {enough} rows",
            "for counts='binomial'",
        )
    n_true = draw_count(population, prior, rng, exact=exact, at_least=n_labelled if single else 0)
    hidden = n_true - n_labelled if single else n_true
    return _Need(size_name, n_labelled, hidden, n - hidden)


def _with_candidates(needs: list[_Need], n_positives: int, *, from_any: bool) -> list[_Need]:
    """Give each part a share of the positives that none needs, to choose its labelled ones from.

    With replacement there is no end to them: nine more for each labelled one leave the odds nearly as they are asked.
    """
    spare, labelled = n_positives - sum(n.positive for n in needs), sum(n.labelled for n in needs)
    shares = [9 * n.labelled if from_any else max(spare, 0) * n.labelled // labelled for n in needs]
    return [replace(need, spare=share) for need, share in zip(needs, shares, strict=True)]


def _draw_class(
    rows: Indices, needs: list[_Need], kind: Literal["positive", "negative"], replace: bool, rng: np.random.Generator
) -> list[Indices]:
    """Rows of one class for each part, disjoint between the parts."""
    sizes: list[int] = [getattr(need, kind) for need in needs]
    total = sum(sizes)
    rows = rng.permutation(rows)
    if not replace:
        if total > rows.size:
            raise DrawError(
                f"{total} {kind}s are needed ({_breakdown(needs, kind)}), but y has {rows.size}: "
                f"{total - rows.size} {kind}s are missing.",
                "Ask for fewer rows or another class_prior",
                "for replace=True",
            )
        return np.split(rows[:total], np.cumsum(sizes)[:-1])
    used = [k for k, size in enumerate(sizes) if size]
    if rows.size < len(used):
        raise ValueError(
            f"{len(used)} disjoint parts need at least {len(used)} {kind}s, but y has {rows.size}: "
            f"{len(used) - rows.size} {kind}s are missing."
        )
    # every part that draws at all gets one row, what is left is divided in proportion
    spare = rows.size - len(used)
    shares = np.floor(np.cumsum([0, *sizes]) / max(total, 1) * spare).astype(np.intp)
    cuts = shares + np.cumsum([0, *(s > 0 for s in sizes)])
    pools = [rows[a:b] for a, b in itertools.pairwise(cuts)]
    return [rng.choice(pool, size) if size else rows[:0] for pool, size in zip(pools, sizes, strict=True)]


def _breakdown(needs: list[_Need], kind: str) -> str:
    train, validation, test = needs
    own = (train.labelled, train.hidden) if kind == "positive" else (0, train.negative)
    counts = (*own, getattr(validation, kind), getattr(test, kind))
    parts = zip(counts, ("labelled", "unlabelled", "for validation", "for the test"), strict=True)
    return " and ".join(f"{n} {what}" for n, what in parts if n)


def _arrange(
    need: _Need, ones: Indices, zeros: Indices, single: bool, log_odds: Floats | None, rng: np.random.Generator
) -> _Part:
    """The part's rows, and which of its candidates are labelled."""
    n, k = need.labelled, ones.size if single else need.labelled + need.spare
    candidates, hidden = ones[:k], ones[k:]
    chosen, chance = np.arange(k) < n, None  # in random order already
    if log_odds is not None and n:
        if n >= k:
            raise ValueError(
                f"{n} positives are to be labelled and {k} are there to choose from, so that labels cannot depend on "
                "x; ask for fewer rows, or for labelling='random'."
            )
        chance = inclusion(log_odds, n, log_odds[candidates])
        chosen = pick(chance[candidates], rng)
    if single:
        hidden = candidates[~chosen]
    unlabelled = rng.permutation(np.concatenate([hidden, zeros]))
    indices = np.concatenate([candidates[chosen], unlabelled])
    propensity = np.full(indices.size, n / max(n + hidden.size, 1)) if chance is None else chance[indices]
    if chance is not None and not single:  # at x, k * chance labelled positives lie beside hidden.size unlabelled ones
        propensity = k * propensity / (k * propensity + hidden.size)
    return _Part(indices, np.repeat(np.array([1, 0], dtype=np.intp), [n, unlabelled.size]), propensity)


def _take(X: Matrix, rows: Indices) -> Matrix:
    return X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]
