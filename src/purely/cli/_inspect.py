"""``purely inspect``: what will be used, before anything is learnt."""

from __future__ import annotations

from typing import Any

import typer

from purely.cli import _options as o
from purely.cli._data import FileOptions, TrainingData, load_training
from purely.cli._session import Session, percent, run_command

HELP = """What will be used: labels, balance, every column, what is missing.

\b
Examples:
  purely inspect customers.csv --label fraud
  purely inspect visits.parquet --label outcome --positive bought --id visit
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("inspect", help=HELP, short_help="What will be used, and what is missing.")(command)


def command(
    file: o.File,
    label: o.Label = None,
    positive: o.Positive = None,
    id: o.Ids = None,
    drop: o.Drop = None,
    format: o.FormatOption = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = "utf-8",
    no_header: o.NoHeader = False,
    max_rows: o.MaxRows = 100_000,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Look at a table; see HELP."""
    options = FileOptions(
        file, format, delimiter, encoding, not no_header, label, positive, tuple(id or ()), tuple(drop or ())
    )
    run_command(Session(json, quiet, debug, seed), lambda session: _inspect(session, options, max_rows))


def _inspect(session: Session, options: FileOptions, max_rows: int) -> None:
    data = load_training(session, options, max_rows=max_rows)
    rule, report = data.rule, data.encoder.report_
    reading = f"--positive {rule.positive}" if rule.explicit else "by the usual rule"
    session.say(
        f"{options.path}: {data.n_rows:,} rows",
        f"label column      {rule.column!r}, positive is {rule.positive!r} ({reading})",
        f"labelled          {rule.n_positive:,} rows ({percent(rule.n_positive / data.n_rows)})",
        f"unlabelled        {rule.n_unlabelled:,} rows ({rule.n_missing:,} with an empty label)",
        *([f"carried along     {', '.join(options.ids)}"] if options.ids else []),
        *([f"left out          {', '.join(options.drop)}"] if options.drop else []),
        f"features          {report.n_features:,} ({'sparse' if report.sparse else 'dense'})",
        "",
    )
    session.table(
        ["column", "kind", "what becomes of it", "features", "missing"],
        [
            [c.name, c.kind, c.action, f"{c.n_features:,}" if c.n_features else "-", _missing(c.n_missing, data)]
            for c in report.columns[:200]
        ],
        text_columns=3,
    )
    if len(report.columns) > 200:
        session.say(f"... and {len(report.columns) - 200} columns more (--json lists all)")
    if data.sampled:
        session.note(f"columns were judged by {data.y.size:,} rows drawn at random; --max-rows changes that.")
    if rule.n_unlabelled < rule.n_positive:
        session.note("there are fewer unlabelled rows than positives; usually the pool is much larger.")
    session.finish({**data.summary(), "columns": [vars(c) for c in report.columns], "sparse": report.sparse})


def _missing(count: int, data: TrainingData) -> Any:
    return percent(count / data.y.size) if count else "-"
