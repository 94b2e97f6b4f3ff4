r"""Choose between models with positive and unlabelled rows only.

Every candidate is scored out of fold by one criterion at one class prior. The rows are then drawn anew, `n_resamples`
times and the same way for all candidates, so that the standard error of a *difference* is that of paired scores: two
models that make the same mistakes on the same rows are compared far more sharply than either is measured.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import _safe_indexing, gen_batches, indexable

from purely.checks import RandomState, draw_seed, level_to_z
from purely.class_prior import KnownPrior
from purely.crossfit import model_says
from purely.exceptions import TrivialModelWarning
from purely.labels import Scenario
from purely.metrics.estimate import Evaluation, PUEstimate
from purely.model_selection._scorers import Criterion, find_criterion
from purely.model_selection._split import PUStratifiedKFold
from purely.typing import Estimator, Floats, Indices, Mask, Matrix

_BLOCK_ELEMENTS = 1 << 22
Labels = NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class ModelSelection:
    """Outcome of :func:`select_model`; prints as a table.

    Attributes
    ----------
    best_name : str
    best_estimator : estimator or None
        The best candidate fitted to all rows, where `refit` was asked for.
    estimates : dict of str to PUEstimate
        The criterion of each candidate, out of fold.
    differences : dict of str to PUEstimate
        Candidate minus best, with the paired standard error.
    indistinguishable : tuple of str
        Candidates whose difference from the best has an interval that holds zero; the best itself is left out.
    trivial : dict of str to float
        The criterion of calling every row positive and of calling every row negative, or of a constant score.
    outputs : dict of str to ndarray of shape (n,)
        Out-of-fold classes, scores or probabilities, whatever the criterion looks at.
    scoring : str
    greater_is_better : bool

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from purely.datasets import make_paper_data
    >>> from purely.model_selection import select_model
    >>> data = make_paper_data(random_state=0)
    >>> chosen = select_model({"linear": LogisticRegression(), "none": DummyClassifier()}, data.X, data.y)
    >>> chosen.best_name, bool(chosen.differences["none"].value < 0)
    ('linear', True)
    """

    best_name: str
    best_estimator: Estimator | None = field(repr=False)
    estimates: dict[str, PUEstimate] = field(repr=False)
    differences: dict[str, PUEstimate] = field(repr=False)
    indistinguishable: tuple[str, ...]
    trivial: dict[str, float]
    outputs: dict[str, Floats] = field(repr=False)
    scoring: str
    greater_is_better: bool

    def __str__(self) -> str:
        width = max(map(len, [*self.estimates, *self.trivial])) + 2
        order = sorted(self.estimates, key=lambda n: self.estimates[n].value, reverse=self.greater_is_better)
        lines = [f"{self.scoring:{width}}{'value':>8}{'error':>8}{'to best':>10}{'error':>8}"]
        for name in order:
            e, d = self.estimates[name], self.differences[name]
            mark = " best" if name == self.best_name else " not told apart" if name in self.indistinguishable else ""
            lines.append(
                f"{name:{width}}{e.value:8.3f}{e.standard_error:8.3f}{d.value:+10.3f}{d.standard_error:8.3f}{mark}"
            )
        return "\n".join(lines + [f"{name:{width}}{value:8.3f}" for name, value in self.trivial.items()])


def select_model(
    candidates: Mapping[str, Estimator] | Iterable[Estimator],
    X: Matrix,
    y: ArrayLike,
    *,
    class_prior: KnownPrior | None = None,
    scoring: str | None = None,
    cv: int | BaseCrossValidator = 5,
    scenario: Scenario = "case-control",
    level: float = 0.9,
    n_resamples: int = 200,
    refit: bool = True,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> ModelSelection:
    """Choose between classifiers, representations or priors with positive and unlabelled rows only.

    A candidate is any classifier or pipeline: representations and priors are compared inside the pipeline that uses
    them. All candidates are judged at the same `class_prior`. If each were judged at its own estimate, the one with the
    most convenient estimate would win.

    Parameters
    ----------
    candidates : dict of str to estimator, or sequence of estimators
    X : array, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,)
        Positive-unlabelled labels.
    class_prior : float, interval or prior estimator, default=None
        The population's p(y=1); its interval widens the estimates' intervals and those of the differences. An estimator
        that is not fitted yet is fitted to `X` and `y`, once for all candidates.
    scoring : str, default=None
        One of :func:`pu_scorer_names`. None is "risk" (the share of errors) where a prior is given, and otherwise
        "ranking", which needs none.
    cv : int or splitter, default=5
        An int makes a :class:`PUStratifiedKFold`.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    n_resamples : int, default=200
        Draws behind the standard errors, at least 2. Rows are drawn anew; models are not trained anew.
    refit : bool, default=True
        Fit the best candidate to all rows.
    n_jobs : int, default=None
        Fits at a time.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ModelSelection

    Warns
    -----
    TrivialModelWarning
        Where calling every row positive (or negative) does at least as well as the best candidate, or is what the best
        candidate does.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from purely.datasets import make_paper_data
    >>> from purely.model_selection import select_model
    >>> data = make_paper_data(random_state=0)
    >>> chosen = select_model([LogisticRegression(), GaussianNB()], data.X, data.y, random_state=0)
    >>> chosen.best_name, chosen.indistinguishable
    ('GaussianNB', ())
    """
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2, for standard errors; {n_resamples} was given.")
    seed = draw_seed(random_state)
    named = _name(candidates)
    usual = "ranking" if class_prior is None else "risk"
    criterion = find_criterion(usual if scoring is None else scoring, class_prior)
    if criterion.with_prior and hasattr(class_prior, "fit") and not hasattr(class_prior, "class_prior_"):
        class_prior = clone(class_prior, safe=False).fit(X, y)
    prior = class_prior if criterion.with_prior else None
    evaluation = Evaluation.read(y, prior, scenario=scenario, level=level, n_resamples=n_resamples, random_state=seed)
    X, _ = indexable(X, evaluation.labels.positive)
    splitter = cv if hasattr(cv, "split") else PUStratifiedKFold(cv, random_state=seed)
    judge = _Judge(criterion, list(splitter.split(X, evaluation.labels.positive.astype(int))), evaluation)
    outputs = judge.ask(named, X, np.asarray(y), n_jobs)
    values, draws = judge.score(outputs)
    trivial = judge.trivial()

    names, best = list(named), int(np.argmax(criterion.sign * values))
    winner = names[best]
    estimates = {n: judge.estimate(n, values[i], draws[i]) for i, n in enumerate(names)}
    apart, spread = values - values[best], draws - draws[best]
    differences = {n: judge.estimate(f"{n} - {winner}", apart[i], spread[i]) for i, n in enumerate(names)}
    ties = tuple(n for n in names if n != winner and differences[n].low <= 0.0 <= differences[n].high)
    _warn_if_trivial(winner, values[best], outputs[winner], trivial, criterion)
    fitted = clone(named[winner]).fit(X, y) if refit else None
    found = winner, fitted, estimates, differences, ties, trivial, outputs
    return ModelSelection(*found, criterion.name, criterion.greater_is_better)


def _name(candidates: Mapping[str, Estimator] | Iterable[Estimator]) -> dict[str, Estimator]:
    """Candidates by name; of several of one class the later ones are numbered."""
    if isinstance(candidates, Mapping):
        named = dict(candidates)
    else:
        given = list(candidates)
        kinds = [type(estimator).__name__ for estimator in given]
        numbers = [kinds[:place].count(kind) + 1 for place, kind in enumerate(kinds)]
        names = [kind if number == 1 else f"{kind}-{number}" for kind, number in zip(kinds, numbers, strict=True)]
        named = dict(zip(names, given, strict=True))
    if not named:
        raise ValueError("candidates is empty; give at least one estimator.")
    for name, estimator in named.items():
        if not hasattr(estimator, "fit"):
            raise TypeError(f"candidate {name!r} has no fit method: {estimator!r}.")
    return named


@dataclass(frozen=True)
class _Judge:
    """What all candidates are judged by."""

    criterion: Criterion
    splits: list[tuple[Indices, Indices]]
    evaluation: Evaluation

    def ask(self, named: dict[str, Estimator], X: Matrix, y: Labels, n_jobs: int | None) -> dict[str, Floats]:
        """What each candidate says of every row, out of fold."""
        splits, positive = self.splits, self.evaluation.labels.classes[1]
        rows = np.sort(np.concatenate([test for _, test in splits]))
        if rows.size != y.shape[0] or (np.diff(rows) != 1).any():
            raise ValueError("cv must test every row exactly once, as k folds do.")

        def one(estimator: Estimator, train: Indices, test: Indices) -> Floats:
            model = clone(estimator).fit(_safe_indexing(X, train), y[train])
            return model_says(model, _safe_indexing(X, test), self.criterion.kind, positive)

        jobs = [(name, k) for name in named for k in range(len(splits))]
        parts = Parallel(n_jobs=n_jobs)(delayed(one)(named[name], *splits[k]) for name, k in jobs)
        outputs = {name: np.empty(y.shape[0]) for name in named}
        for (name, k), part in zip(jobs, parts, strict=True):
            outputs[name][splits[k][1]] = part
        return {name: self.evaluation.column(output, f"output of {name}") for name, output in outputs.items()}

    def score(self, outputs: dict[str, Floats], n_draws: int | None = None) -> tuple[Floats, Floats]:
        """The criterion averaged over the folds: of each candidate, and of each on each of the shared draws."""
        evaluation, rng = self.evaluation, np.random.default_rng(self.evaluation.seed)
        n_draws = evaluation.n_resamples if n_draws is None else n_draws
        drawn = np.ones(n_draws) if evaluation.prior is None else evaluation.prior.draw(n_draws, rng)
        priors = np.append(evaluation.prior_value, drawn)
        found = np.zeros((len(outputs), 1 + n_draws))  # of the rows as they are, then of the draws
        for _, test in self.splits:
            positive = evaluation.labels.positive[test]
            prepared = [self.criterion.prepare(output[test]) for output in outputs.values()]
            for block in gen_batches(1 + n_draws, max(1, _BLOCK_ELEMENTS // positive.size)):
                weights = np.ones((block.stop - block.start, positive.size))
                random = weights[1:] if block.start == 0 else weights
                random[:] = rng.standard_exponential(random.shape)
                for i, (group, n_groups, functional) in enumerate(prepared):
                    shares = evaluation.shares(*_grouped(weights, positive, group, n_groups))
                    found[i, block] += functional(*shares, priors[block]) / len(self.splits)
        return found[:, 0], found[:, 1:]

    def trivial(self) -> dict[str, float]:
        """What answers score that are the same for every row."""
        n, prior, kind = self.evaluation.labels.positive.size, self.evaluation.prior, self.criterion.kind
        constant = 0.5 if prior is None else prior.value
        if kind in ("score", "log-odds"):
            constant = np.log(constant / (1.0 - constant))
        answers = {"all positive": 1.0, "all negative": 0.0} if kind == "class" else {"constant score": constant}
        values = self.score({name: np.full(n, answer) for name, answer in answers.items()}, 0)[0]
        return dict(zip(answers, values.tolist(), strict=True))

    def estimate(self, name: str, value: float, draws: Floats) -> PUEstimate:
        """A value with the spread of its draws."""
        e, error = self.evaluation, float(draws.std(ddof=1))
        arm = level_to_z(e.level) * error
        return PUEstimate(name, value, error, value - arm, value + arm, e.level, e.assumption(), raw=value)


def _grouped(weights: Floats, positive: Mask, group: Indices, n_groups: int) -> tuple[Floats, Floats]:
    """Weights of P and of U in each group, draw by draw."""
    sums = []
    for mask in (positive, ~positive):
        rows = np.flatnonzero(mask)
        rows = rows[np.argsort(group[rows], kind="stable")]
        filled, starts = np.unique(group[rows], return_index=True)
        total = np.zeros((weights.shape[0], n_groups))
        total[:, filled] = np.add.reduceat(weights[:, rows], starts, axis=1)
        sums.append(total)
    return sums[0], sums[1]


def _warn_if_trivial(name: str, value: float, output: Floats, trivial: dict[str, float], criterion: Criterion) -> None:
    sign, winner = criterion.sign, max(trivial, key=lambda n: criterion.sign * trivial[n])
    if np.ptp(output) == 0.0:
        what = f"the best candidate, {name}, gives every row the same answer"
    elif sign * trivial[winner] >= sign * value:
        what = f"the answer {winner!r} has a {criterion.name} of {trivial[winner]:.3f}, no worse than the best " + (
            f"candidate's, {name} ({value:.3f})"
        )
    else:
        return
    warnings.warn(
        f"{what}: the candidates have learnt nothing that this criterion rewards. Look at 'ranking', which no constant "
        "answer can win, check the class prior, and choose a criterion that asks for more than one class.",
        TrivialModelWarning,
        stacklevel=3,
    )
