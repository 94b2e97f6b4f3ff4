"""What the labels of an audit say, and how far the answers could be off without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from purely.assumptions import AssumptionCheck
from purely.audit import AuditResult, Change, Sensitivity
from purely.classifiers.thresholds import threshold_of
from purely.crossfit import finite_log_odds, last_step
from purely.plotting import SensitivityDisplay
from purely.plotting.style import number, percent
from purely.report._checks import LIGHTS, Check
from purely.report._data import Answer, Table, card
from purely.report._stages import PriorFinding, Scored

#: A list of which no more than half is positive is not worth much.
HALF = 0.5


@dataclass(frozen=True, eq=False)
class AuditFinding:
    """An audit of the model that is reported on.

    Attributes
    ----------
    result : AuditResult
    threshold : float
        The model's own.
    changes : dict of Change
        Share, precision, recall and error.
    labelling : AssumptionCheck or None
        Whether the positives that were found are like the labelled ones; None where no out-of-fold scores are there.
    """

    result: AuditResult
    threshold: float
    changes: dict[str, Change]
    labelling: AssumptionCheck | None


def read_findings(table: Table, scored: Scored, result: AuditResult) -> AuditFinding:
    """Read an audit at the model's threshold."""
    model = last_step(scored.model)
    threshold, kept = threshold_of(model), hasattr(model, "oof_table_")
    known = model if kept else scored.probability[table.positive]
    labelling = result.assumptions(known) if kept or scored.honest else None
    return AuditFinding(result, threshold, result.changes(threshold), labelling)


def answer_audit(found: AuditFinding) -> Answer:
    """What the labels say, and what they have changed."""
    result, share = found.result, found.changes["share"]
    n, count, alone = result.sample.n_pool, result.share.value * result.sample.n_pool, result.probability.sum()
    verdict = {"same": "within what the labels allow", "lower": "too many", "higher": "too few"}[share.verdict]
    missing = f"; {result.n_missing} could not be told" if result.n_missing else ""
    answer = (
        f"{result.n_labelled:,} of {n:,} rows were labelled for the audit, {result.n_positive:,} of them "
        f"positive{missing}. About {count:,.0f} of the {n:,} rows are positive ({_ends(share)}). The model alone said "
        f"{alone:,.0f}, which is {verdict}."
    )
    parts = [
        f"{what} {_ends(change)} ({said}{percent(change.without)})"
        for what, change, said in (
            ("the precision is", found.changes["precision"], "the model alone said "),
            ("the recall", found.changes["recall"], ""),
        )
        if np.isfinite(change.estimate.value)
    ]
    if parts:
        answer += f" Above the threshold {number(found.threshold, 2)} {' and '.join(parts)}."
    if share.verdict != "same":
        answer += " Use the recalibrated model, and the numbers of this section instead of those above."
    return card(
        "What do the labels of the audit say?",
        f"About {count:,.0f} of {n:,}",
        answer,
        rows=n,
        labelled=result.n_labelled,
        positive=result.n_positive,
        missing=result.n_missing,
        level=result.level,
        threshold=found.threshold,
        verdict=share.verdict,
        **{name: change.numbers for name, change in found.changes.items()},
    )


def answer_next_audited(found: AuditFinding, first: Answer) -> Answer:
    """What to do now that some rows are labelled; what was to be done `first` remains where the list is useless."""
    share, precision = found.changes["share"], found.changes["precision"]
    if share.verdict != "same":
        side = "too many" if share.verdict == "lower" else "too few"
        answer = (
            f"The model says {side} positives. Write the recalibrated model (purely audit read --out, or "
            "AuditResult.recalibrated), and make the list with it (purely predict)."
        )
        return {**first, "short": "Use the recalibrated model", "answer": answer}
    if not np.isfinite(precision.estimate.value):
        return first
    answer = (
        f"Work down the list: by the labels of the audit, {_ends(precision)} of the records above the threshold "
        f"{number(found.threshold, 2)} are positive."
    )
    return {**first, "short": "Work down the list", "answer": answer}


def audit_checks(found: AuditFinding) -> list[Check]:
    """Whether the model agrees with the labels, and the labelled positives with those that were found."""
    share = found.changes["share"]
    said = f"The labels say {_ends(share)} positive, the model {percent(share.without)}."
    e = share.estimate
    far = max(e.low - share.without, share.without - e.high) > e.high - e.low
    checks = [Check("audit", "green" if share.verdict == "same" else "red" if far else "amber", said)]
    if found.labelling is not None:
        checks.append(Check("labelling", LIGHTS[found.labelling.status], found.labelling.message))
    return checks


def find_ranges(table: Table, scored: Scored, prior: PriorFinding) -> SensitivityDisplay:
    """Ranges of the share of positives among the unlabelled rows if labels were not chosen at random."""
    log_odds = finite_log_odds(scored.probability[~table.positive])
    population, share = prior.population, prior.unlabelled
    # what a model says holds for the population; selection is about the unlabelled rows
    shift = float(finite_log_odds(population.value) - finite_log_odds(share.value))
    scale = share.low / share.value, share.high / share.value
    q, weight = expit(log_odds - shift), np.ones(log_odds.size)
    return SensitivityDisplay.from_ranges(Sensitivity(1.0, threshold_of(scored.model), q, weight, scale, share.level))


def say_ranges(display: SensitivityDisplay, *, audited: bool) -> Answer:
    """The picture's conclusions in words."""
    ranges, tips = display.ranges, display.tips
    first = f"that at most {percent(display.most)} of the pool are positive"
    answer = (
        "All numbers assume that the labelled positives are a random draw of all positives. If the odds of being "
        "labelled vary over the positives by a factor gamma, the share lies in the range of the picture. "
    )
    if tips == 1.0:
        answer += f"The conclusion {first} is not safe even if labels were chosen at random."
    elif tips > display.largest:
        answer += f"The conclusion {first} holds even at gamma {display.largest:g}."
    else:
        answer += f"The conclusion {first} holds up to gamma {number(tips, 2)}."
    precise = ranges.tips(precision=HALF) if np.isfinite(ranges.precision.value) else float("nan")
    if precise >= 1.1:
        answer += (
            f" That more than half of the rows above the threshold {number(ranges.threshold, 2)} are positive holds up "
            f"to gamma {number(precise, 2)}."
        )
    answer += (
        " The labels of the audit do not need this assumption."
        if audited
        else " An audit of 50 to 200 rows makes the assumption needless (purely audit draw)."
    )
    return {
        "answer": answer,
        "share": ranges.share.value,
        "at_most": display.most,
        "gamma_share": tips,
        "gamma_precision": precise,
    }


def _ends(change: Change) -> str:
    e = change.estimate
    return f"{percent(e.value)} [{percent(e.low)}, {percent(e.high)}]"
