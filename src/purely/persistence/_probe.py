"""One row through a loaded model: parts that do not fit together are found at once, not at the first prediction."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import FeatureUnion, Pipeline

from purely.persistence._errors import ModelFileError

__all__ = ["try_out"]

#: Methods that take rows of numbers, whatever the numbers are.
_METHODS = ("predict_proba", "decision_function", "density_ratio", "predict", "transform")
#: A row of more columns than this is not made up for a trial.
_WIDEST = 2**20
#: Transformers that any row of ones goes through, whatever they were fitted to.
_TRANSFORMERS = (
    "sklearn.decomposition",
    "sklearn.feature_extraction.text",
    "sklearn.feature_selection",
    "sklearn.kernel_approximation",
    "sklearn.preprocessing._data",
    "sklearn.random_projection",
)


def try_out(model: Any) -> None:
    """Refuse a fitted model that fails on a row of ones, or on one word; models of tables are not tried as a whole."""
    steps = [step for _, step in model.steps] if type(model) is Pipeline else [model]
    if all(_takes_any(step) and _row_for(step) is not None for step in steps):
        _ask(model, _row_for(steps[0]))
        return
    for step in steps:
        row = _row_for(step) if _takes_any(step) else None
        if row is not None:
            _ask(step, row)


def _ask(model: Any, row: Any) -> None:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for method in _METHODS:
                if hasattr(model, method):
                    getattr(model, method)(row)
    except ImportError:  # what is not installed here says nothing about the file
        return
    except Exception as error:
        words = str(error).strip().splitlines() or [""]
        raise ModelFileError(
            f"the file is damaged or forged: its {type(model).__name__} cannot answer for a row of ones "
            f"({type(error).__name__}: {words[0][:200]}). Use one that purely.save has written."
        ) from None


def _takes_any(step: Any) -> bool:
    """Whether a step has to be able to answer for any row of its width."""
    module, name = type(step).__module__, type(step).__name__
    if type(step) is FeatureUnion:
        return all(_takes_any(part) for _, part in step.transformer_list)
    if module.startswith("purely."):
        return not module.startswith("purely.tables")
    if name == "FunctionTransformer":
        return step.func is None or isinstance(step.func, np.ufunc)
    if name == "IsotonicRegression":  # may be set to refuse what lies outside the range of its rows
        return False
    return module.startswith(_TRANSFORMERS) or is_classifier(step) or is_regressor(step)


def _row_for(step: Any) -> Any:
    """A row to try a fitted step with; None where there is none to be made up."""
    if hasattr(step, "vocabulary_"):
        return ["word"] if getattr(step, "input", None) == "content" else None
    width = getattr(step, "n_features_in_", None)
    if not isinstance(width, (int, np.integer)) or not 0 < width <= _WIDEST:
        return None
    names = getattr(step, "feature_names_in_", None)
    if names is not None and len(names) != width:
        raise ModelFileError(
            f"the file is damaged or forged: {len(names)} names of columns for {width} columns. Use one that "
            "purely.save has written."
        )
    return np.ones((1, int(width)))
