"""
Every estimator, on classes that separate and on classes that overlap
=====================================================================

Many methods estimate a class prior. Most of them read it off one score, so the ratio is cross-fitted once, by
:class:`~purely.prior.ClassPrior`, and read by all of them. Where the classes separate, the data determine the
prior and most methods come close. Where a fifth of the negatives look exactly like positives, the data determine an
upper bound only, and no method can do more than find it without assuming something.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from purely.datasets import make_gaussians, make_overlapping
from purely.exceptions import ClassPriorWarning
from purely.prior import (
    AlphaMaxPrior,
    BestBinPrior,
    ClassPrior,
    DEDPULPrior,
    ElkanNotoPrior,
    KernelMeanPrior,
    LogisticCeilingPrior,
    MonotoneRatioPrior,
    PenL1Prior,
    RankPruningPrior,
    RegroupingPrior,
    TIcEPrior,
)

warnings.simplefilter("ignore", ClassPriorWarning)  # overlap is what this example is about

# %%
# The first group reads a score, the second the rows.
on_scores = {
    "logistic ceiling": LogisticCeilingPrior(),
    "best bin": BestBinPrior(),
    "monotone ratio": MonotoneRatioPrior(),
    "DEDPUL": DEDPULPrior(),
    "AlphaMax": AlphaMaxPrior(),
    "rank pruning": RankPruningPrior(),
    "Elkan and Noto": ElkanNotoPrior(),
}
on_rows = {
    "kernel mean (KM1)": KernelMeanPrior(),
    "TIcE": TIcEPrior(),
    "penalised L1": PenL1Prior(),
    "regrouping, then KM1": RegroupingPrior(KernelMeanPrior(), ratio="linear"),
}


def estimate(sample):
    ratio = ClassPrior("linear").fit(sample.X, sample.y)
    found = {"recommended": ratio}
    found |= {name: prior.fit(ratio.scores_[:, np.newaxis], sample.y) for name, prior in on_scores.items()}
    found |= {name: prior.fit(sample.X, sample.y) for name, prior in on_rows.items()}
    return {name: (prior.class_prior_, *prior.class_prior_interval_) for name, prior in found.items()}


# %%
# The dotted line is the largest share that the data allow: one over the largest density ratio, known here.
samples = {
    "Classes that separate": make_gaussians(400, 800, shift=4.0, class_prior=0.4, n_features=2, random_state=0),
    "Classes that overlap everywhere": make_overlapping(400, 800, shift=3.0, class_prior=0.4, random_state=0),
}
figure, panels = plt.subplots(1, 2, figsize=(10.0, 4.6), sharey=True)
for axes, (title, sample) in zip(panels, samples.items(), strict=True):
    table = estimate(sample)
    value, low, high = np.array(list(table.values())).T
    place = np.arange(value.size)[::-1]
    axes.axvline(1.0 / sample.density_ratio.max(), color="C1", linestyle=":", label="largest that the data allow")
    axes.axvline(sample.class_prior, color="C1", linestyle="--", linewidth=1.2, label="true")
    axes.errorbar(value, place, xerr=[value - low, high - value], fmt="o", capsize=3, label="estimate, 90 % interval")
    axes.set_yticks(place, list(table))
    axes.set(xlabel="class prior", xlim=(0, 1))
    axes.set_title(title)
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()
