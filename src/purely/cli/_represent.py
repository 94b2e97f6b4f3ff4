"""``purely represent``: a few numbers for each row that keep what tells positives apart."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from purely.cli import _options as o
from purely.cli._data import TrainingData, check_output, load_training, save_picture
from purely.cli._scoring import map_ordered
from purely.cli._session import Session, command
from purely.files import replacing
from purely.plotting import RepresentationDisplay
from purely.progress import Bar
from purely.representation import PURL
from purely.tables.writing import ENDINGS, TableWriter, said_of_formulas, writing_table
from purely.typing import Floats


@command(max_rows=20_000)
def app(
    session: Session,
    files: o.Files,
    *,
    out: o.OutTable,
    sampling: o.Sampling,
    components: Annotated[int, typer.Option(min=1, max=1000, help="Components.")] = 2,
    plot: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw the first two components.")] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Longest training.")] = 200,
    device: o.DeviceOption = o.Device.auto,
    escape_formulas: o.EscapeFormulas = False,
    force: o.Force = False,
    reading: o.Reading,
) -> None:
    """What do the data look like in a few dimensions that keep the signal? PURL.

    Writes the components and the density ratio p(x|positive) / p(x) of every row
    of the file: above 1, a row looks more like the positives than most.

    For example:
      purely represent customers.csv --label fraud -o map.csv --plot map.png
      purely represent positives.csv pool.csv --components 5 -o map.parquet
    """
    check_output(out, files.paths, endings=ENDINGS, force=force)
    check_output(plot, [*files.paths, out], endings=(".png", ".svg", ".pdf"), force=force)
    with ExitStack() as outputs:
        writer = outputs.enter_context(writing_table(out, escape_formulas=escape_formulas))
        if plot is not None:
            outputs.enter_context(replacing(plot))
        data = load_training(session, files, reading, sampling)
        with session.step("Training networks"):
            model = PURL(
                components, max_epochs=epochs, scenario=data.scenario, device=device.value, random_state=session.seed
            ).fit(data.X, data.y)
        with session.step("Writing rows") as step:
            _write(writer, step, data, model, list(sampling.id or ()))
        if plot is not None:
            save_picture(RepresentationDisplay.from_estimator(model, data.X, data.y), plot)
    session.note(*said_of_formulas(writer))
    session.say(
        data.line(),
        "",
        f"The networks' objective on rows held out is {model.information_:.4f}, where 0 means that nothing was learnt.",
        f"{writer.n_rows:,} rows with {components} components and the density ratio are in {out}",
        *([f"The picture is in {plot}"] if plot else []),
    )
    session.finish(
        {
            **data.summary(),
            "held_out_objective": model.information_,
            "components": components,
            "rows_written": writer.n_rows,
            "out": out,
            "plot": plot,
        }
    )


def _write(writer: TableWriter, step: Bar, data: TrainingData, model: PURL, ids: list[str]) -> None:
    source, label = data.source, data.rule.column

    def encode(item: tuple[pa.RecordBatch, int]) -> tuple[pa.RecordBatch, int, Floats, Floats]:
        batch, first = item
        X = data.encoder.transform(batch)
        return batch, first, np.asarray(model.transform(X)), np.asarray(model.density_ratio(X))

    columns = list(dict.fromkeys([*ids, label, *data.encoder.columns_]))
    numbered = ((batch, source.first) for batch in source.batches(columns))
    for batch, first, components, ratio in map_ordered(encode, numbered):
        labelled = (data.rule.of(batch.column(label)) == 1).astype(np.int8)
        parts = {name: batch.column(name) for name in ids} or {"row": pa.array(np.arange(first, first + len(ratio)))}
        parts["labelled"] = pa.array(labelled)
        parts |= {f"component_{j}": pa.array(c) for j, c in enumerate(components.T.copy(), 1)}
        writer.write(pa.record_batch({**parts, "density_ratio": pa.array(ratio)}))
        step.reach(source.done)
