"""Kernel mean estimation on a table of scores: one dimension, so the programme is on a grid of fixed size."""

from __future__ import annotations

import numpy as np

from purely.prior.gaussian import GaussianProblem, WeightedRows, choose_width, median_distance
from purely.prior.kernel_mean import read_curve
from purely.prior.scores import ScoreReading, ScoreTable

_ATOMS = 768


def kernel_mean_scores(table: ScoreTable, variant: str = "km1") -> ScoreReading:
    """KM1 or KM2 on the scores of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.prior.kernel_mean_scores import kernel_mean_scores
    >>> from purely.prior.scores import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> U = np.concatenate([rng.normal(4, 1, 300), rng.normal(0, 1, 700)])
    >>> round(kernel_mean_scores(ScoreTable.from_scores(rng.normal(4, 1, 500), U)).share, 1)
    0.3
    """
    cells = table.coarsen(_ATOMS)
    mass = (cells.count_p + cells.count_u) / (cells.n_p + cells.n_u)
    centred = cells.score - float(mass @ cells.score)
    scale = float(np.abs(centred).max()) or 1.0
    position = (centred / scale)[:, None]
    rows = WeightedRows(position, cells.count_u / cells.n_u, cells.count_p / cells.n_p)
    # The median over rows, not over atoms: each atom as often as rows stand behind it.
    places = np.clip(np.searchsorted(np.cumsum(mass), (np.arange(512) + 0.5) / 512), 0, mass.size - 1)
    median = median_distance(position[places])
    if median <= 0.0:
        return _flat(1.0)
    samples = GaussianProblem(rows, choose_width(rows, median))
    if samples.uu - 2.0 * samples.up + samples.pp <= 1e-14:
        return _flat(1.0)
    means = read_curve(samples, int(table.n_p), int(table.n_u), (variant,))
    kappa = means.kappa[variant]
    return ScoreReading(
        share=kappa,
        x=means.extrapolations,
        curve=means.slopes,
        x_label="extrapolation lambda",
        curve_label="slope of the distance to the hull",
        chosen=1.0 / (1.0 - kappa) if kappa < 1.0 else None,
        details={"standard_error": means.error[variant]},
    )


def _flat(share: float) -> ScoreReading:
    nothing = np.empty(0)
    return ScoreReading(share, nothing, nothing, "extrapolation lambda", "slope of the distance to the hull")
