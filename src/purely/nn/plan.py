"""What networks are to be trained, and the rows each one sees; nothing here loads torch.

An estimator that trains networks works in two steps. `prepare_fit` checks data and parameters and does all that comes
before the networks; what it returns has a :class:`StackPlan`. `finish_fit` takes what was trained. :func:`fit_together`
puts both together for any number of estimators, and trains networks of one kind as one stack.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias, TypeVar, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from purely.base import number, one_of, with_parameters
from purely.checks import RandomState
from purely.exceptions import DivergedWarning
from purely.folds import Folds, deal_folds, row_keys, sample_rows, share_out
from purely.labels import PULabels
from purely.nn.fitted import History, Network
from purely.nn.recipe import Architecture, Arithmetic, NetworkRecipe, OptimizerName, Schedule, TrainingSettings
from purely.nn.scaling import Scaling, column_scaling
from purely.typing import Floats, Indices, Keys, Mask, Matrix

if TYPE_CHECKING:
    from purely.nn.losses import Loss

#: Fold number of the networks that see all rows; the folds follow.
ALL_ROWS = -1
#: What networks say of rows.
Says: TypeAlias = Callable[[list[Network], Matrix], Floats]
#: Parameters, or other values, by name.
Values: TypeAlias = dict[str, Any]
#: What the paper's settings have in common (section 5.2).
PAPER: Values = {"schedule": "constant", "dropout": 0.0, "n_ensemble": 1, "standardize": False}


@dataclass(frozen=True)
class Split:
    """Row numbers of one network: what it is trained on and what is held out, positives and unlabelled apart."""

    train_p: Indices
    train_u: Indices
    held_p: Indices
    held_u: Indices


@dataclass(frozen=True)
class Member(Split):
    """One network of a fit, with the rows it is trained on and those it is stopped by.

    Attributes
    ----------
    fold : int
        The fold it does not see, or ALL_ROWS.
    member, start : int
        Its number in the ensemble, and among the restarts of which the best is kept.
    seed : int
        For initial weights, the order of rows, dropout and noise.
    test : ndarray of int
        Rows of the fold it does not see; empty for ALL_ROWS.
    """

    fold: int
    member: int
    start: int
    seed: int
    test: Indices


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

    X: Matrix
    positive: Mask
    recipe: NetworkRecipe
    scaling: Scaling | None
    members: list[Member]
    mapped: bool = False


@dataclass(frozen=True)
class EnsembleRecipe:
    """All choices of a fit: what a network is, and how many of them see which rows.

    Attributes
    ----------
    networks : NetworkRecipe
    validation_fraction : float
        Share of the rows that are held out to stop by, another draw for every network of the ensemble; 0 for none.
    n_starts, n_ensemble : int
        Attempts at each network, of which the best is kept, and networks that are averaged.
    cv : int or None
        Number of folds.
    refit : bool
        With folds, whether there are networks that see all rows too.
    standardize : bool
    """

    networks: NetworkRecipe
    validation_fraction: float
    n_starts: int
    n_ensemble: int
    cv: int | None
    refit: bool
    standardize: bool

    @classmethod
    def read(cls, values: Values, architecture: Architecture, loss: Loss) -> Self:
        """Choices from an estimator's parameters by name, which have been checked."""
        given = {"encoder": None, "n_starts": 1, "cv": None, "refit": True, **values}
        rows = 0 if given["batch_size"] == "auto" else given["batch_size"]
        own = {name: values[name] for name in TrainingSettings.__dataclass_fields__ if name in values}
        settings = TrainingSettings(**own, keep="best" if values["early_stopping"] else "last")
        networks = NetworkRecipe(architecture, loss, settings, rows, given["encoder"], given["device"])
        return cls(networks, **{of.name: given[of.name] for of in fields(cls) if of.name != "networks"})

    def stack_plan(
        self,
        X: Matrix,
        positive: Mask,
        *,
        seed: int,
        keys: Keys | None = None,
        folds: Folds | None = None,
        mapped: bool = False,
        most_rows: int | None = None,
    ) -> StackPlan:
        """The networks of these choices for rows; their keys and folds are found where they are not given."""
        keys = row_keys(X, seed) if keys is None else keys
        if folds is None and self.cv:
            folds = deal_folds(X, positive, self.cv, seed, keys)
        scaling = column_scaling(X) if self.standardize else None
        members = self._members(positive, keys, folds, seed, most_rows)
        return StackPlan(X, positive, self.networks, scaling, members, mapped)

    def _members(self, positive: Mask, keys: Keys, folds: Folds | None, seed: int, most: int | None) -> list[Member]:
        """All networks of a fit: those that see all rows first, then fold by fold.

        Everything is drawn by the rows' keys (:func:`purely.folds.row_keys`), so that permuting rows changes nothing
        and copies of a row are on one side of every split. A network's rows and seed depend on its own numbers only:
        asking for more folds, members or restarts leaves the others as they are.
        """
        order = np.argsort(keys, kind="stable")
        number, n_folds = (np.zeros_like(order), 0) if folds is None else (folds.number, folds.n_folds)
        members = []
        for fold in range(ALL_ROWS if self.refit or folds is None else 0, n_folds):
            test, seen = np.flatnonzero(number == fold), order[number[order] != fold]
            if most is not None:
                seen = sample_rows(seen, positive, most)
            for member in range(self.n_ensemble):
                held = np.zeros(seen.size, dtype=bool)
                if self.validation_fraction > 0.0:
                    draw = (fold + 1) * 65537 + member
                    held = share_out(keys[seen], positive[seen], self.validation_fraction, draw=draw)
                kinds = positive[seen], ~positive[seen]
                train_p, train_u, held_p, held_u = (seen[side & kind] for side in (~held, held) for kind in kinds)
                for start in range(self.n_starts):
                    key = np.random.SeedSequence([seed, fold + 1, member, start]).generate_state(1, np.uint64)[0]
                    own_seed = int(key >> np.uint64(1))
                    members.append(Member(train_p, train_u, held_p, held_u, fold, member, start, own_seed, test))
        return members


@dataclass(frozen=True)
class PreparedFit:
    """What an estimator knows before its networks are trained."""

    stack: StackPlan
    labels: PULabels
    recipe: EnsembleRecipe


@dataclass(frozen=True)
class TrainedMember:
    """A network after training: how to apply it, and J where it was trained and where it was held out."""

    member: Member
    network: Network
    train_j: float
    held_j: float


@dataclass(frozen=True)
class TrainedStack:
    """The networks of one plan after training, and how it went."""

    members: list[TrainedMember]
    history: History

    def for_new_rows(self) -> list[Network]:
        """The networks that saw all rows, or those of every fold where there are none."""
        whole = [t.network for t in self.members if t.member.fold == ALL_ROWS]
        return whole or [t.network for t in self.members]

    def warn_diverged(self) -> None:
        """Warn of networks whose loss was never finite."""
        judged = [t.held_j if t.member.held_p.size else t.train_j for t in self.members]
        lost = int(np.sum(~np.isfinite(judged)))
        if lost:
            warnings.warn(
                f"the loss of {lost} of {len(self.members)} networks was never finite; they are as they were "
                "initialised. Lower learning_rate, or set clip_norm=1.",
                DivergedWarning,
                stacklevel=6,
            )


def out_of_fold(plan: StackPlan, members: Sequence[TrainedMember], says: Says) -> Floats:
    """What networks say, ``says(networks, rows)``, of each row that they have not seen."""
    found = np.full(plan.positive.size, np.nan)
    for fold in sorted({t.member.fold for t in members} - {ALL_ROWS}):
        own = [t for t in members if t.member.fold == fold]
        rows = own[0].member.test
        found[rows] = says([t.network for t in own], plan.X[rows])
    return found


@with_parameters
class TrainsNetworks:
    """Parameters of every estimator that trains networks, and its `fit`; :class:`UsesNetworks` says what it needs."""

    preset: str | None = one_of(None, "paper", "paper-text", default=None)
    optimizer: str = one_of(*get_args(OptimizerName), default="adam")
    learning_rate: float = number(default=1e-3, low=0.0, open_low=True)
    schedule: str = one_of(*get_args(Schedule), default="constant")
    weight_decay: float = number(default=0.0, low=0.0)
    dropout: float = number(default=0.2, low=0.0, high=0.95)
    max_epochs: int = number(default=100, low=1, integer=True)
    early_stopping: bool = True
    patience: int = number(default=20, low=1, integer=True)
    validation_fraction: float = number(default=1 / 6, low=0.0, high=0.9, open_low=True)
    tol: float = number(default=0.0, low=0.0)
    batch_size: int | Literal["auto"] = number(default="auto", low=1, integer=True)
    n_ensemble: int | Literal["auto"] = number(default=5, low=1, integer=True)
    standardize: bool = True
    device: str = "auto"
    dtype: str = one_of(*get_args(Arithmetic), default="float32")
    checkpoint: str | Path | None = None
    random_state: RandomState = 0
    verbose: bool = False

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : array, memory-mapped array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for the other rows.

        Returns
        -------
        self
        """
        fit_together([self], [(X, y)])  # type: ignore[type-var]
        return self


class Prepared(Protocol):
    """What comes before the networks of an estimator, which may need none."""

    @property
    def stack(self) -> StackPlan | None:
        """The networks that are wanted."""


class UsesNetworks(Protocol):
    """An estimator that trains networks."""

    def prepare_fit(self, X: Matrix, y: ArrayLike) -> Prepared:
        """Check data and parameters and do all that comes before the networks."""

    def finish_fit(self, preparation: Any, trained: Any) -> None:
        """Keep what was trained."""


Fitted = TypeVar("Fitted", bound=UsesNetworks)
#: Rows and their labels.
Rows: TypeAlias = tuple[Matrix, ArrayLike]


def fit_together(estimators: Sequence[Fitted], data: Sequence[Rows], *, n_jobs: int | None = None) -> list[Fitted]:
    """Fit several estimators, each to its own data, with networks of one kind trained as one stack.

    Up to rounding the result is that of ``estimator.fit(X, y)`` one after another; on a GPU it takes about as long as
    one fit. Networks share a stack where the estimators have equal parameters (`random_state`, `scenario` and class
    prior may differ) and their data the same columns and the same numbers of rows of both kinds.

    Parameters
    ----------
    estimators : sequence of estimators
        :class:`purely.PURL`, :class:`purely.PNRL`, :class:`purely.NNPUClassifier` or :class:`purely.PUClassifier`.
    data : sequence of (X, y)
        One data set for each.
    n_jobs : int, optional
        Number of estimators whose other parts are fitted at a time, before the networks (joblib).

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
    pairs = zip(estimators, data, strict=True)
    return finish_together(Parallel(n_jobs=n_jobs, max_nbytes=None)(delayed(_prepare)(*pair) for pair in pairs))


def finish_together(prepared: Sequence[tuple[Fitted, Prepared]]) -> list[Fitted]:
    """Train what several prepared estimators ask for, networks of one kind as one stack, and finish their fits."""
    trained: Iterator[TrainedStack] = iter(())
    if plans := [preparation.stack for _, preparation in prepared if preparation.stack is not None]:
        from purely.nn.training import train_plans

        trained = iter(train_plans(plans))
    for estimator, preparation in prepared:
        estimator.finish_fit(preparation, None if preparation.stack is None else next(trained))
    return [estimator for estimator, _ in prepared]


def _prepare(estimator: Fitted, data: Rows) -> tuple[Fitted, Prepared]:
    return estimator, estimator.prepare_fit(*data)
