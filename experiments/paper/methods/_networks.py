"""What PURL and PNRL share: the paper's network, and what it does not print about training."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

from experiments.paper.draws import Draw
from experiments.paper.methods import Rows
from purely import PurelyWarning, fit_together

#: Batch size, length of training and stopping are not printed. One rule for all data sets, found on the other half of
#: the data (`experiments/purl_recipe.py`).
RULE: dict[str, Any] = {"batch_size": 250, "max_epochs": 200, "patience": 200, "validation_fraction": 1 / 6}


def trained(kind: Any, draws: list[Draw], text: bool, device: str, settings: dict[str, Any]) -> list[Rows]:
    """Features of training and test rows, the networks of all draws of one size trained as one stack."""
    preset = "paper-text" if text else "paper"
    models = [kind(preset=preset, device=device, random_state=d.key.seed, **{**RULE, **settings}) for d in draws]
    sizes = defaultdict(list)
    for i, d in enumerate(draws):
        sizes[d.X.shape[0], int(d.y.sum())].append(i)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PurelyWarning)
        for members in sizes.values():
            fit_together([models[i] for i in members], [(draws[i].X, draws[i].y) for i in members])
    return [Rows(m.transform(d.X), m.transform(d.X_test)) for m, d in zip(models, draws, strict=True)]
