"""
ROC, precision-recall and reliability of a fitted classifier
============================================================

:class:`~purely.plotting.PUROCDisplay`, :class:`~purely.plotting.PUPrecisionRecallDisplay` and
:class:`~purely.plotting.PUCalibrationDisplay` draw what :mod:`purely.metrics` estimates for positives against
negatives. Where a model holds out-of-fold probabilities they are used; otherwise the picture says that it may look too
good.
"""

import matplotlib.pyplot as plt

from purely import PUClassifier
from purely.datasets import make_high_dimensional
from purely.plotting import PUCalibrationDisplay, PUPrecisionRecallDisplay, PUROCDisplay

data = make_high_dimensional(400, 1200, n_features=10, class_prior=0.4, random_state=0)
model = PUClassifier(members="light", random_state=0).fit(data.X, data.y)

figure, panels = plt.subplots(1, 3, figsize=(12.6, 4.2), layout="constrained")
for axes, kind in zip(panels, (PUROCDisplay, PUPrecisionRecallDisplay, PUCalibrationDisplay), strict=True):
    kind.from_estimator(model, data.X, data.y).plot(axes)
plt.show()
