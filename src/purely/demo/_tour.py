"""The tour, stage by stage: each computes, tells what it found, and returns what later stages need."""

from __future__ import annotations

import argparse
import textwrap
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from purely.classifiers import PUClassifier
from purely.datasets import PUSample, TrueValue, make_paper_data
from purely.demo._picture import Tour, degrees_from_x0, draw_picture
from purely.exceptions import OverfittingWarning
from purely.metrics import pu_report
from purely.prior import ClassPrior
from purely.report import make_report
from purely.representation import PURL, information_retained
from purely.smi import PUSMI, InformationInterval, SMIInterval, independence_test, rank_features
from purely.typing import Floats

CLASS_PRIOR = 0.7
N_POSITIVE, N_UNLABELLED = 400, 1000
N_NEW, N_JUDGED = 100_000, 10_000
PICTURE = "tour.png"
REPORT = "report.html"
ANSWERS = "The five answers, and the report"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tour; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="python -m purely.demo", description="A tour on artificial data.")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for picture and report")
    parser.add_argument("--seed", type=int, default=0, help="seed of the data and of the estimators")
    options = parser.parse_args(arguments)
    start, seed = time.perf_counter(), options.seed
    print("purely: learning purely from positive and unlabelled data")
    sample = make_paper_data(N_POSITIVE, N_UNLABELLED, class_prior=CLASS_PRIOR, random_state=seed)
    tell_data(sample)
    smi = measure_information(sample, seed)
    rank_columns(sample, smi)
    directions = find_direction(sample, seed)
    prior = count_positives(sample, seed)
    model, error = classify(sample, prior, seed)
    tour = Tour(sample, smi, directions, prior, model, error)
    with said_if_missing("The picture", "Not drawn", "plot"):
        say("The picture", str(draw_picture(tour, options.output / PICTURE)))
    with said_if_missing(ANSWERS, "Not made", "report"):
        make_answers(tour, seed, options.output / REPORT)
    print(f"\n{time.perf_counter() - start:.1f} seconds.")
    return 0


def tell_data(sample: PUSample) -> None:
    """The paper's artificial data at its own sizes."""
    say(
        "The data",
        f"{sample.n_positive} labelled positives and {sample.n_unlabelled} unlabelled rows with {sample.X.shape[1]} "
        f"columns; no negatives. The class prior p(y=1) is {sample.class_prior:g}: known here, because the data are "
        "artificial. Negatives lie on both sides of the positives in column x0. Column x1 has the larger variance and "
        "says nothing about the class.",
    )


def measure_information(sample: PUSample, seed: int) -> PUSMI:
    """PU-SMI with its interval beside the true values, and a test.

    What the fitted ratio captures is measured on a large new sample of the same problem.
    """
    estimator = PUSMI(random_state=seed).fit(sample.X, sample.y)
    free, smi = estimator.information_interval(), estimator.smi_interval(sample.class_prior)
    new = sample.problem.sample(N_NEW, N_NEW, random_state=seed + 1)
    captured = estimator.score(new.X, new.y) - 0.5
    odds = smi.class_prior / (1.0 - smi.class_prior)
    test = independence_test(sample.X, sample.y, random_state=seed)
    n_permutations = test.null_distribution.size
    say(
        "1. Is there signal, and how much?",
        f"{'':30}{'estimate':>9}{f'{free.level:.0%} interval':>19}{'captured':>10}{'true':>8}",
        _row("information (needs no prior)", free.information, free, captured, sample.problem.information()),
        _row(f"SMI at class prior {smi.class_prior:g}", smi.value, smi, odds * captured, sample.problem.smi()),
        "",
        f"SMI is the information times the prior's odds, {odds:.3f} here. The interval covers what the fitted density "
        "ratio captures (measured on a large new sample), which is a lower bound on the true value (by quadrature).",
        "",
        f"Permutation test of 'no information': p = {test.p_value:.3f} ({n_permutations} permutations; "
        f"{1 / (1 + n_permutations):.3f} is the smallest value that they can give).",
    )
    return estimator


def _row(name: str, value: float, ends: InformationInterval | SMIInterval, captured: float, truth: TrueValue) -> str:
    return f"{name:30}{value:>9.4f}{f'[{ends.low:.4f}, {ends.high:.4f}]':>19}{captured:>10.4f}{truth.value:>8.4f}"


def rank_columns(sample: PUSample, estimator: PUSMI) -> None:
    """The information of each column."""
    ranking = rank_features(sample.X, sample.y, estimator=estimator)
    say(
        "Which columns carry it?",
        str(ranking),
        "",
        "Prior-free information of each column alone, and what is lost without it, with standard errors. Both columns "
        f"together: {ranking.full:.4f}.",
    )


def find_direction(sample: PUSample, seed: int) -> list[Floats]:
    """Linear PURL with one component beside PCA, and what its projection keeps of the information on new rows."""
    title = "2. What do the data look like in a few dimensions?"
    if not find_spec("torch"):
        say(title, "Not shown: representations need torch. Try: pip install 'purely[nn]'")
        return []
    model = PURL(n_components=1, hidden=(), n_starts=5, random_state=seed, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverfittingWarning)  # only the direction is used, and on new rows
        model.fit(sample.X, sample.y)
    new = sample.problem.sample(N_POSITIVE, N_UNLABELLED, random_state=seed + 2)
    kept = information_retained(model, new.X, new.y, random_state=seed)
    component, of_pca = model.components_[0], PCA(1).fit(sample.X).components_[0]
    say(
        title,
        f"Direction ({component[0]:.3f}, {component[1]:.3f}), {degrees_from_x0(component):.1f} degrees from column x0: "
        "the one that PURL finds to keep the information, without a prior. The direction of the largest variance (PCA) "
        f"is {degrees_from_x0(of_pca):.1f} degrees from that column.",
        "",
        f"Information of new rows, out of fold: {kept.information_representation:.4f} in that one dimension, "
        f"{kept.information_inputs:.4f} with both columns, {sample.problem.information().value:.4f} in truth. A "
        "projection adds no information, but from fewer dimensions it is estimated better.",
    )
    return [component, of_pca]


def count_positives(sample: PUSample, seed: int) -> ClassPrior:
    """The class prior with its interval, and the true number of positives among the unlabelled rows."""
    prior = ClassPrior(random_state=seed).fit(sample.X, sample.y)
    low, high = prior.class_prior_interval_
    estimated, n_true = round(prior.unlabelled_prior_ * sample.n_unlabelled), sample.y_true[sample.y == 0].sum()
    say(
        "3. How many positives are in the pool?",
        f"Class prior {prior.class_prior_:.3f}, {prior.level:.0%} interval [{low:.3f}, {high:.3f}]; the truth is "
        f"{CLASS_PRIOR:g}. That is about {estimated} of the {sample.n_unlabelled} unlabelled rows; {n_true} are in "
        "fact positive. The prior was read off scores by models that had not seen the rows.",
    )
    return prior


def classify(sample: PUSample, prior: ClassPrior, seed: int) -> tuple[PUClassifier, float]:
    """The recommended classifier without its networks, which take longer, judged on new rows with known classes.

    The report knows no class: out-of-fold probabilities of the labelled and unlabelled rows, and the prior's interval.
    """
    model = PUClassifier(prior, members="light", random_state=seed).fit(sample.X, sample.y)
    new = sample.problem.sample(1, N_JUDGED, random_state=seed + 3)
    X, truth, posterior = new.X[1:], new.y_true[1:], new.posterior[1:]
    predicted = model.predict(X)
    error, best = float(np.mean(predicted != truth)), float(np.mean((posterior > 0.5) != truth))
    say(
        "4. Which ones?",
        f"PUClassifier at that prior, on {N_JUDGED} new rows whose classes are known here:",
        f"{'share of errors':30}{error:>9.4f}   (best possible {best:.4f})",
        f"{'share called positive':30}{predicted.mean():>9.4f}   (in truth {truth.mean():.4f})",
        "Its probabilities are calibrated with the prior and without negatives.",
    )
    report = pu_report(sample.y, model.oof_probability_, prior, out_of_fold=True, random_state=seed)
    in_truth = truth == predicted, truth[predicted == 1], predicted[truth == 1]
    names = "accuracy", "precision", "recall"
    told = [(report[name], float(of.mean())) for name, of in zip(names, in_truth, strict=True)]
    say(
        "5. Can I trust the answers, with no negatives to test on?",
        f"{'':20}{'estimate':>9}{f'{told[0][0].level:.0%} interval':>19}{'true':>10}",
        *(f"{e.name:20}{e.value:>9.3f}{f'[{e.low:.3f}, {e.high:.3f}]':>19}{value:>10.3f}" for e, value in told),
        "",
        "Estimated from positives, unlabelled rows and the prior, whose interval is carried through; the true values "
        "are those of the new rows.",
    )
    return model, error


def make_answers(tour: Tour, seed: int, path: Path) -> None:
    """Write the report, and tell its five answers and where it is."""
    report = make_report(
        tour.sample.X,
        tour.sample.y,
        model=tour.model,
        feature_names=["x0", "x1"],
        title="The demo: positives, a pool, and no negatives",
        settings={"data": "purely.datasets.make_paper_data, generated", "command": "purely demo"},
        random_state=seed,
    )
    lines: list[str] = []
    for place, name in enumerate(("signal", "picture", "positives", "records", "trust"), 1):
        answer = report.answers[name]
        lines.append(f"{place}. {answer['question']} {answer['short']}.")
        lines += textwrap.wrap(answer["answer"], 80, initial_indent="   ", subsequent_indent="   ")
    say(ANSWERS, *lines, "", str(report.write(path)))


@contextmanager
def said_if_missing(title: str, what: str, extra: str) -> Iterator[None]:
    """Tell which optional package is missing, where one is, instead of failing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("matplotlib", "jinja2"):
            raise
        say(title, f"{what}: {error.name} is not installed. Try: pip install 'purely[{extra}]'")


def say(title: str, *lines: str) -> None:
    """Print lines below a title, folded to the width of a terminal."""
    apart = [line for text in lines for line in text.splitlines() or [""]]
    folded = [textwrap.fill(line, 80, break_long_words=False, break_on_hyphens=False) for line in apart]
    print("", title, "-" * len(title), *folded, sep="\n", flush=True)
