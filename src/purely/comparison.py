"""Methods side by side on the same draws: positive-unlabelled samples of labelled data, whose truth is held back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from purely.checks import RandomState, check_number, draw_seed
from purely.crossfit import model_says, scores_rows
from purely.datasets import DrawError, make_pu
from purely.datasets.labelling import Labelling, Mechanism
from purely.labels import Scenario
from purely.notebook import html_table
from purely.typing import Estimator, Floats, Matrix

__all__ = ["Comparison", "compare_methods"]

#: Columns of a comparison's summary.
MEASURES = ("error", "area", "prior_error", "seconds")
HEAD = ["", *(measure.replace("_", " ") for measure in MEASURES)]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What methods reached, draw by draw; prints as a table of means.

    Attributes
    ----------
    rows : tuple of dict
        One for each method and draw: "method", "draw", "error" (share of test rows that it calls wrong), "area" (under
        the ROC curve of test rows), "prior_error" (size of its error about the class prior; NaN where it says none) and
        "seconds".
    class_prior : float
        Of the population that was drawn from.

    Examples
    --------
    >>> from purely.comparison import Comparison
    >>> row = {"method": "ours", "draw": 0, "error": 0.1, "area": 0.95, "prior_error": 0.02, "seconds": 0.3}
    >>> found = Comparison((row, {**row, "draw": 1, "error": 0.2}), class_prior=0.5)
    >>> found.methods, found.values("ours", "error").mean().round(2).item()
    (['ours'], 0.15)
    """

    rows: tuple[dict[str, object], ...]
    class_prior: float

    @property
    def methods(self) -> list[str]:
        """Names of the methods."""
        return list(dict.fromkeys(str(row["method"]) for row in self.rows))

    def values(self, method: str, measure: str) -> Floats:
        """A measure of a method, draw by draw; the draws are the same for every method, so differences are paired."""
        return np.array([row[measure] for row in self.rows if row["method"] == method], dtype=np.float64)

    def _cells(self) -> list[list[str]]:
        table = []
        for method in self.methods:
            cells = [method]
            for measure in MEASURES:
                values = self.values(method, measure)
                spread = f" ± {values.std(ddof=1) / np.sqrt(values.size):.3f}" if values.size > 1 else ""
                cells.append("-" if np.isnan(values).all() else f"{values.mean():.3f}{spread}")
            table.append(cells)
        return table

    def __str__(self) -> str:
        cells = self._cells()
        wide = max(len(row[0]) for row in cells)
        lines = [f"{row[0]:{wide}}" + "".join(f"{cell:>16}" for cell in row[1:]) for row in (HEAD, *cells)]
        n = len(self.rows) // len(self.methods)
        return "\n".join([*lines, f"Means over {n} draws, with standard errors." if n > 1 else "One draw."])

    def _repr_html_(self) -> str:
        return html_table(HEAD, self._cells())


def compare_methods(
    methods: Mapping[str, Estimator],
    X: Matrix,
    y: ArrayLike,
    *,
    n_positive: int = 200,
    n_unlabelled: int = 800,
    class_prior: float | None = None,
    n_test: int = 500,
    n_draws: int = 5,
    scenario: Scenario = "case-control",
    labelling: Mechanism | Labelling = "random",
    random_state: RandomState = 0,
) -> Comparison:
    """Fit methods to the same positive-unlabelled draws of labelled data, and judge them by rows held out.

    Parameters
    ----------
    methods : mapping of str to estimator
        Classifiers in scikit-learn's manner: ``fit(X, y)`` with 1 for labelled positives and 0 for unlabelled rows, and
        ``predict`` with 1 for positives. The area needs ``predict_proba`` or ``decision_function`` too, and is NaN
        without; likewise the error about the prior needs ``class_prior_``. To compare prior estimators, give each to a
        classifier, as in ``PULogisticClassifier(class_prior=MyPrior())``. Each is cloned for every draw.
    X : array, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,)
        The true classes.
    n_positive, n_unlabelled, class_prior, n_test, scenario, labelling
        Sizes and kind of each draw, see :func:`purely.make_pu`.
    n_draws : int, default=5
    random_state : int, RandomState instance or None, default=0
        Seed of the draws, which are the same for every method.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from purely import PULogisticClassifier
    >>> from purely.comparison import compare_methods
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(500, 1500, n_features=3, random_state=0)
    >>> methods = {"positive against unlabelled": LogisticRegression(), "ours": PULogisticClassifier(0.5)}
    >>> found = compare_methods(methods, data.X, data.y_true, class_prior=0.5, n_draws=3, n_test=300)
    >>> bool(found.values("ours", "error").mean() < found.values("positive against unlabelled", "error").mean())
    True
    """
    n_draws = check_number("n_draws", n_draws, 1, integer=True)
    if not methods or not isinstance(methods, Mapping):
        example = 'methods must be a dict of names and estimators, such as {"mine": Mine()}'
        raise ValueError(f"{example}; {methods!s:.60} was given.")
    for name, method in methods.items():
        if isinstance(method, type) or not (hasattr(method, "fit") and hasattr(method, "predict")):
            what = f"the class {method.__name__}; write {method.__name__}()" if isinstance(method, type) else method
            raise ValueError(f"methods[{name!r}] must be an object with fit(X, y) and predict(X); it is {what!s:.60}.")
    seed = draw_seed(random_state)
    rows: list[dict[str, object]] = []
    prior = float("nan")
    how: dict[str, Any] = {"class_prior": class_prior, "scenario": scenario, "labelling": labelling}
    how |= {"n_positive": n_positive, "n_unlabelled": n_unlabelled, "n_test": n_test}
    for number in range(n_draws):
        try:
            draw = make_pu(X, y, **how, random_state=seed + number)
        except DrawError as error:  # it may name a setting of `make_pu` that this function has not
            asked = f"n_positive={n_positive}, n_unlabelled={n_unlabelled} and n_test={n_test}"
            raise ValueError(f"Draws of {asked} cannot be made: {error.lack} {error.remedy}.") from None
        prior = draw.class_prior
        for name, method in methods.items():
            begin = time.perf_counter()
            model = clone(method, safe=False)
            model.fit(draw.X, draw.y)
            said = np.asarray(model.predict(draw.X_test)) == 1
            wrong, area = float(np.mean(said != (draw.y_test == 1))), float("nan")
            if scores_rows(model):  # not so of a method that calls rows positive or not, and no more
                area = float(roc_auc_score(draw.y_test, model_says(model, draw.X_test, "score")))
            prior_error = abs(float(getattr(model, "class_prior_", np.nan)) - prior)
            found = wrong, area, prior_error, time.perf_counter() - begin
            rows.append({"method": name, "draw": number, **dict(zip(MEASURES, found, strict=True))})
    return Comparison(tuple(rows), prior)
