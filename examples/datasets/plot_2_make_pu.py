"""
Positive-unlabelled draws from labelled data
============================================

:func:`~purely.datasets.make_pu` draws a positive-unlabelled sample from fully labelled data, at a class prior of choice
and in either scenario. In the single-sample scenario labelling takes positives away from the unlabelled rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from purely.datasets import make_pu

# %%
# Digits 0 to 4 are positive here. The same numbers of rows and the same class prior, drawn in both ways.
X, digit = load_digits(return_X_y=True)
plane = PCA(2, random_state=0).fit_transform(X)
draws = {
    scenario: make_pu(
        plane, digit < 5, n_positive=150, n_unlabelled=450, class_prior=0.5, scenario=scenario, random_state=0
    )
    for scenario in ("case-control", "single-sample")
}
for scenario, draw in draws.items():
    print(f"{scenario:14} population {draw.priors.population:.3f}, unlabelled {draw.priors.unlabelled:.3f}")

# %%
# An estimator sees the label only; the picture also shows what the unlabelled rows hide.
figure, panels = plt.subplots(1, 2, figsize=(9.0, 4.2), sharex=True, sharey=True)
for axes, (scenario, draw) in zip(panels, draws.items(), strict=True):
    unlabelled = draw.y == 0
    kinds = (
        ("unlabelled negative", unlabelled & (draw.y_true == 0), "C2", "none"),
        ("unlabelled positive", unlabelled & (draw.y_true == 1), "C0", "none"),
        ("labelled positive", ~unlabelled, "C0", "C0"),
    )
    for name, chosen, edge, face in kinds:
        style = {"s": 16, "edgecolors": edge, "facecolors": face, "linewidths": 0.9}
        axes.scatter(*draw.X[chosen].T, label=f"{name} ({chosen.sum()})", **style)
    axes.set_title(f"{scenario}: {draw.unlabelled_prior:.0%} of the unlabelled rows are positive", fontsize=10)
    axes.set(xlabel="first principal component", ylim=(-36, 46))
    axes.legend(loc="upper right", fontsize=8)
panels[0].set_ylabel("second principal component")
plt.show()
