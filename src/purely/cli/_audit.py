"""``purely audit``: label a few rows of the pool."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import purely
from purely.audit import AuditResult, draw_audit, read_audit
from purely.classifiers.thresholds import threshold_of
from purely.cli import _options as o
from purely.cli._data import check_output
from purely.cli._scoring import Scorer, load_model
from purely.cli._session import CommandError, Session, cells, group, known, percent
from purely.cli._sheet import Design, Sheet, cell_text, design_path, read_design, read_sheets, write_design, write_sheet
from purely.crossfit import model_says
from purely.files import shown
from purely.progress import Bar
from purely.tables import TableSource
from purely.tables.writing import ENDINGS
from purely.typing import Floats, Matrix

#: Probabilities that differ by less are of the same row; the design keeps six digits.
SAME_PROBABILITY = 1e-4


def _audit(session: Session, ctx: typer.Context) -> None:
    """Label a few rows: they tell how many positives there are, how good a model is.

    50 to 200 rows are drawn from the pool, and somebody who can tell labels them.
    Their labels answer both questions, whatever the model has assumed about the
    class prior and about the first labels.

    For example:
      purely audit draw fraud.purely pool.csv -n 100 -o to_label.csv
      purely audit read to_label.csv
      purely audit read to_label.csv --precision 0.8 -o better.purely
    """
    if ctx.invoked_subcommand is None:
        session.say(
            "purely audit draw MODEL POOL -n 100 -o to_label.csv   draws rows for labelling",
            "purely audit read to_label.csv                        says what the labels mean",
        )
        session.finish({"commands": ["draw", "read"]})


def _draw(
    session: Session,
    model: o.Model,
    pool: Annotated[Path, o.argument("POOL", "The rows that the audit is about.")],
    *,
    n: Annotated[int, typer.Option("-n", "--rows", min=1, metavar="N", help="Rows to label.")] = 100,
    out: Annotated[Path, o.output("FILE", "The sheet: CSV or TSV.")],
    after: Annotated[Path | None, o.option("SHEET", "An earlier sheet of this pool, to which rows are added.")] = None,
    scores: Annotated[
        bool, o.flag("--scores", "Show the model's probabilities, which may influence whoever labels.")
    ] = False,
    escape_formulas: o.EscapeFormulas = False,
    force: o.Force = False,
    reading: o.Reading,
) -> None:
    """Draw rows of a pool for labelling, and write a sheet to fill in.

    The sheet has the record's number, the pool's columns and an empty column
    'label': write 1 or yes, 0 or no, and leave empty what nobody can tell. How the
    rows were drawn is kept beside it, in SHEET.design, which 'purely audit read'
    needs. Rows that are labelled positives already are left out of the pool.

    For example:
      purely audit draw fraud.purely pool.csv -n 100 -o to_label.csv
      purely audit draw fraud.purely pool.csv -n 50 --after to_label.csv -o more.csv
    """
    check_output(out, [model, pool, after], endings=ENDINGS[:2], force=force)
    scorer, digest = load_model(model), _digest(model)
    source = reading.open(pool)
    with session.step("Scoring rows") as step:
        number, probability = _score(scorer, source, step)
    earlier = None if after is None else _earlier(after, probability, digest)
    if n > number.size - (0 if earlier is None else len(earlier.number)):
        raise CommandError(
            f"{source.name} has {number.size:,} rows to draw from, fewer than asked for; ask for fewer with -n.", 2
        )
    sample = draw_audit(probability, n, random_state=session.seed, after=None if earlier is None else earlier.sample)
    numbers = number[sample.index].tolist()
    sheet = _sheet(source, scorer, numbers)
    write_design(design_path(out), Design(sample, probability, numbers, sheet, str(model.resolve()), digest, pool.name))
    said = probability[sample.index[-n:]] if scores else None
    write_sheet(out, replace(sheet, cells=sheet.cells[-n:]), numbers[-n:], said, escape=escape_formulas)
    scorer.say_ignored(session)
    session.say(
        f"{n:,} of {number.size:,} rows of {source.name} are in {out}, in random order.",
        f"Fill in the column {sheet.label!r}: 1 or yes, 0 or no, empty where nobody can tell.",
        f"Keep {design_path(out).name} beside it. Then: purely audit read "
        + " ".join(str(path) for path in (*([after] if after else []), out)),
    )
    session.finish({"out": str(out), "design": str(design_path(out)), "rows": n, "pool": int(number.size)})


def _read(
    session: Session,
    sheets: Annotated[list[Path], o.argument("SHEET...", "Sheets with labels, in the order drawn.")],
    *,
    out: Annotated[Path | None, o.output("MODEL", "Write the recalibrated model.")] = None,
    model: Annotated[
        Path | None, o.option("MODEL", "The audited model.  [default: where it was]", "--model", "-m")
    ] = None,
    threshold: Annotated[float | None, o.share("Probability above which a row counts.  [default: the model's]")] = None,
    precision: Annotated[float | None, o.share("Find the threshold that keeps this precision.")] = None,
    confidence: Annotated[float, o.share("Confidence in that precision.")] = 0.9,
    force: o.Force = False,
    reading: o.Reading,
) -> None:
    """What the labels say: share of positives, precision, recall.

    A sheet may have been sorted, have lost rows, gained columns, or been saved by a
    spreadsheet; a row whose values were changed is refused. With --out the model is
    written again with probabilities that agree with the labels and a ranking that
    the labelled rows have refined; with --precision the ranking stays as it was
    audited, and the model has the threshold that keeps the precision.

    For example:
      purely audit read to_label.csv
      purely audit read to_label.csv more.csv --precision 0.8 -o better.purely
    """
    design = read_design(sheets[-1])
    path = Path(design.model) if model is None else model
    check_output(out, [*sheets, path], endings=(), force=force)
    scorer = load_audited(path, design, needed=out is not None or model is not None)
    result = read_result(session, sheets, design, reading)
    at = threshold or (0.5 if scorer is None else threshold_of(scorer.classifier))
    said = _answers(session, result, design, scorer, at)
    limit = np.nan if precision is None else _promise(session, result, precision, confidence)
    if out is not None and scorer is not None:
        # a promised precision is one of the ranking that was audited: it stays as it is
        rows = None if precision is not None else _audited_rows(scorer, design)
        again = result.recalibrated(scorer.classifier, rows)
        if precision is not None and np.isfinite(limit):
            again.set_params(threshold=again.threshold_for_precision(precision, confidence))
        purely.save(Pipeline([("table", scorer.encoder), ("classifier", again)]), out)
        how = "" if again.refinement_ is None else ", its ranking refined by the rows of the audit"
        session.say("", f"The recalibrated model is in {out}{how}")
        said["refined"] = again.refinement_ is not None
    promised = {} if precision is None else {"threshold_for_precision": limit}
    session.finish({**said, **promised, "model": out})


# -- drawing -----------------------------------------------------------------------------------------------------------


def _score(scorer: Scorer, source: TableSource, step: Bar) -> tuple[NDArray[np.int64], Floats]:
    """Numbers and probabilities, to six digits, of the records that are no labelled positives."""
    origin = scorer.origin
    labels = [origin.label] if origin.label in source.names else []
    scored = scorer.score_file(source, labels, step)
    number, probability = scored.number, np.round(scored.probability, 6)
    if not labels or len(scored.values[labels[0]].spelt()) < 2:
        return number, probability
    unlabelled = scored.kinds(labels[0], origin.positive, origin.negative)[1] == 0
    return number[unlabelled], probability[unlabelled]


def _sheet(source: TableSource, scorer: Scorer, numbers: list[int]) -> Sheet:
    """Cells of the rows that were drawn, in one more pass over the file."""
    columns = [name for name in source.names if name != scorer.origin.label]
    drawn, cells = set(numbers), dict[int, list[str | None]]()
    for batch in source.batches(columns):
        for number in drawn.intersection(range(source.first, source.first + batch.num_rows)):
            cells[number] = [cell_text(column[number - source.first].as_py()) for column in batch.columns]
    taken = {*columns, "probability"}
    return Sheet(columns, [cells[number] for number in numbers], _free("row", taken), _free("label", taken))


def _free(name: str, taken: set[str]) -> str:
    return name if name not in taken else f"audit {name}"


def _earlier(sheet: Path, probability: Floats, digest: str) -> Design:
    design = read_design(sheet)
    if design.digest != digest or design.sample.n_pool != probability.size:
        raise CommandError(
            f"{shown(sheet, 120)!r} was drawn by another model or from another pool; a further round needs both as "
            "they were."
        )
    return design


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# -- reading -----------------------------------------------------------------------------------------------------------


def read_result(session: Session, sheets: list[Path], design: Design, reading: o.Reading) -> AuditResult:
    """What the labels in sheets of one design say."""
    labels, lost = read_sheets([reading.open(sheet) for sheet in sheets], design)
    if lost:
        session.note(f"{lost} rows that were drawn are not in the sheet; they count as ones that nobody could tell.")
    return read_audit(design.sample, labels, design.probability)


def load_audited(path: Path, design: Design, *, needed: bool) -> Scorer | None:
    """The audited model; None where it has gone and nothing needs it."""
    if not path.is_file():
        if not needed:
            return None
        raise CommandError(f"the audited model {shown(path, 120)!r} is not there; say where it is with --model.")
    if _digest(path) != design.digest:
        raise CommandError(
            f"the sheet was drawn by another model than {shown(path.name, 120)!r} holds now; name the one that drew it "
            "with --model, or draw the audit again."
        )
    return load_model(path)


def _audited_rows(scorer: Scorer, design: Design) -> Matrix | None:
    """The rows of the audit as the model sees them; None where the sheet does not hold all that it sees.

    The sheet holds texts. They say the same as the pool's cells if the model says the same of them.
    """
    try:
        rows = scorer.encoder.transform(pa.table(design.sheet.texts()))
    except ValueError:  # a column is not there, or is one of vectors, which cannot be told from its text
        return None
    again = model_says(scorer.classifier, rows, "probability")
    drawn = design.probability[design.sample.index]
    return rows if np.abs(again - drawn).max() < SAME_PROBABILITY else None


def _answers(
    session: Session, result: AuditResult, design: Design, scorer: Scorer | None, threshold: float
) -> dict[str, object]:
    """Print the answers and return them."""
    sample, called = result.sample, int((result.probability > threshold).sum())
    changes = result.changes(threshold)
    words = {
        "share": "How many positives are in the pool?",
        "precision": f"Which ones? Positives among the {called:,} rows above {threshold:.3g}",
        "recall": "Share of all positives that is among these rows",
        "error": "Can the model be trusted? Rows in the wrong class",
    }
    missing = f", {result.n_missing} could not be told" if result.n_missing else ""
    session.say(
        f"{len(sample)} of {sample.n_pool:,} rows of {design.pool} drawn, {result.n_labelled} labelled{missing}, "
        f"{result.n_positive} positive",
        "",
    )
    session.table(
        ["", "with labels", f"{result.level:.0%} interval", "without"],
        [[words[name], *cells(c.estimate, percent), known(c.without, percent)] for name, c in changes.items()],
    )
    said: dict[str, object] = {name: change.numbers for name, change in changes.items()}
    count, alone = result.share.value * sample.n_pool, result.probability.sum()
    session.say("", f"About {count:,.0f} positives in the pool; the model alone said {alone:,.0f}.")
    if scorer is not None and hasattr(scorer.classifier, "oof_table_"):
        check = result.assumptions(scorer.classifier)
        session.say(f"Are the labelled positives like all positives? {check.message}")
        said["labelling"] = {"status": check.status, "statistic": check.statistic, "p_value": check.p_value}
    counts = {"rows": len(sample), "labelled": result.n_labelled, "positive": result.n_positive}
    return {**counts, "missing": result.n_missing, "threshold": threshold, **said}


def _promise(session: Session, result: AuditResult, precision: float, confidence: float) -> float:
    """The threshold that keeps a precision; a note says where there is none."""
    found = result.threshold_for_precision(precision, confidence)
    if np.isfinite(found):
        rows = int((result.probability > found).sum())
        session.say(
            f"At least {precision:.0%} of the {rows:,} rows above {found:.4g} are positive, with a confidence of "
            f"{confidence:.0%}."
        )
    return found


app = group(_audit, draw=_draw, read=_read)
