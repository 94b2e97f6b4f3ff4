r"""NNPUClassifier: networks trained with PU risks, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from purely._base import draw_seed
from purely.classifiers._base import BasePUClassifier, log_odds_of_margin
from purely.classifiers._calibration import ScoreCalibration, calibrate_scores
from purely.classifiers._nnpu_recipe import read_recipe
from purely.labels import PULabels
from purely.nn.scaling import column_scaling
from purely.representation._networks import _warn_diverged, by_blocks, fit_together, kept_dtypes
from purely.representation._plan import ALL_ROWS, Fit, TrainedMember, plan_members
from purely.representation._recipe import Recipe

if TYPE_CHECKING:
    from purely.nn.training import History

__all__ = ["NNPUClassifier"]

Floats = NDArray[np.float64]


class NNPUClassifier(BasePUClassifier):
    r"""Non-negative PU learning with ensembles of networks.

    Multi-layer perceptrons minimise the risk of a classifier as positives, unlabelled rows and the class prior tell it;
    where the risk of the negatives becomes negative, which only overfitting can do, the step goes back [1]_:

    .. math:: \hat R = \pi \operatorname{mean}_P \ell(z) + \max\big(0, \operatorname{mean}_U \ell(-z)
        - \pi \operatorname{mean}_P \ell(-z)\big).

    The members of the ensemble, and with `cross_fit` those of every fold, are networks of one stack, trained together;
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
    cross_fit : int, default=0
        With K of at least 2, K further ensembles are trained in the same stack, each on K-1 of K folds, and
        probabilities are calibrated by what they say about the rows they have not seen.
    refit : bool, default=True
        With `cross_fit`, whether networks that see all rows are trained too. Otherwise the ensemble is that of all
        folds, which costs a fraction 1/(K+1) less and leaves each network without one fold of the rows.
    calibration : {"averaged", "isotonic", "sigmoid"}, default="averaged"
        How, see :func:`purely.calibration.calibrate_scores`. Without `cross_fit` probabilities are what the loss makes
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
    random_state : int, RandomState or None, default=None
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
        Only with `cross_fit`: output and probability of each training row by networks that have not seen it.
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
    fit_classifiers : Several of these, each on its own data, as one stack.

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

    def __init__(
        self,
        class_prior: Any = "auto",
        *,
        hidden: Any = (300, 300, 300),
        encoder: Any = None,
        risk: str = "nnpu",
        loss: str = "sigmoid",
        beta: float = 0.0,
        gamma: float = 1.0,
        preset: str | None = None,
        optimizer: str = "adam",
        learning_rate: float = 1e-3,
        schedule: str = "cosine",
        weight_decay: float = 1e-3,
        dropout: float = 0.2,
        max_epochs: int = 40,
        early_stopping: bool = False,
        validation_fraction: float = 1 / 6,
        patience: int = 20,
        tol: float = 0.0,
        batch_size: Any = "auto",
        n_ensemble: int = 5,
        cross_fit: int = 0,
        refit: bool = True,
        calibration: str = "averaged",
        threshold: Any = 0.5,
        standardize: bool = True,
        scenario: str = "case-control",
        device: str = "auto",
        dtype: str = "float32",
        checkpoint: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.class_prior = class_prior
        self.hidden = hidden
        self.encoder = encoder
        self.risk = risk
        self.loss = loss
        self.beta = beta
        self.gamma = gamma
        self.preset = preset
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tol = tol
        self.batch_size = batch_size
        self.n_ensemble = n_ensemble
        self.cross_fit = cross_fit
        self.refit = refit
        self.calibration = calibration
        self.threshold = threshold
        self.standardize = standardize
        self.scenario = scenario
        self.device = device
        self.dtype = dtype
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

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

    def _prepare(self, X: Any, y: ArrayLike) -> tuple[Fit, PULabels]:
        """Check data and parameters, resolve the prior, and plan the networks."""
        mapped = isinstance(X, np.memmap)
        X, labels = self._start(X, y, dtype=kept_dtypes(X))
        recipe: Recipe = read_recipe(self.get_params(deep=False), X)
        priors = self._resolve_prior(X, labels)
        recipe = replace(recipe, loss=replace(recipe.loss, population=priors.population, unlabelled=priors.unlabelled))
        smallest = min(labels.n_positive, labels.n_unlabelled)
        members = plan_members(
            X,
            labels.positive,
            cross_fit=min(recipe.cross_fit, smallest),
            n_ensemble=recipe.n_ensemble,
            n_starts=1,
            validation_fraction=recipe.validation_fraction,
            seed=draw_seed(self.random_state),
        )
        if recipe.cross_fit and not self.refit:
            members = [member for member in members if member.fold != ALL_ROWS]
        scaling = column_scaling(X) if recipe.standardize else None
        return Fit(X, labels.positive, recipe, scaling, members, mapped), labels

    def _adopt(self, fit: Fit, labels: PULabels, trained: list[TrainedMember], history: History) -> None:
        """Keep of the trained networks what the classifier needs, and calibrate where there are folds."""
        finite = [t if fit.recipe.settings.keep == "best" else replace(t, held_j=t.train_j) for t in trained]
        _warn_diverged(finite)
        self.history_ = history
        whole = [t.network for t in trained if t.member.fold == ALL_ROWS]
        self.networks_ = whole or [t.network for t in trained]
        self._squared = fit.recipe.loss.loss == "squared"
        self._map: ScoreCalibration | None = None
        for name in ("oof_score_", "oof_probability_"):
            self.__dict__.pop(name, None)
        folds = sorted({t.member.fold for t in trained} - {ALL_ROWS})
        if not folds:
            return
        self.oof_score_ = np.empty(fit.positive.size)
        for fold in folds:
            members = [t for t in trained if t.member.fold == fold]
            rows = members[0].member.test
            self.oof_score_[rows] = _mean_output([t.network for t in members], fit.X[rows])
        self._calibrate(labels.positive)

    def _calibrate(self, positive: NDArray[np.bool_]) -> None:
        from scipy.special import expit

        own, rest = self.oof_score_[positive], self.oof_score_[~positive]
        found = calibrate_scores(own, rest, self.unlabelled_prior_, method=self.calibration)
        self._map = found
        self.oof_probability_ = expit(found(self.oof_score_) + self._population_shift())

    def _raw_score(self, X: Any) -> Floats:
        """Mean output of the networks at validated rows."""
        return _mean_output(self.networks_, X)

    def _log_odds(self, X: Any) -> Floats:
        score = self._raw_score(X)
        if self._map is not None:
            return self._map(score) + self._population_shift()
        return log_odds_of_margin(score) if self._squared else score


def _mean_output(networks: Sequence[Any], X: Any) -> Floats:
    """Output of each row, averaged over networks."""

    def outputs(network: Any) -> Floats:
        return by_blocks(lambda rows: network.output(network.features(rows)), X)

    return np.asarray(np.mean([outputs(network) for network in networks], axis=0), dtype=np.float64)
