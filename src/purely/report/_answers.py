"""The five answers, as sentences for readers and as numbers for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from purely.metrics import RankingGain
from purely.plotting.style import number, percent
from purely.report._checks import Check
from purely.report._data import Table
from purely.report._stages import Lists, Picture, PriorFinding, Scored, Signal
from purely.typing import Indices

#: Of the JSON form of the answers; raised when a key changes its meaning.
SCHEMA_VERSION = 1
N_TOP = 25


def _with_ends(name: str, value: float, low: float, high: float) -> dict[str, float]:
    """A number and its interval as answers hold them."""
    return {name: value, f"{name}_low": low, f"{name}_high": high}


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
        short, lead = "A little", "There is some: more than chance explains, but the model finds hardly any of it."
    else:
        short, lead = "None seen", "None was seen: what was found may be chance."
    numbers = (
        f"Information {number(i.information)} [{number(i.low)}, {number(i.high)}], where 0 is none; "
        f"the chance of seeing this without any is p = {signal.p_value:.3g}."
    )
    return {
        "question": question,
        "short": short,
        "answer": f"{lead} {numbers}",
        "found": found,
        **_with_ends("information", i.information, i.low, i.high),
        "level": i.level,
        "p_value": signal.p_value,
        **_with_ends("smi", s.value, s.low, s.high),
    }


def answer_picture(picture: Picture | None, why: str) -> dict[str, Any]:
    """Second answer: what the data look like in a few dimensions."""
    question = "What do the data look like in a few dimensions?"
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
        answer = (
            f"The columns were reduced to {what}. How much they keep cannot be said: there is no clear information."
        )
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
        "short": "All information kept" if value == 1.0 else f"{percent(value)} kept",
        "answer": answer,
        **_with_ends("retained", value, low, high),
        "level": kept.level,
    }


def answer_positives(table: Table, prior: PriorFinding) -> dict[str, Any]:
    """Third answer: how many positives are in the pool."""
    n = table.n_unlabelled
    share = prior.unlabelled
    count, low, high = (round(part * n) for part in (share.value, share.low, share.high))
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
        **_with_ends("class_prior", prior.population.value, *prior.population.interval),
        "level": prior.population.level,
        "unlabelled_prior": prior.unlabelled.value,
        **_with_ends("count", count, low, high),
        "given": prior.given,
        "determined": prior.population.determined,
        "upper_bound": prior.population.upper_bound,
        "methods": {r.name: {"class_prior": r.value, "low": r.low, "high": r.high} for r in prior.readings},
    }


def top_rows(table: Table, scored: Scored) -> Indices:
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
        **_with_ends("precision", t.precision[k], t.precision_low[k], t.precision_high[k]),
        **_with_ends("recall", t.recall[k], t.recall_low[k], t.recall_high[k]),
        "expected_found": t.found[k],
        "level": t.level,
    }


def answer_trust(checks: list[Check]) -> dict[str, Any]:
    """Fifth answer: whether the answers can be trusted, with no negatives to test on."""
    counts = {light: sum(check.status == light for check in checks) for light in ("green", "amber", "red")}
    status = next(light for light in ("red", "amber", "green") if counts[light])
    bad = [check for light in ("red", "amber") for check in checks if check.status == light]
    words = {"green": "Nothing speaks against it", "amber": "With care", "red": "Not as it stands"}
    if status == "green":
        answer = f"All {len(checks)} checks are green: nothing in the records speaks against it, which is not a proof."
    else:
        some = [(light, counts[light]) for light in ("red", "amber") if counts[light]]
        counted = " and ".join(f"{n} {'is' if n == 1 else 'are'} {light}" for light, n in some)
        which = "; ".join(f"“{check.title}”" for check in bad)
        answer = f"Of {len(checks)} checks, {counted}: look at {which}."
    return {
        "question": "Can I trust the answers, with no negatives to test on?",
        "short": words[status],
        "answer": answer,
        "status": status,
        "checks": [{"title": check.title, **vars(check)} for check in checks],
        "counts": counts,
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
        **_with_ends("difference", d.value, d.low, d.high),
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
