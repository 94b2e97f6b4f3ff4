"""``purely report``: everything on one page, for someone who was not there."""

from __future__ import annotations

import shutil
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from purely.cli import _options as o
from purely.cli._data import FileOptions, TrainingData, load_training
from purely.cli._output import atomic_path, check_output
from purely.cli._scoring import load_model
from purely.cli._session import CommandError, Session, run_command

HELP = """Everything on one page: an HTML file that needs nothing else.

Information, prior, representation, probabilities, thresholds, top records,
checks of the assumptions. With --model, that model is reported on; otherwise
one is fitted.

\b
Examples:
  purely report customers.csv --label fraud -o report.html
  purely report customers.csv --label fraud -m fraud.purely -o report.html
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("report", help=HELP, short_help="Everything on one HTML page.")(command)


def command(
    file: o.File,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="HTML", help="Report to write.", show_default=False)],
    model: Annotated[
        Path | None, typer.Option("--model", "-m", metavar="MODEL", help="What 'purely fit' has written.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    label: o.Label = None,
    positive: o.Positive = None,
    id: o.Ids = None,
    drop: o.Drop = None,
    scenario: o.ScenarioOption = o.Scenario.case_control,
    format: o.FormatOption = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = "utf-8",
    no_header: o.NoHeader = False,
    max_rows: o.MaxRows = 10_000,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Write a report; see HELP."""
    options = FileOptions(
        file, format, delimiter, encoding, not no_header, label, positive, tuple(id or ()), tuple(drop or ())
    )
    run_command(
        Session(json, quiet, debug, seed),
        lambda session: _report(session, options, out, model, title, scenario.value, max_rows),
    )


def _report(
    session: Session,
    options: FileOptions,
    out: Path,
    path: Path | None,
    title: str | None,
    scenario: Any,
    max_rows: int,
) -> None:
    check_output(out, (".html", ".htm"))
    pipeline = None if path is None else load_model(path)
    data = load_training(session, options, max_rows=max_rows)
    X, names, model = data.X, data.encoder.get_feature_names_out(), None
    if pipeline is not None:
        encoder, model = pipeline.steps[0][1], pipeline.steps[-1][1]
        absent = [name for name in encoder.columns_ if name not in data.table.column_names]
        if absent or len(pipeline.steps) != 2:
            raise CommandError(
                f"{str(path)!r} does not fit this file: it needs the column {absent[0]!r}."
                if absent
                else f"{str(path)!r} has steps between encoder and classifier, which a report cannot show."
            )
        X, names = encoder.transform(data.table), encoder.get_feature_names_out()
    make_report = import_module("purely.report").make_report
    with session.step("Making the report") as step:
        report = make_report(
            X,
            data.y,
            model=model,
            feature_names=[str(n) for n in names],
            records=_records(data),
            title=title or f"Positive-unlabelled report of {options.path.name}",
            settings=_settings(session, options, scenario, max_rows, path),
            scenario=scenario,
            random_state=session.seed,
            progress=_progress(step),
        )
    with atomic_path(out) as partial:
        report.write(partial)
    session.say(data.line(), "", *_answers(report.answers), str(out))
    session.finish({**data.summary(), "answers": report.answers, "out": str(out)})


def _records(data: TrainingData) -> Any:
    """The rows as they were in the file, without vectors."""
    import pyarrow as pa

    shown = [f.name for f in data.table.schema if not pa.types.is_nested(f.type)]
    return data.table.select(shown).to_pandas()


def _settings(
    session: Session, options: FileOptions, scenario: str, max_rows: int, model: Path | None
) -> dict[str, Any]:
    parts = [f"purely report {options.path.name}"]
    for flag, value in (("label", options.label), ("positive", options.positive), ("format", options.format)):
        parts += [f"--{flag} {value}"] if value else []
    parts += [f"--id {name}" for name in options.ids] + [f"--drop {name}" for name in options.drop]
    parts += [f"--scenario {scenario}"] if scenario != "case-control" else []
    parts += [f"--model {model.name}"] if model else []
    parts += [f"--max-rows {max_rows}", f"--seed {session.seed}"]
    return {"command": " ".join(parts), "file": options.path.name, "seed": session.seed, "scenario": scenario}


def _progress(step: Any) -> Any:
    return lambda stage, done, total: step.update(done / total)


def _answers(answers: dict[str, Any]) -> list[str]:
    """Each question with its answer, a paragraph each."""
    told = [a for a in answers.values() if isinstance(a, dict) and "question" in a]
    width = min(80, shutil.get_terminal_size().columns)
    return ["\n".join([a["question"], *textwrap.wrap(a["answer"], width), ""]) for a in told]
