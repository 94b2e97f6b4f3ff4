"""``purely inspect``: what will be used, before anything is learnt."""

from __future__ import annotations

import shlex

from purely.cli import _options as o
from purely.cli._data import load_training
from purely.cli._session import Session, command, percent
from purely.files import shown
from purely.tables.leaks import count_empty
from purely.tables.source import Pair

#: Columns that are listed on the terminal.
MOST_LISTED = 200


@command(max_rows=100_000)
def app(session: Session, files: o.Files, sampling: o.Sampling, reading: o.Reading) -> None:
    """What will be used: labels, balance, every column, what is missing.

    Columns that may give the label away are named: those that tell labelled from
    unlabelled rows almost without error, and those that are constant or missing
    among one kind of rows only.

    For example:
      purely inspect customers.csv --label fraud
      purely inspect visits.parquet --label outcome --positive bought --id visit
      purely inspect positives.csv pool.csv
    """
    data = load_training(session, files, reading, sampling, warn=False)
    rule, report, copies = data.rule, data.encoder.report_, data.copies
    empty = count_empty(data.table.drop_columns(rule.column))
    how = f"--positive {rule.positive}" if rule.explicit else "a guess" if rule.guessed else "recognised"
    missing = f" ({rule.n_missing:,} with an empty label)" if rule.n_missing else ""
    by_file = isinstance(data.source, Pair)
    said = {
        "label": "by file: the positives, then the pool" if by_file else "",
        "label column": "" if by_file else f"{shown(rule.column)!r}, positive is {shown(rule.positive)!r} ({how})",
        "labelled": f"{rule.n_positive:,} rows ({percent(rule.n_positive / data.n_rows)})",
        "unlabelled": f"{rule.n_unlabelled:,} rows{'' if by_file else missing}",
        "known negatives": f"{rule.n_negative:,} rows, not used for learning" if rule.n_negative else "",
        "carried along": ", ".join(sampling.id or ()),
        "left out": ", ".join(sampling.drop or ()),
        "copies": f"{copies.positive:,} labelled and {copies.unlabelled:,} unlabelled rows repeat another row",
        "": f"{copies.shared:,} labelled rows are also among the unlabelled ones" if copies.shared else "",
        "empty": f"{empty:,} {'row has' if empty == 1 else 'rows have'} no value in any column" if empty else "",
        "features": f"{report.n_features:,} ({'sparse' if report.sparse else 'dense'})",
    }
    lines = [f"{what:<18}{text}" for what, text in said.items() if text]
    session.say(f"{data.source.name}: {data.n_rows:,} rows", *lines, "")
    session.table(
        ["column", "kind", "what becomes of it", "features", "missing"],
        [
            [
                c.name,
                c.kind,
                c.action.removeprefix("dropped: "),
                f"{c.n_features:,}" if c.n_features else "-",
                percent(c.n_missing / data.y.size) if c.n_missing else "-",
            ]
            for c in report.columns[:MOST_LISTED]
        ],
        text_columns=3,
    )
    if len(report.columns) > MOST_LISTED:
        session.say(f"... and {len(report.columns) - MOST_LISTED} columns more (--json lists all)")
    for leak in data.leaks:
        session.note(
            f"column {shown(leak.column)!r} {leak.sign}. If that is because of the label, leave it out: --drop "
            f"{shlex.quote(shown(leak.column))}"
        )
    if data.sampled:
        session.note(f"columns were judged by {data.y.size:,} rows drawn at random; --max-rows changes that.")
    names = ("name", "kind", "n_features", "n_missing", "action")
    columns = [{name: getattr(c, name) for name in names} for c in report.columns]
    session.finish(
        {
            **data.summary(),
            "columns": columns,
            "sparse": report.sparse,
            "leaks": {leak.column: leak.sign for leak in data.leaks},
            "copies": vars(copies),
            "empty": empty,
        }
    )
