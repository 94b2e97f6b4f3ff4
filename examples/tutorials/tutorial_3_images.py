"""
Images: a representation without negatives
==========================================

Even digits are positive; 400 of them are known, and 1,200 digits of both kinds are not. :class:`~purely.PURL` learns
ten dimensions that keep what the pixels tell about the class. Ratios of rows that a network was trained on are too
good, so the ratio of each image comes from networks that have not seen it (``cv``).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from purely import PURL, ClassPrior, PurelyWarning, make_pu
from purely.datasets import fetch_mnist
from purely.plotting import RepresentationDisplay

X, y_true = fetch_mnist(return_X_y=True)
data = make_pu(X, y_true, n_positive=400, n_unlabelled=1200, class_prior=0.5, random_state=0)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", PurelyWarning)
    purl = PURL(10, cv=3, n_ensemble=1, max_epochs=40, random_state=0, device="cpu").fit(data.X, data.y)
pool = data.y == 0
ratio = purl.oof_density_ratio_
print(f"information out of fold {purl.oof_information_:.2f}")
print(f"area under the ROC curve among the unknown: {roc_auc_score(data.y_true[pool], ratio[pool]):.3f}")

# %%
# New images, as the representation sees them; their classes were not used.
new = make_pu(X, y_true, n_positive=1, n_unlabelled=800, class_prior=0.5, random_state=1)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.2), layout="constrained")
RepresentationDisplay.from_estimator(purl, new.X, new.y).plot(left)
left.set_title("New images, coloured by their ratio", loc="left")
order = np.argsort(purl.density_ratio(new.X[new.y == 0]))
images = new.X[new.y == 0]
tiles = np.concatenate([images[order[:18]], images[order[-18:]]]).reshape(6, 6, 28, 28)
right.imshow(1.0 - tiles.swapaxes(1, 2).reshape(168, 168), cmap="gray")
right.axhline(83.5, color="C3")
right.set(xticks=[], yticks=[])
right.set_title("Least like the known images, and most", loc="left")
plt.show()

# %%
# How many of the unknown images are even? Trees, boosting and regressions on the pixels, out of fold.
prior = ClassPrior().fit(data.X, data.y)
low, high = prior.class_prior_interval_
print(f"share of even digits {prior.class_prior_:.2f} [{low:.2f}, {high:.2f}]; the truth is 0.50")
