"""``purely information``: is there signal, how much, and in which columns."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from purely.cli import _options as o
from purely.cli._data import TrainingData, load_training
from purely.cli._session import Session, command
from purely.smi import PUSMI, InformationInterval, SMIInterval, independence_test, rank_features
from purely.smi.features import most_different


@command(max_rows=20_000)
def app(
    session: Session,
    files: o.Files,
    *,
    sampling: o.Sampling,
    class_prior: o.ClassPrior = None,
    ranking: Annotated[bool, typer.Option("--ranking/--no-ranking", help="Also rank the columns.")] = True,
    top: Annotated[int, typer.Option(min=1, help="Columns to rank: those of most information alone.")] = 20,
    permutations: Annotated[int, typer.Option(min=99, help="Permutations behind the p-value.")] = 999,
    reading: o.Reading,
) -> None:
    """Is there signal at all, and how much? PU-SMI with interval, p-value, columns.

    For example:
      purely information customers.csv --label fraud
      purely information customers.csv --label fraud --class-prior 0.02 --json
      purely information positives.csv pool.csv
    """
    data = load_training(session, files, reading, sampling)
    with session.step("Measuring information"):
        estimator = PUSMI(scenario=data.scenario, random_state=session.seed).fit(data.X, data.y)
        interval = estimator.information_interval()
    with session.step("Testing against chance"):
        test = independence_test(data.X, data.y, n_permutations=permutations, random_state=session.seed)
    result: dict[str, object] = {
        **data.summary(),
        "information": interval.information,
        "interval": [interval.low, interval.high],
        "level": interval.level,
        "p_value": test.p_value,
        "scenario": data.scenario,
    }
    session.say(
        data.line(),
        "",
        f"information   {interval.information:.4f}   {_interval(interval)}",
        f"p-value       {test.p_value:.4f}   of 'no information' ({permutations} permutations)",
    )
    if class_prior is not None:
        smi = interval.smi(class_prior)
        result["smi"] = {"value": smi.value, "interval": [smi.low, smi.high], "class_prior": class_prior}
        session.say(f"SMI           {smi.value:.4f}   {_interval(smi)} at prior {class_prior:g}")
    session.say("", _verdict(interval, test.p_value))
    if ranking:
        result["columns"] = _ranking(session, data, estimator, top)
    session.finish(result)


def _interval(found: InformationInterval | SMIInterval) -> str:
    return f"{found.level:.0%} interval [{found.low:.4f}, {found.high:.4f}]"


def _verdict(interval: InformationInterval, p_value: float) -> str:
    if p_value > 0.05:
        return "No signal was found: positives look like the unlabelled rows."
    if interval.low <= 0.0:
        return "There is signal, but it is weak: more positives would help."
    return "There is signal. Zero would mean that positives look like everyone else."


def _ranking(session: Session, data: TrainingData, estimator: PUSMI, top: int) -> list[dict[str, object]]:
    """Information of each column of the file alone and the loss without it, a column being all of its features."""
    names, owner = data.encoder.columns_, data.encoder.feature_owner_
    if names == ["features"]:  # a matrix without names of its own: its columns are ranked
        names, owner = list(data.encoder.get_feature_names_out()), np.arange(data.X.shape[1])
    columns = {str(name): np.flatnonzero(owner == j).tolist() for j, name in enumerate(names)}
    groups = most_different(data.X, data.y, columns, top)
    with session.step(f"Ranking {len(groups)} columns"):
        ranked = rank_features(data.X, data.y, groups=groups, estimator=estimator)
    keys = ("alone", "alone_error", "loss", "loss_error")
    rows = {name: [getattr(ranked, key)[i] for key in keys] for i, name in enumerate(ranked.names)}
    session.say("")
    session.table(
        ["column", "alone", "±", "lost without it", "±"],
        [[name, *(f"{v:.4f}" for v in values)] for name, values in rows.items()],
    )
    if np.any(ranked.loss < -2.0 * ranked.loss_error):
        session.say("A loss below 0: without that column, the information is estimated better.")
    if len(groups) < len(names):
        session.say(
            f"{len(groups)} of {len(names):,} columns, those that differ most between the two kinds of rows (--top)."
        )
    return [{"name": name, **dict(zip(keys, values, strict=True))} for name, values in rows.items()]
