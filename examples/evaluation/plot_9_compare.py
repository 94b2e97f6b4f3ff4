"""
Your method beside others
=========================

:func:`~purely.comparison.compare_methods` fits methods to the same positive-unlabelled draws of labelled data and
judges them on test rows whose classes are known. Compare methods draw by draw: the difference of two errors on one draw
varies less than the errors themselves.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from purely import PULogisticClassifier
from purely.classifiers import PULeastSquaresClassifier
from purely.comparison import compare_methods
from purely.datasets import make_gaussians


class Mine(ClassifierMixin, BaseEstimator):
    """Calls the upper 30 % of the pool positive."""

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.cut_ = np.quantile(self.model_.decision_function(X[y == 0]), 0.7)
        return self

    def decision_function(self, X):
        return self.model_.decision_function(X) - self.cut_

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


data = make_gaussians(800, 2400, n_features=3, random_state=0)
methods = {"mine": Mine(), "logistic": PULogisticClassifier(0.4), "least squares": PULeastSquaresClassifier(0.4)}
found = compare_methods(methods, data.X, data.y_true, class_prior=0.4, n_draws=10)
print(found)

# %%
# Left: the share of wrong test rows in each draw. Right: the error of "mine" minus that of the others, averaged over
# the draws. If an interval does not contain 0, the difference is more than chance.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
for k, name in enumerate(methods):
    left.plot(found.values(name, "error"), "o-", color=f"C{k}", linewidth=1.0, label=name)
left.set(xlabel="draw", ylabel="share of wrong test rows", ylim=(0.0, None), title="Errors by draw")
left.legend(loc="lower right")
others = [name for name in methods if name != "mine"]
for k, name in enumerate(others, 1):
    gap = found.values("mine", "error") - found.values(name, "error")
    right.errorbar(gap.mean(), name, xerr=1.83 * gap.std(ddof=1) / np.sqrt(gap.size), fmt="o", color=f"C{k}", capsize=4)
right.axvline(0.0, color="0.6", linewidth=1.0)
right.set(
    xlabel="error of “mine” minus the other, 90 % interval",
    ylim=(-0.6, len(others) - 0.4),
    title="Paired differences",
)
plt.show()
