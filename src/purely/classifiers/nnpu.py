"""NNPUClassifier: networks that minimise the non-negative risk."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purely.base import check_parameters, number, one_of, parameter, with_parameters
from purely.calibration import CALIBRATIONS, ScoreCalibration
from purely.checks import check_widths, dense, draw_seed
from purely.class_prior import ClassPriors, PriorParameter
from purely.classifiers.base import BasePUClassifier, log_odds_of_margin
from purely.nn.fitted import by_blocks
from purely.nn.plan import PAPER, EnsembleRecipe, PreparedFit, StackPlan, TrainedStack, TrainsNetworks, out_of_fold
from purely.nn.recipe import Architecture, check_encoder, kept_dtypes
from purely.typing import Floats, Mask, Matrix

#: What the paper prints (section 5.2); what it does not print stays as it is set.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        **PAPER,
        "hidden": (300, 300, 300),
        "risk": "nnpu",
        "loss": "sigmoid",
        "beta": 0.0,
        "gamma": 1.0,
        "optimizer": "adam",
        "max_epochs": 200,
        "weight_decay": 0.0,
        "early_stopping": False,
    }
}
PRESETS["paper-text"] = {**PRESETS["paper"], "optimizer": "adagrad", "learning_rate": 0.01, "max_epochs": 300}


@dataclass(frozen=True)
class ClassifierRecipe(EnsembleRecipe):
    """All choices of a fit; the risk learns the class priors when the rows are known."""

    def plan(self, X: Matrix, positive: Mask, priors: ClassPriors, **options: Any) -> StackPlan:
        """The networks of these choices for rows and their class priors; options as of `stack_plan`."""
        loss = replace(self.networks.loss, population=priors.population, unlabelled=priors.unlabelled)  # type: ignore[type-var]
        return replace(self, networks=replace(self.networks, loss=loss)).stack_plan(X, positive, **options)


def read_recipe(parameters: Mapping[str, Any], X: Matrix) -> ClassifierRecipe:
    """Parameters of a classifier, checked, those of its preset in the place of its own; priors are set later."""
    from purely.nn.risks import PURisk

    values = check_parameters(NNPUClassifier, {**parameters, **PRESETS.get(parameters["preset"], {})})
    if not values["early_stopping"]:
        values["validation_fraction"] = 0.0
    risk = PURisk(0.5, 0.5, **{name: values[name] for name in ("risk", "loss", "beta", "gamma")})
    encoder = values["encoder"]
    width, hidden = (X.shape[1], values["hidden"]) if encoder is None else (_output_width(encoder, X), ())
    return ClassifierRecipe.read(values, Architecture.classifier(width, hidden), risk)


def _output_width(encoder: Any, X: Matrix) -> int:
    """How many outputs a module has for a row."""
    import torch

    rows = dense(X[:2])
    with torch.no_grad():
        out = copy.deepcopy(encoder).cpu().float().eval()(torch.from_numpy(rows.astype(np.float32)))
    if out.ndim != 2:
        raise ValueError(f"encoder must map (rows, columns) to (rows, k); it returned the shape {tuple(out.shape)}.")
    return int(out.shape[1])


def mean_output(networks: Sequence[Any], X: Matrix) -> Floats:
    """Output of each row, averaged over networks."""
    return np.asarray(np.mean([by_blocks(network, X) for network in networks], axis=0), dtype=np.float64)


@with_parameters
class NNPUClassifier(TrainsNetworks, BasePUClassifier):
    r"""Non-negative PU learning with ensembles of networks.

    Multi-layer perceptrons minimise the risk of a classifier, estimated from positives, unlabelled rows and the class
    prior. Overfitting can make the estimated risk of the negatives negative; then the step is reversed [1]_:

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
        How negative the risk of the negatives may become, and the length of the reversed step.
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
        How much lower the held-out risk has to be to count as better.
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
        How scores become probabilities, see :func:`purely.calibration.calibrate_scores`. Without `cv` the loss makes
        probabilities of the outputs; those of the sigmoid loss are too close to 0 and 1.
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
    `fit` takes no `sample_weight`: a stack reads minibatches of rows, P and U in the proportion of the data, and the
    risk of a minibatch in which one row has most of the weight says little about the other rows. Draw the rows in
    proportion to their weights instead, positives and unlabelled rows apart; repeated rows cost nothing but time.

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
    hidden: Sequence[int] = parameter(default=(300, 300, 300), check=check_widths)
    encoder: Any = parameter(default=None, check=check_encoder)
    risk: str = one_of("nnpu", "upu", "pn", default="nnpu")
    loss: str = one_of("sigmoid", "logistic", "squared", default="sigmoid")
    beta: float = number(default=0.0, low=0.0)
    gamma: float = number(default=1.0, low=0.0, high=1.0)
    schedule: str = "cosine"
    weight_decay: float = 1e-3
    max_epochs: int = 40
    early_stopping: bool = False
    cv: int | None = number(default=None, low=2, integer=True)
    refit: bool = True
    calibration: str = one_of(*CALIBRATIONS, default="averaged")

    def prepare_fit(self, X: Matrix, y: ArrayLike) -> PreparedFit:
        """Check data and parameters, find the class prior, plan the networks; see :func:`purely.fit_together`."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._start(X, y, dtype=kept_dtypes(X))
        recipe = read_recipe(self.get_params(deep=False), X)
        priors = self._resolve_prior(X, labels)
        seed = draw_seed(self.random_state)
        return PreparedFit(recipe.plan(X, labels.positive, priors, seed=seed, mapped=mapped), labels, recipe)

    def finish_fit(self, preparation: PreparedFit, trained: TrainedStack) -> None:
        """Keep of the trained networks what the classifier needs, and calibrate where there are folds."""
        trained.warn_diverged()
        self.history_ = trained.history
        self.networks_ = trained.for_new_rows()
        self._squared = getattr(preparation.stack.recipe.loss, "loss", "") == "squared"
        self._map: ScoreCalibration | None = None
        self.forget("oof_score_", "oof_probability_", "oof_table_")
        if preparation.recipe.cv:
            self.oof_score_ = out_of_fold(preparation.stack, trained.members, mean_output)
            score, positive = self.oof_score_, preparation.labels.positive
            self._map = self._calibrated(score, positive, self.calibration)
            self._note_out_of_fold(self._map(score) + self._population_shift(), positive)

    def _log_odds(self, X: Matrix) -> Floats:
        score = mean_output(self.networks_, X)
        if self._map is not None:
            return self._map(score) + self._population_shift()
        return log_odds_of_margin(score) if self._squared else score
