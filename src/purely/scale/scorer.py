"""One scorer for every engine: it travels to workers as a path, and each of them loads the model once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from purely.checks import check_threshold
from purely.crossfit import model_says
from purely.persistence import load

#: A data frame, a ``pyarrow.Table``, a dictionary of arrays by column or an array.
Batch: TypeAlias = Any
#: A fitted estimator, which may be a pipeline.
Model: TypeAlias = Any


@dataclass(frozen=True)
class BatchScorer:
    """A function of batches of rows: scores, probabilities and labels, in the kind of batch that was given.

    Parameters
    ----------
    model : path or fitted estimator
        What ``purely fit`` or :func:`purely.save` has written, at a path that every worker can read: a worker loads it
        once, whatever the number of batches. A fitted estimator is sent along with every batch instead.
    keep : sequence of str, default=()
        Columns that are carried to the result.
    exact : bool, default=False
        Use the whole stack where the model has a distilled form.
    threshold : float, optional
        Probability above which the label is 1; the model's by default.

    Notes
    -----
    A batch is a pandas data frame (Dask, Spark's ``mapInPandas`` through :meth:`each`, Ray), a dictionary of arrays by
    column (Ray's default) or a ``pyarrow.Table``; rows without names may be an array, which gives a
    dictionary.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from purely import PULogisticClassifier, stack
    >>> from purely.scale import BatchScorer
    >>> rng = np.random.default_rng(0)
    >>> X, y = stack(rng.normal(2, 1, (50, 1)), rng.normal(0, 1, (100, 1)))
    >>> model = PULogisticClassifier(0.3).fit(pd.DataFrame({"amount": X[:, 0]}), y)
    >>> scored = BatchScorer(model, keep=("name",))(pd.DataFrame({"name": ["a", "b"], "amount": [4.0, -4.0]}))
    >>> list(scored.columns), scored["label"].tolist()
    (['name', 'score', 'probability', 'label'], [1, 0])
    """

    model: str | os.PathLike[str] | Model
    keep: tuple[str, ...] = ()
    exact: bool = False
    threshold: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(self.keep))
        if isinstance(self.model, (str, os.PathLike)):
            path = Path(self.model).resolve()  # a worker may run in another folder
            object.__setattr__(self, "model", path)
            _loaded(path, _stamp(path))  # a file that cannot be read is found out here

    def __call__(self, batch: Batch) -> Batch:
        """Score a batch.

        Parameters
        ----------
        batch : data frame, pyarrow.Table, dict of arrays or array

        Returns
        -------
        The same kind of batch with the columns of `keep`, and score (log-odds), probability and label.
        """
        model: Model = _loaded(self.model, _stamp(self.model)) if isinstance(self.model, Path) else self.model
        steps = list(getattr(model, "steps", [("classifier", model)]))
        threshold = getattr(steps[-1][1], "threshold", 0.5) if self.threshold is None else self.threshold
        distilled = None if self.exact else getattr(steps[-1][1], "distilled_", None)
        if distilled is not None:
            model = type(model)([*steps[:-1], ("classifier", distilled)]) if hasattr(model, "steps") else distilled
        rows = _rows(model, batch, self.keep)
        log_odds = model_says(model, rows, "log-odds") if len(rows) else np.empty(0)
        probability = np.asarray(expit(log_odds))
        label = (probability > check_threshold(threshold)).astype(np.int8)
        return _like(batch, self.keep, {"score": log_odds, "probability": probability, "label": label})

    def each(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Score batches one after another, as Spark's ``mapInPandas`` asks for."""
        for batch in batches:
            yield self(batch)


@lru_cache(maxsize=4)
def _loaded(path: Path, stamp: tuple[int, int]) -> Model:
    """The model of a file, once a process; a file that was written anew is loaded anew."""
    return load(path)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0  # what is wrong with it is said where it is loaded
    return found.st_size, found.st_mtime_ns


def _rows(model: Model, batch: Batch, keep: tuple[str, ...]) -> Batch:
    """The columns that the model was trained on, as a frame; an array as it is."""
    first = model.steps[0][1] if hasattr(model, "steps") else model
    names = getattr(first, "feature_names_in_", None)
    if isinstance(batch, np.ndarray):
        return batch
    frame = _as_frame(batch)
    wanted = [str(n) for n in names] if names is not None else [n for n in frame.columns if n not in keep]
    absent = [name for name in wanted if name not in frame.columns]
    if absent:
        several = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise ValueError(f"the batch has no column {absent[0]!r}{several}, which the model was trained on.")
    chosen = frame[wanted]
    return chosen if names is not None else chosen.to_numpy()


def _as_frame(batch: Batch) -> Batch:
    if isinstance(batch, Mapping):
        import pandas as pd

        return pd.DataFrame({name: list(values) if np.ndim(values) > 1 else values for name, values in batch.items()})
    return batch.to_pandas() if hasattr(batch, "to_pandas") else batch


def _like(batch: Batch, keep: tuple[str, ...], found: dict[str, NDArray[np.generic]]) -> Batch:
    """What was found, beside the columns that are kept, as the kind of batch that was given."""
    if isinstance(batch, np.ndarray):
        return found
    if isinstance(batch, Mapping):
        return {**{name: batch[name] for name in keep}, **found}
    if hasattr(batch, "schema"):  # of pyarrow
        import pyarrow as pa

        return pa.table({**{name: batch.column(name) for name in keep}, **found})
    return batch[list(keep)].assign(**found)
