"""``purely predict``: scores, probabilities and labels for any number of rows."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray

from purely.cli import _options as o
from purely.cli._data import FileOptions
from purely.cli._output import check_output, rows_to
from purely.cli._scoring import Scored, Scorer, ScoreSketch, load_model, scored_batches
from purely.cli._session import CommandError, Session, percent, run_command

HELP = """Which ones? Scores, probabilities and labels; files of any size.

The output has the id columns (or the row's number), the score (log-odds), the
probability and the label (1 above the threshold). It is written to a temporary
name and renamed when it is whole.

\b
Examples:
  purely predict fraud.purely new.parquet -o scores.parquet
  purely predict fraud.purely new.csv --id customer --precision 0.8 -o out.csv
  purely predict fraud.purely new.csv --top 100 > worst.csv
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("predict", help=HELP, short_help="Which ones? Scores of any number of rows.")(command)


def _share(value: float | None) -> float | None:
    if value is not None and not 0.0 < value < 1.0:
        raise typer.BadParameter(f"must be strictly between 0 and 1; {value:g} was given.")
    return value


def command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What 'purely fit' has written.", show_default=False)],
    file: o.File,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="CSV, TSV or Parquet.  [default: CSV to stdout]")
    ] = None,
    id: o.Ids = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            callback=_share, metavar="P", help="Probability above which the label is 1.  [default: the model's]"
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            callback=_share, metavar="P", help="Label so that this share of those labelled 1 is expected to be right."
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            callback=_share, metavar="P", help="Label so that this share of the positives is expected to be found."
        ),
    ] = None,
    share: Annotated[
        float | None, typer.Option(callback=_share, metavar="P", help="Label this share of the rows.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(min=1, max=10_000_000, metavar="N", help="Write only the N rows of highest score, highest first."),
    ] = None,
    format: o.FormatOption = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = "utf-8",
    no_header: o.NoHeader = False,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Score rows; see HELP."""
    aims = {"--threshold": threshold, "--precision": precision, "--recall": recall, "--share": share, "--top": top}
    given = [name for name, value in aims.items() if value is not None]
    if len(given) > 1:
        raise typer.BadParameter(f"give one of {', '.join(given)}, not several.")
    if out is None and json:
        raise typer.BadParameter("--json prints a summary on stdout, so the rows need a file: add --out.")
    options = FileOptions(file, format, delimiter, encoding, not no_header, ids=tuple(id or ()))
    aim = {"precision": precision, "recall": recall, "share": share}
    run_command(
        Session(json, quiet or out is None, debug, seed),
        lambda session: _predict(session, model, options, out, threshold, aim, top),
    )


def _predict(
    session: Session,
    path: Path,
    options: FileOptions,
    out: Path | None,
    threshold: float | None,
    aim: dict[str, float | None],
    top: int | None,
) -> None:
    check_output(out)
    scorer = Scorer(load_model(path))
    source = options.open()
    ids = _id_columns(scorer, source, options.ids)
    if threshold is None:
        from purely.classifiers.thresholds import check_threshold

        threshold = check_threshold(getattr(scorer.classifier, "threshold", 0.5))
    with session.step("Scoring rows") as step:
        if top is not None:
            summary = _write_top(scorer, source, ids, out, top, threshold, step)
        elif any(value is not None for value in aim.values()):
            summary = _write_for_aim(scorer, source, ids, out, aim, step)
        else:
            summary = _write_all(scorer, source, ids, out, threshold, step)
    scorer.notes(session)
    n = summary["rows"]
    session.say(
        f"{n:,} rows scored; {summary['positive']:,} ({percent(summary['positive'] / n)}) have a probability above "
        f"{summary['threshold']:.4g}.",
        f"Expected: {percent(summary['expected_precision'])} of those are positive, and they are "
        f"{percent(summary['expected_recall'])} of all positives.",
        str(out) if out else "",
    )
    session.finish({**summary, "out": None if out is None else str(out)})


def _id_columns(scorer: Scorer, source: Any, asked: Sequence[str]) -> list[str]:
    """Id columns: those asked for, or those the model was fitted with where the file has them."""
    if asked:
        source.check_columns(asked, "id column")
        return list(asked)
    origin = getattr(scorer.encoder, "origin_", {})
    return [name for name in origin.get("id", []) if name in source.names]


class _Tally:
    """What is said about the rows in the end."""

    def __init__(self, threshold: float) -> None:
        self.threshold, self.rows, self.positive, self.mass, self.mass_above = threshold, 0, 0, 0.0, 0.0

    def add(self, probability: NDArray[np.float64]) -> NDArray[np.bool_]:
        above = probability > self.threshold
        self.rows += probability.size
        self.positive += int(above.sum())
        self.mass += float(probability.sum())
        self.mass_above += float(probability[above].sum())
        return above

    def summary(self) -> dict[str, Any]:
        if not self.rows:
            raise CommandError("the file has no rows below its column names.")
        return {
            "rows": self.rows,
            "positive": self.positive,
            "threshold": self.threshold,
            "mean_probability": self.mass / self.rows,
            "expected_precision": self.mass_above / self.positive if self.positive else 0.0,
            "expected_recall": self.mass_above / self.mass if self.mass else 0.0,
        }


def _columns(scored: Scored, ids: list[str], first: int) -> tuple[list[Any], list[str]]:
    names = list(scored.batch.schema.names)
    if not ids:
        return [pa.array(np.arange(first, first + scored.log_odds.size))], ["row"]
    return [scored.batch.column(names.index(name)) for name in ids], list(ids)


def _output(scored: Scored, ids: list[str], first: int, probability: Any, above: Any) -> Any:
    columns, names = _columns(scored, ids, first)
    taken = [name if name not in ("score", "probability", "label") else f"{name} (id)" for name in names]
    parts = [*columns, pa.array(scored.log_odds), pa.array(probability), pa.array(above.astype(np.int8))]
    return pa.record_batch(parts, names=[*taken, "score", "probability", "label"])


class _Writer:
    """Opens the output with the first batch, whose types are then those of all."""

    def __init__(self, out: Path | None) -> None:
        self.out = out
        self.context: Any = None
        self.writer: Any = None

    def __enter__(self) -> _Writer:
        return self

    def write(self, batch: Any) -> None:
        if self.writer is None:
            self.context = rows_to(self.out, batch.schema)
            self.writer = self.context.__enter__()
        self.writer.write(batch if batch.schema == self.writer.schema else batch.cast(self.writer.schema))

    def __exit__(self, *error: Any) -> None:
        if self.context is not None:
            self.context.__exit__(*error)


def _write_all(
    scorer: Scorer, source: Any, ids: list[str], out: Path | None, threshold: float, step: Any
) -> dict[str, Any]:
    tally = _Tally(threshold)
    with _Writer(out) as writer:
        for scored in scored_batches(scorer, source, ids):
            probability = scored.probability
            first = tally.rows + 1
            writer.write(_output(scored, ids, first, probability, tally.add(probability)))
            step.update(source.done)
        return tally.summary()


def _write_for_aim(
    scorer: Scorer, source: Any, ids: list[str], out: Path | None, aim: dict[str, float | None], step: Any
) -> dict[str, Any]:
    """Scores go to a temporary file first: the threshold needs all of them, and their number is not bounded."""
    sketch = ScoreSketch()
    sizes = []
    with tempfile.TemporaryFile(dir=None if out is None else out.parent, prefix=".purely-") as spool:
        for scored in scored_batches(scorer, source, ids):
            sketch.add(scored.log_odds)
            spool.write(scored.log_odds.tobytes())
            sizes.append(scored.log_odds.size)
            step.update(0.8 * source.done)
        if not sizes:
            raise CommandError(f"{source.file.name} has no rows below its column names.")
        spool.seek(0)
        tally = _Tally(sketch.threshold(**aim))
        batches = source.batches(ids) if ids else (None for _ in sizes)
        with _Writer(out) as writer:
            for batch, size in zip(batches, sizes, strict=True):
                log_odds = np.frombuffer(spool.read(8 * size))
                scored = Scored(batch if batch is not None else pa.record_batch([log_odds], names=[""]), log_odds)
                probability = scored.probability
                first = tally.rows + 1
                writer.write(_output(scored, ids, first, probability, tally.add(probability)))
            return tally.summary()


def _write_top(
    scorer: Scorer, source: Any, ids: list[str], out: Path | None, top: int, threshold: float, step: Any
) -> dict[str, Any]:
    tally = _Tally(threshold)
    best: Any = None
    for scored in scored_batches(scorer, source, ids):
        probability = scored.probability
        first = tally.rows + 1
        rows = _output(scored, ids, first, probability, tally.add(probability))
        both = (
            pa.Table.from_batches([rows]) if best is None else pa.concat_tables([best, pa.Table.from_batches([rows])])
        )
        if both.num_rows > top:
            order = np.argsort(-both.column("score").to_numpy(), kind="stable")[:top]
            both = both.take(pa.array(order))
        best = both.combine_chunks()
        step.update(source.done)
    summary = tally.summary()
    best = best.take(pa.array(np.argsort(-best.column("score").to_numpy(), kind="stable")))
    with rows_to(out, best.schema) as writer:
        for batch in best.to_batches():
            writer.write(batch)
    return {**summary, "written": best.num_rows}
