"""
Auditing a table: a hundred labels instead of an assumption
===========================================================

All that is learnt from positives and unlabelled rows rests on how the positives came by their labels. In this table,
a9a, an income above 50,000 dollars a year is the class, and clear cases were thirty times as likely to be noted down as
doubtful ones. Nothing in the data shows it. Labels of a hundred rows, drawn with known probabilities, do.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import PUClassifier, draw_audit, make_pu, read_audit
from purely.audit import sensitivity
from purely.datasets import Labelling, fetch_a9a
from purely.plotting import plot_audit, plot_sensitivity

X, y_true = fetch_a9a(return_X_y=True)
data = make_pu(
    X,
    y_true,
    n_positive=400,
    n_unlabelled=2000,
    n_test=4000,
    class_prior=0.3,
    labelling=Labelling("easy"),
    random_state=0,
)
pool, truth = data.X[data.y == 0], data.y_true[data.y == 0]

# %%
# A model as if labels had been chosen at random. It cannot know better; the truth is 30 %.
model = PUClassifier(members=["linear", "trees"], random_state=0).fit(data.X, data.y)
print(f"share of positives by the model alone: {model.prior_}")

# %%
# Before anybody labels a row: how uneven may labelling be before a conclusion is wrong?
ranges = sensitivity(model, gamma=3.0)
print(ranges)
print(f"there could be twice as many positives from gamma {ranges.tips(share=2 * model.class_prior_):.1f} on")

# %%
# Now somebody labels 100 rows; here the truth is looked up. The rows are drawn with known probabilities that favour
# doubtful and high-scoring ones.
probability = model.predict_proba(pool)[:, 1]
sample = draw_audit(probability, 100, random_state=0)
result = read_audit(sample, truth[sample.index], probability)
print(result)
for name, change in result.changes().items():
    e = change.estimate
    print(
        f"{name:9s} {e.value:.2f} [{e.low:.2f}, {e.high:.2f}], the model alone {change.without:.2f}: {change.verdict}"
    )

# %%
# Were the labelled positives a random draw of all positives? The positives that the audit found can tell.
print(result.assumptions(model).message)

# %%
# The same classifier, with probabilities that agree with the labels and a ranking that the labelled rows have refined;
# judged on new rows.
better = result.recalibrated(model, pool[sample.index])
for name, fitted in (("before", model), ("after", better)):
    p = fitted.predict_proba(data.X_test)[:, 1]
    wrong = np.mean((p > 0.5) != data.y_test)
    print(f"{name:6s} {wrong:.1%} of new rows in the wrong class, mean probability {p.mean():.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.0), layout="constrained")
plot_sensitivity(ranges, ax=left)
plot_audit(result, ax=right)
plt.show()

# %%
# On the command line the same takes a sheet that a spreadsheet can open::
#
#     purely audit draw incomes.purely pool.csv -n 100 -o to_label.csv
#     purely audit read to_label.csv -o better.purely
#     purely report people.csv --audit to_label.csv -o report.html
