"""nnPU: the paper's five layers on a representation, and our NNPUClassifier on the rows themselves.

The paper prints width, optimiser, epochs, loss, beta and gamma; batch size (250 rows, P and U in proportion) and
learning rate (Adam .001, AdaGrad .01) are ours.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import numpy as np

from experiments.paper.methods import Rows
from purely import NNPUClassifier, PurelyWarning
from purely.classifiers import fit_classifiers


def classify(
    rows: list[Rows], labels: list[Any], priors: list[float], seeds: list[int], device: str, settings: dict[str, Any]
) -> list[Any]:
    """Probabilities of the test rows; networks of equal shape are one stack."""
    inside = [float(np.clip(p if np.isfinite(p) else 0.5, 1e-3, 1.0 - 1e-3)) for p in priors]
    models = [NNPUClassifier(p, random_state=s, device=device, **settings) for p, s in zip(inside, seeds, strict=True)]
    groups = defaultdict(list)
    for i, (r, y) in enumerate(zip(rows, labels, strict=True)):
        groups[r.train.shape, int(np.sum(y))].append(i)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurelyWarning)
        for members in groups.values():
            fit_classifiers([models[i] for i in members], [(rows[i].train, labels[i]) for i in members])
    return [m.predict_proba(r.test)[:, 1] for m, r in zip(models, rows, strict=True)]


def paper_settings(text: bool) -> dict[str, Any]:
    """Of the paper's classifier."""
    return {"preset": "paper-text" if text else "paper", "batch_size": 250}
