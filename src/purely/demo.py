"""A guided tour on artificial data with known truth: ``purely demo``, or ``python -m purely.demo``.

Each stage has a function that computes and one that tells; :func:`main` arranges them. What a stage draws is in
``purely._demo_picture``.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from purely._demo_picture import (
    Panel,
    draw_classification_panel,
    draw_data_panel,
    draw_direction_panel,
    draw_information_panel,
    draw_picture,
    draw_pool_panel,
    draw_ratio_panel,
)
from purely.classifiers import PUClassifier
from purely.datasets import PUSample, TrueValue, make_paper_data
from purely.exceptions import OverfittingWarning
from purely.metrics import PUReport, pu_report
from purely.prior import ClassPrior
from purely.report import Report, make_report
from purely.representation import PURL, InformationRetained, information_retained
from purely.smi import (
    PUSMI,
    FeatureRanking,
    IndependenceTest,
    InformationInterval,
    SMIInterval,
    independence_test,
    rank_features,
)

CLASS_PRIOR = 0.7
N_POSITIVE, N_UNLABELLED = 400, 1000
N_NEW, N_JUDGED = 100_000, 10_000
PICTURE = "tour.png"
REPORT = "report.html"


@dataclass(frozen=True)
class Information:
    """What the first question's answer consists of: estimates beside the values they aim at."""

    estimator: PUSMI
    interval: InformationInterval
    smi: SMIInterval
    captured: float
    true_information: TrueValue
    true_smi: TrueValue


@dataclass(frozen=True)
class Direction:
    """The one direction that keeps the information, beside that of the largest variance."""

    component: NDArray[np.float64]
    component_of_pca: NDArray[np.float64]
    retained: InformationRetained
    true_information: float

    @property
    def angle(self) -> float:
        """Degrees between the direction and column x0, which holds all information."""
        return _degrees_from_x0(self.component)

    @property
    def angle_of_pca(self) -> float:
        """The same for the first principal component."""
        return _degrees_from_x0(self.component_of_pca)


@dataclass(frozen=True)
class Pool:
    """How many positives the pool holds, estimated and counted."""

    prior: ClassPrior
    n_unlabelled: int
    n_true: int


@dataclass(frozen=True)
class Classification:
    """A classifier, and what it does on new rows whose classes are known."""

    model: PUClassifier
    error: float
    best_error: float
    predicted_share: float
    true_share: float
    report: PUReport
    truth: dict[str, float]


# -- stages: what is computed -----------------------------------------------------------------------------------------


def draw_data(seed: int) -> PUSample:
    """The paper's artificial data at its own sizes: negatives on both sides of the positives, one useless column."""
    return make_paper_data(N_POSITIVE, N_UNLABELLED, class_prior=CLASS_PRIOR, random_state=seed)


def measure_information(sample: PUSample, seed: int) -> Information:
    """PU-SMI with its interval, prior-free and at the known class prior, and the true values by quadrature.

    What the fitted ratio captures is measured on a large new sample of the same problem.
    """
    estimator = PUSMI(random_state=seed).fit(sample.X, sample.y)
    new = sample.problem.sample(N_NEW, N_NEW, random_state=seed + 1)
    return Information(
        estimator,
        estimator.information_interval(),
        estimator.smi_interval(sample.class_prior),
        estimator.score(new.X, new.y) - 0.5,
        sample.problem.information(),
        sample.problem.smi(),
    )


def find_direction(sample: PUSample, seed: int) -> Direction:
    """Linear PURL with one component, and what its projection keeps of the information on new rows."""
    model = PURL(n_components=1, hidden=(), n_starts=5, random_state=seed, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverfittingWarning)  # only the direction is used, and on new rows
        model.fit(sample.X, sample.y)
    new = sample.problem.sample(N_POSITIVE, N_UNLABELLED, random_state=seed + 2)
    component = np.asarray(model.components_[0], dtype=np.float64)
    return Direction(
        component * np.sign(component[np.argmax(np.abs(component))]),
        np.asarray(PCA(1).fit(sample.X).components_[0], dtype=np.float64),
        information_retained(model, new.X, new.y, random_state=seed),
        sample.problem.information().value,
    )


def count_positives(sample: PUSample, seed: int) -> Pool:
    """The class prior with its interval, and the true number of positives among the unlabelled rows."""
    prior = ClassPrior(random_state=seed).fit(sample.X, sample.y)
    return Pool(prior, sample.n_unlabelled, int(sample.y_true[sample.y == 0].sum()))


def classify(sample: PUSample, prior: ClassPrior, seed: int) -> Classification:
    """The recommended classifier without its networks, which take longer, judged on new rows with known classes.

    The report knows no class: out-of-fold probabilities of the labelled and unlabelled rows, and the prior's interval.
    """
    model = PUClassifier(prior, members="light", random_state=seed).fit(sample.X, sample.y)
    new = sample.problem.sample(1, N_JUDGED, random_state=seed + 3)
    X, truth, posterior = new.X[1:], new.y_true[1:], new.posterior[1:]
    predicted = model.predict(X)
    return Classification(
        model,
        float(np.mean(predicted != truth)),
        float(np.mean((posterior > 0.5) != truth)),
        float(np.mean(predicted)),
        float(np.mean(truth)),
        pu_report(sample.y, model.oof_probability_, prior, out_of_fold=True, random_state=seed),
        {
            "accuracy": float(np.mean(predicted == truth)),
            "precision": float(np.mean(truth[predicted == 1])),
            "recall": float(np.mean(predicted[truth == 1])),
        },
    )


def _degrees_from_x0(component: NDArray[np.float64]) -> float:
    return float(np.degrees(np.arctan2(abs(component[1]), abs(component[0]))))


# -- stages: what is told ---------------------------------------------------------------------------------------------


def tell_data(sample: PUSample) -> list[str]:
    """The data in words."""
    return [
        *_title("The data"),
        f"{sample.n_positive} labelled positives and {sample.n_unlabelled} unlabelled rows with "
        f"{sample.X.shape[1]} columns; no negatives.",
        f"The class prior p(y=1) is {sample.class_prior:g}: known here, because the data are artificial.",
        "Negatives lie on both sides of the positives in column x0. Column x1 has",
        "the larger variance and says nothing about the class.",
    ]


def tell_information(information: Information) -> list[str]:
    """Prior-free information and SMI, each beside its true value."""
    free, smi = information.interval, information.smi
    odds = smi.class_prior / (1.0 - smi.class_prior)
    truth = information.true_information.value, information.true_smi.value
    captured = information.captured, information.captured * odds
    return [
        *_title("1. Is there signal, and how much?"),
        f"{'':30}{'estimate':>9}{f'{free.level:.0%} interval':>19}{'captured':>10}{'true':>8}",
        _row("information (needs no prior)", free.information, free.low, free.high, captured[0], truth[0]),
        _row(f"SMI at class prior {smi.class_prior:g}", smi.value, smi.low, smi.high, captured[1], truth[1]),
        "",
        f"SMI is the information times the prior's odds, {odds:.3f} here. The interval covers",
        "what the fitted density ratio captures (measured on a large new sample), which",
        "is a lower bound on the true value (by quadrature).",
    ]


def tell_test(test: IndependenceTest) -> list[str]:
    """The p-value of 'no information'."""
    n_permutations = test.null_distribution.size
    return [
        "",
        f"Permutation test of 'no information': p = {test.p_value:.3f} ({n_permutations} permutations; "
        f"{1 / (1 + n_permutations):.3f}",
        "is the smallest value that they can give).",
    ]


def tell_ranking(ranking: FeatureRanking) -> list[str]:
    """The information of each column."""
    rows = [
        f"{name:10}{alone:>14.4f} ± {alone_error:.4f}{loss:>18.4f} ± {loss_error:.4f}"
        for name, alone, alone_error, loss, loss_error in zip(
            ranking.names, ranking.alone, ranking.alone_error, ranking.loss, ranking.loss_error, strict=True
        )
    ]
    return [
        *_title("Which columns carry it?"),
        f"{'column':10}{'alone':>14}{'':9}{'lost without it':>18}",
        *rows,
        "",
        "Prior-free information, ± one standard error. Both columns together: " + f"{ranking.full:.4f}.",
    ]


def tell_direction(direction: Direction | None) -> list[str]:
    """The direction and what it keeps, or how to get it."""
    title = _title("2. What does it look like with everything else stripped away?")
    if direction is None:
        return [*title, "Not shown: representations need torch. Try: pip install 'purely[nn]'"]
    kept = direction.retained
    return [
        *title,
        "PURL looks for the one direction that keeps the information, without a prior:",
        f"it finds ({direction.component[0]:.3f}, {direction.component[1]:.3f}), {direction.angle:.1f} degrees from "
        "column x0. The direction of the",
        f"largest variance (PCA) is {direction.angle_of_pca:.1f} degrees from it.",
        "",
        f"Information of new rows, out of fold: {kept.information_representation:.4f} in that one dimension,",
        f"{kept.information_inputs:.4f} with both columns, {direction.true_information:.4f} in truth.",
        "A projection adds no information, but with less to fit more of it is captured.",
    ]


def tell_pool(pool: Pool) -> list[str]:
    """The class prior beside the truth."""
    prior = pool.prior
    low, high = prior.class_prior_interval_
    estimated = round(prior.unlabelled_prior_ * pool.n_unlabelled)
    return [
        *_title("3. How many positives are in the pool?"),
        f"Class prior {prior.class_prior_:.3f}, {prior.level:.0%} interval [{low:.3f}, {high:.3f}]; the truth is "
        f"{CLASS_PRIOR:g}.",
        f"That is about {estimated} of the {pool.n_unlabelled} unlabelled rows; {pool.n_true} are in fact positive.",
        "Read off scores of models that had not seen the rows they scored.",
    ]


def tell_classification(classification: Classification) -> list[str]:
    """Errors beside the best that is possible, and the share that is called positive."""
    return [
        *_title("4. Which ones?"),
        f"PUClassifier at that prior, on {N_JUDGED} new rows whose classes are known here:",
        f"{'share of errors':30}{classification.error:>9.4f}   (best possible {classification.best_error:.4f})",
        f"{'share called positive':30}{classification.predicted_share:>9.4f}"
        f"   (in truth {classification.true_share:.4f})",
        "Its probabilities are calibrated with the prior and without negatives.",
    ]


def tell_report(classification: Classification) -> list[str]:
    """What is estimated without negatives, beside the truth."""
    report, truth = classification.report, classification.truth
    rows = [
        f"{name:20}{report[name].value:>9.3f}{f'[{report[name].low:.3f}, {report[name].high:.3f}]':>19}{value:>10.3f}"
        for name, value in truth.items()
    ]
    return [
        *_title("5. Can that be trusted, with no negatives to test on?"),
        f"{'':20}{'estimate':>9}{'95% interval':>19}{'true':>10}",
        *rows,
        "",
        "Estimated from positives, unlabelled rows and the prior, whose interval is",
        "carried through; the true values are those of the new rows.",
    ]


def _title(text: str) -> list[str]:
    return ["", text, "-" * len(text)]


def _row(name: str, value: float, low: float, high: float, captured: float, truth: float) -> str:
    return f"{name:30}{value:>9.4f}{f'[{low:.4f}, {high:.4f}]':>19}{captured:>10.4f}{truth:>8.4f}"


# -- the tour ---------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tour; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="python -m purely.demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="folder for the picture and the report"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the data and of the estimators")
    options = parser.parse_args(arguments)
    start = time.perf_counter()

    print("purely: learning purely from positive and unlabelled data")
    sample = draw_data(options.seed)
    _say(tell_data(sample))
    information = measure_information(sample, options.seed)
    _say(tell_information(information))
    _say(tell_test(independence_test(sample.X, sample.y, random_state=options.seed)))
    _say(tell_ranking(rank_features(sample.X, sample.y, estimator=information.estimator)))
    direction = find_direction(sample, options.seed) if find_spec("torch") else None
    _say(tell_direction(direction))
    pool = count_positives(sample, options.seed)
    _say(tell_pool(pool))
    classification = classify(sample, pool.prior, options.seed)
    _say(tell_classification(classification))
    _say(tell_report(classification))
    panels: list[Panel] = [
        partial(draw_data_panel, sample=sample),
        partial(draw_ratio_panel, sample=sample, estimator=information.estimator),
        partial(draw_information_panel, information=information),
        *([] if direction is None else [partial(draw_direction_panel, sample=sample, direction=direction)]),
        partial(draw_pool_panel, sample=sample, pool=pool),
        partial(draw_classification_panel, sample=sample, classification=classification),
    ]
    _say(_picture_lines(panels, options.output / PICTURE))
    _say(_report_lines(sample, classification, options))
    print(f"\n{time.perf_counter() - start:.1f} seconds.")
    return 0


def _picture_lines(panels: list[Panel], path: Path) -> list[str]:
    try:
        return [*_title("The picture"), str(draw_picture(panels, path))]
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return [*_title("The picture"), "Not drawn: matplotlib is not installed. Try: pip install 'purely[plot]'"]


def _report_lines(sample: PUSample, classification: Classification, options: argparse.Namespace) -> list[str]:
    """Make the report, and tell its five answers and where it is; or what is missing."""
    title = _title("The five answers, and the report for your boss")
    try:
        report = make_report(
            sample.X,
            sample.y,
            model=classification.model,
            feature_names=["x0", "x1"],
            title="The demo: positives, a pool, and no negatives",
            settings={"data": "purely.datasets.make_paper_data, generated", "command": "purely demo"},
            random_state=options.seed,
        )
    except ModuleNotFoundError as error:
        if error.name not in ("matplotlib", "jinja2"):
            raise
        return [*title, f"Not made: {error.name} is not installed. Try: pip install 'purely[report]'"]
    lines = [*title, *tell_answers(report)]
    return [*lines, "", str(report.write(options.output / REPORT))]


def tell_answers(report: Report) -> list[str]:
    """The five answers, folded to 80 columns."""
    lines: list[str] = []
    for place, name in enumerate(("signal", "picture", "positives", "records", "trust"), 1):
        answer = report.answers[name]
        lines.append(f"{place}. {answer['question']} {answer['short']}.")
        lines += textwrap.wrap(answer["answer"], 80, initial_indent="   ", subsequent_indent="   ")
    return lines


def _say(lines: list[str]) -> None:
    print("\n".join(lines), flush=True)


if __name__ == "__main__":
    sys.exit(main())
