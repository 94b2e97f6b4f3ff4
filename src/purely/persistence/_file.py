"""save, load and describe."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from purely.persistence import _container
from purely.persistence._decode import Decoder
from purely.persistence._encode import Encoder
from purely.persistence._errors import ModelFileError, ModelFileWarning, UnsupportedModelError
from purely.persistence._limits import need
from purely.persistence._probe import try_out

__all__ = ["ModelDescription", "describe", "load", "save"]

PathLike = str | os.PathLike[str]


def save(model: Any, path: PathLike) -> None:
    """Save a model to one file.

    The file holds the model's arrays as safetensors and the rest as JSON: no pickle, no code. It is written under
    another name and renamed when it is whole, so whatever happens, `path` is the old file or the new one.

    Parameters
    ----------
    model : estimator
        Any estimator of purely, fitted or not, or a scikit-learn pipeline of these and of scikit-learn's own usual
        transformers and classifiers.
    path : path-like
        File to write, usually ``*.purely``; one that exists is replaced.

    Raises
    ------
    purely.persistence.UnsupportedModelError
        Where the model holds something else; a `TypeError` that names the place. Nothing is written then.

    See Also
    --------
    purely.load : Read it again.
    purely.persistence.describe : What is in a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import purely
    >>> rng = np.random.default_rng(0)
    >>> X, y = purely.stack(rng.normal(1, 1, (50, 2)), rng.normal(0, 1, (90, 2)))
    >>> model = purely.PUSMI(n_centers=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "information.purely"
    ...     purely.save(model, path)
    ...     again = purely.load(path)
    >>> bool(np.all(again.density_ratio(X) == model.density_ratio(X)))
    True
    """
    from purely import __version__

    target = Path(os.fspath(path))
    encoder = Encoder()
    tree = encoder.encode(model)
    if not (isinstance(tree, dict) and tree.get("kind") == "object"):
        raise UnsupportedModelError(f"save takes an estimator or a pipeline; {type(model).__name__} was given.")
    document = {
        "versions": {
            "purely": __version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
        },
        "model": tree,
    }
    _container.write(target, document, encoder.tensors)


def load(path: PathLike) -> Any:
    """Load a model that :func:`purely.save` has written.

    Nothing in the file is run: classes are looked up in a fixed list and made without their constructors, every array
    and index is checked, and what does not fit is refused. So a file from elsewhere can do no more than predict badly.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    estimator
        Its predictions are those of the saved model, bit by bit, on the same versions of the libraries.

    Raises
    ------
    purely.persistence.ModelFileError
        Where the file does not exist, cannot be read, is no model file, or is damaged or forged; a `ValueError`.

    Warns
    -----
    purely.persistence.ModelFileWarning
        Where the file was written with another scikit-learn than the one installed.

    See Also
    --------
    purely.save : Write such a file; an example is there.
    """
    target = Path(os.fspath(path))
    with _naming(target):
        return _load(target)


def _load(target: Path) -> Any:
    document, tensors, _ = _container.read(target)
    versions = _versions(document)
    other = _other_sklearn(versions)
    decoder = Decoder(tensors, fill=other)
    need("model" in document and isinstance(document["model"], dict), "it holds no model")
    need(document["model"].get("kind") == "object", "what it holds is no estimator")
    if other:
        warnings.warn(
            f"{target} was written with scikit-learn {versions.get('scikit-learn')}, and {sklearn.__version__} is "
            "installed: predictions may differ. Compare a few, or fit and save the model anew.",
            ModelFileWarning,
            stacklevel=3,
        )
    try:
        model = decoder.finish(document["model"])
        try_out(model)
    except (ModelFileError, ModuleNotFoundError):
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, MemoryError, RecursionError) as error:
        raise ModelFileError(
            f"the file is damaged or forged: its parts do not fit together ({type(error).__name__}: {error}). "
            "Use one that purely.save has written."
        ) from None
    return model


@dataclass(frozen=True)
class ModelDescription:
    """What is in a model file.

    Attributes
    ----------
    model : str
        Name of the model's class.
    steps : tuple of str
        Classes of the steps, where the model is a pipeline.
    settings : dict
        Parameters of the model that are plain values; of a pipeline's steps as ``step__parameter``.
    feature_names : tuple of str or None
        Names of the columns that the model was fitted to, where it knows them.
    n_features : int or None
        Number of these columns.
    fitted : bool
        Whether the model has been fitted.
    versions : dict of str to str
        Versions of the libraries that wrote the file.
    schema : int
        Version of the file's layout.
    n_arrays, n_bytes : int
        Arrays in the file, and its size.
    sha256 : str
        Checksum, which has been verified.
    """

    model: str
    steps: tuple[str, ...]
    settings: dict[str, Any]
    feature_names: tuple[str, ...] | None
    n_features: int | None
    fitted: bool
    versions: dict[str, str] = field(repr=False)
    schema: int = field(repr=False)
    n_arrays: int = field(repr=False)
    n_bytes: int = field(repr=False)
    sha256: str = field(repr=False)


def describe(path: PathLike) -> ModelDescription:
    """What is in a model file, without making the model of it.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ModelDescription

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import purely
    >>> from purely.persistence import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "prior.purely"
    ...     purely.save(purely.prior.KernelMeanPrior(random_state=0), path)
    ...     found = describe(path)
    >>> found.model, found.settings["random_state"], found.fitted
    ('KernelMeanPrior', 0, False)
    """
    target = Path(os.fspath(path))
    with _naming(target):
        return _describe(target)


def _describe(target: Path) -> ModelDescription:
    document, tensors, size = _container.read(target)
    node = document.get("model")
    need(isinstance(node, dict) and isinstance(node.get("state"), dict), "it holds no model")
    assert isinstance(node, dict)
    steps = _steps(node)
    settings = _settings(node)
    for name, step in steps:
        settings.update({f"{name}__{k}": v for k, v in _settings(step).items()})
    first = steps[0][1] if steps else node
    names = _feature_names(node) or _feature_names(first)
    n_features = next((n["state"]["n_features_in_"] for n in (node, first) if "n_features_in_" in n["state"]), None)
    return ModelDescription(
        model=_short(node),
        steps=tuple(_short(step) for _, step in steps),
        settings=settings,
        feature_names=names,
        n_features=n_features if type(n_features) is int else None,
        fitted=any(k.endswith("_") and not k.startswith("_") for _, n in [("", node), *steps] for k in n["state"]),
        versions=_versions(document),
        schema=document["schema"],
        n_arrays=len(tensors),
        n_bytes=size,
        sha256=document["sha256"],
    )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in what is said about it."""
    try:
        yield
    except ModelFileError as error:
        words = str(error)
        if not words.startswith("the file "):
            raise
        raise ModelFileError(f"{path}{words.removeprefix('the file')}") from None


def _short(node: dict[str, Any]) -> str:
    return str(node.get("class")).rpartition(".")[2]


def _label(node: dict[str, Any]) -> str:
    return _short(node) if "class" in node else str(node.get("kind"))


def _steps(node: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Names and nodes of the steps of a pipeline."""
    steps = node["state"].get("steps") if node.get("class") == "sklearn.pipeline.Pipeline" else None
    found = []
    for step in steps if isinstance(steps, list) else []:
        pair = step.get("items") if isinstance(step, dict) else None
        name, held = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        if isinstance(name, str) and isinstance(held, dict) and isinstance(held.get("state"), dict):
            found.append((name, held))
    return found


def _settings(node: dict[str, Any]) -> dict[str, Any]:
    """Parameters that are plain values; others by their class."""
    found = {}
    for name, value in sorted(node["state"].items()):
        if name.endswith("_") or name.startswith("_") or name == "steps":
            continue
        if isinstance(value, dict):
            found[name] = value.get("value", value.get("items", value.get("name", _label(value))))
        else:
            found[name] = value
    return found


def _feature_names(node: dict[str, Any]) -> tuple[str, ...] | None:
    value = node["state"].get("feature_names_in_")
    items = value.get("items") if isinstance(value, dict) else None
    return tuple(map(str, items)) if isinstance(items, list) else None


def _versions(document: dict[str, Any]) -> dict[str, str]:
    versions = document.get("versions")
    right = isinstance(versions, dict) and all(isinstance(v, str) for v in versions.values())
    need(right, "it does not say with which versions it was written")
    return dict(versions or {})


def _other_sklearn(versions: dict[str, str]) -> bool:
    return versions.get("scikit-learn", "").split(".")[:2] != sklearn.__version__.split(".")[:2]
