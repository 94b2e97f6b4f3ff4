"""The five answers, as sentences for readers and as numbers for programs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from purely.plotting._style import number, percent
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
    verb = "keep" if picture.n_components > 1 else "keeps"
    share = f"{percent(kept.retained)} [{percent(kept.low)}, {percent(kept.high)}]"
    answer = f"On rows it was not learnt on, {what} {verb} {share} of the information that is found in all columns."
    if kept.retained > 1.0:
        answer += " More than all of it: with less to look at, more of it is found."
    return result | {
        "short": "All of it kept" if kept.retained >= 1.0 else f"{percent(kept.retained)} kept",
        "answer": answer,
        "retained": kept.retained,
        "retained_low": kept.low,
        "retained_high": kept.high,
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


def answer_records(table: Table, scored: Scored, lists: Lists | None, why: str) -> dict[str, Any]:
    """Fourth answer: which ones."""
    unlabelled = np.flatnonzero(~table.positive)
    order = unlabelled[np.argsort(-scored.probability[unlabelled], kind="stable")][:N_TOP]
    result: dict[str, Any] = {
        "question": "Which ones?",
        "top": [{"row": int(table.numbers[i]), "probability": float(scored.probability[i])} for i in order],
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
    bad = [check for check in checks if check.status == status and status != "green"]
    words = {"green": "Nothing speaks against it", "amber": "With care", "red": "Not as it stands"}
    if status == "green":
        answer = f"All {len(checks)} checks are green: nothing in the records speaks against it, which is not a proof."
    else:
        which = "; ".join(f"“{check.title}”" for check in bad)
        answer = f"{len(bad)} of {len(checks)} checks {'is' if len(bad) == 1 else 'are'} {status}. To look at: {which}."
    listed = [{"name": c.name, "title": c.title, "status": c.status, "reason": c.reason} for c in checks]
    return {
        "question": "Can I trust it, with no negatives to test on?",
        "short": words[status],
        "answer": answer,
        "status": status,
        "checks": listed,
    }
