"""Dask data frames: read from a folder, and scored."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from purely.scale.scorer import BatchScorer, Model

#: A data frame of Dask; its parts are of pandas.
DaskFrame: TypeAlias = Any


def predict_frame(
    frame: DaskFrame,
    model: Model,
    *,
    keep: Sequence[str] = (),
    exact: bool = False,
    threshold: float | None = None,
) -> DaskFrame:
    """Score a Dask data frame, partition by partition; nothing is computed yet.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    model : path or fitted estimator
        See :class:`BatchScorer`.
    keep : sequence of str, default=()
        Columns that are carried to the result.
    exact : bool, default=False
        Use the whole stack where the model has a distilled form.
    threshold : float, optional
        Probability above which the label is 1; the model's by default.

    Returns
    -------
    dask.dataframe.DataFrame
        The columns of `keep`, and score, probability and label; partitions and index as they were.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import numpy as np, pandas as pd
    >>> from purely import stack
    >>> from purely.classifiers import PULogisticClassifier
    >>> from purely.scale import predict_frame
    >>> rng = np.random.default_rng(0)
    >>> P, U = (pd.DataFrame(rng.normal(m, 1, (200, 2)), columns=["a", "b"]) for m in (2, 0))
    >>> model = PULogisticClassifier(0.3).fit(*stack(P, U))
    >>> scored = predict_frame(dd.from_pandas(U, npartitions=2), model, keep=["a"])
    >>> list(scored.columns), len(scored)
    (['a', 'score', 'probability', 'label'], 200)
    """
    scorer = BatchScorer(model, tuple(keep), exact, threshold)
    absent = [name for name in keep if name not in frame.columns]
    if absent:
        raise ValueError(f"the frame has no column {absent[0]!r} to keep.")
    empty = np.empty(0)
    meta = frame._meta[list(keep)].assign(score=empty, probability=empty, label=empty.astype(np.int8))
    return frame.map_partitions(scorer, meta=meta, enforce_metadata=False)


def read_folder(folder: str | os.PathLike[str], columns: Sequence[str] | None = None, **options: Any) -> DaskFrame:
    r"""A Dask data frame of a folder of Parquet, CSV and Arrow files, a partition for each file.

    Columns of CSV files are text, as :class:`purely.tables.TableEncoder` takes them. A file that cannot be read is
    named by a sentence when it is read, on whatever worker.

    Parameters
    ----------
    folder : path
        As every worker sees it.
    columns : sequence of str, optional
        All by default, those that the files' places say (``day=2024-01-01/``) among them.
    **options
        See :func:`purely.tables.open_table`.

    Returns
    -------
    dask.dataframe.DataFrame

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from purely.scale import read_folder
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = [(folder / name).write_text("a,b\n1,x\n2,y\n") for name in ("1.csv", "2.csv")]
    >>> frame = read_folder(folder)
    >>> frame.npartitions, len(frame)
    (2, 4)
    """
    import dask.dataframe as dd

    from purely.tables.folder import find_files

    files = find_files(Path(folder).resolve(), any_name="format" in options)
    meta = _read_file(files[0], columns, options, most=1).iloc[:0]
    return dd.from_map(_read_file, files, columns=columns, options=options, meta=meta, enforce_metadata=False)


def _read_file(file: Any, columns: Sequence[str] | None, options: dict[str, Any], most: int | None = None) -> DaskFrame:
    import pyarrow as pa

    from purely.tables import open_table
    from purely.tables.source import PlacedSource

    with closing(PlacedSource(open_table(file.path, **options), file.keys)) as source:
        wanted = list(source.names if columns is None else columns)
        batches = list(islice(source.batches(wanted), most))
        schema = pa.schema([source.schema.field(name) for name in wanted])
        return pa.Table.from_batches(batches, schema if not batches else None).to_pandas()
