"""save, load and describe."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import purely
from purely.files import shown
from purely.persistence import _classes, _container  # noqa: F401 - the classes are declared

from purely.persistence._fields import (  # isort: skip
    Field, Misfit, ModelFileError, ModelFileWarning, Place, Store, UnsupportedModelError, many, pairs, untrusted,
)  # fmt: skip
from purely.persistence._objects import find_trusted, write
from purely.persistence._vocabulary import MODEL, NAME

PathLike = str | os.PathLike[str]


def save(model: Any, path: PathLike) -> None:
    """Save a model to one file.

    The file holds the model's arrays as safetensors and the rest as JSON: no pickle, no code. It is written under
    another name and renamed when it is whole, so whatever happens, `path` is the old file or the new one.

    Parameters
    ----------
    model : estimator
        Any estimator of purely, fitted or not, or a scikit-learn pipeline of these. Estimators of other packages inside
        are saved too, as far as they can be taken apart; `load` then has to be told that they are trusted.
    path : path-like
        File to write, usually ``*.purely``; one that exists is replaced.

    Raises
    ------
    purely.persistence.UnsupportedModelError
        Where the model holds what a file cannot; a `TypeError` that names the place. Nothing is written then.

    Warns
    -----
    purely.persistence.ModelFileWarning
        Where the file will not load without `trusted`; the warning says what has to be named.

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
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise UnsupportedModelError(f"save takes an estimator or a pipeline; {type(model).__name__} was given.")
    store = Store()
    try:
        node = write(model, Place(store))
        # What is written can be read: the same checks run on it now.
        MODEL(node, Place(Store(dict(store.arrays), find_trusted(store.foreign))))
    except Misfit as misfit:
        raise UnsupportedModelError(f"this model cannot be put into a file: {misfit}.") from None
    libraries = {"purely": purely, "scikit-learn": sklearn, "numpy": np, "scipy": scipy}
    versions = {name: str(of.__version__) for name, of in libraries.items()} | {"python": platform.python_version()}
    document = {"versions": {"dict": versions}, "foreign": sorted(store.foreign), "model": node}
    _container.write(Path(os.fspath(path)), document, dict(store.arrays))
    if store.foreign:
        warnings.warn(
            f"this file loads only with purely.load(path, trusted={sorted(store.foreign)}), since these are not of "
            "purely; their code will run with whatever the file then holds.",
            ModelFileWarning,
            stacklevel=2,
        )


def load(path: PathLike, *, trusted: Iterable[Any] = ()) -> Any:
    """Load a model that :func:`purely.save` has written.

    Nothing in the file is run: classes are looked up in a fixed list, every number and array is checked against what
    the class allows before an object is made, and what does not fit is refused. So a file from elsewhere can do no more
    than predict badly.

    Parameters
    ----------
    path : path-like
    trusted : iterable of classes or names, default=()
        Classes and functions of other packages that the file may use, each by itself, such as
        ``["sklearn.svm.SVC"]``. Their code is run with whatever the file holds, unchecked: name them only if you know
        who wrote the file.

    Returns
    -------
    estimator
        Its predictions are those of the saved model, bit by bit, on the same versions of the libraries.

    Raises
    ------
    purely.persistence.ModelFileError
        Where the file does not exist, cannot be read, is no model file, is damaged or forged, or uses what is not
        trusted; a `ValueError`.

    Warns
    -----
    purely.persistence.ModelFileWarning
        Where the file was written with another scikit-learn than the one installed.

    See Also
    --------
    purely.save : Write such a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import purely
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     purely.save(purely.PUSMI(n_centers=20), Path(folder) / "model.purely")
    ...     model = purely.load(Path(folder) / "model.purely")
    >>> model
    PUSMI(n_centers=20)
    """
    known = find_trusted([trusted] if isinstance(trusted, (str, type)) else trusted)
    with _opened(path) as file:
        written = _said(_VERSIONS, file, "versions").get("scikit-learn", "unknown")
        if written.split(".")[:2] != sklearn.__version__.split(".")[:2]:
            warnings.warn(
                f"{shown(path, 300)} was written with scikit-learn {written[:20]}, and {sklearn.__version__} is "
                "installed: predictions may differ. Compare a few, or fit the model anew.",
                ModelFileWarning,
                stacklevel=2,
            )
        foreign = _said(_FOREIGN, file, "foreign")
        if not known.keys() >= set(foreign):
            raise untrusted(foreign)
        model = MODEL(file.document.get("model"), Place(Store(file.arrays, known)))
        if file.arrays:
            raise Misfit(f"{len(file.arrays)} arrays of it belong to nothing")
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
    foreign : tuple of str
        What has to be trusted for the file to load.
    versions : dict of str to str
        Versions of the libraries that wrote the file.
    n_bytes : int
        Size of the file.
    sha256 : str
        Checksum, which has been verified.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import purely
    >>> from purely.persistence import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     purely.save(purely.PUSMI(n_centers=20), Path(folder) / "model.purely")
    ...     found = describe(Path(folder) / "model.purely")
    >>> found.model, found.settings["n_centers"], found.fitted
    ('PUSMI', 20, False)
    """

    model: str
    steps: tuple[str, ...]
    settings: dict[str, Any]
    feature_names: tuple[str, ...] | None
    n_features: int | None
    fitted: bool
    foreign: tuple[str, ...]
    versions: dict[str, str] = field(repr=False)
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
    with _opened(path) as file:
        try:
            node = file.document["model"]
            steps = {f"{shown(name, 300)}__": step for name, step in (s["tuple"] for s in node.get("steps", []))}
            parts = {"": node, **steps}
            held = [(f"{step}{name}", value) for step, part in parts.items() for name, value in part.items()]
            classes = [shown(part.get("class", part.get("foreign")), 100) for part in parts.values()]
            columns = next((part[_NAMES]["items"] for part in parts.values() if _NAMES in part), None)
            shown_names = None if columns is None else tuple(shown(name, 300) for name in columns)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Misfit("it holds no model") from None
        settings = {name: value for name, value in held if _is_setting(name, value)}
        width = next((value for name, value in held if name.endswith("n_features_in_")), None)
        fitted, foreign = any(name.endswith("_") for name, _ in held), tuple(_said(_FOREIGN, file, "foreign"))
        of_file = foreign, _said(_VERSIONS, file, "versions"), file.n_bytes, file.sha256
        return ModelDescription(classes[0], tuple(classes[1:]), settings, shown_names, width, fitted, *of_file)


_NAMES, _FOREIGN, _VERSIONS = "feature_names_in_", many(NAME), pairs(NAME, NAME)


def _said(field: Field, file: _container.ModelFile, name: str) -> Any:
    return field(file.document.get(name), Place(Store(), name))


def _is_setting(name: str, value: Any) -> bool:
    own = name.rpartition("__")[2]
    plain = value is None or isinstance(value, (bool, int, float, str))
    return plain and own != "class" and not own.startswith("_") and not own.endswith("_")


@contextmanager
def _opened(path: PathLike) -> Iterator[_container.ModelFile]:
    """An open model file; whatever is wrong with it is said in one sentence that names it."""
    target = shown(os.fspath(path), 300)
    try:
        yield _container.read(Path(os.fspath(path)))
    except OSError as error:
        raise ModelFileError(f"{target} cannot be read: {error.strerror or error}. Check its permissions.") from None
    except Misfit as misfit:
        raise ModelFileError(f"{target} is damaged or forged: {misfit}. Use one that purely.save wrote.") from None
    except ModelFileError as error:
        raise ModelFileError(f"{target}{str(error).removeprefix('the file')}") from None
    except ModuleNotFoundError as error:
        needed = f"the model in {target} needs {error.name}, which is not installed: pip install {error.name}"
        raise ModuleNotFoundError(needed, name=error.name) from None
    except RecursionError:
        raise ModelFileError(f"{target} is nested too deeply to be a model; do not trust its source.") from None
