"""What networks are to be trained, and the rows each one sees; nothing here loads torch.

An estimator that trains networks works in two steps. `prepare_fit` checks data and parameters and does all that comes
before the networks; what it returns has a :class:`StackPlan`. `finish_fit` takes what was trained. :func:`fit_together`
puts both together for any number of estimators, and trains networks of one kind as one stack.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray

from purely.exceptions import DivergedWarning
from purely.folds import Folds, Keys, sample_rows, share_out
from purely.nn.fitted import History
from purely.nn.recipe import NetworkRecipe
from purely.nn.scaling import Scaling

if TYPE_CHECKING:
    pass

__all__ = [
    "ALL_ROWS",
    "Member",
    "Preparation",
    "StackPlan",
    "TrainedMember",
    "TrainedStack",
    "UsesNetworks",
    "finish_together",
    "fit_together",
    "plan_members",
]

#: Fold number of the networks that see all rows.
ALL_ROWS = -1


@dataclass(frozen=True)
class Member:
    """One network of a fit.

    Attributes
    ----------
    fold : int
        The fold it does not see, or ALL_ROWS.
    member, start : int
        Its number in the ensemble, and among the restarts of which the best is kept.
    seed : int
        For initial weights, the order of rows, dropout and noise.
    train_p, train_u, held_p, held_u : ndarray of int
        Rows it is trained on and rows it is stopped by.
    test : ndarray of int
        Rows of the fold it does not see; empty for ALL_ROWS.
    """

    fold: int
    member: int
    start: int
    seed: int
    train_p: NDArray[np.intp]
    train_u: NDArray[np.intp]
    held_p: NDArray[np.intp]
    held_u: NDArray[np.intp]
    test: NDArray[np.intp]


def plan_members(
    positive: NDArray[np.bool_],
    keys: Keys,
    folds: Folds | None,
    *,
    n_ensemble: int,
    n_starts: int = 1,
    validation_fraction: float = 0.0,
    seed: int,
    all_rows: bool = True,
    most_rows: int | None = None,
) -> list[Member]:
    """All networks of a fit: those that see all rows first, then fold by fold.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
    keys : ndarray of shape (n,)
        The rows' keys (:func:`purely.folds.row_keys`): everything is drawn by content, so that permuting rows changes
        nothing and copies of a row are on one side of every split.
    folds : Folds or None
        Folds to leave out, one after another; None for networks of all rows only.
    n_ensemble, n_starts : int
        Networks that are averaged, and attempts at each, of which the best is kept.
    validation_fraction : float
        Share of the rows that are held out to stop by; another draw for every network of the ensemble.
    seed : int
    all_rows : bool
        Whether there are networks that see all rows.
    most_rows : int, optional
        Rows that a network is trained on at most.

    Notes
    -----
    A network's rows and seed depend on its own numbers only: asking for more folds, members or restarts leaves the
    others as they are.
    """
    order = np.argsort(keys, kind="stable")
    none = np.empty(0, dtype=np.intp)
    seen_by_fold = [(ALL_ROWS, order, none)] if all_rows else []
    for k in range(folds.n_folds if folds is not None else 0):
        seen_by_fold.append((k, order[(folds.number != k)[order]], np.flatnonzero(folds.number == k)))  # type: ignore[union-attr]
    members = []
    for fold, outside, test in seen_by_fold:
        seen = outside if most_rows is None else sample_rows(outside, positive, most_rows)
        for member in range(n_ensemble):
            held = np.zeros(seen.size, dtype=bool)
            if validation_fraction > 0.0:
                held = share_out(keys[seen], positive[seen], validation_fraction, draw=(fold + 1) * 65537 + member)
            train_p, train_u, held_p, held_u = (
                seen[side & kind] for side in (~held, held) for kind in (positive[seen], ~positive[seen])
            )
            for start in range(n_starts):
                key = np.random.SeedSequence([seed, fold + 1, member, start]).generate_state(1, np.uint64)[0]
                members.append(
                    Member(fold, member, start, int(key >> np.uint64(1)), train_p, train_u, held_p, held_u, test)
                )
    return members


@dataclass(frozen=True)
class StackPlan:
    """One data set and the networks it asks for.

    Attributes
    ----------
    X : array, memory-mapped array or sparse matrix of shape (n, d)
    positive : ndarray of bool, shape (n,)
    recipe : NetworkRecipe
    scaling : Scaling or None
        How columns are scaled on their way into the networks.
    members : list of Member
    mapped : bool
        Whether rows stay on disk and are read batch by batch.
    """

    X: Any
    positive: NDArray[np.bool_]
    recipe: NetworkRecipe
    scaling: Scaling | None
    members: list[Member]
    mapped: bool = False


@dataclass(frozen=True)
class TrainedMember:
    """A network after training: how to apply it, and J where it was trained and where it was held out."""

    member: Member
    network: Any
    train_j: float
    held_j: float


@dataclass(frozen=True)
class TrainedStack:
    """The networks of one plan after training, and how it went."""

    members: list[TrainedMember]
    history: History

    def warn_diverged(self) -> None:
        """Warn of networks whose loss was never finite."""
        judged = [t.held_j if t.member.held_p.size else t.train_j for t in self.members]
        lost = int(np.sum(~np.isfinite(judged)))
        if lost:
            warnings.warn(
                f"the loss of {lost} of {len(self.members)} networks was never finite; they are as they were "
                "initialised. Lower learning_rate, or set clip_norm=1.",
                DivergedWarning,
                stacklevel=5,
            )


class Preparation(Protocol):
    """What an estimator knows before its networks are trained."""

    @property
    def stack(self) -> StackPlan | None:
        """The networks it asks for, if any."""


class UsesNetworks(Protocol):
    """An estimator that trains networks."""

    def prepare_fit(self, X: Any, y: ArrayLike) -> Any:
        """Check data and parameters and do all that comes before the networks."""

    def finish_fit(self, preparation: Any, trained: TrainedStack | None) -> Any:
        """Keep what was trained."""


Fitted = TypeVar("Fitted", bound=UsesNetworks)


def fit_together(
    estimators: Sequence[Fitted], data: Sequence[tuple[Any, ArrayLike]], *, n_jobs: int | None = None
) -> list[Fitted]:
    """Fit several estimators, each to its own data, with networks of one kind trained as one stack.

    What comes out is what ``estimator.fit(X, y)`` gives one after another, beyond rounding; on a GPU it takes about as
    long as one fit. Networks share a stack where the estimators have equal parameters (`random_state`, `scenario` and
    class prior may differ) and their data the same columns and the same numbers of rows of both kinds.

    Parameters
    ----------
    estimators : sequence of estimators
        :class:`purely.PURL`, :class:`purely.PNRL`, :class:`purely.NNPUClassifier` or :class:`purely.PUClassifier`.
    data : sequence of (X, y)
        One data set for each.
    n_jobs : int, optional
        Estimators at a time, through joblib, whose other parts are fitted before the networks.

    Returns
    -------
    list of fitted estimators
        Those that were given, or copies of them where other processes fitted them.

    Examples
    --------
    >>> from purely.datasets import make_paper_data
    >>> from purely.representation import PURL, fit_together
    >>> draws = [make_paper_data(n_positive=40, n_unlabelled=80, random_state=seed) for seed in range(2)]
    >>> models = [PURL(n_components=2, hidden=(4,), max_epochs=2, random_state=seed, device="cpu") for seed in range(2)]
    >>> fitted = fit_together(models, [(draw.X, draw.y) for draw in draws])
    >>> [model.transform(draws[0].X).shape for model in fitted]
    [(120, 2), (120, 2)]
    """
    if len(estimators) != len(data):
        raise ValueError(f"{len(estimators)} estimators and {len(data)} data sets were given; one each is needed.")
    # Rows are copied to the processes: mapped into their memory they would come back as memory-mapped arrays.
    prepared = Parallel(n_jobs=n_jobs, max_nbytes=None)(
        delayed(_prepare)(estimator, X, y) for estimator, (X, y) in zip(estimators, data, strict=True)
    )
    return finish_together(prepared)


def finish_together(prepared: Sequence[tuple[Fitted, Any]]) -> list[Fitted]:
    """Train what several prepared estimators ask for, networks of one kind as one stack, and finish their fits."""
    plans = [preparation.stack for _, preparation in prepared if preparation.stack is not None]
    trained: list[TrainedStack] = []
    if plans:
        from purely.nn.stack import train_plans

        trained = train_plans(plans)
    waiting = iter(trained)
    for estimator, preparation in prepared:
        estimator.finish_fit(preparation, None if preparation.stack is None else next(waiting))
    return [estimator for estimator, _ in prepared]


def _prepare(estimator: Fitted, X: Any, y: ArrayLike) -> tuple[Fitted, Any]:
    return estimator, estimator.prepare_fit(X, y)
