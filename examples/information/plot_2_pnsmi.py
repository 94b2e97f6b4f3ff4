"""
With and without negatives: PNSMI and PUSMI
===========================================

:class:`~purely.smi.PNSMI` sees the class of every row, :class:`~purely.PUSMI` sees positives and unlabelled rows
only. Both estimate the same squared-loss mutual information, one with and one without the negatives.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from purely import PUSMI
from purely.datasets import gaussians_problem
from purely.exceptions import SearchBoundWarning
from purely.smi import PNSMI

# %%
# Two normal classes, from no distance between them to a large one. The supervised estimator gets the true classes of
# the unlabelled rows; the other one gets 400 labelled positives and the same rows without their classes.
#
# Where there is little to find the widest basis functions fit best, and the estimators say that their grid ends there.
warnings.simplefilter("ignore", SearchBoundWarning)

shifts = np.linspace(0.0, 4.0, 7)
class_prior, n_draws = 0.5, 4
supervised, unsupervised, truth = np.empty((7, n_draws)), np.empty((7, n_draws)), np.empty(7)
for i, shift in enumerate(shifts):
    problem = gaussians_problem(shift=shift, class_prior=class_prior)
    truth[i] = problem.smi().value
    for seed in range(n_draws):
        sample = problem.sample(400, 1000, random_state=seed)
        unlabelled = sample.y == 0
        classes = sample.y_true[unlabelled]
        supervised[i, seed] = PNSMI(random_state=0).fit(sample.X[unlabelled], classes).smi()
        unsupervised[i, seed] = PUSMI(random_state=0).fit(sample.X, sample.y).smi(class_prior)

# %%
# Points are draws, lines are the means over draws. The estimate without negatives varies more, and where the classes
# are far apart it falls short: the ratio is nearly a step there, and a smooth model captures less than all of it.
figure, axes = plt.subplots()
axes.plot(shifts, truth, "--", color="C1", label="true SMI")
for values, offset, colour, name in ((unsupervised, -0.05, "C0", "PUSMI"), (supervised, 0.05, "C3", "PNSMI")):
    axes.plot(np.repeat(shifts + offset, n_draws), values.ravel(), ".", color=colour, alpha=0.45)
    axes.plot(shifts + offset, values.mean(axis=1), color=colour, label=f"{name}, mean of {n_draws} draws")
axes.set(xlabel="distance between the class means", ylabel="SMI at class prior 0.5", title="One number, two routes")
axes.legend(loc="lower right")
plt.show()
