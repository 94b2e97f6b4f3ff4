"""
Labels that are not given at random leave a trace
=================================================

Everything rests on labelled positives being a random sample of the positives. In each region the unlabelled rows must
then hold at least prior times the labelled share. :func:`~purely.assumptions.check_selection` tests that,
and :func:`~purely.assumptions.check_top` looks for positives that are never labelled.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely.assumptions import check_assumptions
from purely.datasets import label_biased_problem

prior, edges = 0.5, np.linspace(-3.0, 5.5, 18)
cases = {"clear positives preferred": 1.5, "at random": 0.0, "clear positives shunned": -1.5}

figure, panels = plt.subplots(1, 3, figsize=(10.0, 3.6), sharey=True, layout="constrained")
for axes, (name, bias) in zip(panels, cases.items(), strict=True):
    sample = label_biased_problem(bias=bias, class_prior=prior).sample(1000, 3000, random_state=0)
    score = sample.X[:, 0]
    report = check_assumptions(sample.y, score, prior)
    shares = [np.histogram(score[sample.y == k], edges)[0] / np.sum(sample.y == k) for k in (1, 0)]
    axes.stairs(shares[1], edges, color="0.55", fill=True, alpha=0.5, label="unlabelled")
    axes.stairs(prior * shares[0], edges, color="C1", linewidth=2, label="prior x labelled")
    axes.set(title=name, xlabel="score")
    verdict = "\n".join(f"{check.name}: {check.status}" for check in report.checks[:2])
    axes.text(0.03, 0.97, verdict, transform=axes.transAxes, va="top")
panels[0].set_ylabel("share of rows")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()

# %%
# The sentence that comes with the first:
sample = label_biased_problem(bias=1.5, class_prior=prior).sample(1000, 3000, random_state=0)
print(check_assumptions(sample.y, sample.X[:, 0], prior)["selection"])
