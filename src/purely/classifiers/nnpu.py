"""NNPUClassifier: networks that minimise the non-negative risk."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from purely.base import with_parameters
from purely.calibration import CALIBRATIONS, ScoreCalibration, calibrate_scores
from purely.checks import check_choice, check_number, check_widths, draw_seed
from purely.class_prior import ClassPriors, PriorParameter
from purely.classifiers.base import BasePUClassifier, log_odds_of_margin
from purely.folds import Folds, Keys, deal_folds, row_keys
from purely.labels import PULabels
from purely.nn.fitted import by_blocks
from purely.nn.parameters import NetworkParameters
from purely.nn.plan import ALL_ROWS, StackPlan, TrainedStack, fit_together, plan_members
from purely.nn.recipe import Architecture, NetworkRecipe, check_cv, check_encoder, kept_dtypes, read_settings
from purely.nn.scaling import column_scaling

__all__ = ["PRESETS", "ClassifierRecipe", "NNPUClassifier", "mean_output", "out_of_fold_output", "read_recipe"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: What the paper prints (section 5.2); what it does not print stays as it is set.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "hidden": (300, 300, 300),
        "risk": "nnpu",
        "loss": "sigmoid",
        "beta": 0.0,
        "gamma": 1.0,
        "optimizer": "adam",
        "schedule": "constant",
        "max_epochs": 200,
        "weight_decay": 0.0,
        "dropout": 0.0,
        "n_ensemble": 1,
        "early_stopping": False,
        "standardize": False,
    }
}
PRESETS["paper-text"] = {**PRESETS["paper"], "optimizer": "adagrad", "learning_rate": 0.01, "max_epochs": 300}


@dataclass(frozen=True)
class ClassifierRecipe:
    """All choices of a fit.

    Attributes
    ----------
    networks : NetworkRecipe
    validation_fraction : float
        Share of the rows that are held out to stop by; 0 where nothing is stopped early.
    n_ensemble : int
    cv : int
        Number of folds; 0 for none.
    refit : bool
        With folds, whether networks that see all rows are trained too.
    standardize : bool
    """

    networks: NetworkRecipe
    validation_fraction: float
    n_ensemble: int
    cv: int
    refit: bool
    standardize: bool

    @property
    def squared(self) -> bool:
        """Whether outputs are margins of the squared loss rather than log-odds."""
        return bool(getattr(self.networks.loss, "loss", "") == "squared")

    def plan(
        self,
        X: Any,
        positive: Mask,
        priors: ClassPriors,
        *,
        keys: Keys,
        folds: Folds | None,
        seed: int,
        mapped: bool = False,
        most_rows: int | None = None,
    ) -> StackPlan:
        """The networks of these choices for rows, their class priors and their folds."""
        loss = replace(self.networks.loss, population=priors.population, unlabelled=priors.unlabelled)  # type: ignore[type-var]
        members = plan_members(
            positive,
            keys,
            folds,
            n_ensemble=self.n_ensemble,
            validation_fraction=self.validation_fraction,
            seed=seed,
            all_rows=self.refit or folds is None,
            most_rows=most_rows,
        )
        scaling = column_scaling(X) if self.standardize else None
        return StackPlan(X, positive, replace(self.networks, loss=loss), scaling, members, mapped)


def read_recipe(parameters: Mapping[str, Any], X: Any) -> ClassifierRecipe:
    """Parameters of a classifier, checked, those of its preset in the place of its own; priors are set later."""
    from purely.nn.risks import MARGIN_LOSSES, PURisk

    preset = check_choice("preset", parameters["preset"], (None, *PRESETS))
    values = {**parameters, **(PRESETS[preset] if preset else {})}
    check_choice("calibration", values["calibration"], CALIBRATIONS)
    risk = PURisk(
        0.5,
        0.5,
        risk=check_choice("risk", values["risk"], ("nnpu", "upu", "pn")),
        loss=check_choice("loss", values["loss"], tuple(MARGIN_LOSSES)),
        beta=check_number("beta", values["beta"], 0.0),
        gamma=check_number("gamma", values["gamma"], 0.0, 1.0),
    )
    hidden, encoder = check_widths("hidden", values["hidden"]), check_encoder(values["encoder"])
    architecture = Architecture.classifier(X.shape[1], hidden)
    if encoder is not None:
        architecture = Architecture.classifier(_output_width(encoder, X), ())
    held = check_number("validation_fraction", values["validation_fraction"], 0.0, 0.9, open_low=True)
    batch_size = values["batch_size"]
    automatic = isinstance(batch_size, str) and batch_size == "auto"
    rows = 0 if automatic else check_number("batch_size", batch_size, 1, integer=True)
    return ClassifierRecipe(
        networks=NetworkRecipe(architecture, risk, read_settings(values), rows, encoder, values["device"]),
        validation_fraction=held if values["early_stopping"] else 0.0,
        n_ensemble=check_number("n_ensemble", values["n_ensemble"], 1, integer=True),
        cv=check_cv(values["cv"]),
        refit=bool(values["refit"]),
        standardize=bool(values["standardize"]),
    )


def _output_width(encoder: Any, X: Any) -> int:
    """How many outputs a module has for a row."""
    import torch

    rows = X[:2].toarray() if sp.issparse(X) else np.asarray(X[:2])
    with torch.no_grad():
        out = copy.deepcopy(encoder).cpu().float().eval()(torch.from_numpy(rows.astype(np.float32)))
    if out.ndim != 2:
        raise ValueError(f"encoder must map (rows, columns) to (rows, k); it returned the shape {tuple(out.shape)}.")
    return int(out.shape[1])


def mean_output(networks: Sequence[Any], X: Any) -> Floats:
    """Output of each row, averaged over networks."""
    return np.asarray(np.mean([by_blocks(network, X) for network in networks], axis=0), dtype=np.float64)


def out_of_fold_output(plan: StackPlan, trained: TrainedStack) -> Floats:
    """Output of each row by the networks that have not seen it."""
    output = np.full(plan.positive.size, np.nan)
    for fold in sorted({t.member.fold for t in trained.members} - {ALL_ROWS}):
        members = [t for t in trained.members if t.member.fold == fold]
        rows = members[0].member.test
        output[rows] = mean_output([t.network for t in members], plan.X[rows])
    return output


def networks_for_new_rows(trained: TrainedStack) -> list[Any]:
    """The networks that saw all rows, or those of every fold where there are none."""
    whole = [t.network for t in trained.members if t.member.fold == ALL_ROWS]
    return whole or [t.network for t in trained.members]


@dataclass(frozen=True)
class PreparedClassifier:
    """What is known before the networks are trained."""

    stack: StackPlan
    labels: PULabels
    recipe: ClassifierRecipe


@with_parameters
class NNPUClassifier(NetworkParameters, BasePUClassifier):
    r"""Non-negative PU learning with ensembles of networks.

    Multi-layer perceptrons minimise the risk of a classifier as positives, unlabelled rows and the class prior tell it;
    where the risk of the negatives becomes negative, which only overfitting can do, the step goes back [1]_:

    .. math:: \hat R = \pi \operatorname{mean}_P \ell(z) + \max\big(0, \operatorname{mean}_U \ell(-z)
        - \pi \operatorname{mean}_P \ell(-z)\big).

    The members of the ensemble, and with `cv` those of every fold, are networks of one stack, trained together;
    their outputs are averaged.

    Parameters
    ----------
    class_prior : float, "auto" or estimator, default="auto"
        p(y=1) in the population: a number strictly between 0 and 1, or an estimator with `fit` and `class_prior_`,
        which is fitted to the rows; "auto" is :class:`purely.ClassPrior`.
    hidden : sequence of int, default=(300, 300, 300)
        Widths of the hidden layers, each with batch norm and ReLU; a linear classifier where there are none.
    encoder : torch.nn.Module, optional
        Network to use instead of `hidden`, mapping (rows, columns) to (rows, k); a linear layer to one output follows.
    risk : {"nnpu", "upu", "pn"}, default="nnpu"
        The non-negative risk, the unbiased one [2]_, or that of a supervised classifier, for which rows without a
        positive label are negative.
    loss : {"sigmoid", "logistic", "squared"}, default="sigmoid"
        Margin loss :math:`\ell`, see :mod:`purely.nn.risks`.
    beta, gamma : float, default=0 and 1
        How negative the risk of the negatives may become, and the length of the step back.
    preset : {None, "paper", "paper-text"}, default=None
        The paper's settings: one network, sigmoid loss, no regularisation, Adam for 200 epochs; for text AdaGrad for
        300.
    optimizer : {"adam", "sgd", "adagrad"}, default="adam"
    learning_rate : float, default=0.001
    schedule : {"cosine", "constant"}, default="cosine"
        Whether the learning rate falls to zero along half a cosine or stays.
    weight_decay : float, default=0.001
    dropout : float, default=0.2
        Share of the inputs that are set to zero in training.
    max_epochs : int, default=40
    early_stopping : bool, default=False
        Hold out `validation_fraction` of the rows, another draw for every network, and keep the state of lowest risk
        there; training ends after `patience` epochs without a better one.
    validation_fraction : float, default=1/6
    patience : int, default=20
    tol : float, default=0
        How much lower the held-out risk has to be to be better.
    batch_size : int or "auto", default="auto"
        Rows of a minibatch, P and U in the proportion of the data; "auto" is a tenth of the rows, at least 32 and at
        most 250.
    n_ensemble : int, default=5
        Networks whose outputs are averaged.
    cv : int or None, default=None
        With a number K, K further ensembles are trained in the same stack, each on K-1 of K folds, and
        probabilities are calibrated by what they say about the rows they have not seen.
    refit : bool, default=True
        With `cv`, whether networks that see all rows are trained too. Otherwise the ensemble is that of all
        folds, which costs a fraction 1/(K+1) less and leaves each network without one fold of the rows.
    calibration : {"averaged", "isotonic", "sigmoid"}, default="averaged"
        How, see :func:`purely.calibration.calibrate_scores`. Without `cv` probabilities are what the loss makes
        of the outputs: with the sigmoid loss these are overconfident.
    threshold : float or pair of float, default=0.5
        Probability above which a row is called positive, or the costs of a false positive and a false negative.
    standardize : bool, default=True
        Scale the columns, see :func:`purely.nn.scaling.column_scaling`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    device : {"auto", "cpu", "cuda"}, default="auto"
    dtype : {"float32", "bfloat16"}, default="float32"
    checkpoint : path, optional
        File to save to every ten epochs, and to resume from where it exists.
    random_state : int, RandomState or None, default=0
    verbose : bool, default=False
        Show a progress bar with the risk.

    Attributes
    ----------
    class_prior_, unlabelled_prior_ : float
        Share of positives in the population and among the unlabelled rows.
    class_prior_interval_ : tuple of float
        The prior estimator's interval; the number itself where one was given.
    prior_estimator_ : estimator or None
        The fitted prior estimator.
    networks_ : list
        The networks behind the predictions, as NumPy arrays (modules where `encoder` is given).
    oof_score_, oof_probability_ : ndarray of shape (n,)
        Only with `cv`: output and probability of each training row by networks that have not seen it.
    history_ : History
        Risks, epoch by epoch, of every network in the stack.
    classes_ : ndarray of shape (2,)

    Notes
    -----
    `fit` takes no `sample_weight`: a stack reads minibatches of rows, P and U in the proportion of the data, and a
    minibatch in which one row has most of the weight has no risk worth a step. Draw the rows in proportion to their
    weights instead, positives and unlabelled rows apart; repeated rows cost nothing but time.

    See Also
    --------
    PUClassifier : The recommended classifier, built on this one.
    fit_together : Several of these, each on its own data, as one stack.

    References
    ----------
    .. [1] R. Kiryo, G. Niu, M. C. du Plessis, M. Sugiyama. Positive-unlabeled learning with non-negative risk
       estimator. NeurIPS, 2017.
    .. [2] M. C. du Plessis, G. Niu, M. Sugiyama. Convex formulation for learning from positive and unlabeled data.
       ICML, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from purely import stack
    >>> from purely.classifiers import NNPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal([2.0, 0.0], 1.0, size=(200, 2))
    >>> U = np.concatenate([rng.normal([2.0, 0.0], 1.0, size=(150, 2)), rng.normal([-2.0, 0.0], 1.0, size=(150, 2))])
    >>> model = NNPUClassifier(class_prior=0.5, hidden=(30,), max_epochs=10, random_state=0, device="cpu")
    >>> model.fit(*stack(P, U)).predict([[2.5, 0.0], [-2.5, 0.0]])
    array([1, 0])
    """

    class_prior: PriorParameter = field(default="auto", kw_only=False)
    hidden: Any = (300, 300, 300)
    encoder: Any = None
    risk: str = "nnpu"
    loss: str = "sigmoid"
    beta: float = 0.0
    gamma: float = 1.0
    schedule: str = "cosine"
    weight_decay: float = 1e-3
    max_epochs: int = 40
    early_stopping: bool = False
    patience: int = 20
    n_ensemble: int = 5
    cv: int | None = None
    refit: bool = True
    calibration: str = "averaged"

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,)
            1 for labelled positives, 0 for unlabelled rows.

        Returns
        -------
        self
        """
        fit_together([self], [(X, y)])
        return self

    def prepare_fit(self, X: Any, y: ArrayLike) -> PreparedClassifier:
        """Check data and parameters, find the class prior, plan the networks; see :func:`purely.fit_together`."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._start(X, y, dtype=kept_dtypes(X))
        recipe = read_recipe(self.get_params(deep=False), X)
        priors = self._resolve_prior(X, labels)
        seed = draw_seed(self.random_state)
        keys = row_keys(X, seed)
        folds = deal_folds(X, labels.positive, recipe.cv, seed, keys) if recipe.cv else None
        stack = recipe.plan(X, labels.positive, priors, keys=keys, folds=folds, seed=seed, mapped=mapped)
        return PreparedClassifier(stack, labels, recipe)

    def finish_fit(self, preparation: PreparedClassifier, trained: TrainedStack) -> None:
        """Keep of the trained networks what the classifier needs, and calibrate where there are folds."""
        trained.warn_diverged()
        self.history_ = trained.history
        self.networks_ = networks_for_new_rows(trained)
        self._squared = preparation.recipe.squared
        self._map: ScoreCalibration | None = None
        self.forget("oof_score_", "oof_probability_", "oof_table_")
        if preparation.recipe.cv:
            self.oof_score_ = out_of_fold_output(preparation.stack, trained)
            self._calibrate(preparation.labels.positive)

    def _calibrate(self, positive: Mask) -> None:
        own, rest = self.oof_score_[positive], self.oof_score_[~positive]
        self._map = calibrate_scores(own, rest, self.unlabelled_prior_, method=self.calibration)
        log_odds = self._map(self.oof_score_) + self._population_shift()
        self.oof_probability_ = expit(log_odds)
        self._note_out_of_fold(log_odds, positive)

    def _log_odds(self, X: Any) -> Floats:
        score = mean_output(self.networks_, X)
        if self._map is not None:
            return self._map(score) + self._population_shift()
        return log_odds_of_margin(score) if self._squared else score
