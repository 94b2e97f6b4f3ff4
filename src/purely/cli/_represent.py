"""``purely represent``: a few numbers for each row that keep what tells positives apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from purely.cli import _options as o
from purely.cli._data import FileOptions, TrainingData, load_training
from purely.cli._fit import _epochs
from purely.cli._output import atomic_path, check_output
from purely.cli._predict import _Writer
from purely.cli._scoring import map_ordered
from purely.cli._session import Session, run_command

HELP = """What do the data look like with everything else stripped away? PURL.

Writes the components and the density ratio p(x|positive) / p(x) of every row
of the file: above 1, a row looks more like the positives than most.

\b
Examples:
  purely represent customers.csv --label fraud -o map.csv --plot map.png
  purely represent customers.csv --label fraud --components 5 -o map.parquet
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("represent", help=HELP, short_help="What do the data look like?")(command)


def command(
    file: o.File,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="CSV, TSV or Parquet.", show_default=False)],
    label: o.Label = None,
    positive: o.Positive = None,
    id: o.Ids = None,
    drop: o.Drop = None,
    components: Annotated[int, typer.Option(min=1, max=1000, help="Components.")] = 2,
    plot: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw the first two components.")] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Longest training.")] = 200,
    scenario: o.ScenarioOption = o.Scenario.case_control,
    device: o.DeviceOption = o.Device.auto,
    format: o.FormatOption = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = "utf-8",
    no_header: o.NoHeader = False,
    max_rows: o.MaxRows = 20_000,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Learn a representation; see HELP."""
    options = FileOptions(
        file, format, delimiter, encoding, not no_header, label, positive, tuple(id or ()), tuple(drop or ())
    )
    settings = {
        "n_components": components,
        "max_epochs": epochs,
        "scenario": scenario.value,
        "device": device.value,
        "random_state": seed,
    }
    run_command(
        Session(json, quiet, debug, seed), lambda session: _represent(session, options, max_rows, settings, out, plot)
    )


def _represent(
    session: Session, options: FileOptions, max_rows: int, settings: dict[str, Any], out: Path, plot: Path | None
) -> None:
    from purely.representation import PURL

    check_output(out)
    check_output(plot, (".png", ".svg", ".pdf"))
    data = load_training(session, options, max_rows=max_rows)
    with session.step("Training networks") as step, _epochs(step, networks=True):
        model = PURL(**settings).fit(data.X, data.y)
    with session.step("Writing rows") as step:
        n = _write(step, options, data, model, out)
    if plot is not None:
        with atomic_path(plot) as partial:
            draw(data, model, partial)
    session.say(
        data.line(),
        "",
        f"information   {model.information_:.4f} on rows held out (prior-free)",
        f"{n:,} rows with {settings['n_components']} components and the density ratio: {out}",
        *([str(plot)] if plot else []),
    )
    session.finish(
        {
            **data.summary(),
            "information": model.information_,
            "components": settings["n_components"],
            "rows_written": n,
            "out": str(out),
            "plot": None if plot is None else str(plot),
        }
    )


def _write(step: Any, options: FileOptions, data: TrainingData, model: Any, out: Path) -> int:
    source = options.open()
    ids, label = list(options.ids), data.rule.column
    columns = list(dict.fromkeys([*ids, label, *data.encoder.columns_]))

    def encode(batch: Any) -> tuple[Any, Any, Any]:
        X = data.encoder.transform(batch)
        return batch, np.asarray(model.transform(X)), np.asarray(model.density_ratio(X))

    rows = 0
    with _Writer(out) as writer:
        for batch, components, ratio in map_ordered(encode, source.batches(columns, data.encoder.arrow_types())):
            names = batch.schema.names
            first = [batch.column(names.index(name)) for name in ids] or [
                pa.array(np.arange(rows + 1, rows + 1 + len(ratio)))
            ]
            labelled = data.rule.mask(batch.column(names.index(label))).astype(np.int8)
            writer.write(
                pa.record_batch(
                    [*first, pa.array(labelled), *(pa.array(c) for c in components.T.copy()), pa.array(ratio)],
                    names=[
                        *(ids or ["row"]),
                        "labelled",
                        *(f"component_{j}" for j in range(1, components.shape[1] + 1)),
                        "density_ratio",
                    ],
                )
            )
            rows += len(ratio)
            step.update(source.done)
    return rows


def draw(data: TrainingData, model: Any, path: Path) -> None:
    """Unlabelled rows by density ratio, positives on top."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    from matplotlib.figure import Figure

    Z, ratio = np.asarray(model.transform(data.X)), np.asarray(model.density_ratio(data.X))
    rng = np.random.default_rng(0)
    positive = np.flatnonzero(data.y == 1)
    pool = np.flatnonzero(data.y == 0)
    pool = rng.permutation(pool)[:5000]
    positive = rng.permutation(positive)[:1000]
    second = Z[:, 1] if Z.shape[1] > 1 else np.log(np.maximum(ratio, 1e-3))
    figure = Figure(figsize=(7.0, 5.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    shown = axes.scatter(
        Z[pool, 0], second[pool], c=np.log10(np.maximum(ratio[pool], 1e-2)), s=6, cmap="viridis", linewidths=0
    )
    axes.scatter(
        Z[positive, 0],
        second[positive],
        s=14,
        facecolors="none",
        edgecolors="#d1495b",
        linewidths=0.7,
        label="labelled positives",
    )
    axes.set_xlabel("component 1")
    axes.set_ylabel("component 2" if Z.shape[1] > 1 else "log density ratio")
    axes.legend(loc="best")
    axes.set_title(f"Representation of {data.n_positive:,} positives and {pool.size:,} unlabelled rows", fontsize=10)
    bar = figure.colorbar(shown, ax=axes)
    bar.set_label("log10 density ratio of the unlabelled rows")
    figure.savefig(path)
