"""``purely export``: a model for engines that know nothing of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import purely
from purely.cli import _options as o
from purely.cli._data import check_output
from purely.cli._session import CommandError, Session, command
from purely.files import replacing
from purely.scale import to_onnx


@command()
def app(
    session: Session,
    model: o.Model,
    *,
    out: Annotated[Path, o.output("FILE", "A file that ends in .onnx.")],
    exact: Annotated[bool, o.flag("--exact", "Multiply the stack out; no network that imitates it.")] = False,
    force: o.Force = False,
) -> None:
    """Write a model as an ONNX graph, for use without Python.

    The graph takes the columns that the model was trained on as one matrix of
    numbers in double precision, X, and gives score (log-odds) and probability of
    each row. A missing value is NaN. Columns of categories, text or dates cannot be
    exported.

    For example:
      purely export fraud.purely -o fraud.onnx
    """
    check_output(out, [model], endings=[".onnx"], force=force)
    loaded = purely.load(model)
    try:
        made = to_onnx(loaded, exact=exact)
    except TypeError as error:
        raise CommandError(f"the model is not exported: {error}") from error
    with replacing(out) as partial:
        partial.write_bytes(made.SerializeToString())
    columns = loaded.steps[0][1].columns_ if hasattr(loaded, "steps") else []
    session.say(
        *([f"X has {len(columns):,} columns, in this order: {', '.join(columns)}."] if columns else []),
        f"The graph is in {out}",
    )
    session.finish({"columns": columns, "out": str(out)})
