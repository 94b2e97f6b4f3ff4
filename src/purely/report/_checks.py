"""Can the answers be trusted? Checks as green, amber or red, each with its reason in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from purely.assumptions import LEAK, STRONG, check_assumptions, column_areas
from purely.class_prior import Prior
from purely.plotting.style import percent
from purely.report._data import Table
from purely.report._stages import Lists, PriorFinding, Scored, Signal

Light = Literal["green", "amber", "red"]

LIGHTS: dict[str, Light] = {"ok": "green", "doubtful": "amber", "violated": "red"}
#: What ought to be true, by the name of the check.
TITLES = {
    "amount": "There are enough labelled positives",
    "signal": "The columns tell something about the class",
    "leak": "No single column gives the label away",
    "prior": "The share of positives is known well enough",
    "selection": "The labelled positives are typical of all positives",
    "top": "The highest scores hold labelled positives",
    "identifiability": "The share of positives can be read off the rows",
    "sampling": "The rows were drawn as was said",
    "calibration": "The probabilities mean what they say",
    "out_of_fold": "Rows were scored by models that had not seen them",
    "audit": "The model agrees with the labels of the audit",
    "labelling": "Labelled positives are like those that the audit found",
}


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes
    ----------
    name : str
        Short and stable, for programs.
    status : {"green", "amber", "red"}
    reason : str
        What was found, and what to do about it.
    """

    name: str
    status: Light
    reason: str

    @property
    def title(self) -> str:
        """What ought to be true."""
        return TITLES[self.name]


def run_checks(
    table: Table, scored: Scored, prior: PriorFinding, signal: Signal | None, lists: Lists | None
) -> list[Check]:
    """All checks, the ones about the rows first."""
    checks = [_amount(table), _signal(signal), _leak(table), _prior(prior)]
    report = check_assumptions(table.y, scored.probability, _readable(prior), X=table.X, scenario=table.scenario)
    is_open = not (prior.population.determined or prior.population.known)
    for c in report.checks:
        light, message = LIGHTS[c.status], c.message
        if c.name == "identifiability" and light == "green" and is_open:
            # A level top says that the ratio has a limit, not that the rows there are all positive.
            light, message = "amber", f"{message[:-1]}, which the class prior's own check doubts here."
        checks.append(Check(c.name, light, message))
    return [*checks, _calibration(lists), _honest(scored)]


def _readable(prior: PriorFinding) -> Prior:
    """The prior with three digits, as the checks print it."""
    p = prior.population
    return replace(p, value=float(f"{p.value:.3g}"), low=float(f"{p.low:.3g}"), high=float(f"{p.high:.3g}"))


def _amount(table: Table) -> Check:
    n = table.n_positive
    if n < 100:
        said = "every number here is little more than a guess." if n < 20 else "expect wide intervals."
        return Check("amount", "red" if n < 20 else "amber", f"{n} labelled positives: {said}")
    return Check("amount", "green", f"{n:,} labelled positives and {table.n_unlabelled:,} unlabelled rows.")


def _signal(signal: Signal | None) -> Check:
    if signal is None:
        return Check("signal", "amber", "The information could not be measured.")
    p = f"p = {signal.p_value:.3g}"
    if signal.p_value <= 0.01 and signal.interval.low > 0.0:
        return Check("signal", "green", f"The information is clearly above 0, and chance is ruled out ({p}).")
    if signal.p_value <= 0.05:
        reason = f"There is something ({p}), but little of it is captured: more rows or better columns would help."
        return Check("signal", "amber", reason)
    reason = f"What was found may be chance ({p}): do not use the list below before better columns are found."
    return Check("signal", "red", reason)


def _leak(table: Table) -> Check:
    rows = table.thin("test")
    areas = column_areas(table.X[rows], table.y[rows] == 1)
    where, best = int(np.argmax(areas)), float(np.max(areas))
    if best < STRONG:
        return Check("leak", "green", "No column alone tells labelled from unlabelled rows almost without error.")
    lead = f"The column “{table.names[where]}” alone tells labelled"
    if best >= LEAK:
        said = (
            "from unlabelled rows almost without error: it may "
            "have been filled in after labelling, or because of it. If so, leave it out and start again."
        )
        return Check("leak", "red", f"{lead} {said}")
    said = (
        "rows from nearly all unlabelled ones. Positives "
        "may be rare and easy to find; or the column was filled in because of the label: then leave it out."
    )
    return Check("leak", "amber", f"{lead} {said}")


def _prior(prior: PriorFinding) -> Check:
    p = prior.population
    if p.known:
        spread = [r.value for r in prior.readings]
        reason = f"The class prior {percent(p.value)} was given and is taken as known."
        if spread and not min(spread) - 0.1 <= p.value <= max(spread) + 0.1:
            reason += f" The rows themselves suggest {percent(min(spread))} to {percent(max(spread))}."
            return Check("prior", "amber", reason)
        return Check("prior", "green", reason)
    if prior.bound is not None:
        where = "all or nearly all" if prior.bound == "upper" else "none or nearly none"
        reason = f"As far as the rows say, {where} of the pool is positive: the estimate is at the end of its range."
        return Check("prior", "red", reason)
    if not p.determined:
        reason = (
            f"The rows only say that at most {percent(p.upper_bound or p.high)} are positive. An audit of some rows, a "
            "share known from elsewhere, or columns that set some positives apart would settle it."
        )
        return Check("prior", "amber", reason)
    return Check("prior", "green", f"Between {percent(p.low)} and {percent(p.high)} ({percent(p.level)} interval).")


def _calibration(lists: Lists | None) -> Check:
    error = None if lists is None else lists.metrics.estimates.get("calibration_error")
    if error is None or not np.isfinite(error.value):
        return Check("calibration", "amber", "The calibration error could not be estimated.")
    found = f"On average they are off by about {error.value:.2f} (at most {error.high:.2f})."
    if error.low > 0.05 or error.value > 0.15:
        return Check("calibration", "red", found + " Trust the order of the rows, not the numbers.")
    return Check("calibration", "amber" if error.value > 0.05 or error.low > 0.02 else "green", found)


def _honest(scored: Scored) -> Check:
    if scored.honest:
        return Check("out_of_fold", "green", "Every probability of a training row is out of fold.")
    reason = (
        "The model holds no out-of-fold probabilities of these rows. If it was trained on them, precision and recall "
        "are too good, and the checks may be wrong: make the report on rows that were held out."
    )
    return Check("out_of_fold", "amber", reason)
