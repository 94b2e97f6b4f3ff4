"""``purely datasets``: the seven public datasets, and positive-unlabelled files drawn from them."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from sklearn.utils import Bunch

from purely import datasets
from purely.cli import _options as o
from purely.cli._data import check_output
from purely.cli._session import CommandError, Session, group
from purely.tables.errors import nearest
from purely.tables.writing import ENDINGS, writing_table
from purely.typing import Indices


def _fetch(
    session: Session,
    name: Annotated[str, o.argument("NAME", ", ".join(datasets.FETCHERS) + ".")],
    *,
    out: o.OutTable,
    positives: Annotated[int, typer.Option(min=1, help="Labelled positives.")] = 1000,
    unlabelled: Annotated[int, typer.Option(min=1, help="Unlabelled rows.")] = 4000,
    class_prior: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Share of positives in the pool.  [default: the dataset's]")
    ] = None,
    scenario: o.ScenarioOption = None,
    download: Annotated[
        bool, typer.Option("--download/--offline", help="Whether to download what is not here.")
    ] = True,
    force: o.Force = False,
) -> None:
    """Draw a positive-unlabelled file, with the truth beside it.

    The file has the columns of the dataset, 'label' (1 for labelled positives,
    empty for unlabelled rows) and 'truth' (1 or 0), which learning must not see:
    give --drop truth, or --truth truth to evaluate.

    For example:
      purely datasets fetch a9a --out a9a.csv
      purely fit a9a.csv --drop truth -o a9a.purely
    """
    if name not in datasets.FETCHERS:
        raise CommandError(f"there is no dataset {name!r}; {nearest(name, datasets.FETCHERS)}", 2)
    check_output(out, [], endings=ENDINGS, force=force)
    with writing_table(out) as writer:
        with session.step(f"Reading {name}"):
            options = {"return_text": True} if name == "20news" else {}
            bunch = datasets.FETCHERS[name](download_if_missing=download, **options)
        try:
            draw = datasets.make_pu(
                np.arange(len(bunch.target))[:, None],
                bunch.target,
                n_positive=positives,
                n_unlabelled=unlabelled,
                class_prior=class_prior,
                scenario=(scenario or o.Scenario.case_control).value,
                random_state=session.seed,
            )
        except datasets.DrawError as error:
            raise CommandError(f"{error.lack} {error.remedy}.".replace("class_prior", "--class-prior")) from None
        order = np.random.default_rng(session.seed).permutation(draw.y.size)
        label, truth = draw.y[order], draw.y_true[order]
        columns = _columns(bunch, draw.X[order, 0])
        columns["label"] = pa.array([1 if v else None for v in label.tolist()], type=pa.int8())
        columns["truth"] = pa.array(truth.astype(np.int8))
        for batch in pa.table(columns).to_batches(max_chunksize=4096):
            writer.write(batch)
    share = float(truth[label == 0].mean())
    session.say(
        f"{out}: {positives:,} labelled positives and {unlabelled:,} unlabelled rows of {name}, of which "
        f"{share:.1%} are positive.",
        f"Next: purely inspect {out} --drop truth",
    )
    session.finish({"out": str(out), "positives": positives, "unlabelled": unlabelled, "share_in_pool": share})


def _columns(bunch: Bunch, rows: Indices) -> dict[str, pa.Array]:
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


def _list(session: Session, ctx: typer.Context) -> None:
    """The seven public datasets.

    For example:
      purely datasets
      purely datasets fetch a9a --out a9a.csv
      purely datasets fetch 20news --positives 800 --out news.csv
    """
    if ctx.invoked_subcommand is None:
        known = {name: datasets.DESCRIPTIONS[name] for name in datasets.FETCHERS}
        session.table(["name", "what it is"], list(known.items()), text_columns=2)
        session.say("", "purely datasets fetch NAME --out FILE draws a positive-unlabelled file.")
        session.finish({"datasets": known})


app = group(_list, fetch=_fetch)
