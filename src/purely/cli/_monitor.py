"""``purely monitor``: whether the pool has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import scipy.sparse as sp
import typer

from purely.audit import Batch, Look, Monitor
from purely.cli import _options as o
from purely.cli._data import check_output, save_picture
from purely.cli._scoring import Scorer, load_model
from purely.cli._session import CommandError, Session, cells, command, percent
from purely.plotting import MonitorDisplay

#: Exit status where something has changed; 1 and 2 stand for errors.
CHANGED = 3


@command()
def app(
    session: Session,
    model: o.Model,
    files: Annotated[list[Path], o.argument("FILE...", "The reference, then batches in the order of time.")],
    *,
    alpha: Annotated[float, o.share("Probability of a false alarm over all looks together.")] = 0.05,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="A picture: PNG, SVG or PDF.")] = None,
    force: o.Force = False,
    reading: o.Reading,
) -> None:
    """Has the pool changed? Share of positives, scores and columns over time.

    The first file is the reference. Every later one is compared with it: the mean
    probability, the distribution of the scores, and each column. However many
    files there are, the probability of a false alarm is at most --alpha, as long as
    the files are in the order of time, new ones last. If something has changed, the
    exit status is 3.

    For example:
      purely monitor fraud.purely january.csv february.csv march.csv
      purely monitor fraud.purely week*.parquet --plot weeks.png
    """
    check_output(plot, [model, *files], endings=(".png", ".svg", ".pdf"), force=force)
    if len(files) < 2:
        raise CommandError("name the reference and at least one batch to compare with it.", 2)
    scorer = load_model(model)
    names = [scorer.encoder.columns_[k] for k in scorer.encoder.feature_owner_]
    monitor = Monitor(_batch(session, scorer, reading, files[0]), names, alpha)
    for path in files[1:]:
        monitor.look(_batch(session, scorer, reading, path))
    changed = any(look.changed for look in monitor.looks)
    _say(session, monitor, changed)
    if plot is not None:
        save_picture(MonitorDisplay.from_monitor(monitor), plot)
        session.say(f"The picture is in {plot}")
    scorer.say_ignored(session)
    session.finish({"changed": changed, "looks": [_plain(look) for look in monitor.looks]})
    if changed:
        raise typer.Exit(CHANGED)


def _batch(session: Session, scorer: Scorer, reading: o.Reading, path: Path) -> Batch:
    """Probabilities of all rows of a file, and the columns of some, drawn at random."""
    rng = np.random.default_rng([session.seed, 11])
    probability, kept, lots = [], [], []
    with session.step(f"Scoring {path.name}") as step:
        for scored in scorer.score(reading.open(path), [], step):
            probability.append(scored.probability)
            lot = rng.random(scored.log_odds.size)
            some = np.sort(np.argsort(lot)[: Monitor.most_compared])  # no more can be among the lowest of all
            kept.append(sp.csr_matrix(scorer.encoder.transform(scored.batch.take(some))))
            lots.append(lot[some])
    lowest = np.argsort(np.concatenate(lots))[: Monitor.most_compared]
    return Batch(path.name, np.concatenate(probability), sp.vstack(kept).tocsr()[lowest])


def _say(session: Session, monitor: Monitor, changed: bool) -> None:
    reference = monitor.reference
    session.say(
        f"Reference {reference.name}: {reference.probability.size:,} rows, share of positives "
        f"{percent(float(reference.probability.mean()))}",
        "",
    )
    session.table(
        ["", "changed", "rows", "share", "90% interval"],
        [
            [look.name, ", ".join(look.changed) or "nothing", f"{look.rows:,}", *cells(look.share, percent)]
            for look in monitor.looks
        ],
        text_columns=2,
    )
    session.say(
        "",
        "Something has changed: the model's probabilities may be off. An audit of a recent batch would tell "
        "(purely audit draw)."
        if changed
        else f"No change was found in {len(monitor.looks)} comparison{'s' * (len(monitor.looks) > 1)}.",
    )


def _plain(look: Look) -> dict[str, object]:
    told = {"share": look.share.value, "share_interval": [look.share.low, look.share.high], "changed": look.changed}
    names = {"name": "file", "p_score": "p_scores", "p_column": "p_columns"}
    return {names.get(key, key): value for key, value in vars(look).items() if key != "number"} | told
