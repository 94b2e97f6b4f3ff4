"""One row through a loaded model: parts that do not fit together are found at once, not at the first prediction."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from purely.persistence._errors import ModelFileError

__all__ = ["try_out"]

#: Methods that take rows of numbers, whatever the numbers are.
_METHODS = ("predict_proba", "decision_function", "density_ratio", "predict", "transform")
#: A row of more columns than this is not made up for a trial.
_WIDEST = 2**20


def try_out(model: Any) -> None:
    """Refuse a fitted model that fails on a row of zeros; models of text and categories are not tried."""
    steps = [step for _, step in model.steps] if type(model) is Pipeline else [model]
    for step in steps:
        if not _takes_numbers(step):
            continue
        width = getattr(step, "n_features_in_", None)
        if not isinstance(width, (int, np.integer)) or not 0 < width <= _WIDEST:
            continue
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                _run(step, int(width))
        except ImportError:  # what is not installed here says nothing about the file
            continue
        except Exception as error:
            raise ModelFileError(
                f"the file is damaged or forged: its {type(step).__name__} fails on a row of zeros "
                f"({type(error).__name__}: {str(error)[:200]}). Use one that purely.save has written."
            ) from None


def _takes_numbers(step: Any) -> bool:
    own = type(step).__module__.startswith("purely.") and not type(step).__module__.startswith("purely.tables")
    scaler = type(step).__module__.startswith(("sklearn.preprocessing._data", "sklearn.decomposition"))
    return own or scaler or is_classifier(step) or is_regressor(step)


def _run(step: Any, width: int) -> None:
    rows: Any = np.zeros((1, width))
    names = getattr(step, "feature_names_in_", None)
    if names is not None and len(names) != width:
        raise ValueError(f"{len(names)} names of columns for {width} columns")
    for method in _METHODS:
        if hasattr(step, method):
            getattr(step, method)(rows)
