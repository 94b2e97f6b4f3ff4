"""From findings to a page: figures, tables, and the template that arranges them."""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import scipy.sparse as sp

import purely
from purely.notebook import as_json
from purely.plotting import (
    AuditDisplay,
    ClassPriorDisplay,
    DensityRatioDisplay,
    FeatureDisplay,
    PriorReading,
    PUCalibrationDisplay,
    PUPrecisionRecallDisplay,
    PUROCDisplay,
    ScoreDisplay,
    SensitivityDisplay,
    ThresholdDisplay,
)
from purely.plotting.style import import_matplotlib, number, percent
from purely.plotting.thresholds import LEGEND_ROOM
from purely.report._audit import AuditFinding
from purely.report._checks import Check
from purely.report._data import MAX_ROWS, Table
from purely.report._figures import Figure, draw
from purely.report._stages import LEVEL, Lists, Picture, PriorFinding, Scored, Signal
from purely.smi import FeatureRanking

_MAX_RECORD_COLUMNS = 8
_LONGEST_VALUE = 48


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything the page is made from."""

    table: Table
    scored: Scored
    prior: PriorFinding
    signal: Signal | None
    picture: Picture | None
    lists: Lists | None
    columns: tuple[FeatureRanking, int] | None
    ranges: SensitivityDisplay | None
    audit: AuditFinding | None
    checks: list[Check]
    warnings: list[str]
    reasons: dict[str, str]
    answers: dict[str, Any]


def import_jinja() -> Any:
    """jinja2, or a sentence that says how to get it; matplotlib too."""
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "reports need jinja2, which is not installed. Try: pip install 'purely[report]'", name="jinja2"
        ) from error
    import_matplotlib()
    return jinja2


def render(found: Findings, *, title: str | None, settings: dict[str, Any], seed: int) -> str:
    """The page."""
    jinja2 = import_jinja()
    folder = files("purely.report") / "templates"
    css, script, page = ((folder / name).read_text("utf-8") for name in ("report.css", "report.js", "report.html"))
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(percent=percent, number=number, count=lambda value: f"{value:,}", tied=_tied)
    markup = jinja2.utils.markupsafe.Markup
    figures = {name: _safe(markup, figure) for name, figure in _figures(found).items()}
    return str(
        environment.from_string(page).render(
            title=" ".join(str(title).split()) if title else "What the positives say about the pool",
            css=markup(css),
            script=markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            figures=figures,
            f=found,
            a=found.answers,
            nonzero=sp.csr_matrix(found.table.X).nnz / np.prod(found.table.X.shape)
            if sp.issparse(found.table.X)
            else None,
            records=_records(found),
            thresholds=None if found.lists is None else _threshold_rows(found.lists),
            rows_in_print=None if found.lists is None else _rows_in_print(found.lists),
            metrics=None if found.lists is None else _metrics(found.lists),
            settings=_settings(found, settings, seed),
            seed=seed,
            model=_short_repr(found.scored.model),
            home=_home(type(found.scored.model)),
            limits=MAX_ROWS,
            level=LEVEL,
            legend_room=LEGEND_ROOM,
        )
    )


def _tied(text: str) -> str:
    """Text in which no line ends between a number and its unit."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%").replace("p = ", "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _safe(markup: Any, figure: Figure) -> dict[str, Any]:
    return {**asdict(figure), "svg": markup(figure.svg)}


def _figures(found: Findings) -> dict[str, Figure]:
    y, prior, table = found.table.y, found.prior, found.table
    p, scenario = found.scored.probability, table.scenario
    chosen = PriorReading("used here", prior.population.value, prior.population.low, prior.population.high)
    displays: dict[str, Any] = {
        "prior": ClassPriorDisplay(prior.readings, chosen, prior.reading_level),
        "probabilities": ScoreDisplay.from_predictions(
            y, p, prior.population, scenario=scenario, score_name="probability of being positive"
        ),
    }
    ratio, by = "score: logarithm of the density ratio, out of fold", (prior.score_y, prior.score, prior.population)
    for name, of_scores in (("scores", ScoreDisplay), ("ratio", DensityRatioDisplay)):
        displays[name] = of_scores.from_predictions(*by, scenario=scenario, score_name=ratio)
    for name, kind in (
        ("calibration", PUCalibrationDisplay),
        ("roc", PUROCDisplay),
        ("precision_recall", PUPrecisionRecallDisplay),
    ):
        displays[name] = kind.from_predictions(y, p, prior.population, scenario=scenario, random_state=table.seed)
    displays |= {
        "thresholds": found.lists and ThresholdDisplay(found.lists.table),
        "information": found.signal and found.signal.by_rows,
        "representation": found.picture and found.picture.display,
        "ranges": found.ranges,
        "audit": found.audit and AuditDisplay.from_result(found.audit.result),
    }
    if found.columns is not None:
        ranking, left_out = found.columns
        notes = (f"{left_out:,} columns that differ less were not measured.",) if left_out else ()
        displays["columns"] = FeatureDisplay(ranking, n_top=10, notes=notes)
    return {name: draw(display, f"fig-{name.replace('_', '-')}") for name, display in displays.items() if display}


def _records(found: Findings) -> dict[str, Any]:
    """The top rows as a table: header and cells, all of them text."""
    table, top = found.table, found.answers["records"]["top"]
    unlabelled = np.flatnonzero(~table.positive)
    place = dict(zip(table.numbers[unlabelled].tolist(), unlabelled.tolist(), strict=True))
    rows = [place[entry["row"]] for entry in top]
    if table.records is not None:
        cells = [table.record(row) for row in rows]
        names = list(dict.fromkeys(name for record in cells for name in record))
    else:
        ranked = found.columns[0].names if found.columns is not None else []
        names = [name for name in ranked if name in table.names] or table.names
        places = {name: table.names.index(name) for name in names[:_MAX_RECORD_COLUMNS]}
        cells = [{name: float(table.X[row, j]) for name, j in places.items()} for row in rows]
    shown = names[:_MAX_RECORD_COLUMNS]
    return {
        "names": [_text(name) for name in shown],
        "left_out": len(names) - len(shown),
        "from_zero": bool(np.array_equal(table.numbers, np.arange(table.numbers.size))),
        "rows": [
            {**entry, "cells": [_text(record.get(name, "")) for name in shown]}
            for entry, record in zip(top, cells, strict=True)
        ],
    }


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.4g}"
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _threshold_rows(lists: Lists) -> dict[str, Any]:
    """The slider's table, with as many digits as a reader can use."""
    t = lists.table

    def rounded(values: Any) -> list[float | None]:
        return [None if v is None else round(v, 6) for v in as_json(np.asarray(values, dtype=np.float64))]

    return {
        "start": lists.start,
        "threshold": rounded(t.thresholds),
        "size": as_json(t.size),
        **{
            f"{what}{end}": rounded(getattr(t, f"{what}{end}"))
            for what in ("precision", "recall", "found")
            for end in ("", "_low", "_high")
        },
    }


def _metrics(lists: Lists) -> list[tuple[str, float, float, float]]:
    """Every metric at the list's threshold; precision and recall are those of the slider, which never fall."""
    t, k = lists.table, lists.start
    rows = {name: (name, e.value, e.low, e.high) for name, e in lists.metrics.estimates.items()}
    rows["precision"] = ("precision", float(t.precision[k]), float(t.precision_low[k]), float(t.precision_high[k]))
    rows["recall"] = ("recall", float(t.recall[k]), float(t.recall_low[k]), float(t.recall_high[k]))
    return list(rows.values())


def _rows_in_print(lists: Lists) -> list[int]:
    """Thresholds that are printed, where nothing can slide: a dozen, spread over the lists there are."""
    some = np.flatnonzero(lists.table.size > 0)
    picked = some[np.unique(np.linspace(0, some.size - 1, 12).round().astype(int))]
    return [int(k) for k in np.unique(np.append(picked, lists.start))]


def _settings(found: Findings, settings: dict[str, Any], seed: int) -> list[tuple[str, str]]:
    versions = {"purely": purely.__version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "sklearn", "torch"):
        if name in sys.modules:
            versions["scikit-learn" if name == "sklearn" else name] = str(sys.modules[name].__version__)
    own = {
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "seed": str(seed),
        "scenario": found.table.scenario,
        "model": _short_repr(found.scored.model),
    }
    return [(str(name), " ".join(str(value).split())) for name, value in {**own, **settings}.items()]


def _home(kind: type) -> str:
    """The module that a model is imported from."""
    return "purely" if hasattr(purely, kind.__name__) else kind.__module__


def _short_repr(model: Any) -> str:
    text = " ".join(repr(model).split())
    return text if len(text) <= 400 else text[:399] + "…"
