"""The five answers, as sentences for readers and as numbers for programs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purely.metrics import RankingGain
from purely.plotting.style import number, percent
from purely.report._checks import Check, worst
from purely.report._data import Table
from purely.report._stages import Lists, Picture, PriorFinding, Scored, Signal

#: Of the JSON form of the answers; raised when a key changes its meaning.
SCHEMA_VERSION = 1
N_TOP = 25


def plain(value: Any) -> Any:
    """Numbers and containers that JSON knows; NaN and infinities become None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value if value is None else str(value)


def answer_signal(signal: Signal | None, why: str) -> dict[str, Any]:
    """First answer: is there signal at all, and how much."""
    question = "Is there signal at all, and how much?"
    if signal is None:
        return {"question": question, "short": "Not measured", "answer": why, "found": None}
    i, s = signal.interval, signal.smi
    found = signal.p_value <= 0.05
    if found and i.low > 0.0:
        short, lead = "Yes", "Yes: the columns tell labelled positives from the pool, by more than chance."
    elif found:
        short, lead = "A little", "There is some: more than chance, but hardly any of it is captured."
    else:
        short, lead = "None seen", "None that could not be chance."
    numbers = (
        f"Information {number(i.information)} [{number(i.low)}, {number(i.high)}], where 0 is none; "
        f"the chance of seeing this without any is p = {signal.p_value:.3g}."
    )
    return {
        "question": question,
        "short": short,
        "answer": f"{lead} {numbers}",
        "found": found,
        "information": i.information,
        "information_low": i.low,
        "information_high": i.high,
        "level": i.level,
        "p_value": signal.p_value,
        "smi": s.value,
        "smi_low": s.low,
        "smi_high": s.high,
    }


def answer_picture(picture: Picture | None, why: str) -> dict[str, Any]:
    """Second answer: what it looks like with everything else stripped away."""
    question = "What does it look like with everything else stripped away?"
    if picture is None:
        return {"question": question, "short": "Not drawn", "answer": why, "retained": None}
    result: dict[str, Any] = {
        "question": question,
        "method": picture.method,
        "n_components": picture.n_components,
        "n_rows": picture.n_rows,
    }
    kept = picture.retained
    what = f"{picture.n_components} dimension{'s' if picture.n_components > 1 else ''}"
    if kept is None:
        answer = f"It was reduced to {what}; there is no clear information of which they could keep a share."
        return result | {"short": what, "answer": answer, "retained": None}
    # estimated better from few columns than from all, the ratio may exceed 1; more than everything cannot be kept
    value, low, high = (min(max(end, 0.0), 1.0) for end in (kept.retained, kept.low, kept.high))
    one = picture.n_components == 1
    if value == 1.0:
        verb, they = ("suffices", "it") if one else ("suffice", "them")
        answer = (
            f"{what[:1].upper()}{what[1:]} {verb}: on rows that were not used to find {they}, the information is "
            f"estimated at least as well from {they} as from all columns."
        )
    else:
        answer = (
            f"On rows that were not used to find {'it' if one else 'them'}, {what} {'keeps' if one else 'keep'} about "
            f"{percent(value)} [{percent(low)}, {percent(high)}] of the information in all columns."
        )
    return result | {
        "short": "All of it kept" if value == 1.0 else f"{percent(value)} kept",
        "answer": answer,
        "retained": value,
        "retained_low": low,
        "retained_high": high,
        "level": kept.level,
    }


def answer_positives(table: Table, prior: PriorFinding) -> dict[str, Any]:
    """Third answer: how many positives are in the pool."""
    n = table.n_unlabelled
    count, low, high = (round(share * n) for share in prior.count)
    if prior.given:
        answer = f"About {count:,} of the {n:,} unlabelled rows: the share {percent(prior.population.value)} was given."
    else:
        answer = (
            f"About {count:,} of the {n:,} unlabelled rows ({percent(prior.unlabelled.value)}); "
            f"between {low:,} and {high:,} at {percent(prior.population.level)} confidence."
        )
    return {
        "question": "How many positives are in the pool?",
        "short": f"About {count:,}",
        "answer": answer,
        "class_prior": prior.population.value,
        "class_prior_low": prior.population.low,
        "class_prior_high": prior.population.high,
        "level": prior.population.level,
        "unlabelled_prior": prior.unlabelled.value,
        "count": count,
        "count_low": low,
        "count_high": high,
        "given": prior.given,
        "determined": prior.population.determined,
        "upper_bound": prior.population.upper_bound,
        "methods": {r.name: {"class_prior": r.value, "low": r.low, "high": r.high} for r in prior.readings},
    }


def top_rows(table: Table, scored: Scored) -> NDArray[np.intp]:
    """Places of the unlabelled rows that look most positive, the first first."""
    unlabelled = np.flatnonzero(~table.positive)
    return unlabelled[np.argsort(-scored.probability[unlabelled], kind="stable")][:N_TOP]


def answer_records(
    table: Table, scored: Scored, lists: Lists | None, reasons: list[list[str]] | None, why: str
) -> dict[str, Any]:
    """Fourth answer: which ones."""
    order = top_rows(table, scored)
    result: dict[str, Any] = {
        "question": "Which ones?",
        "top": [
            {"row": int(table.numbers[i]), "probability": float(scored.probability[i]), "reasons": said}
            for i, said in zip(order, reasons or [[] for _ in order], strict=True)
        ],
        "out_of_fold": scored.honest,
    }
    if lists is None:
        return result | {"short": "Ranked", "answer": why}
    t, k = lists.table, lists.start
    size = int(t.size[k])
    answer = (
        f"{size:,} unlabelled rows have a probability of at least {t.thresholds[k]:g}. About {percent(t.precision[k])} "
        f"of them [{percent(t.precision_low[k])}, {percent(t.precision_high[k])}] are expected to be positive, and "
        f"with them {percent(t.recall[k])} of all positives are found."
    )
    if not scored.honest:
        answer += " If the model was trained on these very rows, that is too good to be true: see the last check."
    return result | {
        "short": f"{size:,} rows to look at",
        "answer": answer,
        "threshold": t.thresholds[k],
        "list_size": size,
        "precision": t.precision[k],
        "precision_low": t.precision_low[k],
        "precision_high": t.precision_high[k],
        "recall": t.recall[k],
        "recall_low": t.recall_low[k],
        "recall_high": t.recall_high[k],
        "expected_found": t.found[k],
        "level": t.level,
    }


def answer_trust(checks: list[Check]) -> dict[str, Any]:
    """Fifth answer: whether it can be trusted, with no negatives to test on."""
    status = worst(checks)
    bad = [check for light in ("red", "amber") for check in checks if check.status == light]
    words = {"green": "Nothing speaks against it", "amber": "With care", "red": "Not as it stands"}
    if status == "green":
        answer = f"All {len(checks)} checks are green: nothing in the records speaks against it, which is not a proof."
    else:
        counts = [(light, sum(check.status == light for check in checks)) for light in ("red", "amber")]
        counted = " and ".join(f"{n} {'is' if n == 1 else 'are'} {light}" for light, n in counts if n)
        which = "; ".join(f"“{check.title}”" for check in bad)
        answer = f"Of {len(checks)} checks, {counted}: look at {which}."
    listed = [{"name": c.name, "title": c.title, "status": c.status, "reason": c.reason} for c in checks]
    return {
        "question": "Can I trust it, with no negatives to test on?",
        "short": words[status],
        "answer": answer,
        "status": status,
        "checks": listed,
        "counts": {light: sum(check.status == light for check in checks) for light in ("green", "amber", "red")},
    }


def answer_gain(gain: RankingGain | None, why: str) -> dict[str, Any]:
    """Whether PU learning is worth it: the model beside a plain classifier of positives against the pool."""
    question = "Does PU learning help here?"
    if gain is None:
        return {"question": question, "short": "Not measured", "answer": why, "difference": None}
    d = gain.difference
    return {
        "question": question,
        "short": {"better": "Yes", "level": "Not for the order", "worse": "Not for the order"}[gain.verdict],
        "answer": str(gain),
        "area": gain.area,
        "plain_area": gain.plain_area,
        "difference": d.value,
        "difference_low": d.low,
        "difference_high": d.high,
        "level": d.level,
    }


def answer_next(checks: list[Check], records: dict[str, Any]) -> dict[str, Any]:
    """What to do now, for someone who has never heard of any of this."""
    red = [check for check in checks if check.status == "red"]
    n = len(records["top"])
    look = f"Look at the {n} records at the top of the list, with the reasons beside them"
    if red:
        short = "Mend this first"
        answer = f"“{red[0].title}” does not hold: {red[0].reason} Do not act upon the list before that is settled."
    elif "precision" in records:
        short = "Look at the top of the list"
        answer = (
            f"{look}. If about {percent(records['precision'])} of the {records['list_size']:,} records above the "
            "threshold turn out to be positive, the numbers hold for your data, and you can work down the list."
        )
    else:
        short, answer = "Look at the top of the list", f"{look}, and count how many are positive."
    return {"question": "What should I do now?", "short": short, "answer": answer}
