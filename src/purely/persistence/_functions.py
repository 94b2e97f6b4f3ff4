"""Functions and types that a model may name; nothing else that can be called is ever looked up."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from purely.persistence._limits import need

__all__ = ["function_from_name", "function_name", "type_from_name", "type_name"]

_UFUNCS = "abs absolute arcsinh cbrt exp expm1 fabs isfinite isnan log log10 log1p log2 negative sign sqrt square tanh"
FUNCTIONS = (
    *(f"numpy.{name}" for name in _UFUNCS.split()),
    "numpy.asarray",
    "numpy.nan_to_num",
    "purely.prior.ratio._densify",
    "scipy.special._ufuncs.expit",
    "scipy.special._ufuncs.logit",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.utils.validation.check_array",
)
_NUMPY_TYPES = """
bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 str_ object_
number integer floating datetime64 timedelta64
"""
#: Types that parameters such as `dtype` take.
TYPES: dict[str, Any] = {
    **{f"builtins.{t.__name__}": t for t in (bool, int, float, str, object)},
    **{f"numpy.{name}": getattr(np, name) for name in _NUMPY_TYPES.split()},
}


def _resolve(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        return None


def function_name(value: Any) -> str | None:
    """The name of a function that may be stored, None for any other."""
    return next((name for name in FUNCTIONS if _resolve(name) is value), None)


def function_from_name(name: Any) -> Any:
    """The function of a stored name."""
    need(isinstance(name, str) and name in FUNCTIONS, f"the function {str(name)[:80]!r} is not one that models use")
    value = _resolve(name)
    need(value is not None, f"the function {name} does not exist in the versions installed here")
    return value


def type_name(value: type) -> str | None:
    """The name of a type that may be stored, None for any other."""
    return next((name for name, known in TYPES.items() if known is value), None)


def type_from_name(name: Any) -> type:
    """The type of a stored name."""
    need(isinstance(name, str) and name in TYPES, f"the type {str(name)[:80]!r} is not one that models use")
    found: type = TYPES[name]
    return found
