"""
The five answers in one file
============================

:func:`~purely.make_report` puts the pictures of this section, the answers and the checks into one HTML file. Here
are its answers for data like those of the other examples.
"""

import matplotlib.pyplot as plt

from purely import PUClassifier, make_report
from purely.datasets import make_high_dimensional
from purely.plotting import plot_scores

data = make_high_dimensional(300, 700, n_features=6, class_prior=0.4, random_state=0)
model = PUClassifier(members=["linear"], random_state=0).fit(data.X, data.y)
report = make_report(data.X, data.y, model=model, title="An example")
print(report)

# %%
# ``report.write("report.html")`` writes the page, whole or not at all; ``report.answers`` holds the numbers as JSON
# knows them. The picture behind the third answer:
plot_scores(data.y, model.oof_probability_, model, score_name="probability of being positive")
plt.show()
