"""``purely evaluate``: how far it can be trusted, with no negatives to test on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from purely.classifiers import PUClassifier
from purely.classifiers.thresholds import check_threshold
from purely.cli import _options as o
from purely.cli._data import find_label
from purely.cli._scoring import Scorer, load_model
from purely.cli._session import CommandError, Session, command
from purely.crossfit import are_training_rows
from purely.files import shown
from purely.metrics import PUReport, pu_ranking_gain, pu_report
from purely.tables import LabelRule, TableSource, find_label_rule
from purely.tables.labels import LabelValues

Floats = NDArray[np.float64]

#: Bins of the true calibration error.
N_BINS = 10


@command()
def app(
    session: Session,
    model: o.Model,
    files: o.Files,
    *,
    label: o.Label = None,
    positive: o.Positive = None,
    negative: o.Negative = None,
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
    """Can it be trusted? Accuracy, precision, recall and more without negatives.

    Give it rows that the model was not trained on. Of the file it was trained on,
    each row is scored by models that have not seen it.

    Does PU learning help here? The last sentence compares the model with a plain
    forest that tells positives from the pool.

    Known negatives in the label column (0 beside empty labels) are used: what they
    and the labelled positives give is printed beside the estimates. With --truth,
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
    column = find_label(source, label or (origin.label if origin.label in source.names else None))
    if column == origin.label:
        positive, negative = positive or origin.positive, negative or origin.negative
    asked = _Asked(column, positive, negative, truth, truth_positive)
    rule, kind, is_true, probability, plain = _score(session, scorer, source, asked)
    session.note(*source.notes, *rule.notes)
    used = kind >= 0
    seen = kind.size == origin.n_rows and files.name == origin.file
    stored = getattr(classifier, "oof_probability_", None)
    out_of_fold = seen and stored is not None and are_training_rows(stored, probability[used])
    if out_of_fold:
        probability[used] = stored
        plain = None if plain is None else _filled(plain, used, classifier.plain_log_odds())
        session.note("this is the file the model was trained on: each row was scored by models that have not seen it.")
    elif seen:
        session.note(
            "this looks like the file the model was trained on: estimates on rows it has seen flatter it and mean "
            "little; 'purely fit' has printed them out of fold, or give it new rows."
        )
    said: Any = scenario.value if scenario else getattr(classifier, "scenario", "case-control")
    at = threshold or check_threshold(getattr(classifier, "threshold", 0.5))
    y = kind[used].astype(int)
    with session.step("Estimating without negatives"):
        report = pu_report(
            y,
            probability[used],
            classifier,
            at,
            scenario=said,
            out_of_fold=out_of_fold,
            random_state=session.seed,
        )
    gain = None
    if plain is not None and (out_of_fold or not seen):
        gain = pu_ranking_gain(
            y, probability[used], plain[:, used], report.class_prior, scenario=said, out_of_fold=out_of_fold
        )
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
            "positives": rule.n_positive,
            "unlabelled": rule.n_unlabelled,
            "negatives": rule.n_negative,
            "threshold": at,
            "class_prior": report.class_prior.value,
            "class_prior_interval": [report.class_prior.low, report.class_prior.high],
            "estimates": {n: {"value": e.value, "low": e.low, "high": e.high} for n, e in report.estimates.items()},
            "gain": None
            if gain is None
            else {"verdict": gain.verdict, **vars(gain), "difference": vars(gain.difference)},
            "notes": list(report.notes),
            **{{"known": "known_negatives", "true": "truth"}[name]: values for name, values in compared.items()},
        }
    )


@dataclass(frozen=True)
class _Asked:
    """Columns with labels and truth, and the values that were named."""

    label: str
    positive: str | None
    negative: str | None
    truth: str | None
    truth_positive: str | None


def _score(
    session: Session, scorer: Scorer, source: TableSource, asked: _Asked
) -> tuple[LabelRule, NDArray[np.int8], NDArray[np.bool_] | None, Floats, Floats | None]:
    """Score a file in one pass.

    Returns the rule of the labels and, of each row, what it is by that rule, whether it is truly positive, its
    probability, and what a plain forest says of it, where the model has one.
    """
    truth = asked.truth
    source.check_columns([truth] if truth else [], "truth column")
    columns = [asked.label, *([truth] if truth else [])]
    values = [LabelValues(name, source.name, most=1 << 40) for name in columns]
    numbers: list[list[Any]] = [[] for _ in columns]
    probabilities, forest = [], []
    with session.step("Scoring rows") as step:
        for scored in scorer.score(source, columns):
            for own, value, name in zip(numbers, values, columns, strict=True):
                own.append(value.read(scored.batch.column(name)))
            probabilities.append(scored.probability)
            if scored.plain is not None:
                forest.append(scored.plain)
            step.reach(source.done)
    rule = find_label_rule(asked.label, values[0].spelt(), asked.positive, asked.negative, file=source.name)
    kind, probability = rule.kinds[np.concatenate(numbers[0])], np.concatenate(probabilities)
    plain = np.concatenate(forest, axis=1) if forest else None
    if truth is None:
        return rule, kind, None, probability, plain
    if values[1].counts[0]:
        raise CommandError(
            f"{source.name}: the truth column {shown(truth)!r} is empty in {values[1].counts[0]:,} rows; fill it."
        )
    of_truth = find_label_rule(truth, values[1].spelt(), asked.truth_positive, file=source.name)
    return rule, kind, of_truth.kinds[np.concatenate(numbers[1])] == 1, probability, plain


def _filled(values: Floats, where: NDArray[np.bool_], by: Floats) -> Floats:
    filled = values.copy()
    filled[:, where] = by
    return filled


def known_metrics(kind: NDArray[np.int8], probability: Floats, threshold: float, prior: float) -> dict[str, float]:
    """Metrics of labelled positives against known negatives, weighted as the class prior has them."""
    known = kind != 0
    truth, weight = kind[known] == 1, np.where(kind[known] == 1, prior, 1.0 - prior)
    weight = weight / np.where(truth, truth.sum(), (~truth).sum())
    return true_metrics(truth, probability[known], threshold, weight)


def true_metrics(
    truth: NDArray[np.bool_], probability: Floats, threshold: float, weight: Floats | None = None
) -> dict[str, float]:
    """Metrics against true classes, under the names that the estimates have; NaN where they are not defined."""
    weight = np.full(truth.size, 1.0 / truth.size) if weight is None else weight
    called, nothing = probability > threshold, float("nan")
    p, hit, alarm = (float(weight[mask].sum()) for mask in (truth, called & truth, called & ~truth))
    precision = hit / (hit + alarm) if hit + alarm else nothing
    recall, specificity = (hit / p if p else nothing), (1.0 - alarm / (1.0 - p) if p < 1.0 else nothing)
    both = 0.0 < p < 1.0
    place = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    gap = np.bincount(place, weight * (truth - probability), N_BINS)
    wrong = alarm + p - hit
    return {
        "accuracy": 1.0 - wrong,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if hit else 0.0,
        "specificity": specificity,
        "balanced_accuracy": 0.5 * (recall + specificity),
        "lift": precision / p if p else nothing,
        "risk": wrong,
        "roc_auc": float(roc_auc_score(truth, probability, sample_weight=weight)) if both else nothing,
        "average_precision": float(average_precision_score(truth, probability, sample_weight=weight))
        if both
        else nothing,
        "brier": float(brier_score_loss(truth, probability, sample_weight=weight)) if both else nothing,
        "calibration_error": float(np.abs(gap).sum()),
    }


def _print(session: Session, report: PUReport, compared: dict[str, dict[str, float]], rule: LabelRule) -> None:
    negative = f", {rule.n_negative:,} known negatives" if rule.n_negative else ""
    prior = report.class_prior
    session.say(
        f"{rule.n_positive:,} labelled positives, {rule.n_unlabelled:,} unlabelled rows{negative}",
        f"class prior {prior.value:.3f} [{prior.low:.3f}, {prior.high:.3f}], threshold {report.threshold:g}",
        "",
    )
    level = next(iter(report.estimates.values())).level
    session.table(
        ["", "estimate", f"{level:.0%} interval", *compared],
        [
            [name, f"{e.value:.3f}", f"[{e.low:.3f}, {e.high:.3f}]", *(_number(v[name]) for v in compared.values())]
            for name, e in report.estimates.items()
        ],
    )
    session.say("", f"Above the threshold: {report.predicted_share:.1%} of the unlabelled rows.")
    if "known" in compared:
        session.say(
            "'known' compares labelled positives with known negatives, weighted by the class prior: the truth, where "
            "the known negatives are typical of all negatives."
        )


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"
