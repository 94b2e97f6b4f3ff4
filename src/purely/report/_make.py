"""make_report: the five answers, with the pictures behind them, as one HTML file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from purely.audit import AuditResult
from purely.checks import RandomState, draw_seed
from purely.exceptions import OverfittingWarning, PurelyWarning
from purely.explain import column_of_features
from purely.files import replacing
from purely.labels import Scenario
from purely.notebook import html_table
from purely.report import _stages as stages
from purely.report._answers import Findings, answer_all, top_rows
from purely.report._audit import audit_checks, find_ranges, read_findings
from purely.report._checks import run_checks
from purely.report._data import Answer, Records, read_table
from purely.report._page import import_jinja, render
from purely.typing import Estimator, Frame, Matrix

__all__ = ["Report", "make_report"]

Progress = Callable[[str, int, int], None]
T = TypeVar("T")

#: Warnings whose own words are advice for somebody who fits the networks in Python.
WORDS: dict[type[Warning], str] = {
    OverfittingWarning: "The networks of the representation fit the rows they were trained on better than other rows. "
    "The picture shows only rows that they were not trained on."
}
#: How many stages a caller is told of.
N_STAGES = 12


@dataclass(frozen=True, eq=False)
class Report:
    """A finished report, from :func:`make_report`.

    Attributes
    ----------
    html : str
        The page, complete in itself: it asks for nothing from outside.
    answers : dict
        The five answers, as JSON knows them: "signal", "picture", "positives", "records" and "trust", each with its
        "question", a "short" word, an "answer" in a sentence or two and the numbers in it; "gain" compares the model
        with a plain classifier, "next" says what to do now, "audit" what the labels of an audit say, where there is
        one, "ranges" what would follow if labels were not chosen at random, and "rows" describes the input.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from purely.report import Report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Report("<!DOCTYPE html><p>Fine.</p>", {}).write(Path(folder) / "pages" / "report.html")
    ...     path.read_text()
    '<!DOCTYPE html><p>Fine.</p>'
    """

    html: str = field(repr=False)
    answers: dict[str, Answer] = field(repr=False)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; a file of that name is replaced at once when all is written, or stays as it was.

        Parameters
        ----------
        path : str or path
            Folders in it are made where they are missing.

        Returns
        -------
        Path
        """
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as partial:
            partial.write_text(self.html, encoding="utf-8", newline="\n")
        return target

    def _said(self, *more: str) -> list[Answer]:
        names = ("signal", "picture", "positives", "records", "trust", "audit", *more)
        return [self.answers[name] for name in names if name in self.answers]

    def _repr_html_(self) -> str:
        rows = [[f"{part['question']} {part['short']}. {part['answer']}"] for part in self._said("next")]
        return html_table(["The answers"], rows, ['The whole page: report.write("report.html")'])

    def __str__(self) -> str:
        return "\n".join(f"{k}. {part['question']}\n   {part['answer']}" for k, part in enumerate(self._said(), 1))


def make_report(
    X: Matrix,
    y: ArrayLike,
    *,
    model: Estimator | None = None,
    audit: AuditResult | None = None,
    feature_names: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    records: Records | None = None,
    row_numbers: ArrayLike | None = None,
    title: str | None = None,
    settings: Mapping[str, object] | None = None,
    scaled: bool = False,
    scenario: Scenario = "case-control",
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Report:
    """Answer the five questions about positive and unlabelled rows in one page that works offline.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        Numbers, without missing values; or a frame of any columns, where `model` is a pipeline that begins with a
        :class:`purely.tables.TableEncoder`.
    y : array-like of shape (n,)
        1 for labelled positives, 0 for unlabelled rows; at least two of each.
    model : fitted classifier, optional
        Anything with `predict_proba`; `class_prior_`, `class_prior_interval_` and `oof_probability_` are used where it
        has them. None: :class:`purely.PUClassifier` is fitted.
    audit : AuditResult, optional
        Labels of an audit of that model, from :func:`purely.audit.read_audit`.
    feature_names : sequence of str, optional
        Names of the columns of `X`.
    groups : sequence of str, optional
        The column of the table that each column of `X` was made from; reasons name these columns.
    records : data frame or list of dict, optional
        The rows as their readers know them, for the table of the top ones; any values.
    row_numbers : array-like of int, optional
        Numbers of the rows in the file that they were taken from; None: their places, from 0.
    title : str, optional
    settings : mapping, optional
        Whatever else is needed to reproduce the page; listed at its end.
    scaled : bool, default=False
        Whether the columns have a common scale already, as those of :class:`purely.tables.TableEncoder` do; otherwise
        they are scaled for the information, the representation and the ranking.
    scenario : {"case-control", "single-sample"}, default="case-control"
        What the unlabelled rows are: a sample of the population, or what is left of one after labelling.
    random_state : int, RandomState or None, default=0
    progress : callable, optional
        Called as ``progress(stage, done, total)`` before each stage, and once more at the end.

    Returns
    -------
    Report
        ``report.write(path)`` writes the page; ``report.answers`` holds the numbers; ``print(report)`` prints the
        answers.

    Notes
    -----
    Scores, thresholds and checks use every row. Other stages draw at most: 20,000 rows for the model where none is
    given (the rest is scored by it; beyond 20,000 rows it has networks only with a GPU), 10,000 for the class prior and
    for the information, 5,000 for the test, 4,000 for the representation and 3,000 for the columns, of which the 15
    that differ most are measured. In the case-control scenario unlabelled rows are left out before positives; in the
    single-sample scenario the proportion of labels is kept.

    Examples
    --------
    >>> from purely import PUClassifier, make_report
    >>> from purely.datasets import make_gaussians
    >>> data = make_gaussians(200, 400, n_features=2, random_state=0)
    >>> model = PUClassifier(members=["linear"], random_state=0).fit(data.X, data.y)
    >>> report = make_report(data.X, data.y, model=model)
    >>> report.answers["signal"]["found"]
    True
    >>> report.html.startswith("<!DOCTYPE html>")
    True
    """
    import_jinja()
    if audit is not None and model is None:
        raise ValueError("an audit is of one model: give it too, model=, because a new one would differ.")
    if audit is not None and not isinstance(audit, AuditResult):
        raise TypeError(f"audit must be what purely.audit.read_audit returns; a {type(audit).__name__} was given.")
    if isinstance(model, Pipeline) and hasattr(model[0], "feature_owner_"):
        encoder, model = model[0], model[1:] if len(model) > 2 else model[-1]
        records, groups = cast(Frame, X) if records is None else records, column_of_features(encoder)
        X, feature_names, scaled = encoder.transform(X), list(encoder.get_feature_names_out()), encoder.scale
    seed = draw_seed(random_state) if not isinstance(random_state, (int, np.integer)) else int(random_state)
    table = read_table(X, y, feature_names, records, scenario, seed, row_numbers, scaled, groups)
    run = _Run(progress)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scored = run.must("model", lambda: stages.score_rows(table, model))
        prior = run.must("class prior", lambda: stages.find_prior(table, scored))
        signal = run.may("information", lambda: stages.measure_signal(table, prior.population.value))
        picture = run.may("representation", lambda: stages.draw_representation(table, signal))
        lists = run.may("thresholds", lambda: stages.make_lists(table, scored, prior))
        gain = run.may("gain", lambda: stages.measure_gain(table, scored, prior))
        explained = run.may("reasons", lambda: stages.explain_top(table, scored, top_rows(table, scored)))
        columns = run.may("columns", lambda: stages.rank_columns(table))
        ranges = run.may("ranges", lambda: find_ranges(table, scored, prior))
        labels = run.must("audit", lambda: None if audit is None else read_findings(table, scored, audit))
        checks = run.must("checks", lambda: run_checks(table, scored, prior, signal, lists))
        checks += [] if labels is None else audit_checks(labels)
    by_rows = table, scored, prior, signal, picture, lists, gain, explained, columns, ranges, labels
    found = Findings(*by_rows, checks, _sentences(caught), run.reasons)
    answers = answer_all(found)
    html = run.must("page", lambda: render(found, answers, title, settings or {}))
    run.tell("done")
    return Report(html, answers)


def _sentences(caught: list[warnings.WarningMessage]) -> list[str]:
    """What the library warned of, each sentence once; others' warnings are not the reader's concern."""
    found = [WORDS.get(w.category) or str(w.message) for w in caught if isinstance(w.message, PurelyWarning)]
    return list(dict.fromkeys(found))


class _Run:
    """Runs stages, tells the caller, and remembers why one could not be done."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._done = progress, 0
        self.reasons: dict[str, str] = {}

    def must(self, stage: str, work: Callable[[], T]) -> T:
        """Run a stage that the page cannot do without."""
        self.tell(stage)
        return work()

    def may(self, stage: str, work: Callable[[], T]) -> T | None:
        """Run a stage that may be impossible with these rows; the page then says why."""
        try:
            return self.must(stage, work)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.reasons[stage] = str(error)[:300] or "It cannot be computed from these rows."
            return None

    def tell(self, stage: str) -> None:
        """Tell the caller what is next."""
        if self._progress is not None:
            self._progress(stage, self._done, N_STAGES)
        self._done += 1
