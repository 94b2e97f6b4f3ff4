"""Fisher's discriminant of positives against unlabelled rows, one dimension.

For two classes its direction is that of the least-squares regression of the class on the columns, which is faster where
there are many; the correlation with scikit-learn's projection was 1 to six digits on MNIST and 20 Newsgroups.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq

from experiments.paper.draws import Draw
from experiments.paper.methods import Rows, dense


def represent(draw: Draw) -> dict[str, Rows]:
    """Projection on the direction that separates best the positives from the unlabelled rows."""
    train = dense(draw.X)
    centre = train.mean(axis=0)
    target = draw.y - draw.y.mean()
    direction = lstsq(train - centre, target, cond=1e-8, lapack_driver="gelsy")[0]
    length = np.linalg.norm(direction)
    direction = (direction / length if length else direction)[:, None]
    return {"fda": Rows((train - centre) @ direction, (dense(draw.X_test) - centre) @ direction)}
