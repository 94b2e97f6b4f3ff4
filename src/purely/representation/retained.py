r"""How much of the information a representation keeps: PU-SMI(v(x)) / PU-SMI(x), with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from purely.checks import RandomState, level_to_z
from purely.labels import Scenario, check_scenario, read_labels
from purely.notebook import Sentence
from purely.smi.analytic import PUSMI
from purely.smi.inference import captured_information, row_contributions
from purely.typing import Estimator, Matrix

#: A fitted transformer, a function of the rows, or what they become.
Representation: TypeAlias = Any


@dataclass(frozen=True)
class InformationRetained(Sentence):
    """Share of the information that a representation keeps, with an interval.

    Attributes
    ----------
    retained, standard_error, low, high : float
        The share and its interval; above 1 where the representation makes the information easier to find.
    level : float
    information_representation, information_inputs : float
        The two values of the information whose ratio `retained` is, prior-free and out of fold.

    Examples
    --------
    >>> from purely.representation import InformationRetained
    >>> print(InformationRetained(0.9, 0.02, 0.86, 0.94, 0.9, 0.45, 0.5))
    retained 0.900 [0.860, 0.940] (90% interval)
    """

    retained: float
    standard_error: float
    low: float
    high: float
    level: float
    information_representation: float
    information_inputs: float

    def __str__(self) -> str:
        return f"retained {self.retained:.3f} [{self.low:.3f}, {self.high:.3f}] ({self.level:.0%} interval)"


def information_retained(
    representation: Representation,
    X: Matrix,
    y: ArrayLike,
    *,
    estimator: Estimator | None = None,
    scenario: Scenario = "case-control",
    level: float = 0.9,
    random_state: RandomState = 0,
) -> InformationRetained:
    r"""Share of PU-SMI that a representation keeps, on rows it was not trained on.

    The information of the representation and that of the inputs are estimated by the same kind of model, out of fold on
    the same rows, so both vary together. With the rows' contributions :math:`\psi^v_i, \psi^x_i` to :math:`I_v` and
    :math:`I_x`, the delta method gives the variance of :math:`R = I_v / I_x` as :math:`\sum_i (\psi^v_i - R\,
    \psi^x_i)^2 / I_x^2`.

    Parameters
    ----------
    representation : fitted transformer, callable, or array of shape (n, m)
        What maps `X` to the representation, or the representation of its rows.
    X : array or sparse matrix of shape (n, d)
        Inputs.
    y : array-like of shape (n,)
        1 for labelled positives, 0 for unlabelled rows.
    estimator : estimator with ``oof_density_ratio_``, default=None
        Estimates the information of both; None is :class:`~purely.smi.PUSMI`.
    scenario : {"case-control", "single-sample"}, default="case-control"
    level : float, default=0.9
    random_state : int, RandomState or None, default=0
        Of the default estimator.

    Returns
    -------
    InformationRetained

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.representation import information_retained
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal([1.5, 0.0], 1.0, size=(300, 2))
    >>> U = np.concatenate([rng.normal([1.5, 0.0], 1.0, size=(300, 2)), rng.normal([-1.5, 0.0], 1.0, size=(300, 2))])
    >>> X, y = stack(P, U)
    >>> kept, lost = information_retained(X[:, :1], X, y), information_retained(X[:, 1:], X, y)
    >>> kept.retained > 0.9, lost.retained < 0.1
    (True, True)
    """
    positive = read_labels(y, min_positive=2, min_unlabelled=2).positive
    scenario, z = check_scenario(scenario), level_to_z(level)
    model = PUSMI(scenario=scenario, random_state=random_state) if estimator is None else estimator
    fitted = [clone(model).fit(rows, y) for rows in (_represent(representation, X), X)]
    ratios = [np.asarray(each.oof_density_ratio_, dtype=np.float64) for each in fitted]
    information = [captured_information(w, positive, scenario) for w in ratios]
    if information[1] <= 0:
        raise ValueError(
            f"the information of X is {information[1]:.4f}, not above 0: there is nothing to retain a share of."
        )
    share = information[0] / information[1]
    of_representation, of_inputs = (row_contributions(w, positive, scenario) for w in ratios)
    error = float(np.sqrt(np.sum((of_representation - share * of_inputs) ** 2)) / information[1])
    return InformationRetained(share, error, share - z * error, share + z * error, float(level), *information)


def _represent(representation: Representation, X: Matrix) -> Matrix:
    if hasattr(representation, "transform"):
        return representation.transform(X)
    if callable(representation):
        return representation(X)
    rows = representation if hasattr(representation, "shape") else np.asarray(representation)
    if len(rows.shape) != 2 or rows.shape[0] != X.shape[0]:
        raise ValueError(
            "representation must be a fitted transformer, a callable, or an array with one row for each of the "
            f"{X.shape[0]} rows of X; an array of shape {tuple(rows.shape)} was given."
        )
    return rows
