"""``purely fit``: a classifier for the rows of a table, in a file."""

from __future__ import annotations

import sys
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from sklearn.pipeline import Pipeline

import purely
from purely.classifiers import DistilledPUClassifier, NNPUClassifier, PUClassifier
from purely.classifiers.members import NETWORK_COLUMNS, TABLE_MEMBERS, Members
from purely.classifiers.thresholds import threshold_of
from purely.cli import _options as o
from purely.cli._data import TrainingData, check_output, load_training
from purely.cli._session import CommandError, Session, cells, command, percent, said_of_prior, seconds, three_digits
from purely.exceptions import DistillationError
from purely.files import replacing, shown
from purely.metrics import pu_report
from purely.metrics.estimate import Resampling

#: Rows times weights of a network up to which "auto" trains full networks on a CPU: some minutes.
FULL_ON_CPU = 4.0e9
#: Estimates that are printed.
SHOWN = ("precision", "recall", "f1", "accuracy", "roc_auc", "calibration_error")


#: How much is trained.
Size = StrEnum("Size", ["auto", "full", "compact", "light", "fast"])


@command()
def app(
    session: Session,
    files: o.Files,
    *,
    out: Annotated[Path, o.output("MODEL", "Model file to write.")],
    sampling: o.Sampling,
    size: Annotated[Size, typer.Option(help="How much is trained, see above.")] = Size.auto,
    class_prior: o.ClassPrior = None,
    resume: Annotated[bool, o.flag("--resume", "Continue a fit that was killed.")] = False,
    device: o.DeviceOption = o.Device.auto,
    force: o.Force = False,
    reading: o.Reading,
) -> None:
    """Which ones? Learn a classifier with calibrated probabilities, and save it.

    The class prior is estimated (or given with --class-prior), several models are
    trained and calibrated, and how good they are is estimated on rows that they
    were not trained on.

    Sizes:
      full      what we recommend: trees, forest, boosting, linear and kernel
                logistic regression; the better a model predicts, the more it
                counts; with 64 columns or more also fifteen networks of 3 x 100
      compact   the same with five smaller networks of 2 x 50
      light     trees, boosting, a kernel and a logistic regression, in about
                half the time; needs no torch
      fast      one small network; for scoring many millions of rows
      auto      full on a GPU or if it takes only a few minutes, else compact

    For example:
      purely fit positives.csv pool.csv -o fraud.purely
      purely fit customers.csv --label fraud --scenario single-sample
        --id customer -o fraud.purely
      purely fit big.parquet --label y --size fast -o fast.purely --resume
    """
    check_output(out, files.paths, endings=(), force=force)
    with replacing(out):  # nobody else may write it from here on
        data = load_training(session, files, reading, sampling)
        _refuse_names(data)
        chosen = choose_size(session, size, data, device)
        unfinished = out.with_name(f".{out.name}.purely-resume")
        model = PUClassifier(
            "auto" if class_prior is None else class_prior,
            members=members_of(chosen),
            checkpoint=unfinished if chosen != Size.light else None,
            scenario=data.scenario,
            device=device.value,
            random_state=session.seed,
        )
        _train(session, model, data, unfinished, resume)
        model.set_params(checkpoint=None)
        _distil(session, model, data)
        purely.save(Pipeline([("table", data.encoder), ("classifier", model)]), out)
    unfinished.unlink(missing_ok=True)
    described = _describe(session, data, model, chosen)
    session.say("", f"The model is in {out}")
    session.finish({**data.summary(), **described, "scenario": data.scenario, "model": str(out)})


def _refuse_names(data: TrainingData) -> None:
    """Refuse names of columns that no model file takes before the training, not after it."""
    for name in map(str, data.encoder.feature_names_in_):
        if len(name) > 10_000 or any((ord(c) < 32 and c not in "\t\n\r") or 127 <= ord(c) < 160 for c in name):
            raise CommandError(
                f"{data.source.name} has a column named {shown(name)!r}; names in a model file hold no control "
                "characters and at most 10,000 others. Rename the column, or leave it out with --drop."
            )


def choose_size(session: Session, asked: Size, data: TrainingData, device: o.Device) -> Size:
    """The size that "auto" stands for here."""
    if asked != Size.auto:
        return asked
    if data.X.shape[1] < NETWORK_COLUMNS:
        return Size.full
    if find_spec("torch") is None:
        session.note("torch is not installed, so a light model is trained. Try: pip install 'purely[nn]'")
        return Size.light
    import torch

    weights = 100 * data.X.shape[1] + 2 * 100**2
    on_gpu = device == o.Device.cuda or (device == o.Device.auto and torch.cuda.is_available())
    if on_gpu or data.X.shape[0] * weights <= FULL_ON_CPU:
        return Size.full
    session.note("full networks would take long here, so compact ones were trained (--size full trains full ones).")
    return Size.compact


def members_of(size: Size) -> Members:
    """Members of the classifier for a size."""
    if size == Size.full:
        return "auto"
    if size == Size.light:
        return "light"
    # Smaller networks than those of the study, with the logistic loss: the sigmoid loss gives up on rare positives.
    if size == Size.fast:
        return [NNPUClassifier(hidden=(32,), loss="logistic", n_ensemble=1)]
    return [NNPUClassifier(hidden=(50, 50), loss="logistic", n_ensemble=1, refit=False), *TABLE_MEMBERS]


def _train(session: Session, model: PUClassifier, data: TrainingData, unfinished: Path, resume: bool) -> None:
    """Fit the model; networks of an earlier fit that was killed are taken up with `resume`."""
    if unfinished.exists() and not resume:
        session.note("an earlier fit that was not finished was started anew; --resume would have continued it.")
        unfinished.unlink()
    elif unfinished.exists():
        session.note("resumed with the networks of the earlier fit.")
    elif resume:
        session.note("there was no unfinished fit to resume; this one started from the beginning.")
    try:
        with session.step("Class prior and members"):
            model.fit(data.X, data.y)
    except KeyboardInterrupt:
        if unfinished.exists():
            print("purely: the fit can be continued with --resume.", file=sys.stderr)
        raise
    except ValueError as error:
        if "belongs to other data" not in str(error):
            raise
        raise CommandError(
            f"{shown(unfinished, 120)!r} is of a fit of other data or settings; leave out --resume to start anew."
        ) from error


def _distil(session: Session, model: PUClassifier, data: TrainingData) -> None:
    """Put the form that `purely predict` uses beside the model, unless it says something else."""
    try:
        with session.step("Making the fast form"):
            pool = data.y == 0
            model.distilled_ = DistilledPUClassifier.of(model, data.X[pool], data.keys[pool])
    except DistillationError as error:
        session.note(f"{error} So 'purely predict' will use the model as it was fitted, which is slower.")


def _describe(session: Session, data: TrainingData, model: PUClassifier, size: Size) -> dict[str, object]:
    """Print what the model is worth, and return it."""
    prior, how = model.prior_, Resampling(scenario=data.scenario, random_state=session.seed)
    with session.step("Estimating without negatives"):
        report = pu_report(data.y, model.oof_probability_, model, threshold_of(model), out_of_fold=True, **how)
    pool = model.unlabelled_prior_ * data.rule.n_unlabelled
    networks = "with" if any(member.name == "networks" for member in model.members_) else "without"
    session.say(
        data.line(),
        f"{networks} networks (--size {size}); trained in {seconds(session)}",
        "",
        f"class prior   {said_of_prior(prior)}",
        f"              about {pool:,.0f} ({percent(model.unlabelled_prior_)}) of the unlabelled rows are positive",
        "",
        f"Out of fold at the threshold {report.threshold:g}, estimated without negatives:",
    )
    session.table(
        ["", "value", f"{report['precision'].level:.0%} interval"],
        [[name, *cells(report[name], three_digits)] for name in SHOWN if name in report.estimates],
    )
    return {
        "size": size.value,
        "class_prior": prior.value,
        "class_prior_interval": prior.interval,
        "class_prior_at_most": prior.upper_bound,
        "class_prior_determined": prior.determined,
        "unlabelled_prior": model.unlabelled_prior_,
        "estimates": {name: estimate.numbers for name, estimate in report.estimates.items()},
    }
