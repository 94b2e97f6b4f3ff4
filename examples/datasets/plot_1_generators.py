"""
The artificial problems at a glance
===================================

Eight generators, from easy to hard, each with its truth. Labelled positives lie over the unlabelled rows; the number is
the true information, which needs no class prior.
"""

import matplotlib.pyplot as plt

from purely import datasets

# %%
# Two columns of each problem. Where only one column tells anything, the second is drawn for the picture.
samples = {
    "gaussians": datasets.make_gaussians(n_features=2, random_state=0),
    "paper data": datasets.make_paper_data(random_state=0),
    "overlapping": datasets.make_overlapping(random_state=0),
    "high-dimensional": datasets.make_high_dimensional(two_sided=True, separation=4.0, random_state=0),
    "imbalanced": datasets.make_imbalanced(n_unlabelled=4000, random_state=0),
    "heavy-tailed": datasets.make_heavy_tailed(random_state=0),
    "label-biased": datasets.make_label_biased(random_state=0),
    "independent": datasets.make_independent(random_state=0),
}

figure, panels = plt.subplots(2, 4, figsize=(10.0, 5.2))
for axes, (name, sample) in zip(panels.flat, samples.items(), strict=True):
    for label, colour in ((0, "C2"), (1, "C0")):
        axes.scatter(*sample.X[sample.y == label, :2].T, s=5, alpha=0.5, color=colour, linewidths=0)
    information = sample.problem.information().value
    axes.set_title(f"{name}\nprior {sample.class_prior:g}, information {information:.2f}", fontsize=9)
    axes.tick_params(labelsize=7)
panels[1, 1].set(xlim=(-15, 20), ylim=(-15, 20))  # outliers reach a hundred times as far
handles = [plt.Line2D([], [], marker="o", linestyle="", color=colour) for colour in ("C0", "C2")]
figure.legend(handles, ["labelled positive", "unlabelled"], loc="outside lower center", ncols=2)
plt.show()
