"""Past one machine: scoring, class priors and information of a pool that comes in parts.

The parts may be lists of arrays or, with ``pip install 'purely[dask]'``, collections of Dask. Fits themselves are split
by joblib wherever an estimator has `n_jobs`: inside ``joblib.parallel_config("dask")`` they run on a cluster. With
``pip install 'purely[onnx]'`` a classifier becomes a graph that engines without Python run.
"""

from importlib import import_module
from typing import Any

from purely.scale.frames import predict_frame, read_folder
from purely.scale.information import pool_information
from purely.scale.prior import pool_prior
from purely.scale.scorer import BatchScorer

__all__ = ["BatchScorer", "pool_information", "pool_prior", "predict_frame", "read_folder", "to_onnx"]


def __getattr__(name: str) -> Any:
    if name != "to_onnx":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module("purely.scale.onnx").to_onnx
    except ModuleNotFoundError as error:
        if error.name != "onnx":
            raise
        raise ImportError("to_onnx needs the package onnx: pip install 'purely[onnx]'.") from error
