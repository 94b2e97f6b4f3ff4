"""The choices of a representation that networks learn: presets, what is "auto", and the checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from purely.checks import check_choice, check_number, check_widths
from purely.nn.recipe import Architecture, NetworkRecipe, check_cv, check_encoder, read_settings

if TYPE_CHECKING:
    from purely.nn.losses import Loss

__all__ = ["PRESETS", "RepresentationRecipe", "read_recipe"]

#: What the paper prints (section 5.2); what it does not print stays as it is set.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "hidden": (60,),
        "n_components": 20,
        "head_hidden": (),
        "loss": "squared",
        "update": "alternating",
        "optimizer": "sgd",
        "learning_rate": 0.001,
        "schedule": "constant",
        "weight_decay": 0.0005,
        "gradient_noise": 0.01,
        "dropout": 0.0,
        "clip_norm": None,
        "n_starts": 1,
        "n_ensemble": 1,
        "standardize": False,
    }
}
PRESETS["paper-text"] = {**PRESETS["paper"], "hidden": (30,), "n_components": 10}


@dataclass(frozen=True)
class RepresentationRecipe:
    """All choices of a fit.

    Attributes
    ----------
    networks : NetworkRecipe
    n_components : int
    linear : bool
        Whether the representation is a linear map.
    validation_fraction : float
    n_starts, n_ensemble : int
    cv : int
        Number of folds; 0 for none.
    standardize : bool
    """

    networks: NetworkRecipe
    n_components: int
    linear: bool
    validation_fraction: float
    n_starts: int
    n_ensemble: int
    cv: int
    standardize: bool


def read_recipe(parameters: Mapping[str, Any], n_features: int, loss_of: Callable[[str], Loss]) -> RepresentationRecipe:
    """Check the parameters of an estimator of this kind and resolve its preset and what is "auto"."""
    preset = check_choice("preset", parameters["preset"], (None, *PRESETS))
    values = {"loss": "pn", "cv": None, "encoder": None, **parameters, **(PRESETS[preset] if preset else {})}
    hidden = check_widths("hidden", values["hidden"])
    encoder = check_encoder(values["encoder"])
    linear = not hidden and encoder is None
    head = values["head_hidden"]
    automatic = isinstance(head, str) and head == "auto"
    head_hidden = ((20,) if linear else ()) if automatic else check_widths("head_hidden", head)
    settings = read_settings(values)
    loss = loss_of(values["loss"])
    n_components = check_number("n_components", values["n_components"], 1, integer=True)
    return RepresentationRecipe(
        networks=NetworkRecipe(
            Architecture.representation(n_features, hidden, n_components, head_hidden, loss.n_outputs),
            loss,
            replace(settings, dropout=0.0) if linear else settings,
            _auto_count("batch_size", values["batch_size"], 0),
            encoder,
            values["device"],
        ),
        n_components=n_components,
        linear=linear,
        validation_fraction=check_number("validation_fraction", values["validation_fraction"], 0.0, 0.9, open_low=True),
        n_starts=_auto_count("n_starts", values["n_starts"], 10 if linear else 1),
        n_ensemble=_auto_count("n_ensemble", values["n_ensemble"], 1 if linear else 5),
        cv=check_cv(values["cv"]),
        standardize=bool(values["standardize"]),
    )


def _auto_count(name: str, value: object, auto: int) -> int:
    return auto if isinstance(value, str) and value == "auto" else check_number(name, value, 1, integer=True)
