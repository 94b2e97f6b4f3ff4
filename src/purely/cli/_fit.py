"""``purely fit``: a classifier for the rows of a table, in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from purely.cli import _options as o
from purely.cli._data import FileOptions, TrainingData, load_training
from purely.cli._output import atomic_path, check_output
from purely.cli._session import CommandError, Session, percent, run_command

if TYPE_CHECKING:
    from purely.cli._resume import FitFolder

HELP = """Which ones? Learn a classifier with honest probabilities, and save it.

The class prior is estimated (or given with --class-prior), members are trained
and calibrated, and what the model is worth is estimated out of fold.

\b
Sizes:
  full      what we recommend: fifteen networks of 3 x 100, trees, linear and
            kernel logistic regression, weighed by how they do out of fold
  compact   the same with five smaller networks of 2 x 50
  light     the same without networks; needs no torch
  fast      one small network; for scoring many millions of rows
  auto      full on a GPU or where it takes a few minutes, else compact

\b
Examples:
  purely fit customers.csv --label fraud --id customer -o fraud.purely
  purely fit customers.csv --label fraud -o fraud.purely --resume
  purely fit big.parquet --label y --size fast -o fast.purely
"""

#: Rows times weights of a network up to which "auto" trains full networks on a CPU: some minutes.
FULL_ON_CPU = 4.0e9


class Size(StrEnum):
    """How much is trained."""

    auto = "auto"
    full = "full"
    compact = "compact"
    light = "light"
    fast = "fast"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("fit", help=HELP, short_help="Learn a classifier and save it.")(command)


def command(
    file: o.File,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Model file to write.", show_default=False)],
    label: o.Label = None,
    positive: o.Positive = None,
    id: o.Ids = None,
    drop: o.Drop = None,
    size: Annotated[Size, typer.Option("--size", help="How much is trained, see above.")] = Size.auto,
    class_prior: o.ClassPriorOption = None,
    scenario: o.ScenarioOption = o.Scenario.case_control,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a fit that was killed.")] = False,
    device: o.DeviceOption = o.Device.auto,
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
    """Fit a model; see HELP."""
    if class_prior is not None and not 0.0 < class_prior < 1.0:
        raise typer.BadParameter(
            f"must be strictly between 0 and 1; {class_prior:g} was given.", param_hint="--class-prior"
        )
    options = FileOptions(
        file, format, delimiter, encoding, not no_header, label, positive, tuple(id or ()), tuple(drop or ())
    )
    settings = {"class_prior": class_prior, "scenario": scenario.value, "device": device.value, "size": size.value}
    run_command(
        Session(json, quiet, debug, seed), lambda session: _fit(session, options, out, max_rows, settings, resume)
    )


def _fit(
    session: Session, options: FileOptions, out: Path, max_rows: int, settings: dict[str, Any], resume: bool
) -> None:
    from sklearn.pipeline import Pipeline

    import purely
    from purely.cli._resume import FitFolder, digest

    check_output(out, ())
    if out.suffix.lower() in (".csv", ".tsv", ".parquet", ".npz", ".html"):
        raise CommandError(f"{str(out)!r} is named like a table; name the model for example {out.stem + '.purely'!r}.")
    data = load_training(session, options, max_rows=max_rows)
    size = choose_size(session, settings["size"], data, settings["device"])
    folder = FitFolder(out)
    chosen = {**settings, "size": size, "seed": session.seed, "version": purely.__version__}
    folder.begin(session, digest(data.X, data.y, chosen), resume)
    model = train_classifier(session, data, chosen, folder)
    with atomic_path(out) as partial:
        purely.save(Pipeline([("table", data.encoder), ("classifier", model)]), partial)
    folder.remove()
    session.finish({**data.summary(), **_describe(session, data, model, size, settings["scenario"]), "model": str(out)})


def choose_size(session: Session, asked: str, data: TrainingData, device: str) -> str:
    """The size that "auto" stands for here."""
    if asked != "auto":
        return asked
    if find_spec("torch") is None:
        session.note("torch is not installed, so networks are left out. Try: pip install 'purely[nn]'")
        return "light"
    weights = 100 * data.X.shape[1] + 2 * 100**2
    if data.X.shape[0] * weights <= FULL_ON_CPU or device == "cuda":
        return "full"
    import torch

    if device == "auto" and torch.cuda.is_available():
        return "full"
    session.note("full networks would take long here, so compact ones were trained (--size full insists).")
    return "compact"


def members_of(size: str) -> Any:
    """Members of the classifier for a size."""
    from purely.classifiers import NNPUClassifier
    from purely.classifiers.members import LIGHT_MEMBERS

    if size == "full":
        return "auto"
    if size == "light":
        return size
    # Smaller networks than those of the study, with the logistic loss: the sigmoid loss gives up on rare positives.
    if size == "fast":
        return [NNPUClassifier(hidden=(32,), loss="logistic", n_ensemble=1)]
    return [NNPUClassifier(hidden=(50, 50), loss="logistic", n_ensemble=1, refit=False), *LIGHT_MEMBERS]


def train_classifier(session: Session, data: TrainingData, chosen: dict[str, Any], folder: FitFolder) -> Any:
    """A fitted PUClassifier without a trace of the folder."""
    from purely.classifiers import PUClassifier
    from purely.cli._resume import StoredPrior

    given = chosen["class_prior"]
    prior = StoredPrior(folder.prior, random_state=session.seed) if given is None else float(given)
    model = PUClassifier(
        prior,
        members=members_of(chosen["size"]),
        checkpoint=folder.networks,
        scenario=chosen["scenario"],
        device=chosen["device"],
        random_state=session.seed,
    )
    try:
        with session.step("Class prior and members") as step, _epochs(step, chosen["size"] != "light"):
            model.fit(data.X, data.y)
    except KeyboardInterrupt:
        print("purely: the fit can be continued with --resume.", file=sys.stderr)
        raise
    model.set_params(class_prior="auto" if given is None else given, checkpoint=None)
    if isinstance(model.prior_estimator_, StoredPrior):
        model.prior_estimator_ = model.prior_estimator_.as_plain()
    return model


@contextmanager
def _epochs(step: Any, networks: bool) -> Iterator[None]:
    """Let the networks' training move the step's bar."""
    if not networks:
        yield
        return
    from purely.nn.training import progress_bar

    token = progress_bar.set(lambda total, start: EpochBar(step, total, start))
    try:
        yield
    finally:
        progress_bar.reset(token)


class EpochBar:
    """What the training loop tells about its epochs, passed on to a step."""

    def __init__(self, step: Any, total: int, start: int) -> None:
        self.step, self.total, self.epoch = step, total, start

    def set_postfix(self, values: dict[str, str]) -> None:
        """Not shown."""

    def update(self) -> None:
        """One more epoch."""
        self.epoch += 1
        self.step.update(self.epoch / self.total)

    def close(self) -> None:
        """Nothing to close."""


SHOWN = ("precision", "recall", "f1", "accuracy", "roc_auc", "calibration_error")


def _describe(session: Session, data: TrainingData, model: Any, size: str, scenario: Any) -> dict[str, Any]:
    """Print what the model is worth, and return it."""
    from purely.metrics import pu_report
    from purely.smi import information_interval

    prior, (low, high) = model.class_prior_, model.class_prior_interval_
    ratio = model.oof_probability_ / prior
    information = information_interval(ratio, data.y == 1, scenario=scenario)
    with session.step("Estimating without negatives"):
        report = pu_report(
            data.y,
            model.oof_probability_,
            model,
            scenario=scenario,
            out_of_fold=True,
            random_state=session.seed,
        )
    pool = model.unlabelled_prior_ * data.rule.n_unlabelled
    session.say(
        data.line(),
        f"size {size}; trained in {_seconds(session)}",
        "",
        f"class prior   {prior:.3f}   " + (f"interval [{low:.3f}, {high:.3f}]" if low < high else "as given"),
        f"              about {pool:,.0f} ({percent(model.unlabelled_prior_)}) of the unlabelled rows are positive",
        f"information   {information.information:.4f}   {information.level:.0%} interval "
        f"[{information.low:.4f}, {information.high:.4f}]",
        "",
        f"Out of fold at the threshold {report.threshold:g}, estimated without negatives:",
    )
    session.table(
        ["", "value", f"{report['precision'].level:.0%} interval"],
        [
            [name, f"{report[name].value:.3f}", f"[{report[name].low:.3f}, {report[name].high:.3f}]"]
            for name in SHOWN
            if name in report.estimates
        ],
    )
    return {
        "size": size,
        "class_prior": prior,
        "class_prior_interval": [low, high],
        "unlabelled_prior": model.unlabelled_prior_,
        "information": information.information,
        "information_interval": [information.low, information.high],
        "estimates": {n: {"value": e.value, "low": e.low, "high": e.high} for n, e in report.estimates.items()},
        "scenario": scenario,
    }


def _seconds(session: Session) -> str:
    import time

    taken = time.perf_counter() - session.started
    return f"{taken:.0f} seconds" if taken < 120 else f"{taken / 60:.1f} minutes"
