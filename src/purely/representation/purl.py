r"""PURL: representations from PU data by maximising SMI (section 4), and what it shares with PNRL: stacked networks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from purely.base import PUEstimator, check_parameters, number, one_of, parameter, with_parameters
from purely.checks import check_widths, draw_seed
from purely.exceptions import OverfittingWarning, SearchBoundWarning
from purely.labels import PULabels, check_scenario
from purely.nn import plan
from purely.nn.fitted import Network, NetworkArrays, by_blocks
from purely.nn.recipe import Architecture, check_encoder, kept_dtypes
from purely.nn.scaling import column_scaling
from purely.representation.linear import unit_rows
from purely.smi.objective import information_from_objective, ratio_objective
from purely.typing import Floats, Matrix

if TYPE_CHECKING:
    from torch import nn

    from purely.nn.losses import Loss
    from purely.nn.sources import Stream


#: What the paper prints (section 5.2); what it does not print stays as it is set.
PRESETS: dict[str, plan.Values] = {
    "paper": {
        **plan.PAPER,
        "hidden": (60,),
        "n_components": 20,
        "head_hidden": (),
        "loss": "squared",
        "update": "alternating",
        "optimizer": "sgd",
        "learning_rate": 0.001,
        "weight_decay": 0.0005,
        "gradient_noise": 0.01,
        "clip_norm": None,
        "n_starts": 1,
    }
}
PRESETS["paper-text"] = {**PRESETS["paper"], "hidden": (30,), "n_components": 10}


@with_parameters
class NetworkRepresentation(plan.TrainsNetworks, ClassNamePrefixFeaturesOutMixin, TransformerMixin, PUEstimator):
    """Base of the representations that are learnt by stacked networks; a subclass gives the loss and the ratio."""

    n_components: int = number(default=20, low=1, integer=True, kw_only=False)
    hidden: Sequence[int] = parameter(default=(60,), check=check_widths, kw_only=False)
    head_hidden: Sequence[int] | Literal["auto"] = parameter(default="auto", check=check_widths)
    update: str = one_of("joint", "alternating", default="joint")
    weight_decay: float = 1e-4
    gradient_noise: float = number(default=0.0, low=0.0)
    clip_norm: float | None = number(default=None, low=0.0, open_low=True)
    max_epochs: int = 200
    patience: int = 15
    n_starts: int | Literal["auto"] = number(default="auto", low=1, integer=True)
    n_ensemble: int | Literal["auto"] = number(default="auto", low=1, integer=True)

    def _loss(self, values: plan.Values, labels: PULabels) -> Loss:
        """What networks minimise, from the estimator's parameters, its preset in their place."""
        raise NotImplementedError

    def _recipe(self, n_features: int, labels: PULabels) -> plan.EnsembleRecipe:
        """The parameters with those of the preset in their place, and what is "auto" resolved."""
        parameters = self.get_params(deep=False)
        values = check_parameters(type(self), parameters | PRESETS.get(parameters["preset"], {}))
        linear = not values["hidden"] and values.get("encoder") is None
        automatic: plan.Values = {"head_hidden": (), "n_starts": 1, "n_ensemble": 5}
        if linear:
            values["dropout"] = 0.0
            automatic = {"head_hidden": (20,), "n_starts": 10, "n_ensemble": 1}
        values |= {name: value for name, value in automatic.items() if values[name] == "auto"}
        loss, widths = self._loss(values, labels), (values["hidden"], values["n_components"], values["head_hidden"])
        return plan.EnsembleRecipe.read(values, Architecture.representation(n_features, *widths, loss.n_outputs), loss)

    def prepare_fit(self, X: Matrix, y: ArrayLike) -> plan.PreparedFit:
        """Check data and parameters and plan the networks; the first half of `fit`, see :func:`fit_together`."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._validate_fit(X, y, dtype=kept_dtypes(X))
        recipe = self._recipe(X.shape[1], labels)
        stack = recipe.stack_plan(X, labels.positive, seed=draw_seed(self.random_state), mapped=mapped)
        if min(min(m.train_p.size + m.held_p.size, m.train_u.size + m.held_u.size) for m in stack.members) < 2:
            raise ValueError(
                f"cv={recipe.cv} leaves fewer than 2 positives or 2 unlabelled rows to train on; "
                f"there are {labels.n_positive} and {labels.n_unlabelled}."
            )
        return plan.PreparedFit(stack, labels, recipe)

    def fit_batches(self, batches: Stream, X_held: Matrix, y_held: ArrayLike) -> Self:
        """Learn the representation from a stream of minibatches, for data that no array can hold.

        Parameters
        ----------
        batches : callable
            Called with the number of the epoch (0, 1, ...); returns an iterable of pairs (P, U) of rows.
        X_held, y_held : as in fit
            Rows that are held out: training stops by them, and the columns are scaled by them.

        Returns
        -------
        self
        """
        from purely.nn.training import train_stream

        X_held, labels = self._validate_fit(X_held, y_held, dtype=[np.float64, np.float32])
        recipe = self._recipe(X_held.shape[1], labels)
        if recipe.cv or recipe.networks.encoder is not None:
            raise ValueError("fit_batches needs cv=None and encoder=None: a stream has no rows to put into folds.")
        held_p, held_u = np.flatnonzero(labels.positive), np.flatnonzero(~labels.positive)
        seed, none = draw_seed(self.random_state), np.empty(0, dtype=np.intp)
        members = [
            plan.Member(none, none, held_p, held_u, plan.ALL_ROWS, e, s, seed + e * recipe.n_starts + s, none)
            for e in range(recipe.n_ensemble)
            for s in range(recipe.n_starts)
        ]
        scaling = column_scaling(X_held) if recipe.standardize else None
        stack = plan.StackPlan(X_held, labels.positive, recipe.networks, scaling, members)
        self.finish_fit(plan.PreparedFit(stack, labels, recipe), train_stream(stack, batches))
        return self

    def finish_fit(self, preparation: plan.PreparedFit, trained: plan.TrainedStack) -> None:
        """Keep of the trained networks what the estimator needs; the second half of `fit`."""
        trained.warn_diverged()
        kept = _best_of_starts(trained.members)
        whole = [t for t in kept if t.member.fold == plan.ALL_ROWS]
        self.classes_ = preparation.labels.classes
        self.history_ = trained.history
        self.networks_ = [t.network for t in whole]
        self.best_network_ = int(np.argmin([np.nan_to_num(t.held_j, nan=np.inf) for t in whole]))
        self.held_out_objective_ = np.array([t.held_j for t in whole])
        self.train_objective_ = np.array([t.train_j for t in whole])
        self.n_components_ = self._n_features_out = preparation.recipe.networks.architecture.head[0].n_in
        self.forget("components_")
        match self.networks_[self.best_network_]:
            case NetworkArrays(encoder=((weights, _, False),)):  # v is linear
                self.components_ = unit_rows(weights.T)
        self._judge(preparation, kept)

    def _judge(self, preparation: plan.PreparedFit, kept: list[plan.TrainedMember]) -> None:
        """Set what is reported: information, out-of-fold values, warnings."""
        raise NotImplementedError

    def transform(self, X: Matrix) -> Floats:
        """The representation v(x) of each row, shape (n, n_components).

        It is that of one network, the one of lowest held-out J among those that saw all rows: hidden units of two
        networks have nothing to do with each other, so features cannot be averaged. Where `hidden` is empty, it is
        ``X @ components_.T``.
        """
        check_is_fitted(self, "networks_")
        X = self._validate_rows(X, dtype=kept_dtypes(X))
        if hasattr(self, "components_"):
            return np.asarray(X @ self.components_.T)
        return by_blocks(self.networks_[self.best_network_].features, X)


def _best_of_starts(trained: list[plan.TrainedMember]) -> list[plan.TrainedMember]:
    """Of the restarts of each network the one of lowest J, on its training and held-out rows together."""

    def pooled_j(t: plan.TrainedMember) -> float:
        pooled = np.average([t.train_j, t.held_j], weights=[t.member.train_p.size, t.member.held_p.size])
        return float(pooled) if np.isfinite(pooled) else np.inf

    restarts = groupby(trained, key=lambda t: (t.member.fold, t.member.member))
    return [min(same, key=pooled_j) for _, same in restarts]


#: On the paper's data sets nearly every fit whose training J lies below what any ratio of the population can reach,
#: -1/(2 prior), exceeds the held-out information by this factor and by this much.
OVERFIT_FACTOR, OVERFIT_GAP = 1.1, 0.05


@with_parameters
class PURL(NetworkRepresentation):
    r"""Positive-unlabelled representation learning.

    A network :math:`w = g \circ v` models the ratio :math:`p(x \mid y=+1) / p(x)`; its hidden part :math:`v` is the
    representation. The best :math:`w` minimises

    .. math:: J(w) = \tfrac12 \mathbb E_U w^2 - \mathbb E_P w ,

    and PU-SMI is :math:`\frac{\pi}{1 - \pi} (-J - \tfrac12)`, so learning needs no class prior. Training uses the
    logistic loss of P against U by default, which has the same optimum and learns it better; what is reported, and
    what stops the training, is J on rows held out.

    Parameters
    ----------
    n_components : int, default=20
        Width of the representation.
    hidden : tuple of int, default=(60,)
        Widths of the hidden layers before it. ``()`` makes v linear: then ``components_`` is the projection, and by
        default 10 starts are trained at once and the best is kept, because a linear v has poor local optima.
    head_hidden : tuple of int or "auto", default="auto"
        Hidden layers of g. "auto" is ``()``, or ``(20,)`` where v is linear: the ratio along a direction need not be
        monotone.
    encoder : torch.nn.Module, default=None
        Replaces v: maps ``(b, n_features)`` to ``(b, n_components)``. Every network starts from parameters that the
        modules' own ``reset_parameters`` draws anew.
    loss : {"logistic", "squared", "squared-nn"}, default="logistic"
        "squared" is J itself, as in the paper; "squared-nn" is J with a non-negative correction, see
        :func:`purely.nn.losses.non_negative_j_pu`.
    prior_min : float, default=0.1
        The smallest class prior that is thought possible: the ratio is at most ``1 / prior_min``. "logistic" cannot
        exceed that, "squared-nn" is not rewarded for it, "squared" ignores it.
    update : {"joint", "alternating"}, default="joint"
        g and v in every step, or the paper's four steps for g and one for v.
    preset : {None, "paper", "paper-text"}, default=None
        "paper" is the paper's d-60-20-1 network with J, SGD at 0.001, weight decay 0.0005, gradient noise 0.01 and
        alternating updates; "paper-text" its d-30-10-1. The parameters that a preset names are taken from it, whatever
        they are set to here. The paper does not print the number of epochs, the batch size and the stopping rule;
        ``batch_size=250``, ``early_stopping=False`` and ``max_epochs=round(4300 * d ** (-2 / 3))`` for d columns come
        close to its table 1.
    optimizer : {"adam", "sgd", "adagrad"}, default="adam"
    learning_rate : float, default=0.001
    schedule : {"constant", "cosine"}, default="constant"
        Whether the rate stays or falls to zero over `max_epochs`.
    weight_decay : float, default=0.0001
    gradient_noise : float, default=0
        Standard deviation of noise that is added to gradients.
    clip_norm : float or None, default=None
        Largest norm of a network's gradient.
    dropout : float, default=0.2
        Share of inputs set to zero in training. Not used where v is linear.
    max_epochs : int, default=200
    early_stopping : bool, default=True
        Whether J on the rows held out ends the training and picks the state that is kept; otherwise all `max_epochs`
        are trained and the last state is kept, and the rows held out only judge it.
    patience : int, default=15
        Epochs without a better held-out J that end the training of a network.
    tol : float, default=0
        How much lower J has to be to count as better.
    batch_size : int or "auto", default="auto"
        Rows of a minibatch, P and U in the proportion of the data; "auto" is a tenth of the training rows, at least 32
        and at most 250.
    validation_fraction : float, default=1/6
        Share of the rows each network holds out; another draw for every member of the ensemble.
    n_starts : int or "auto", default="auto"
        Restarts of each network, of which the one of lowest J is kept; "auto" is 1, or 10 where v is linear.
    n_ensemble : int or "auto", default="auto"
        Networks whose ratios are averaged (logarithms of ratios where the loss is logistic); "auto" is 5, or 1 where v
        is linear.
    cv : int or None, default=None
        With a number K, K further sets of networks are trained in the same stack, each on K-1 of K folds;
        ``oof_density_ratio_`` and ``oof_information_`` then say what the ratio is worth on rows it has not seen. The
        model itself is the one that ``cv=None`` gives.
    standardize : bool, default=True
        Scale the columns, see :func:`purely.nn.scaling.column_scaling`; outputs refer to the columns as given.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling. It changes
        the ratio that is reported (to the population, not to U), not the training.
    device : {"auto", "cpu", "cuda"}, default="auto"
    dtype : {"float32", "bfloat16"}, default="float32"
    checkpoint : path or None, default=None
        File to save to every ten epochs, and to resume from where it exists.
    random_state : int, RandomState or None, default=0
    verbose : bool, default=False
        Show a progress bar with J on training batches and on held-out rows.

    Attributes
    ----------
    information_ : float
        :math:`-J - 1/2` on rows not trained on: out of fold where `cv` is set, otherwise the mean over the
        networks, each on the rows that stopped it (a little optimistic for that reason). Times prior / (1 - prior) it
        is PU-SMI.
    oof_density_ratio_ : ndarray of shape (n,)
        Only with `cv`: ratio of each row by networks that have not seen it.
    oof_information_ : float
        Only with `cv`: :math:`-J - 1/2` of these.
    train_information_ : float
        The same on the rows that the networks were trained on.
    overfitting_ : bool
        Whether that is far more than on rows held out; a warning then says what to do.
    components_ : ndarray of shape (n_components, n_features)
        Only where `hidden` is empty: directions of unit length, in the units of the columns.
    networks_ : list
        The networks that saw all rows, as NumPy arrays (modules where `encoder` is given).
    best_network_ : int
        Which of them gives the representation.
    held_out_objective_, train_objective_ : ndarray of shape (n_ensemble,)
        J of each network on the rows it held out and on those it was trained on.
    history_ : History
        Losses and J, epoch by epoch, of every network in the stack.
    classes_ : ndarray of shape (2,)
    n_components_, n_features_in_ : int

    Notes
    -----
    Averaging: ratios of different networks mean the same and are averaged, in `density_ratio` and out of fold. Hidden
    features of different networks do not mean the same, so `transform` uses one network. Features of training rows show
    positives too clearly apart; estimate a class prior from ``oof_density_ratio_`` rather than from ``fit_transform``.

    References
    ----------
    T. Sakai, G. Niu, M. Sugiyama. Information-theoretic representation learning for positive-unlabeled
    classification. Neural Computation 33(1), 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.representation import PURL
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal([2.0, 0.0], 1.0, size=(200, 2))
    >>> U = np.concatenate([rng.normal([2.0, 0.0], 1.0, size=(150, 2)), rng.normal([-2.0, 0.0], 1.0, size=(150, 2))])
    >>> X, y = stack(P, U)
    >>> model = PURL(n_components=2, random_state=0, max_epochs=30, device="cpu").fit(X, y)
    >>> model.transform(X).shape
    (500, 2)
    >>> bool(model.information_ > 0.2)  # the truth is close to 0.5 * (1 / prior - 1) = 0.5
    True
    """

    encoder: nn.Module | None = parameter(default=None, check=check_encoder)
    loss: str = one_of("logistic", "squared", "squared-nn", default="logistic")
    prior_min: float = number(default=0.1, low=0.0, high=1.0)
    cv: int | None = number(default=None, low=2, integer=True)
    scenario: str = "case-control"

    def density_ratio(self, X: Matrix) -> Floats:
        """The ratio p(x | y=+1) / p(x) of each row, averaged over the networks; shape (n,)."""
        check_is_fitted(self, "networks_")
        X = self._validate_rows(X, dtype=kept_dtypes(X))
        return self._ratio(self.networks_, X)

    def score(self, X: Matrix, y: ArrayLike) -> float:
        """Minus J of the ratio on these rows; larger is better, and a network that has learnt nothing scores 0.5."""
        check_is_fitted(self, "networks_")
        X, labels = self._validate_fit(X, y, least=(1, 1), reset=False, dtype=kept_dtypes(X))
        return -ratio_objective(self._ratio(self.networks_, X), labels.positive, self.scenario)

    def _loss(self, values: plan.Values, labels: PULabels) -> Loss:
        from purely.nn.losses import LogisticLoss, NonNegativeSquaredLoss, SquaredLoss

        check_scenario(self.scenario)
        if values["loss"] == "squared":
            return SquaredLoss()
        kind = LogisticLoss if values["loss"] == "logistic" else NonNegativeSquaredLoss
        return kind(prior_min=values["prior_min"])

    def _judge(self, preparation: plan.PreparedFit, kept: list[plan.TrainedMember]) -> None:
        fit = preparation.stack
        self._logistic = fit.recipe.loss.initial_bias == 0.0
        self._share = float(fit.positive.mean())
        whole = [t for t in kept if t.member.fold == plan.ALL_ROWS]
        self.information_ = self._mean_information(fit, whole, "held")
        self.train_information_ = self._mean_information(fit, whole, "train")
        seen, held = self.train_information_, max(self.information_, 0.0)
        self.overfitting_ = seen > OVERFIT_FACTOR * held and seen > held + OVERFIT_GAP
        if self.overfitting_:
            warnings.warn(
                f"overfitting: the information is {seen:.3f} on the training rows (J {-seen - 0.5:.3f}) and {held:.3f} "
                f"on rows held out (J {-held - 0.5:.3f}). Ratio and features of training rows are too good: use "
                "cv=5 and oof_density_ratio_ for them, and raise dropout or weight_decay to narrow the gap.",
                OverfittingWarning,
                stacklevel=6,
            )
        if self._logistic and self.prior_min:
            ratio = self._ratio(self.networks_[:1], fit.X[fit.members[0].held_p])
            bound = 1.0 / self.prior_min
            if (share := float(np.mean(ratio > 0.8 * bound))) > 0.25:
                warnings.warn(
                    f"the ratio of {share:.0%} of the held-out positives is near its bound 1 / prior_min = {bound:g}; "
                    "positives may be rarer than prior_min: set prior_min lower.",
                    SearchBoundWarning,
                    stacklevel=6,
                )
        self.forget("oof_density_ratio_", "oof_information_")
        if preparation.recipe.cv:
            self.oof_density_ratio_ = plan.out_of_fold(fit, kept, self._ratio)
            objective = ratio_objective(self.oof_density_ratio_, fit.positive, self.scenario)
            self.information_ = self.oof_information_ = information_from_objective(objective)

    def _mean_information(self, fit: plan.StackPlan, members: list[plan.TrainedMember], part: str) -> float:
        """Information of single networks on rows of their own, the mean over the networks; NaN where there are none."""
        values = []
        for t in members:
            rows = np.concatenate([getattr(t.member, f"{part}_{kind}") for kind in "pu"])
            if rows.size:
                values.append(ratio_objective(self._ratio([t.network], fit.X[rows]), fit.positive[rows], self.scenario))
        return information_from_objective(float(np.mean(values))) if values else float("nan")

    def _ratio(self, networks: list[Network], X: Matrix) -> Floats:
        """Averaged ratio to the population: of logarithms where networks model these."""
        outputs = [by_blocks(network, X) for network in networks]
        if self._logistic:
            c = float(self.prior_min) if self.prior_min else np.exp(-30.0)
            ratio = np.exp(-np.mean([np.logaddexp(-z, np.log(c)) for z in outputs], axis=0))
        else:
            ratio = np.mean(outputs, axis=0)
        if self.scenario == "single-sample":
            # Networks compare P with U; the population is both together: p = c p_P + (1 - c) p_U.
            ratio = np.maximum(ratio, 0.0)
            ratio = ratio / (self._share * ratio + 1.0 - self._share)
        return ratio
