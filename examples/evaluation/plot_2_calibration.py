"""
Do the probabilities hold?
==========================

:func:`~purely.metrics.pu_calibration_curve` compares predicted probabilities with the share of positives in each bin,
which the class prior and the shares of labelled and unlabelled rows give. A classifier of labelled against unlabelled
rows estimates the probability of a *label*, far below that of the class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from purely.datasets import make_gaussians
from purely.metrics import pu_calibration_curve, pu_calibration_error
from purely.model_selection import PUStratifiedKFold

prior = 0.4
data = make_gaussians(1000, 3000, class_prior=prior, n_features=2, random_state=0)
of_label = cross_val_predict(
    LogisticRegression(), data.X, data.y, cv=PUStratifiedKFold(5, random_state=0), method="predict_proba"
)[:, 1]

# %%
# The odds of a label, multiplied by the number of rows of U for each row of P, are the density ratio. The ratio
# multiplied by the prior is the probability.
ratio = of_label / (1.0 - of_label) * 3000 / 1000
of_class = np.minimum(prior * ratio, 1.0)

figure, axes = plt.subplots(figsize=(5.6, 5.0))
axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
for name, probability in (("of a label", of_label), ("of the class", of_class)):
    curve = pu_calibration_curve(data.y, probability, prior)
    error = pu_calibration_error(data.y, probability, prior, random_state=0)
    axes.errorbar(
        curve.predicted,
        curve.observed,
        yerr=1.96 * curve.standard_error,
        fmt="o-",
        markersize=4,
        label=f"{name}: error {error.value:.3f} [{error.low:.3f}, {error.high:.3f}]",
    )
axes.set(xlabel="predicted probability", ylabel="share of positives", title="Reliability without negatives")
axes.legend(loc="lower right")
plt.show()
