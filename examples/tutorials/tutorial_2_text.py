"""
Texts: more like these
======================

Somebody has set aside 500 messages about computers; the pool holds 1,500 messages, some about computers and some about
science. A matrix of tf-idf weights is sparse and stays sparse all the way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import average_precision_score

from purely import ClassPrior, make_pu
from purely.classifiers import ReweightedPUClassifier
from purely.datasets import fetch_20newsgroups_comp_sci
from purely.plotting import ClassPriorDisplay, ScoreDisplay

X, y_true = fetch_20newsgroups_comp_sci(return_X_y=True)
data = make_pu(X, y_true, n_positive=500, n_unlabelled=1500, class_prior=0.3, random_state=0)
print(f"{data.X.shape[0]} texts, {data.X.shape[1]} words, {data.X.nnz / np.prod(data.X.shape):.1%} of the cells filled")

# %%
# How many are there? Several methods read the same out-of-fold scores; where they agree, the answer is settled.
prior = ClassPrior().fit(data.X, data.y)
low, high = prior.class_prior_interval_
print(f"share of messages about computers {prior.class_prior_:.2f} [{low:.2f}, {high:.2f}]; the truth is 0.30")
figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 3.9), layout="constrained")
ClassPriorDisplay.from_estimator(prior, data.X, data.y).plot(left)
ScoreDisplay.from_estimator(prior, data.X, data.y).plot(right)
plt.show()

# %%
# Which ones? The estimate is passed on to a classifier that weighs each text by how much more frequent such texts are
# among the known ones.
model = ReweightedPUClassifier(class_prior=prior.class_prior_, random_state=0).fit(data.X, data.y)
pool = data.y == 0
probability = model.predict_proba(data.X[pool])[:, 1]
truth = data.y_true[pool]
order = np.argsort(-probability)
for n in (50, 100, 200, 400):
    print(f"first {n:3d} of the list: {truth[order[:n]].mean():.0%} about computers")
print(f"average precision {average_precision_score(truth, probability):.3f}, by chance {truth.mean():.2f}")
