"""``purely evaluate``: how far it can be trusted, with no negatives to test on."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    precision_recall_fscore_support,
    recall_score,
    roc_auc_score,
)

from purely.classifiers import PUClassifier
from purely.classifiers.thresholds import threshold_of
from purely.cli import _options as o
from purely.cli._data import find_label
from purely.cli._scoring import ScoredFile, load_model
from purely.cli._session import CommandError, Session, cells, command, known, said_of_prior, three_digits
from purely.crossfit import out_of_fold
from purely.files import shown
from purely.labels import Scenario
from purely.metrics import PUReport, pu_ranking_gain, pu_report
from purely.tables import LabelRule
from purely.typing import Floats, Mask

#: Bins of the true calibration error.
N_BINS = 10
#: What the columns beside the estimates are called with --json.
JSON_NAMES = {"known": "known_negatives", "true": "truth"}


@command()
def app(
    session: Session,
    model: o.Model,
    files: o.Files,
    *,
    labelling: o.Labelling,
    truth: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the true classes.")] = None,
    truth_positive: Annotated[str | None, typer.Option(metavar="VALUE", help="Its positive value.")] = None,
    threshold: Annotated[
        float | None, o.share("Probability above which a row counts as positive.  [default: the model's]")
    ] = None,
    scenario: Annotated[
        o.Scenario | None, typer.Option(help="What the unlabelled rows are.  [default: the model's]")
    ] = None,
    reading: o.Reading,
) -> None:
    """Can the model be trusted? Accuracy, precision, recall and more without negatives.

    Give it rows that the model was not trained on. If you give it the training
    file, each row is scored by models that have not seen it.

    Does PU learning help here? The last sentence compares the model with a plain
    forest that tells positives from the pool.

    If the label column has known negatives (0 beside empty labels), the values on
    these and the labelled positives are printed beside the estimates. With --truth,
    a column with the true classes of all rows, the true values are printed.

    For example:
      purely evaluate fraud.purely later.csv --label fraud
      purely evaluate fraud.purely audit.csv --label fraud --truth checked
      purely evaluate fraud.purely positives.csv pool.csv
    """
    scorer = load_model(model)
    scorer.with_plain = isinstance(scorer.classifier, PUClassifier)
    source = reading.open_all(files)
    origin, classifier = scorer.origin, scorer.classifier
    labelling = labelling.as_in(origin, source.names if files.pool is None else [])
    column = find_label(source, labelling.label)
    source.check_columns([truth] if truth else [], "truth column")
    with session.step("Scoring rows") as step:
        scored = scorer.score_file(source, [column, *([truth] if truth else [])], step)
    rule, kind = scored.kinds(column, labelling.positive, labelling.negative)
    probability, plain = scored.probability, scored.plain
    is_true = None if truth is None else _truth(scored, truth, truth_positive)
    session.note(*source.notes, *rule.notes)
    used = kind >= 0
    seen = origin.is_of(files.name, kind.size)
    stored = out_of_fold(classifier, probability[used]) if seen else None
    if stored is not None:
        probability[used] = stored
        if plain is not None:
            plain[:, used] = classifier.plain_log_odds()
        session.note("this is the file the model was trained on: each row was scored by models that have not seen it.")
    elif seen:
        session.note(
            "this looks like the file that the model was trained on: on rows that it has seen, these estimates are too "
            "good and mean little. Use those that 'purely fit' has printed, or give rows that are new to the model."
        )
    said: Scenario = scenario.value if scenario else getattr(classifier, "scenario", "case-control")
    at = threshold or threshold_of(classifier)
    y = kind[used].astype(int)
    with session.step("Estimating without negatives"):
        p, unseen = probability[used], stored is not None
        report = pu_report(y, p, classifier, at, scenario=said, out_of_fold=unseen, random_state=session.seed)
    gain = None
    if plain is not None and (unseen or not seen):
        gain = pu_ranking_gain(y, p, plain[:, used], report.class_prior, scenario=said, out_of_fold=unseen)
    compared: dict[str, dict[str, float]] = {}
    if rule.n_negative:
        compared["known"] = known_metrics(kind, probability, at, report.class_prior.value)
    if is_true is not None:
        pool = kind <= 0 if said == "case-control" else np.ones(kind.size, dtype=bool)
        compared["true"] = true_metrics(is_true[pool], probability[pool], at)
    _print(session, report, compared, rule)
    if gain is not None:
        session.say("", str(gain))
    if not seen:
        session.note(*(f"estimate of {note}" for note in report.notes))
    scorer.say_ignored(session)
    session.finish(
        {
            "rows": kind.size,
            **rule.numbers,
            "threshold": at,
            "class_prior": report.class_prior.value,
            "class_prior_interval": report.class_prior.interval,
            "estimates": {name: estimate.numbers for name, estimate in report.estimates.items()},
            "gain": gain and {"verdict": gain.verdict, **vars(gain), "difference": vars(gain.difference)},
            "notes": list(report.notes),
            **{JSON_NAMES[name]: values for name, values in compared.items()},
        }
    )


def _truth(scored: ScoredFile, column: str, positive: str | None) -> Mask:
    """Which records are truly positive."""
    if empty := scored.values[column].counts[0]:
        raise CommandError(f"{scored.name}: the truth column {shown(column)!r} is empty in {empty:,} rows; fill it.")
    return scored.kinds(column, positive, None)[1] == 1


def known_metrics(kind: NDArray[np.int8], probability: Floats, threshold: float, prior: float) -> dict[str, float]:
    """Metrics of labelled positives against known negatives, weighted as the class prior has them."""
    known = kind != 0
    truth, weight = kind[known] == 1, np.where(kind[known] == 1, prior, 1.0 - prior)
    weight = weight / np.where(truth, truth.sum(), (~truth).sum())
    return true_metrics(truth, probability[known], threshold, weight)


def true_metrics(truth: Mask, probability: Floats, threshold: float, weight: Floats | None = None) -> dict[str, float]:
    """Metrics against true classes, under the names that the estimates have; NaN where they are not defined."""
    nothing, called = float("nan"), probability > threshold
    weight = np.full(truth.size, 1.0 / truth.size) if weight is None else weight
    p = float(weight[truth].sum())
    accuracy = accuracy_score(truth, called, sample_weight=weight)
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, called, average="binary", sample_weight=weight, zero_division=nothing
    )
    specificity = recall_score(truth, called, pos_label=False, sample_weight=weight, zero_division=nothing)
    place = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    gap = np.bincount(place, weight * (truth - probability), N_BINS)
    of_scores = {"roc_auc": roc_auc_score, "average_precision": average_precision_score, "brier": brier_score_loss}
    return {
        "accuracy": accuracy,
        "precision": precision,
        "recall": recall,
        "f1": 0.0 if np.isnan(f1) else f1,
        "specificity": specificity,
        "balanced_accuracy": 0.5 * (recall + specificity),
        "lift": precision / p if p else nothing,
        "risk": 1.0 - accuracy,
        **{
            name: metric(truth, probability, sample_weight=weight) if 0.0 < p < 1.0 else nothing
            for name, metric in of_scores.items()
        },
        "calibration_error": float(np.abs(gap).sum()),
    }


def _print(session: Session, report: PUReport, compared: dict[str, dict[str, float]], rule: LabelRule) -> None:
    session.say(
        str(rule),
        f"class prior   {said_of_prior(report.class_prior)}",
        f"threshold     {report.threshold:g}",
        "",
    )
    level = next(iter(report.estimates.values())).level
    session.table(
        ["", "estimate", f"{level:.0%} interval", *compared],
        [
            [name, *cells(estimate, three_digits), *(known(v[name], three_digits) for v in compared.values())]
            for name, estimate in report.estimates.items()
        ],
    )
    session.say("", f"Above the threshold: {report.predicted_share:.1%} of the unlabelled rows.")
    if "known" in compared:
        session.say(
            "'known' compares labelled positives with known negatives, weighted by the class prior: the truth, where "
            "the known negatives are typical of all negatives."
        )
