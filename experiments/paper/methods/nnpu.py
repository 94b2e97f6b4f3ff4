"""nnPU: the paper's five layers on a representation, and our NNPUClassifier on the rows themselves.

The paper prints width, optimiser, epochs, loss, beta and gamma; batch size (250 rows, P and U in proportion) and
learning rate (Adam .001, AdaGrad .01) are ours.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from experiments.paper.methods import Rows
from purely import NNPUClassifier, PurelyWarning, fit_together


def classify(
    rows: list[Rows], labels: list[Any], priors: list[float], seeds: list[int], device: str, settings: dict[str, Any]
) -> list[Any]:
    """Probabilities of the test rows; networks of equal shape are one stack."""
    inside = [float(np.clip(p if np.isfinite(p) else 0.5, 1e-3, 1.0 - 1e-3)) for p in priors]
    models = [NNPUClassifier(p, random_state=s, device=device, **settings) for p, s in zip(inside, seeds, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurelyWarning)
        fit_together(models, [(r.train, y) for r, y in zip(rows, labels, strict=True)])
    return [m.predict_proba(r.test)[:, 1] for m, r in zip(models, rows, strict=True)]


def paper_settings(text: bool) -> dict[str, Any]:
    """Of the paper's classifier."""
    return {"preset": "paper-text" if text else "paper", "batch_size": 250}
