"""The members of PUClassifier: which there are, and what each is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from purely.class_prior import PriorParameter
from purely.classifiers.logistic import PULogisticClassifier
from purely.classifiers.nnpu import ClassifierRecipe, NNPUClassifier, read_recipe
from purely.crossfit import scores_rows
from purely.prior.auto import ClassPrior
from purely.prior.ratio import AUTO_MODELS, MODEL_NAMES, built_in
from purely.typing import Estimator, Floats, Mask, Matrix

#: Members that are logistic regressions of the class, and what they describe rows by.
LOGISTIC = {"logistic": "linear", "kernel-logistic": "gaussian"}
#: What `members` takes: a name, or a list of names and of classifiers.
Members: TypeAlias = str | Sequence[str | Estimator]
#: Members by name.
NAMES = ("networks", *LOGISTIC, *MODEL_NAMES)
#: What "auto" stands for, in a table of few columns and in a wide one; chosen by `experiments/promises.py`. Networks
#: add nothing to the others up to NETWORK_COLUMNS; beyond (images, texts, many categories) they do.
TABLE_MEMBERS = ("trees", "forest", "boosting", *LOGISTIC)
WIDE_MEMBERS = ("networks", *TABLE_MEMBERS)
NETWORK_COLUMNS = 64
#: What "light" stands for: models that the class prior has fitted in every fold already, and the cheapest other one.
LIGHT_MEMBERS = ("trees", "boosting", "kernel", "logistic")
#: How the member "networks" differs from NNPUClassifier's own settings. Width 300 and 30 networks gave the same error
#: within .1 points on the rows for choosing (`experiments/classifier_choice.py`) with over ten times the arithmetic.
NETWORK_SETTINGS: dict[str, Any] = {"hidden": (100, 100, 100), "n_ensemble": 3, "refit": False}
#: Class prior below which their loss is the logistic one: the sigmoid loss is bounded, so a network that calls all rows
#: negative has almost nothing to gain from the few positives. At priors .03, .1 and .2 the networks alone then rank
#: better (AUC .974 against .972, at .03 .977 against .972); averaged with the ratio, both losses do the same
#: (`experiments/results/classifier_choice_rare.csv`).
RARE = 0.2


@dataclass(frozen=True)
class Member:
    """One member before it is fitted.

    Attributes
    ----------
    name : str
    prototype : estimator or None
        What is cloned and fitted to 1 for positives and 0 for unlabelled rows; None for the networks, which are trained
        as one stack.
    """

    name: str
    prototype: Any


def read_members(given: Members, n_features: int) -> list[str | Estimator]:
    """The members that are asked for: names, or estimators with settings of their own."""
    named = {"auto": WIDE_MEMBERS if n_features >= NETWORK_COLUMNS else TABLE_MEMBERS, "light": LIGHT_MEMBERS}
    members = named.get(given, given) if isinstance(given, str) else given
    listed = isinstance(members, Sequence) and not isinstance(members, str) and len(members) > 0
    models = [m for m in members if not isinstance(m, str)] if listed else []
    right = all(hasattr(m, "fit") and not isinstance(m, type) and scores_rows(m) for m in models)
    if not listed or not right or not {m for m in members if isinstance(m, str)} <= {*NAMES}:
        raise ValueError(
            f"members must be 'auto', 'light' or a list of {', '.join(map(repr, NAMES))} and classifiers with fit and "
            f"predict_proba or decision_function; {given!r} was given."
        )
    if sum(_is_networks(m) for m in members) > 1:
        raise ValueError("members may hold networks once only; raise n_ensemble of one NNPUClassifier instead.")
    return list(members)


def _is_networks(member: object) -> bool:
    return isinstance(member, NNPUClassifier) or (isinstance(member, str) and member == "networks")


def make_members(asked: Sequence[str | Estimator], X: Matrix, share: float, seed: int) -> list[Member]:
    """Prototypes for rows like `X`, of which a `share` of the unlabelled ones are positive."""
    members: list[Member] = []
    for member in asked:
        prototype: Any = None
        name = member if isinstance(member, str) else type(member).__name__
        if _is_networks(member):
            name = "networks"
        elif isinstance(member, PULogisticClassifier):
            name, prototype = "logistic", member.settings(share, seed)
        elif not isinstance(member, str):
            prototype = clone(member)
        elif member in LOGISTIC:
            prototype = PULogisticClassifier(basis=LOGISTIC[member]).settings(share, seed)
        else:
            prototype = built_in(member, X.shape[0], X.shape[1], sparse=sp.issparse(X), seed=seed)
        taken = sum(m.name == name or m.name.startswith(f"{name}-") for m in members)
        members.append(Member(f"{name}-{taken + 1}" if taken else name, prototype))
    return members


def known_scores(estimator: Estimator | None, class_prior: PriorParameter) -> dict[str, Floats | None]:
    """Out-of-fold scores that the recommended class prior has found on the same folds, by member."""
    if isinstance(estimator, ClassPrior) and isinstance(class_prior, str):  # the one that "auto" made
        return dict(zip(AUTO_MODELS, estimator.model_scores_, strict=True))
    return {}


def fit_member(member: Member, X: Matrix, positive: Mask) -> Any:
    """The member's model of rows."""
    return clone(member.prototype, safe=False).fit(X, positive.astype(np.intp))


def network_recipe(asked: Sequence[str | Estimator], classifier: Any, X: Matrix) -> ClassifierRecipe:
    """Choices of the member "networks" within a classifier whose class prior is known."""
    member = next(m for m in asked if _is_networks(m))
    if isinstance(member, str):
        loss = "logistic" if classifier.class_prior_ < RARE else "sigmoid"
        member = NNPUClassifier(**NETWORK_SETTINGS, loss=loss)
    shared = {name: getattr(classifier, name) for name in ("checkpoint", "calibration", "device", "verbose", "cv")}
    return read_recipe({**member.get_params(deep=False), **shared}, X)
