"""From findings to a page: figures, tables, and the template that arranges them."""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from types import ModuleType

import numpy as np
import scipy.sparse as sp

import purely
from purely import plotting as pictures
from purely.explain import four_digits
from purely.notebook import as_json
from purely.plotting.common import Display, PredictionDisplay
from purely.plotting.style import import_matplotlib, number, percent, shortened
from purely.plotting.thresholds import LEGEND_ROOM
from purely.report._answers import Findings, top_rows
from purely.report._data import MAX_ROWS, Answer
from purely.report._figures import Figure, draw
from purely.report._stages import LEVEL, Lists

_MAX_RECORD_COLUMNS = 8
_LONGEST_VALUE, _LONGEST_MODEL = 48, 400


def import_jinja() -> ModuleType:
    """jinja2, or a sentence that says how to get it; matplotlib too."""
    try:
        import jinja2
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "reports need jinja2, which is not installed. Try: pip install 'purely[report]'", name="jinja2"
        ) from error
    import_matplotlib()
    return jinja2


def render(found: Findings, answers: dict[str, Answer], title: str | None, settings: Mapping[str, object]) -> str:
    """The page."""
    jinja2 = import_jinja()
    folder = files("purely.report") / "templates"
    css, script, page = ((folder / name).read_text("utf-8") for name in ("report.css", "report.js", "report.html"))
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(percent=percent, number=number, count=lambda value: f"{value:,}", tied=_tied)
    markup = jinja2.utils.markupsafe.Markup
    figures = {name: {**asdict(figure), "svg": markup(figure.svg)} for name, figure in _figures(found).items()}
    X, lists, kind = found.table.X, found.lists, type(found.scored.model)
    return str(
        environment.from_string(page).render(
            title=" ".join(str(title).split()) if title else "What the positives say about the pool",
            css=markup(css),
            script=markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            figures=figures,
            f=found,
            a=answers,
            nonzero=sp.csr_matrix(X).nnz / np.prod(X.shape) if sp.issparse(X) else None,
            records=_records(found, answers["records"]["top"]),
            thresholds=lists and _threshold_rows(lists),
            rows_in_print=lists and _rows_in_print(lists),
            metrics=lists and _metrics(lists),
            settings=_settings(found, settings),
            seed=found.table.seed,
            model=shortened(repr(found.scored.model), _LONGEST_MODEL),
            home="purely" if hasattr(purely, kind.__name__) else kind.__module__,
            limits=MAX_ROWS,
            level=LEVEL,
            legend_room=LEGEND_ROOM,
        )
    )


def _tied(text: str) -> str:
    """Text in which no line ends between a number and its unit."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%").replace("p = ", "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _figures(found: Findings) -> dict[str, Figure]:
    table, prior, scenario = found.table, found.prior, found.table.scenario
    population, reader = prior.population, prior.reader
    chosen = pictures.PriorReading("used here", population.value, *population.interval)
    rows, ratio_rows = (table.y, found.scored.probability, population), (prior.score_y, reader.scores_, population)
    words, ratio_words = "probability of being positive", "score: logarithm of the density ratio, out of fold"
    of_scores, of_ratio = pictures.ScoreDisplay.from_predictions, pictures.DensityRatioDisplay.from_predictions
    displays: dict[str, Display | None] = {
        "prior": pictures.ClassPriorDisplay(prior.readings, chosen, float(reader.level)),
        "probabilities": of_scores(*rows, scenario=scenario, score_name=words),
        "scores": of_scores(*ratio_rows, scenario=scenario, score_name=ratio_words),
        "ratio": of_ratio(*ratio_rows, scenario=scenario, score_name=ratio_words),
        "thresholds": pictures.ThresholdDisplay(found.lists.table) if found.lists else None,
        "information": found.signal.by_rows if found.signal else None,
        "representation": found.picture.display if found.picture else None,
        "ranges": found.ranges,
        "audit": pictures.AuditDisplay.from_result(found.audit.result) if found.audit else None,
    }
    kinds: dict[str, type[PredictionDisplay]] = {
        "calibration": pictures.PUCalibrationDisplay,
        "roc": pictures.PUROCDisplay,
        "precision_recall": pictures.PUPrecisionRecallDisplay,
    }
    for name, kind in kinds.items():
        displays[name] = kind.from_predictions(*rows, scenario=scenario, random_state=table.seed)
    if found.columns is not None:
        ranking, left_out = found.columns
        notes = (f"{left_out:,} columns that differ less were not measured.",) if left_out else ()
        displays["columns"] = pictures.FeatureDisplay(ranking, n_top=10, notes=notes)
    return {name: draw(display, f"fig-{name.replace('_', '-')}") for name, display in displays.items() if display}


def _records(found: Findings, top: list[Answer]) -> dict[str, object]:
    """The top rows as a table: header and cells, all of them text."""
    table = found.table
    rows = top_rows(table, found.scored)
    if table.records is not None:
        cells = [table.record(row) for row in rows]
        names = list(dict.fromkeys(name for record in cells for name in record))
    else:
        ranked = found.columns[0].names if found.columns is not None else []
        names = [name for name in ranked if name in table.names] or table.names
        places = {name: table.names.index(name) for name in names[:_MAX_RECORD_COLUMNS]}
        cells = [{name: table.X[row, j] for name, j in places.items()} for row in rows]
    shown = names[:_MAX_RECORD_COLUMNS]
    texts = [[_text(record.get(name, "")) for name in shown] for record in cells]
    return {
        "names": [_text(name) for name in shown],
        "left_out": len(names) - len(shown),
        "from_zero": bool(np.array_equal(table.numbers, np.arange(table.numbers.size))),
        "rows": [{**entry, "cells": said} for entry, said in zip(top, texts, strict=True)],
    }


def _text(value: object) -> str:
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else four_digits(float(value))
    return "" if value is None else shortened(str(value), _LONGEST_VALUE)


def _threshold_rows(lists: Lists) -> dict[str, object]:
    """The slider's table, with as many digits as a reader can use."""
    t = lists.table
    names = [f"{what}{end}" for what in ("precision", "recall", "found") for end in ("", "_low", "_high")]
    columns = {"threshold": t.thresholds, **{name: getattr(t, name) for name in names}}
    rounded = {name: [round(float(v), 6) for v in values] for name, values in columns.items()}
    return {"start": lists.start, "size": as_json(t.size), **as_json(rounded)}


def _metrics(lists: Lists) -> list[tuple[str, float, float, float]]:
    """Every metric at the list's threshold; precision and recall are those of the slider, which never fall."""
    t, k = lists.table, lists.start
    ends = {name: (e.value, e.low, e.high) for name, e in lists.metrics.estimates.items()}
    ends |= {name: t.ends(name, k) for name in ("precision", "recall")}
    return [(name, *row) for name, row in ends.items()]


def _rows_in_print(lists: Lists) -> list[int]:
    """Thresholds that are printed, where nothing can slide: a dozen, spread over the lists there are."""
    some = np.flatnonzero(lists.table.size > 0)
    picked = some[np.unique(np.linspace(0, some.size - 1, 12).round().astype(int))]
    return [int(k) for k in np.unique(np.append(picked, lists.start))]


def _settings(found: Findings, settings: Mapping[str, object]) -> list[tuple[str, str]]:
    names = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "torch": "torch"}
    others = [f"{name} {sys.modules[module].__version__}" for module, name in names.items() if module in sys.modules]
    own = {
        "versions": ", ".join([f"purely {purely.__version__}", f"Python {platform.python_version()}", *others]),
        "seed": found.table.seed,
        "scenario": found.table.scenario,
        "model": shortened(repr(found.scored.model), _LONGEST_MODEL),
    }
    return [(str(name), " ".join(str(value).split())) for name, value in {**own, **settings}.items()]
