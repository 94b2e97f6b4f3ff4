"""``purely predict``: scores, probabilities and labels for any number of rows."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from purely.classifiers import threshold_for_share
from purely.classifiers.thresholds import threshold_of
from purely.cli import _options as o
from purely.cli._data import check_output
from purely.cli._folders import FolderTask, predict_folder
from purely.cli._rows import Reasons, Tally, label_rows, scored_rows
from purely.cli._scoring import Scorer, load_model
from purely.cli._session import CommandError, Session, command, percent
from purely.exceptions import PromiseWarning
from purely.files import shown
from purely.tables.writing import ENDINGS, TableWriter, said_of_formulas, writing_table
from purely.typing import Floats

#: Options that promise something of the rows labelled 1.
PROMISES = ("precision", "recall")


@command()
def app(
    session: Session,
    model: o.Model,
    file: o.Table,
    *,
    out: Annotated[Path | None, o.output("FILE", "CSV, TSV or Parquet.  [default: CSV to stdout]")] = None,
    id: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Carried to the output; may be given several times.  [default: as in fit]"),
    ] = None,
    threshold: Annotated[
        float | None, o.share("Probability above which the label is 1.  [default: the model's]")
    ] = None,
    precision: Annotated[
        float | None, o.share("Label so that at least this share of those labelled 1 is right, see above.")
    ] = None,
    recall: Annotated[float | None, o.share("Label so that at least this share of the positives is found.")] = None,
    confidence: Annotated[float, o.share("Confidence with which --precision and --recall hold.")] = 0.9,
    share: Annotated[float | None, o.share("Label this share of the rows.")] = None,
    interval: Annotated[
        bool, o.flag("--interval", "Also write the probabilities at both ends of the prior's interval.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(min=1, max=10_000_000, metavar="N", help="Write only the N rows of highest score, highest first."),
    ] = None,
    reasons: Annotated[
        int, typer.Option(min=0, max=50, metavar="N", help="Write the N columns that speak most for or against a row.")
    ] = 0,
    escape_formulas: o.EscapeFormulas = False,
    exact: Annotated[
        bool,
        o.flag(
            "--exact", "Use the model as it was fitted, not its fast form, which differs by .01 at most, on average."
        ),
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=-256, max=256, metavar="N", help="Files of a folder scored at a time; -1: one a core.")
    ] = 1,
    force: o.Force = False,
    reading: o.Reading,
) -> None:
    """Which ones? Scores, probabilities and labels; files of any size, or a folder.

    The output has the id columns (or the record's number in the file, from 1), the
    score (log-odds), the probability and the label (1 above the threshold).

    A folder of Parquet, CSV and Arrow files is scored into another folder, each
    file into one of the same name. If the command was stopped, run it again: it
    scores only the files that are missing.

    --precision and --recall are promises. The threshold is chosen from scores of
    training rows by models that have not seen them, and allows for the uncertainty
    of the share of positives. If no threshold can promise the precision, nothing
    is written.

    --reasons 3 adds the three columns that move a row's score most, compared with
    other rows of the file, and by how much; all columns together add up to the
    difference. This takes longer: use it with --top.

    For example:
      purely predict fraud.purely new.parquet -o scores.parquet
      purely predict fraud.purely new.csv --id customer --precision 0.8 -o out.csv
      purely predict fraud.purely new.csv --top 100 --reasons 3 > worst.csv
      purely predict fraud.purely pool/ -o scores/ --jobs 4
      zcat new.csv.gz | purely predict fraud.purely - > scores.csv
    """
    aims = {"threshold": threshold, "precision": precision, "recall": recall, "share": share, "top": top}
    given = {name: value for name, value in aims.items() if value is not None}
    if len(given) > 1:
        raise CommandError(f"give one of {', '.join(f'--{name}' for name in given)}, not several.", 2)
    promised = not given.keys().isdisjoint(PROMISES)
    if file.is_dir():
        if out is None or given.keys() & {"share", "top"} or reasons:
            what = "is scored into another one: add --out."
            if out is not None:
                what = "is scored file by file, without --share, --top and --reasons: they need rows of all files."
            raise CommandError(f"the folder {shown(file, 120)!r} {what}", 2)
        scorer = load_model(model, exact=exact, promised=promised)
        limit = _threshold(scorer, given, confidence)
        task = FolderTask(model, out, reading, id, limit, exact, promised, interval, escape_formulas, force)
        predict_folder(session, file, task, scorer, jobs)
        return
    if out is None and session.json:
        raise CommandError("--json prints a summary on stdout, so the rows need a file: add --out.", 2)
    session.quiet = session.quiet or (out is None and not session.json)
    check_output(out, [model, file], endings=ENDINGS, force=force)
    with writing_table(out, escape_formulas=escape_formulas) as writer:
        scorer = load_model(model, exact=exact, promised=promised)
        source = reading.open(file)
        ids = scorer.ids(source, id)
        tally = Tally(_threshold(scorer, given, confidence))
        why = Reasons(scorer, reasons, session.seed) if reasons else None
        with session.step("Scoring rows") as step:
            rows = scored_rows(scorer, source, ids, interval=interval, why=why, step=step)
            if top is not None:
                rows = _highest(rows, top, tally)
            elif share is not None:
                rows = _for_share(rows, share, tally)
            _write(rows, writer, tally, counted=top is not None, why=why)
    scorer.say_ignored(session)
    session.note(*source.notes, *said_of_formulas(writer))
    summary = tally.summary() | _promised(scorer, tally, confidence)
    written = f"The {writer.n_rows:,} rows of highest score are in" if top else f"{writer.n_rows:,} rows are in"
    session.say(
        f"{tally.rows:,} rows scored{scorer.kind}; {tally.positive:,} ({percent(tally.positive / tally.rows)}) have a "
        f"probability above {tally.threshold:.4g}.",
        *(_expected(summary, confidence) if tally.positive else [f"The highest is {tally.highest:.4g}."]),
        f"{written} {out}",
    )
    session.finish({**summary, "distilled": scorer.distilled, "written": writer.n_rows, "out": out})


def _threshold(scorer: Scorer, given: dict[str, float], confidence: float) -> float:
    """The threshold that was given, the one that keeps what was asked, or the model's own."""
    if "recall" in given:
        return float(scorer.classifier.threshold_for_recall(given["recall"], confidence))
    if "precision" not in given:
        return given.get("threshold") or threshold_of(scorer.classifier)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PromiseWarning)
        found = float(scorer.classifier.threshold_for_precision(given["precision"], confidence))
    if np.isnan(found):
        reason = next(str(w.message) for w in caught if issubclass(w.category, PromiseWarning))
        raise CommandError(f"{reason} --top N or --share S lists the likeliest rows without a promise.")
    return found


def _promised(scorer: Scorer, tally: Tally, confidence: float) -> dict[str, float]:
    """What the precision is at least, where the model has scores out of fold to tell it."""
    if not tally.positive or not hasattr(scorer.classifier, "oof_table_"):
        return {}
    low = scorer.classifier.precision_above(tally.threshold, confidence).low
    return {"precision_at_least": low, "confidence": confidence}


def _expected(summary: dict[str, float], confidence: float) -> list[str]:
    precision, recall = (percent(summary[f"expected_{name}"]) for name in ("precision", "recall"))
    expected = f"Expected: {precision} of those are positive, and they are {recall} of all positives."
    if "precision_at_least" not in summary:
        return [expected]
    least = f"at least {percent(summary['precision_at_least'])} of those are positive"
    return [expected, f"If these rows are like the training rows, {least}, with a confidence of {confidence:.0%}."]


def _write(
    rows: Iterator[pa.RecordBatch], writer: TableWriter, tally: Tally, *, counted: bool, why: Reasons | None
) -> None:
    """Write rows with their labels; what was read is what is written."""
    for batch in rows:
        labelled = label_rows(batch, tally, counted=counted)
        writer.write(why.beside(labelled) if why else labelled)
    if not counted and writer.n_rows != tally.rows:
        raise CommandError(f"{writer.n_rows:,} of {tally.rows:,} rows were written; nothing is kept.")


def _highest(rows: Iterator[pa.RecordBatch], top: int, tally: Tally) -> Iterator[pa.RecordBatch]:
    """The rows of highest score, highest first; no more than a batch beyond them is held."""
    best: pa.Table | None = None
    for batch in rows:
        tally.add(batch.column("probability").to_numpy())
        both = pa.concat_tables([*([best] if best else []), pa.Table.from_batches([batch])])
        # the highest first, equal ones as they came
        best = both.take(pa.array(np.argsort(-both.column("score").to_numpy(), kind="stable")[:top]))
    if best is not None:
        yield from best.combine_chunks().to_batches()


def _for_share(rows: Iterator[pa.RecordBatch], share: float, tally: Tally) -> Iterator[pa.RecordBatch]:
    """The same rows once the threshold is known, which needs the probabilities of all (8 bytes a row are kept)."""
    found: list[Floats] = []
    with tempfile.TemporaryFile(prefix=".purely-") as spool:
        first = next(rows)
        with pa.ipc.new_stream(spool, first.schema) as writer:
            for batch in chain([first], rows):
                writer.write_batch(batch)
                found.append(batch.column("probability").to_numpy())
        tally.threshold = threshold_for_share(np.concatenate(found), share)
        spool.seek(0)
        yield from pa.ipc.open_stream(spool)
