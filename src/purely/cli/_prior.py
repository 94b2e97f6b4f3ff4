"""``purely prior``: how many positives are in the pool."""

from __future__ import annotations

import warnings
from enum import StrEnum
from typing import Annotated, Any

from purely import prior
from purely.cli import _options as o
from purely.cli._data import TrainingData, load_training
from purely.cli._session import Session, command, percent
from purely.exceptions import ClassPriorWarning

#: Estimators by the names they have here.
METHODS = {
    "recommended": "ClassPrior",
    "best-bin": "BestBinPrior",
    "logistic-ceiling": "LogisticCeilingPrior",
    "monotone": "MonotoneRatioPrior",
    "dedpul": "DEDPULPrior",
    "kernel-mean": "KernelMeanPrior",
    "alphamax": "AlphaMaxPrior",
    "elkan-noto": "ElkanNotoPrior",
    "rank-pruning": "RankPruningPrior",
    "tice": "TIcEPrior",
    "pen-l1": "PenL1Prior",
    "regrouping": "RegroupingPrior",
}
#: What the rows are in each scenario.
POPULATION = {
    "case-control": "the pool is a sample of it",
    "single-sample": "labelled and unlabelled rows are one sample of it; 'in the pool' counts the unlabelled ones",
}
Method = StrEnum("Method", {name.replace("-", "_"): name for name in METHODS})  # type: ignore[misc]


@command()
def app(
    session: Session,
    files: o.Files,
    *,
    sampling: o.Sampling,
    method: Annotated[
        list[Method] | None,
        o.option("NAME", f"One of {', '.join(METHODS)}; may be given several times.  [default: recommended]"),
    ] = None,
    reading: o.Reading,
) -> None:
    """How many positives are in the pool? The class prior, with an interval.

    For example:
      purely prior positives.csv pool.csv
      purely prior customers.csv --label fraud --scenario single-sample
      purely prior customers.csv --label fraud --method best-bin --json
    """
    data = load_training(session, files, reading, sampling)
    said, found = data.scenario, []
    for name in method or [Method("recommended")]:
        with session.step(f"Estimating ({name})"):
            found.append(_estimate(str(name), data, session.seed))
    pool = data.rule.n_unlabelled
    session.say(data.line(), "")
    session.table(
        ["method", "at most", "estimate", "interval", "in the pool"],
        [
            [
                each["method"],
                percent(each["upper_bound"]),
                percent(each["class_prior"]),
                f"{percent(each['interval'][0])} to {percent(each['interval'][1])}",
                f"{each['unlabelled_prior'] * pool:,.0f} ({percent(each['unlabelled_prior'])})",
            ]
            for each in found
        ],
    )
    first = found[0]
    session.say(
        "",
        f"The class prior is the share of positives in the population ({said}: {POPULATION[said]}).",
        f"It lies in the interval with a confidence of {first['level']:.0%}, and is at most the bound with 95%.",
    )
    if not first["determined"]:
        session.say(
            f"These rows do not determine it: say at most {percent(first['upper_bound'])}. An audit of some unlabelled "
            "rows, or a class prior known from elsewhere, would settle it."
        )
    session.finish({**data.summary(), "scenario": said, **found[0], "methods": found})


def _estimate(name: str, data: TrainingData, seed: int) -> dict[str, Any]:
    estimator = getattr(prior, METHODS[name])()
    known = estimator.get_params(deep=False)
    settings = {"scenario": data.scenario, "random_state": seed}
    estimator.set_params(**{key: value for key, value in settings.items() if key in known})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The data do not determine", ClassPriorWarning)  # it is said below the table
        found = estimator.fit(data.X, data.y).prior_
    return {
        "method": name,
        "class_prior": found.value,
        "interval": found.interval,
        "level": found.level,
        "unlabelled_prior": float(estimator.unlabelled_prior_),
        "determined": found.determined,
        "upper_bound": found.upper_bound,
    }
