"""``purely evaluate``: how far it can be trusted, with no negatives to test on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from purely.cli import _options as o
from purely.cli._data import FileOptions, label_column
from purely.cli._scoring import Scorer, load_model, scored_batches
from purely.cli._session import CommandError, Session, run_command
from purely.tables import LabelRule, find_label_rule
from purely.tables._labels import count_labels

HELP = """Can it be trusted? Accuracy, precision, recall and more without negatives.

The rows should be ones that the model was not trained on. With --truth, a
column with the true classes (1, true or yes is positive), the true values are
printed beside the estimates.

\b
Examples:
  purely evaluate fraud.purely later.csv --label fraud
  purely evaluate fraud.purely audit.csv --label fraud --truth checked
"""

Floats = NDArray[np.float64]

#: Bins of the true calibration error.
N_BINS = 10


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("evaluate", help=HELP, short_help="Can it be trusted, without negatives?")(command)


def command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What 'purely fit' has written.", show_default=False)],
    file: o.File,
    label: o.Label = None,
    positive: o.Positive = None,
    truth: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the true classes.")] = None,
    truth_positive: Annotated[str | None, typer.Option(metavar="VALUE", help="Its positive value.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="P",
            help="Probability above which a row counts as positive.  [default: the model's]",
        ),
    ] = None,
    scenario: Annotated[
        o.Scenario | None, typer.Option("--scenario", help="What the unlabelled rows are.  [default: the model's]")
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
    """Evaluate a model; see HELP."""
    options = FileOptions(file, format, delimiter, encoding, not no_header, label, positive, truth=truth)
    run_command(
        Session(json, quiet, debug, seed),
        lambda session: _evaluate(session, model, options, truth_positive, threshold, scenario),
    )


def _evaluate(
    session: Session,
    path: Path,
    options: FileOptions,
    truth_positive: str | None,
    threshold: float | None,
    scenario: Any,
) -> None:
    from purely.metrics import pu_report

    scorer = Scorer(load_model(path))
    source = options.open()
    origin = getattr(scorer.encoder, "origin_", {})
    known = origin.get("label")
    label = label_column(source, options.label or (known if known in source.names else None))
    value = options.positive or (origin.get("positive") if label == known else None)
    rule, truth = _rules(session, source, label, value, options.truth, truth_positive)
    y, is_true, probability = _score(session, scorer, source, rule, truth)
    seen = y.size == origin.get("rows") and options.path.name == origin.get("file")
    if seen:
        session.note(
            "this looks like the file the model was trained on: estimates on rows it has seen flatter it and mean "
            "little; 'purely fit' has printed them out of fold, or give it new rows."
        )
    classifier = scorer.classifier
    scenario = getattr(classifier, "scenario", "case-control") if scenario is None else scenario.value
    at = float(threshold if threshold is not None else getattr(classifier, "threshold", 0.5))
    low, high = classifier.class_prior_interval_
    prior = classifier.class_prior_
    with session.step("Estimating without negatives"):
        report = pu_report(
            y.astype(int),
            probability,
            classifier,
            at,
            scenario=scenario,
            random_state=session.seed,
        )
    result: dict[str, Any] = {
        "rows": int(y.size),
        "positives": rule.n_positive,
        "unlabelled": rule.n_unlabelled,
        "threshold": at,
        "class_prior": prior,
        "class_prior_interval": [low, high],
        "estimates": {n: {"value": e.value, "low": e.low, "high": e.high} for n, e in report.estimates.items()},
        "notes": list(report.notes),
    }
    true = (
        None
        if is_true is None
        else true_metrics(
            is_true[~y] if scenario == "case-control" else is_true,
            probability[~y] if scenario == "case-control" else probability,
            at,
        )
    )
    if true is not None:
        result["truth"] = true
    _print(session, report, true, rule)
    for note in () if seen else report.notes:
        session.note(f"estimate of {note}")
    scorer.notes(session)
    session.finish(result)


def _rules(
    session: Session, source: Any, label: str, positive: str | None, truth: str | None, truth_positive: str | None
) -> tuple[LabelRule, LabelRule | None]:
    if truth is not None:
        source.check_columns([truth], "truth column")
    counts: tuple[Counter[str | None], Counter[str | None]] = (Counter(), Counter())
    with session.step("Reading labels") as step:
        for batch in source.batches([label, *([truth] if truth else [])]):
            for place, counter in enumerate(counts[: batch.num_columns]):
                count_labels(counter, batch.column(place))
            step.update(source.done)
    rule = find_label_rule(label, counts[0], positive, file=source.file.name)
    if truth is None:
        return rule, None
    if counts[1][None]:
        raise CommandError(
            f"{source.file.name}: the truth column {truth!r} is empty in {counts[1][None]:,} rows; fill it."
        )
    return rule, find_label_rule(truth, counts[1], truth_positive, file=source.file.name)


def _score(
    session: Session, scorer: Scorer, source: Any, rule: LabelRule, truth: LabelRule | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None, Floats]:
    parts: list[tuple[Any, Any, Any]] = []
    extra = [rule.column, *([truth.column] if truth else [])]
    with session.step("Scoring rows") as step:
        for scored in scored_batches(scorer, source, extra):
            column = scored.batch.schema.names.index
            true = truth.mask(scored.batch.column(column(truth.column))) if truth else None
            parts.append((rule.mask(scored.batch.column(column(rule.column))), true, scored.probability))
            step.update(source.done)
    if not parts:
        raise CommandError(f"{source.file.name} has no rows below its column names.")
    labels, truths, probabilities = zip(*parts, strict=True)
    return np.concatenate(labels), np.concatenate(truths) if truth else None, np.concatenate(probabilities)


def true_metrics(truth: NDArray[np.bool_], probability: Floats, threshold: float) -> dict[str, float]:
    """Metrics against true classes, under the names that the estimates have."""
    from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

    called = probability > threshold
    hit = float(np.sum(called & truth))
    precision = hit / called.sum() if called.any() else float("nan")
    recall = hit / truth.sum() if truth.any() else float("nan")
    both = truth.any() and not truth.all()
    specificity = float(np.mean(~called[~truth])) if both else float("nan")
    place = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    gap = np.bincount(place, truth - probability, N_BINS)
    return {
        "accuracy": float(np.mean(called == truth)),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if hit else 0.0,
        "specificity": specificity,
        "balanced_accuracy": 0.5 * (recall + specificity),
        "lift": precision / truth.mean() if truth.any() else float("nan"),
        "risk": float(np.mean(called != truth)),
        "roc_auc": float(roc_auc_score(truth, probability)) if both else float("nan"),
        "average_precision": float(average_precision_score(truth, probability)) if both else float("nan"),
        "brier": float(brier_score_loss(truth, probability)) if both else float("nan"),
        "calibration_error": float(np.abs(gap).sum() / truth.size),
    }


def _print(session: Session, report: Any, true: dict[str, float] | None, rule: LabelRule) -> None:
    session.say(
        f"{rule.n_positive:,} labelled positives, {rule.n_unlabelled:,} unlabelled rows",
        f"class prior {report.class_prior.value:.3f} [{report.class_prior.low:.3f}, {report.class_prior.high:.3f}], "
        f"threshold {report.threshold:g}",
        "",
    )
    rows = []
    for name, e in report.estimates.items():
        row = [name, f"{e.value:.3f}", f"[{e.low:.3f}, {e.high:.3f}]"]
        if true is not None:
            row.append(f"{true[name]:.3f}" if name in true else "")
        rows.append(row)
    session.table(["", "estimate", "95% interval", *(["true"] if true is not None else [])], rows)
    session.say("", f"Above the threshold: {report.predicted_share:.1%} of the unlabelled rows.")
