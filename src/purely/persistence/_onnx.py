"""Export of fitted networks to ONNX, so that other runtimes can score."""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from purely.persistence._errors import UnsupportedModelError

if TYPE_CHECKING:
    from torch import nn

__all__ = ["export_onnx"]

_CAN = (
    "PURL, PNRL, NNPUClassifier, PUClassifier of members=['networks'], and pipelines of StandardScaler, MinMaxScaler, "
    "MaxAbsScaler, RobustScaler, PCA and these"
)


def export_onnx(model: Any, path: str | os.PathLike[str], *, dtype: str = "float32") -> tuple[str, ...]:
    """Write a fitted network model as an ONNX graph, with any number of rows as its input.

    The input ``x`` has the columns that the model was fitted to, not scaled. The outputs are

    - ``features`` and ``density_ratio`` of :class:`purely.PURL`, ``features`` of :class:`purely.PNRL`;
    - ``score``, the networks' mean output, and ``probabilities``, shape (n, 2), of :class:`purely.NNPUClassifier` and
      of a :class:`purely.PUClassifier` of networks alone; calibration is part of the graph.

    Parameters
    ----------
    model : PURL, PNRL, NNPUClassifier, PUClassifier or Pipeline
        A pipeline may scale, project (PCA, PURL, PNRL) and end in one of these.
    path : path-like
        File to write, usually ``*.onnx``; one that exists is replaced when the new one is whole.
    dtype : {"float32", "float64"}, default="float32"
        Type of input and outputs, and of the arithmetic. Predictions here are float64; a float32 graph agrees with them
        to about six digits where columns are of moderate size, a float64 graph to about eight.

    Returns
    -------
    tuple of str
        Names of the outputs.

    Raises
    ------
    purely.persistence.UnsupportedModelError
        Where the model is not made of networks alone.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import purely
    >>> from purely.persistence import export_onnx
    >>> rng = np.random.default_rng(0)
    >>> X, y = purely.stack(rng.normal(1, 1, (50, 2)), rng.normal(0, 1, (90, 2)))
    >>> model = purely.PURL(2, max_epochs=2, device="cpu", random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, Path(folder) / "ratio.onnx")
    ('features', 'density_ratio')
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64'; {dtype!r} was given.")
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
        import torch
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"export_onnx needs {error.name}, which is not installed: pip install 'purely[onnx]'.", name=error.name
        ) from None
    kind = getattr(torch, dtype)
    before, last = _split(model)
    for step in (*before, last):
        check_is_fitted(step)
    from purely.persistence._onnx_graph import Chain

    answers, names = _answers(last, kind)
    graph = Chain([_transformer(step, kind) for step in before], answers).eval()
    rows = torch.ones((2, int((*before, last)[0].n_features_in_)), dtype=kind)
    _write(graph, rows, Path(os.fspath(path)), names)
    return names


def _write(graph: nn.Module, rows: Any, path: Path, names: tuple[str, ...]) -> None:
    """Export to a temporary name, then rename."""
    import torch

    handle, part = tempfile.mkstemp(prefix=f".{path.name[:80]}.", suffix=".part", dir=path.parent)
    os.close(handle)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), _quiet():  # the exporter talks about itself
            warnings.simplefilter("ignore")
            torch.onnx.export(
                graph,
                (rows,),
                part,
                dynamo=True,
                input_names=["x"],
                output_names=list(names),
                dynamic_shapes=({0: torch.export.Dim("rows")},),
                external_data=False,
                verbose=False,
            )
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


@contextmanager
def _quiet() -> Iterator[None]:
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _split(model: Any) -> tuple[list[Any], Any]:
    """Transformers and the last step of a model."""
    if not isinstance(model, Pipeline):
        return [], model
    steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
    if not steps:
        raise _unsupported(model)
    return steps[:-1], steps[-1]


def _answers(model: Any, dtype: Any) -> tuple[list[nn.Module], tuple[str, ...]]:
    """Modules of a model's outputs, and the outputs' names."""
    from purely.classifiers import NNPUClassifier, PUClassifier
    from purely.persistence import _onnx_graph as graph
    from purely.representation import PNRL, PURL

    if isinstance(model, PURL):
        return [graph.Representation(model, dtype), graph.Ratio(model, dtype)], ("features", "density_ratio")
    if isinstance(model, PNRL):
        return [graph.Representation(model, dtype)], ("features",)
    if isinstance(model, NNPUClassifier):
        return _classifier(model, _own_log_odds(model), dtype)
    if isinstance(model, PUClassifier) and all(isinstance(models, str) for models, _ in model._maps):
        return _classifier(model.networks_member_, _joint_log_odds(model), dtype)
    raise _unsupported(model)


def _classifier(networks: Any, log_odds: Any, dtype: Any) -> tuple[list[nn.Module], tuple[str, ...]]:
    from purely.persistence import _onnx_graph as graph

    score = graph.NetworkScore(networks.networks_, dtype, average=True)
    return [graph.Probability(score, log_odds, dtype)], ("score", "probabilities")


def _own_log_odds(model: Any) -> Any:
    import torch

    from purely.classifiers._base import MARGIN_EPS
    from purely.persistence._onnx_graph import Calibration

    if model._map is not None:
        calibration, shift = Calibration(model._map), model._population_shift()
        return lambda score: calibration(score) + shift
    if not model._squared:
        return lambda score: score

    def of_margin(score: Any) -> Any:
        inside = torch.clamp(score, -1.0 + MARGIN_EPS, 1.0 - MARGIN_EPS)
        beyond = score - inside
        return torch.log(1.0 + inside) - torch.log(1.0 - inside) + beyond / (1.0 + torch.abs(beyond))

    return of_margin


def _joint_log_odds(model: Any) -> Any:
    from purely.persistence._onnx_graph import Calibration

    own, final, shift = Calibration(model._maps[0][1]), Calibration(model._final), model._population_shift()
    return lambda score: final(own(score)) + shift


def _transformer(step: Any, dtype: Any) -> nn.Module:
    """A scaler, projection or representation as a module."""
    from purely.persistence import _onnx_graph as graph
    from purely.representation import PNRL, PURL

    if isinstance(step, (PURL, PNRL)):
        return graph.Representation(step, dtype)
    name = f"{type(step).__module__.split('.')[0]}.{type(step).__name__}"
    width = int(step.n_features_in_)
    one, zero = np.ones(width), np.zeros(width)
    if name == "sklearn.StandardScaler" or name == "sklearn.RobustScaler":
        centre = step.mean_ if name.endswith("StandardScaler") and step.with_mean else getattr(step, "center_", None)
        scale = one if step.scale_ is None else step.scale_
        return graph.Affine(1.0 / scale, zero if centre is None else -centre / scale, dtype)
    if name == "sklearn.MaxAbsScaler":
        return graph.Affine(1.0 / step.scale_, zero, dtype)
    if name == "sklearn.MinMaxScaler" and not step.clip:
        return graph.Affine(step.scale_, step.min_, dtype)
    if name == "sklearn.PCA":
        scale = np.sqrt(step.explained_variance_) if step.whiten else np.ones(step.n_components_)
        weights = step.components_.T / scale
        return graph.Affine(weights, -step.mean_ @ weights, dtype)
    raise _unsupported(step)


def _unsupported(model: Any) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{type(model).__name__} cannot be written as an ONNX graph; export_onnx writes {_CAN}. For others there is "
        "purely.save."
    )
