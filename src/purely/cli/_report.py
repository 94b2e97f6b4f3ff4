"""``purely report``: everything on one page, for someone who was not there."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from purely.cli import _options as o
from purely.cli._audit import load_audited, read_result
from purely.cli._data import TrainingData, check_output, is_model, load_training
from purely.cli._scoring import Scorer, load_model
from purely.cli._session import CommandError, Session, command
from purely.cli._sheet import read_design
from purely.explain import column_of_features
from purely.files import replacing
from purely.tables.errors import refuse_absent
from purely.typing import Frame


@command(max_rows=10_000)
def app(
    session: Session,
    paths: Annotated[list[Path], o.argument("[MODEL] FILE [POOL]", "A model, if there is one; then as in 'fit'.")],
    *,
    out: Annotated[Path, o.output("HTML", "Report to write.")],
    model: o.ModelOption = None,
    audit: Annotated[
        list[Path] | None, o.option("SHEET", "Labels of an audit of the model; several for several rounds.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    sampling: o.Sampling,
    force: o.Force = False,
    reading: o.Reading,
) -> None:
    """Everything on one page: an HTML file that needs nothing else.

    Information, prior, representation, probabilities, thresholds, top records,
    checks of the assumptions. If a model is named, it is reported on; otherwise
    one is fitted. With --audit, the page says what the labels of an audit have
    changed (see 'purely audit'), and reports on the model that was audited.

    For example:
      purely report customers.csv --label fraud -o report.html
      purely report fraud.purely customers.csv -o report.html
      purely report customers.csv --label fraud --audit sheet.csv -o report.html
      purely report positives.csv pool.csv -o report.html
    """
    from purely.report import make_report  # needs jinja2, which is an extra of its own

    model, files = _model_and_files(paths, model)
    sheets = audit or []
    check_output(out, [*files.paths, model, *sheets], endings=(".html", ".htm"), force=force)
    with replacing(out):
        design = read_design(sheets[-1]) if sheets else None
        model = Path(design.model) if model is None and design is not None else model
        if design is not None and model is not None:
            fitted = load_audited(model, design, needed=True)
        else:
            fitted = None if model is None else load_model(model)
        labels = None if design is None else read_result(session, sheets, design, reading)
        data = load_training(
            session, files, reading, sampling if fitted is None else _as_fitted(sampling, fitted, files)
        )
        X, encoder = data.X, data.encoder
        if fitted is not None:
            encoder = fitted.encoder
            refuse_absent(encoder.columns_, data.table.column_names, data.source.name, data.source.nearest)
            X = encoder.transform(data.table)
        with session.step("Making the report") as step:
            report = make_report(
                X,
                data.y,
                model=None if fitted is None else fitted.classifier,
                audit=labels,
                feature_names=[str(n) for n in encoder.get_feature_names_out()],
                groups=column_of_features(encoder),
                records=_records(data),
                row_numbers=data.number,
                title=title or f"Positive-unlabelled report of {files.name}",
                settings={
                    "command": shlex.join(["purely", *sys.argv[1:]]),
                    "file": data.source.name,
                    "scenario": data.scenario,
                    **({} if design is None else {"audited pool": design.pool}),
                },
                scaled=True,
                scenario=data.scenario,
                random_state=session.seed,
                progress=lambda stage, done, total: step.reach(done / total),
            )
        report.write(out)
    seen = fitted is not None and fitted.origin.is_of(files.name, data.n_rows)
    if seen and not report.answers["records"]["out_of_fold"]:
        session.note(
            "the model was trained on this file, and holds no scores of these rows by models that have not seen them "
            "(other --max-rows than in the fit, or an audit has changed the model): precision, recall and checks in "
            "the report may be wrong. Report on rows that it has not seen, or on the model before the audit."
        )
    session.say(data.line(), "", *_answers(report.answers), f"The report is in {out}")
    session.finish({**data.summary(), "answers": report.answers, "out": str(out)})


def _model_and_files(paths: list[Path], model: Path | None) -> tuple[Path | None, o.Files]:
    """A model may come first, as in the other commands; then one file or two."""
    if model is None and is_model(paths[0]):
        model, *paths = paths
    if not 1 <= len(paths) <= 2:
        raise CommandError("name a model, if there is one, and then one file, or positives and pool.", 2)
    return model, o.Files(*paths)


def _as_fitted(asked: o.Sampling, fitted: Scorer, files: o.Files) -> o.Sampling:
    """Label, ids and scenario as in the fit, where nothing else is asked for."""
    origin = fitted.origin
    if asked.scenario is None and hasattr(fitted.classifier, "scenario"):
        asked = replace(asked, scenario=o.Scenario(fitted.classifier.scenario))
    asked = asked.as_in(origin, [origin.label or ""] if files.pool is None else [])
    return replace(asked, id=asked.id or (list(origin.ids) if files.name == origin.file else None))


def _records(data: TrainingData) -> Frame:
    """The rows as they were in the file, without vectors and without the label, which unlabelled rows have not."""
    kept = [f.name for f in data.table.schema if not pa.types.is_nested(f.type) and f.name != data.rule.column]
    return data.table.select(kept).to_pandas()


def _answers(answers: dict[str, Any]) -> list[str]:
    """Lines: each question with its answer, and an empty one after it."""
    told = [a for a in answers.values() if isinstance(a, dict) and "question" in a]
    return [line for a in told for line in (a["question"], a["answer"], "")]
