"""How the networks of NNPUClassifier are made and trained: presets, and parameters read into a recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from purely.classifiers._calibration import CALIBRATIONS
from purely.representation._checks import check_choice, check_number, check_widths
from purely.representation._recipe import Recipe

if TYPE_CHECKING:
    from purely.nn.networks import Architecture

__all__ = ["PRESETS", "ClassifierRecipe", "read_recipe"]

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
class ClassifierRecipe(Recipe):
    """All choices of a fit; every hidden layer is normalised and rectified, also where there is one only."""

    def architecture(self, n_features: int) -> Architecture:
        """Shape of the networks: hidden layers, then one output."""
        from purely.nn.networks import Architecture, Layer

        class Plain(Architecture):
            @property
            def encoder(self) -> tuple[Layer, ...]:
                return self._hidden_layers((self.n_features, *self.hidden, self.n_components))

        kind = Architecture if self.n_components == 1 and not self.hidden else Plain
        return kind(n_features, self.hidden, self.n_components, (), 1)


def read_recipe(parameters: dict[str, Any], X: Any) -> ClassifierRecipe:
    """Parameters of a classifier, checked, those of its preset in the place of its own; priors are set later."""
    from purely.nn.risks import MARGIN_LOSSES, PURisk
    from purely.nn.training import TrainingSettings

    preset = check_choice("preset", parameters["preset"], (None, *PRESETS))
    values = {**parameters, **(PRESETS[preset] if preset else {})}
    hidden = check_widths("hidden", values["hidden"])
    check_choice("calibration", values["calibration"], CALIBRATIONS)
    early = bool(values["early_stopping"])
    held = check_number("validation_fraction", values["validation_fraction"], 0.0, 0.9, open_low=True)
    batch_size = values["batch_size"]
    risk = PURisk(
        0.5,
        0.5,
        risk=check_choice("risk", values["risk"], ("nnpu", "upu", "pn")),
        loss=check_choice("loss", values["loss"], tuple(MARGIN_LOSSES)),
        beta=check_number("beta", values["beta"], 0.0),
        gamma=check_number("gamma", values["gamma"], 0.0, 1.0),
    )
    settings = TrainingSettings(
        optimizer=check_choice("optimizer", values["optimizer"], ("adam", "sgd", "adagrad")),
        learning_rate=check_number("learning_rate", values["learning_rate"], 0.0, open_low=True),
        schedule=check_choice("schedule", values["schedule"], ("cosine", "constant")),
        weight_decay=check_number("weight_decay", values["weight_decay"], 0.0),
        dropout=check_number("dropout", values["dropout"], 0.0, 0.95),
        max_epochs=check_number("max_epochs", values["max_epochs"], 1, integer=True),
        patience=check_number("patience", values["patience"], 1, integer=True),
        tol=check_number("tol", values["tol"], 0.0),
        keep="best" if early else "last",
        dtype=check_choice("dtype", values["dtype"], ("float32", "bfloat16")),
        verbose=bool(values["verbose"]),
        checkpoint=values["checkpoint"],
    )
    cross_fit = check_number("cross_fit", values["cross_fit"], 0, integer=True)
    if cross_fit == 1:
        raise ValueError("cross_fit must be 0, for none, or the number of folds, at least 2; 1 was given.")
    width = hidden[-1] if hidden else 1
    return ClassifierRecipe(
        hidden=hidden[:-1],
        n_components=width if values["encoder"] is None else _output_width(values["encoder"], X),
        head_hidden=(),
        loss=risk,
        settings=settings,
        batch_size=0 if batch_size == "auto" else check_number("batch_size", batch_size, 1, integer=True),
        validation_fraction=held if early else 0.0,
        n_starts=1,
        n_ensemble=check_number("n_ensemble", values["n_ensemble"], 1, integer=True),
        cross_fit=cross_fit,
        standardize=bool(values["standardize"]),
        encoder=values["encoder"],
    )


def _output_width(encoder: Any, X: Any) -> int:
    """How many outputs a module has for a row."""
    import copy

    import torch
    from torch import nn

    if not isinstance(encoder, nn.Module):
        raise TypeError(f"encoder must be None or a torch.nn.Module; {type(encoder).__name__} was given.")
    rows = X[:2].toarray() if sp.issparse(X) else np.asarray(X[:2])
    with torch.no_grad():
        out = copy.deepcopy(encoder).cpu().float().eval()(torch.from_numpy(rows.astype(np.float32)))
    if out.ndim != 2:
        raise ValueError(f"encoder must map (rows, columns) to (rows, k); it returned the shape {tuple(out.shape)}.")
    return int(out.shape[1])
