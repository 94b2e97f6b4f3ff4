"""``purely information``: is there signal, how much, and in which columns."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from purely.cli import _options as o
from purely.cli._data import FileOptions, TrainingData, load_training
from purely.cli._session import Session, run_command

HELP = """Is there signal at all, and how much? PU-SMI with interval, p-value, columns.

\b
Examples:
  purely information customers.csv --label fraud
  purely information customers.csv --label fraud --class-prior 0.02 --json
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("information", help=HELP, short_help="Is there signal, and how much?")(command)


def command(
    file: o.File,
    label: o.Label = None,
    positive: o.Positive = None,
    id: o.Ids = None,
    drop: o.Drop = None,
    class_prior: o.ClassPriorOption = None,
    ranking: Annotated[bool, typer.Option("--ranking/--no-ranking", help="Also rank the columns.")] = True,
    top: Annotated[int, typer.Option(min=1, help="Columns to rank: those of most information alone.")] = 20,
    permutations: Annotated[int, typer.Option(min=99, help="Permutations behind the p-value.")] = 999,
    scenario: o.ScenarioOption = o.Scenario.case_control,
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
    """Measure information; see HELP."""
    if class_prior is not None and not 0.0 < class_prior < 1.0:
        raise typer.BadParameter(
            f"must be strictly between 0 and 1; {class_prior:g} was given.", param_hint="--class-prior"
        )
    options = FileOptions(
        file, format, delimiter, encoding, not no_header, label, positive, tuple(id or ()), tuple(drop or ())
    )
    run_command(
        Session(json, quiet, debug, seed),
        lambda session: _information(
            session, options, max_rows, class_prior, scenario.value, permutations, top if ranking else 0
        ),
    )


def _information(
    session: Session,
    options: FileOptions,
    max_rows: int,
    class_prior: float | None,
    scenario: Any,
    permutations: int,
    top: int,
) -> None:
    from purely.smi import PUSMI, independence_test

    data = load_training(session, options, max_rows=max_rows)
    with session.step("Measuring information"):
        estimator = PUSMI(scenario=scenario, random_state=session.seed).fit(data.X, data.y)
        interval = estimator.information_interval()
    with session.step("Testing against chance"):
        test = independence_test(data.X, data.y, n_permutations=permutations, random_state=session.seed)
    result: dict[str, Any] = {
        **data.summary(),
        "information": interval.information,
        "interval": [interval.low, interval.high],
        "level": interval.level,
        "p_value": test.p_value,
        "scenario": scenario,
    }
    session.say(
        data.line(),
        "",
        f"information   {interval.information:.4f}   {_interval(interval)}",
        f"p-value       {test.p_value:.4f}   of 'no information' ({permutations} permutations)",
    )
    if class_prior is not None:
        smi = interval.smi(class_prior)
        result["smi"] = {"value": smi.value, "interval": [smi.low, smi.high], "class_prior": class_prior}
        session.say(f"SMI           {smi.value:.4f}   {_interval(smi)} at prior {class_prior:g}")
    session.say("", _verdict(interval, test.p_value))
    if top:
        result["columns"] = _ranking(session, data, estimator, top)
    session.finish(result)


def _interval(found: Any) -> str:
    return f"{found.level:.0%} interval [{found.low:.4f}, {found.high:.4f}]"


def _verdict(interval: Any, p_value: float) -> str:
    if p_value > 0.05:
        return "No signal was found: positives look like the unlabelled rows."
    if interval.low <= 0.0:
        return "There is signal, but it is weak: more positives would help."
    return "There is signal. Zero would mean that positives look like everyone else."


def _ranking(session: Session, data: TrainingData, estimator: Any, top: int) -> list[dict[str, Any]]:
    """Information of each column of the file alone and the loss without it, a column being all of its features."""
    from purely.smi import rank_features

    owner, names = data.encoder.feature_owner_, data.encoder.columns_
    chosen = _most_promising(data, top)
    groups: dict[str, Any] = {names[j]: np.flatnonzero(owner == j) for j in chosen}
    if names == ["features"]:  # a matrix without names of its own: its columns are ranked
        features = data.encoder.get_feature_names_out()
        groups = {str(features[j]): [j] for j in chosen}
    with session.step(f"Ranking {len(groups)} columns"):
        ranked = rank_features(data.X, data.y, groups=groups, estimator=estimator)
    session.say("")
    session.table(
        ["column", "alone", "±", "lost without it", "± "],
        [
            [name, f"{a:.4f}", f"{ae:.4f}", f"{b:.4f}", f"{be:.4f}"]
            for name, a, ae, b, be in zip(
                ranked.names, ranked.alone, ranked.alone_error, ranked.loss, ranked.loss_error, strict=True
            )
        ],
    )
    total = data.X.shape[1] if names == ["features"] else len(names)
    if len(groups) < total:
        session.say(
            f"{len(groups)} of {total:,} columns, those that differ most between the two kinds of rows (--top)."
        )
    keys = ("alone", "alone_error", "loss", "loss_error")
    return [{"name": name, **{key: getattr(ranked, key)[i] for key in keys}} for i, name in enumerate(ranked.names)]


def _most_promising(data: TrainingData, top: int) -> list[int]:
    """Columns (or features of a bare matrix) whose means differ most between positives and unlabelled rows."""
    X, positive = data.X, data.y == 1
    mean_p, mean_u = (np.asarray(X[mask].mean(axis=0)).ravel() for mask in (positive, ~positive))
    square = np.asarray((X.multiply(X) if hasattr(X, "multiply") else X * X).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(square - np.asarray(X.mean(axis=0)).ravel() ** 2, 1e-12))
    effect = ((mean_p - mean_u) / spread) ** 2
    if data.encoder.columns_ != ["features"]:
        effect = np.bincount(data.encoder.feature_owner_, effect)
    return sorted(np.argsort(-effect, kind="stable")[:top].tolist())
