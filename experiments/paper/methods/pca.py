"""Principal components, d/4, d/2 and 3d/4 of them, of the training rows (positives and unlabelled)."""

from __future__ import annotations

from sklearn.decomposition import PCA

from experiments.paper.draws import Draw
from experiments.paper.methods import Rows, dense


def represent(draw: Draw) -> dict[str, Rows]:
    """One decomposition; the fewer components are the first of the most."""
    train = dense(draw.X)
    d = train.shape[1]
    most = min(3 * d // 4, *train.shape)
    model = PCA(most, svd_solver="covariance_eigh" if d < train.shape[0] else "full").fit(train)
    rows = model.transform(train), model.transform(dense(draw.X_test))
    widths = {"pca_d4": d // 4, "pca_d2": d // 2, "pca_3d4": most}
    return {name: Rows(rows[0][:, :k], rows[1][:, :k]) for name, k in widths.items()}
