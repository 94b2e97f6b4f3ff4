"""The choices of a fit of networks: presets, what is "auto", and the checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from purely.representation._checks import check_choice, check_number, check_widths

if TYPE_CHECKING:
    from purely.nn.networks import Architecture
    from purely.nn.training import TrainingSettings

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

#: Of an estimator that leaves these to no one.
_FIXED: dict[str, Any] = {"loss": "pn", "cross_fit": 0, "encoder": None}


@dataclass(frozen=True)
class Recipe:
    """All choices of a fit, checked, with presets and "auto" resolved."""

    hidden: tuple[int, ...]
    n_components: int
    head_hidden: tuple[int, ...]
    loss: Any
    settings: TrainingSettings
    batch_size: int  # 0 for "auto"
    validation_fraction: float
    n_starts: int
    n_ensemble: int
    cross_fit: int
    standardize: bool
    encoder: Any = None

    def architecture(self, n_features: int) -> Architecture:
        """Shape of the networks."""
        from purely.nn.networks import Architecture

        return Architecture(n_features, self.hidden, self.n_components, self.head_hidden, self.loss.n_outputs)


def network_recipe(estimator: Any, loss_of: Any) -> Recipe:
    """Check the parameters of an estimator of this kind and resolve its preset and what is "auto"."""
    from purely.nn.training import TrainingSettings

    preset = check_choice("preset", estimator.preset, (None, *PRESETS))
    values = {**_FIXED, **estimator.get_params(deep=False), **(PRESETS[preset] if preset else {})}
    hidden = check_widths("hidden", values["hidden"])
    linear = not hidden and values["encoder"] is None
    head = values["head_hidden"]
    head_hidden = (
        ((20,) if linear else ()) if isinstance(head, str) and head == "auto" else check_widths("head_hidden", head)
    )
    clip = values["clip_norm"]
    dropout = check_number("dropout", values["dropout"], 0.0, 0.95)
    settings = TrainingSettings(
        optimizer=check_choice("optimizer", values["optimizer"], ("adam", "sgd", "adagrad")),
        learning_rate=check_number("learning_rate", values["learning_rate"], 0.0, open_low=True),
        schedule=check_choice("schedule", values["schedule"], ("constant", "cosine")),
        update=check_choice("update", values["update"], ("joint", "alternating")),
        weight_decay=check_number("weight_decay", values["weight_decay"], 0.0),
        gradient_noise=check_number("gradient_noise", values["gradient_noise"], 0.0),
        clip_norm=None if clip is None else check_number("clip_norm", clip, 0.0, open_low=True),
        dropout=0.0 if linear else dropout,
        max_epochs=check_number("max_epochs", values["max_epochs"], 1, integer=True),
        patience=check_number("patience", values["patience"], 1, integer=True),
        tol=check_number("tol", values["tol"], 0.0),
        keep="best" if values["early_stopping"] else "last",
        dtype=check_choice("dtype", values["dtype"], ("float32", "bfloat16")),
        verbose=bool(values["verbose"]),
        checkpoint=values["checkpoint"],
    )
    cross_fit = check_number("cross_fit", values["cross_fit"], 0, integer=True)
    if cross_fit == 1:
        raise ValueError("cross_fit must be 0, for none, or the number of folds, at least 2; 1 was given.")
    return Recipe(
        hidden=hidden,
        n_components=check_number("n_components", values["n_components"], 1, integer=True),
        head_hidden=head_hidden,
        loss=loss_of(values["loss"]),
        settings=settings,
        batch_size=_auto_count("batch_size", values["batch_size"], 0),
        validation_fraction=check_number("validation_fraction", values["validation_fraction"], 0.0, 0.9, open_low=True),
        n_starts=_auto_count("n_starts", values["n_starts"], 10 if linear else 1),
        n_ensemble=_auto_count("n_ensemble", values["n_ensemble"], 1 if linear else 5),
        cross_fit=cross_fit,
        standardize=bool(values["standardize"]),
        encoder=_check_encoder(values["encoder"]),
    )


def _auto_count(name: str, value: Any, auto: int) -> int:
    return auto if isinstance(value, str) and value == "auto" else check_number(name, value, 1, integer=True)


def _check_encoder(encoder: Any) -> Any:
    if encoder is None:
        return None
    from torch import nn

    if not isinstance(encoder, nn.Module):
        raise TypeError(f"encoder must be None or a torch.nn.Module; {type(encoder).__name__} was given.")
    return encoder
