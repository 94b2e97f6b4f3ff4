"""
Which columns carry the information
===================================

:func:`~purely.rank_features` reports two numbers for each column: its information alone, and what is lost when it is
left out. They differ where columns repeat each other and where columns matter only together.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from purely import rank_features, stack
from purely.exceptions import SearchBoundWarning

# %%
# Columns ``a`` and ``copy of a`` say nearly the same thing. The sign of ``b`` times ``c`` tells the class, so neither
# says anything alone. ``noise`` says nothing at all.
rng = np.random.default_rng(0)
names = ["a", "copy of a", "b", "c", "noise"]


def rows(n, positive):
    X = rng.normal(size=(n, 5))
    X[:, 0] += 1.2 * positive
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[:, 3] = np.abs(X[:, 3]) * np.sign(X[:, 2]) * (1 if positive else -1)
    return X


X, y = stack(rows(1000, True), np.concatenate([rows(1000, True), rows(1000, False)]))
groups = {name: [column] for column, name in enumerate(names)}
# columns that say nothing alone are best fitted by the widest functions: the end of the grid is where they belong
warnings.simplefilter("ignore", SearchBoundWarning)
ranking = rank_features(X, y, groups=groups, random_state=0)
print(ranking)

# %%
# Read together: a column can be dispensable though informative (``a`` and its copy), or silent alone though needed
# (``b`` and ``c``). A loss below 0 says that the model does better with one column less: distances are then measured
# across fewer columns. Error bars are one standard error; the draw of folds and centres moves small losses as much.
place = np.arange(len(ranking.names))
figure, axes = plt.subplots()
style = {"height": 0.36, "error_kw": {"capsize": 2}}
axes.barh(place - 0.19, ranking.alone, xerr=ranking.alone_error, label="alone", **style)
axes.barh(place + 0.19, ranking.loss, xerr=ranking.loss_error, color="C2", label="lost without it", **style)
axes.axvline(0.0, color="C1", linewidth=0.8)
axes.set_yticks(place, ranking.names)
axes.invert_yaxis()
axes.set(xlabel="information (prior-free)", title=f"All columns together: {ranking.full:.3f}")
axes.legend(loc="lower right")
plt.show()
