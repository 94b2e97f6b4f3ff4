"""The five answers, as sentences for readers and as numbers for programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purely.metrics import RankingGain
from purely.notebook import as_json
from purely.plotting import SensitivityDisplay
from purely.plotting.style import number, percent
from purely.report._audit import AuditFinding, answer_audit, answer_next_audited, say_ranges
from purely.report._checks import Check
from purely.report._data import Answer, Table, card
from purely.report._stages import Lists, Picture, PriorFinding, Scored, Signal
from purely.smi import FeatureRanking
from purely.typing import Indices

#: Of the JSON form of the answers; raised when a key changes its meaning.
SCHEMA_VERSION = 1
N_TOP = 25


@dataclass(frozen=True, eq=False)
class Findings:
    """What the stages found: the answers and the page are made from it."""

    table: Table
    scored: Scored
    prior: PriorFinding
    signal: Signal | None
    picture: Picture | None
    lists: Lists | None
    gain: RankingGain | None
    explained: list[list[str]] | None
    columns: tuple[FeatureRanking, int] | None
    ranges: SensitivityDisplay | None
    audit: AuditFinding | None
    checks: list[Check]
    warnings: list[str]
    reasons: dict[str, str]  # why a stage could not be done

    def why(self, stage: str) -> str:
        """Why a stage could not be done; empty where it was."""
        return self.reasons.get(stage, "")


def answer_all(found: Findings) -> dict[str, Answer]:
    """The answers by name, as JSON knows them."""
    table, audit, why = found.table, found.audit, found.why
    records = answer_records(table, found.scored, found.lists, found.explained, why("thresholds"))
    follows = answer_next(found.checks, records)
    counts = {"n_positive": table.n_positive, "n_unlabelled": table.n_unlabelled}
    answers = {
        "schema_version": SCHEMA_VERSION,
        "rows": {**counts, "n_features": table.X.shape[1], "scenario": table.scenario},
        "signal": answer_signal(found.signal, why("information")),
        "picture": answer_picture(found.picture, why("representation")),
        "positives": answer_positives(table, found.prior),
        "records": records,
        "trust": answer_trust(found.checks),
        "gain": answer_gain(found.gain, why("gain")),
        **({} if audit is None else {"audit": answer_audit(audit)}),
        "next": follows if audit is None else answer_next_audited(audit, follows),
        "ranges": say_ranges(found.ranges, audited=audit is not None) if found.ranges else {"answer": why("ranges")},
    }
    return dict(as_json(answers))


def _with_ends(name: str, value: float, low: float, high: float) -> dict[str, float]:
    """A number and its interval as answers hold them."""
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def answer_signal(signal: Signal | None, why: str) -> Answer:
    """First answer: is there signal at all, and how much."""
    question = "Is there signal at all, and how much?"
    if signal is None:
        return card(question, "Not measured", why, found=None)
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
    ends = _with_ends("information", i.information, i.low, i.high) | _with_ends("smi", s.value, s.low, s.high)
    return card(question, short, f"{lead} {numbers}", found=found, level=i.level, p_value=signal.p_value, **ends)


def answer_picture(picture: Picture | None, why: str) -> Answer:
    """Second answer: what the data look like in a few dimensions."""
    question = "What do the data look like in a few dimensions?"
    if picture is None:
        return card(question, "Not drawn", why, retained=None)
    n, kept = picture.n_components, picture.retained
    facts = {"method": picture.method, "n_components": n, "n_rows": picture.n_rows}
    one, what = n == 1, f"{n} dimension{'s' if n > 1 else ''}"
    if kept is None:
        open_ = "How much they keep cannot be said: there is no clear information."
        return card(question, what, f"The columns were reduced to {what}. {open_}", retained=None, **facts)
    # estimated better from few columns than from all, the ratio may exceed 1; more than everything cannot be kept
    value, low, high = (min(max(end, 0.0), 1.0) for end in (kept.retained, kept.low, kept.high))
    they, ending = ("it", "s") if one else ("them", "")
    if value == 1.0:
        short = "All information kept"
        answer = (
            f"{what} suffice{ending}: on rows that were not used to find {they}, the information is "
            f"estimated at least as well from {they} as from all columns."
        )
    else:
        short = f"{percent(value)} kept"
        answer = (
            f"On rows that were not used to find {they}, {what} keep{ending} about "
            f"{percent(value)} [{percent(low)}, {percent(high)}] of the information in all columns."
        )
    return card(question, short, answer, level=kept.level, **_with_ends("retained", value, low, high), **facts)


def answer_positives(table: Table, prior: PriorFinding) -> Answer:
    """Third answer: how many positives are in the pool."""
    n, share, population = table.n_unlabelled, prior.unlabelled, prior.population
    count, low, high = (round(part * n) for part in (share.value, share.low, share.high))
    short = f"About {count:,}"
    if population.known:
        answer = f"{short} of the {n:,} unlabelled rows: the share {percent(population.value)} was given."
    else:
        answer = (
            f"{short} of the {n:,} unlabelled rows ({percent(share.value)}); "
            f"between {low:,} and {high:,} at {percent(population.level)} confidence."
        )
    return card(
        "How many positives are in the pool?",
        short,
        answer,
        **_with_ends("class_prior", population.value, *population.interval),
        **_with_ends("count", count, low, high),
        level=population.level,
        unlabelled_prior=share.value,
        given=population.known,
        determined=population.determined,
        upper_bound=population.upper_bound,
        methods={r.name: {"class_prior": r.value, "low": r.low, "high": r.high} for r in prior.readings},
    )


def top_rows(table: Table, scored: Scored) -> Indices:
    """Places of the unlabelled rows that look most positive, the first first."""
    unlabelled = np.flatnonzero(~table.positive)
    return unlabelled[np.argsort(-scored.probability[unlabelled], kind="stable")][:N_TOP]


def answer_records(
    table: Table, scored: Scored, lists: Lists | None, reasons: list[list[str]] | None, why: str
) -> Answer:
    """Fourth answer: which ones."""
    question, order = "Which ones?", top_rows(table, scored)
    top = [
        {"row": int(table.numbers[i]), "probability": float(scored.probability[i]), "reasons": said}
        for i, said in zip(order, reasons or [[] for _ in order], strict=True)
    ]
    if lists is None:
        return card(question, "Ranked", why, top=top, out_of_fold=scored.honest)
    t, k = lists.table, lists.start
    size, precision, recall = int(t.size[k]), t.ends("precision", k), t.ends("recall", k)
    value, low, high = map(percent, precision)
    answer = (
        f"{size:,} unlabelled rows have a probability of at least {t.thresholds[k]:g}. About {value} of them "
        f"[{low}, {high}] are expected to be positive, and with them {percent(recall[0])} of all positives are found."
    )
    if not scored.honest:
        answer += " If the model was trained on these very rows, that is too good to be true: see the last check."
    return card(
        question,
        f"{size:,} rows to look at",
        answer,
        **_with_ends("precision", *precision),
        **_with_ends("recall", *recall),
        top=top,
        out_of_fold=scored.honest,
        threshold=t.thresholds[k],
        list_size=size,
        expected_found=t.found[k],
        level=t.level,
    )


def answer_trust(checks: list[Check]) -> Answer:
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
    question = "Can I trust the answers, with no negatives to test on?"
    listed = [{"title": check.title, **vars(check)} for check in checks]
    return card(question, words[status], answer, status=status, checks=listed, counts=counts)


def answer_gain(gain: RankingGain | None, why: str) -> Answer:
    """Whether PU learning is worth it: the model beside a plain classifier of positives against the pool."""
    question = "Does PU learning help here?"
    if gain is None:
        return card(question, "Not measured", why, difference=None)
    d = gain.difference
    short, ends = "Yes" if gain.verdict == "better" else "Not for the order", (d.value, d.low, d.high)
    areas = {"area": gain.area, "plain_area": gain.plain_area}
    return card(question, short, str(gain), level=d.level, **areas, **_with_ends("difference", *ends))


def answer_next(checks: list[Check], records: Answer) -> Answer:
    """What to do now, for someone who has never heard of any of this."""
    red = [check for check in checks if check.status == "red"]
    n = min(len(records["top"]), records.get("list_size") or len(records["top"]))
    look = f"Look at the {n} records at the top of the list, with the reasons beside them, and count the positives"
    short = "Mend this first" if red else "Look at the top of the list"
    if red:
        answer = f"“{red[0].title}” does not hold: {red[0].reason} Do not act upon the list before that is settled."
    elif "precision" in records:
        answer = (
            f"{look}. About {percent(records['precision'])} of all {records['list_size']:,} records above the "
            "threshold are expected to be positive, and not fewer of the first ones. If you find clearly fewer, the "
            "numbers do not hold for your data; otherwise work down the list."
        )
    else:
        answer = f"{look}."
    return card("What should I do now?", short, answer)
