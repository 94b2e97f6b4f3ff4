"""``purely datasets``: the seven public datasets, and positive-unlabelled files drawn from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from purely.cli import _options as o
from purely.cli._output import check_output, rows_to
from purely.cli._session import CommandError, Session, run_command

HELP = """The seven public datasets.

\b
Examples:
  purely datasets
  purely datasets fetch a9a --out a9a.csv
  purely datasets fetch 20news --positives 800 --out news.csv
"""

FETCH_HELP = """Draw a positive-unlabelled file from a dataset, with the truth beside it.

The file has the columns of the dataset, 'label' (1 for labelled positives,
empty for unlabelled rows) and 'truth' (1 or 0), which learning must not see:
give --drop truth, or --truth truth to evaluate.

\b
Examples:
  purely datasets fetch a9a --out a9a.csv
  purely fit a9a.csv --drop truth -o a9a.purely
"""

#: Datasets with their fetchers.
FETCHERS = {
    "ijcnn1": "fetch_ijcnn1",
    "a9a": "fetch_a9a",
    "mushrooms": "fetch_mushrooms",
    "phishing": "fetch_phishing",
    "mnist": "fetch_mnist",
    "fashion-mnist": "fetch_fashion_mnist",
    "20news": "fetch_20newsgroups_comp_sci",
}


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    group = typer.Typer(help=HELP, invoke_without_command=True, rich_markup_mode=None)
    group.callback()(list_command)
    group.command("fetch", help=FETCH_HELP, short_help="Draw a positive-unlabelled file.")(fetch_command)
    app.add_typer(group, name="datasets")


def list_command(
    ctx: typer.Context, seed: o.Seed = 0, json: o.Json = False, quiet: o.Quiet = False, debug: o.Debug = False
) -> None:
    """List the datasets; see HELP."""
    if ctx.invoked_subcommand is None:
        run_command(Session(json, quiet, debug, seed), _list)


def _list(session: Session) -> None:
    from purely.datasets._registry import DESCRIPTIONS

    session.table(["name", "what it is"], [[name, DESCRIPTIONS[name]] for name in FETCHERS], text_columns=2)
    session.say("", "purely datasets fetch NAME --out FILE draws a positive-unlabelled file.")
    session.finish({"datasets": {name: DESCRIPTIONS[name] for name in FETCHERS}})


def fetch_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help=", ".join(FETCHERS) + ".", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="CSV, TSV or Parquet.", show_default=False)],
    positives: Annotated[int, typer.Option(min=1, help="Labelled positives.")] = 1000,
    unlabelled: Annotated[int, typer.Option(min=1, help="Unlabelled rows.")] = 4000,
    class_prior: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Share of positives in the pool.  [default: the dataset's]")
    ] = None,
    scenario: o.ScenarioOption = o.Scenario.case_control,
    download: Annotated[
        bool, typer.Option("--download/--offline", help="Whether to download what is not here.")
    ] = True,
    seed: o.Seed = 0,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Fetch a dataset; see FETCH_HELP."""
    if name not in FETCHERS:
        from purely.tables._errors import nearest

        raise typer.BadParameter(f"there is no dataset {name!r}; {nearest(name, FETCHERS)}")
    run_command(
        Session(json, quiet, debug, seed),
        lambda session: _fetch(session, name, out, positives, unlabelled, class_prior, scenario.value, download),
    )


def _fetch(
    session: Session,
    name: str,
    out: Path,
    positives: int,
    unlabelled: int,
    class_prior: float | None,
    scenario: Any,
    download: bool,
) -> None:
    import purely.datasets as datasets

    check_output(out)
    with session.step(f"Reading {name}"):
        options: dict[str, Any] = {"download_if_missing": download}
        if name == "20news":
            options["return_text"] = True
        bunch = getattr(datasets, FETCHERS[name])(**options)
    places = np.arange(len(bunch.target))[:, None]
    draw = datasets.make_pu(
        places,
        bunch.target,
        n_positive=positives,
        n_unlabelled=unlabelled,
        class_prior=class_prior,
        scenario=scenario,
        random_state=session.seed,
    )
    order = np.random.default_rng(session.seed).permutation(draw.y.size)
    rows = draw.X[order, 0]
    label, truth = draw.y[order], draw.y_true[order]
    columns = _columns(bunch, rows)
    columns["label"] = pa.array([1 if v else None for v in label.tolist()], type=pa.int8())
    columns["truth"] = pa.array(truth.astype(np.int8))
    table = pa.table(columns)
    with rows_to(out, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=4096):
            writer.write(batch)
    share = float(truth[label == 0].mean())
    session.say(
        f"{out}: {positives:,} labelled positives and {unlabelled:,} unlabelled rows of {name}, of which "
        f"{share:.1%} are positive.",
        f"Next: purely inspect {out} --drop truth",
    )
    session.finish({"out": str(out), "positives": positives, "unlabelled": unlabelled, "share_in_pool": share})


def _columns(bunch: Any, rows: Any) -> dict[str, Any]:
    if isinstance(bunch.data, list):
        texts = [bunch.data[i].replace("\r", " ").replace("\x00", " ") for i in rows.tolist()]
        return {"text": pa.array(texts)}
    X = np.asarray(bunch.data[rows])
    if len(bunch.feature_names) != X.shape[1]:
        raise CommandError("the dataset's names do not match its columns.")
    whole = np.round(X) == X
    return {
        name: pa.array(X[:, j].astype(np.int32) if whole[:, j].all() else X[:, j].astype(np.float64))
        for j, name in enumerate(bunch.feature_names)
    }
