"""Several classifiers fitted at once, their networks as one stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from purely.classifiers.nnpu import NNPUClassifier
from purely.representation._networks import fit_together

__all__ = ["begin", "fit_classifiers", "fit_members"]


def fit_classifiers(
    estimators: Sequence[Any], data: Sequence[tuple[Any, ArrayLike]], *, n_jobs: int | None = None
) -> None:
    """Fit several classifiers of equal parameters, each to its own data, their networks as one stack.

    What comes out is what ``estimator.fit(X, y)`` gives one after another, beyond rounding; on a GPU it takes about as
    long as one fit. `class_prior`, `scenario` and `random_state` may differ; the data need the same numbers of rows of
    both kinds and the same columns.

    Parameters
    ----------
    estimators : sequence of NNPUClassifier, or of PUClassifier
    data : sequence of (X, y)
        One data set for each classifier.
    n_jobs : int, optional
        Processes for what is not a network: class priors and, in a :class:`PUClassifier`, other members.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.classifiers import NNPUClassifier, fit_classifiers
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1, 0], [30, 60])
    >>> data = [(rng.normal(size=(90, 2)) + y[:, None], y) for _ in range(2)]
    >>> models = [NNPUClassifier(p, hidden=(8,), max_epochs=2, random_state=0, device="cpu") for p in (0.3, 0.6)]
    >>> fit_classifiers(models, data)
    >>> models[1].predict_proba(data[1][0]).shape
    (90, 2)
    """
    if len(estimators) != len(data):
        raise ValueError(f"{len(estimators)} estimators and {len(data)} data sets were given; one each is needed.")
    if all(isinstance(e, NNPUClassifier) for e in estimators):
        fit_together(estimators, data)
        return
    pairs = list(zip(estimators, data, strict=True))
    # Rows are copied to the processes: mapped into their memory they would come back as memory-mapped arrays.
    begun = Parallel(n_jobs=n_jobs, max_nbytes=None)(delayed(begin)(e, X, y) for e, (X, y) in pairs)
    for estimator, state in zip(estimators, begun, strict=True):
        estimator.__dict__.update(state)
    fit_members(estimators, data)
    for estimator in estimators:
        estimator._end()


def fit_members(estimators: Sequence[Any], data: Sequence[tuple[Any, ArrayLike]]) -> None:
    """Train the networks of classifiers that have begun, those of one loss as one stack."""
    stacks: dict[str, list[tuple[Any, tuple[Any, ArrayLike]]]] = {}
    for estimator, rows in zip(estimators, data, strict=True):
        if hasattr(estimator, "networks_member_"):
            network = estimator.networks_member_
            stacks.setdefault(network.loss, []).append((network, rows))
    for stack in stacks.values():
        fit_together([network for network, _ in stack], [rows for _, rows in stack])


def begin(estimator: Any, X: Any, y: ArrayLike) -> dict[str, Any]:
    """What comes before the networks; the state is returned, since this may run in another process."""
    estimator._begin(X, y)
    state: dict[str, Any] = estimator.__dict__
    return state
