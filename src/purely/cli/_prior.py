"""``purely prior``: how many positives are in the pool."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from purely.cli import _options as o
from purely.cli._data import FileOptions, load_training
from purely.cli._session import Session, percent, run_command

HELP = """How many positives are in the pool? The class prior, with an interval.

\b
Examples:
  purely prior customers.csv --label fraud
  purely prior customers.csv --label fraud --method best-bin
  purely prior customers.csv --label fraud --scenario single-sample --json
"""


class Method(StrEnum):
    """Prior estimators by name."""

    recommended = "recommended"
    best_bin = "best-bin"
    logistic_ceiling = "logistic-ceiling"
    monotone = "monotone"
    dedpul = "dedpul"
    kernel_mean = "kernel-mean"
    alphamax = "alphamax"
    elkan_noto = "elkan-noto"
    rank_pruning = "rank-pruning"
    tice = "tice"
    pen_l1 = "pen-l1"
    regrouping = "regrouping"


_CLASSES = {
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


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("prior", help=HELP, short_help="How many positives are in the pool?")(command)


def command(
    file: o.File,
    label: o.Label = None,
    positive: o.Positive = None,
    id: o.Ids = None,
    drop: o.Drop = None,
    method: Annotated[
        list[Method] | None,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(Method)}; may be given several times.  [default: recommended]",
        ),
    ] = None,
    scenario: o.ScenarioOption = o.Scenario.case_control,
    format: o.FormatOption = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = "utf-8",
    no_header: o.NoHeader = False,
    max_rows: o.MaxRows = 50_000,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Estimate the class prior; see HELP."""
    options = FileOptions(
        file, format, delimiter, encoding, not no_header, label, positive, tuple(id or ()), tuple(drop or ())
    )
    methods = [m.value for m in method or [Method.recommended]]
    run_command(
        Session(json, quiet, debug, seed),
        lambda session: _prior(session, options, max_rows, methods, scenario.value),
    )


def _prior(session: Session, options: FileOptions, max_rows: int, methods: list[str], scenario: str) -> None:
    data = load_training(session, options, max_rows=max_rows)
    found = []
    for name in methods:
        with session.step(f"Estimating ({name})"):
            found.append(_estimate(name, data.X, data.y, scenario, session.seed))
    pool = data.rule.n_unlabelled
    session.say(data.line(), "")
    session.table(
        ["method", "class prior", "interval", "share of the pool", "about rows"],
        [
            [
                each["method"],
                f"{each['class_prior']:.3f}",
                f"[{each['interval'][0]:.3f}, {each['interval'][1]:.3f}]",
                percent(each["unlabelled_prior"]),
                f"{each['unlabelled_prior'] * pool:,.0f}",
            ]
            for each in found
        ],
    )
    level = found[0]["level"]
    session.say(
        "",
        f"The class prior is the share of positives in the population ({scenario}).",
        *([f"The interval's level is {level:.0%}."] if level else []),
    )
    session.finish({**data.summary(), "scenario": scenario, **found[0], "methods": found})


def _estimate(name: str, X: Any, y: Any, scenario: str, seed: int) -> dict[str, Any]:
    from purely import prior

    estimator = getattr(prior, _CLASSES[name])()
    known = estimator.get_params(deep=False)
    settings = {"scenario": scenario, "random_state": seed}
    estimator.set_params(**{key: value for key, value in settings.items() if key in known})
    estimator.fit(X, y)
    return {
        "method": name,
        "class_prior": float(estimator.class_prior_),
        "interval": [float(v) for v in estimator.class_prior_interval_],
        "level": known.get("level"),
        "unlabelled_prior": float(estimator.unlabelled_prior_),
        "determined": estimator.determined_,
        "upper_bound": estimator.upper_bound_,
    }
