"""
Why a row has its score
=======================

:func:`~purely.explain.explain_rows` says what each column adds to the log-odds of a row, compared with other rows. The
contributions of all columns add up to the difference, whatever the classifier.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely import PULogisticClassifier, explain_rows, stack

# %%
# Positives differ in two of four columns, in the first one most.
rng = np.random.default_rng(0)
names = ["amount", "hour", "age", "visits"]
positives = rng.normal([2.0, 1.0, 0.0, 0.0], 1.0, size=(300, 4))
pool = np.concatenate([rng.normal([2.0, 1.0, 0.0, 0.0], 1.0, size=(150, 4)), rng.normal(0.0, 1.0, size=(850, 4))])
X, y = stack(positives, pool)
model = PULogisticClassifier(0.15).fit(X, y)

# %%
# The row of the pool that looks most positive, and the importance of the columns over all rows; no label is needed.
best = int(np.argmax(model.predict_proba(pool)[:, 1]))
found = explain_rows(model, pool, groups=names)
print(found.importance)
print(abs(found.base + found.contributions[best].sum() - found.log_odds[best]))  # they add up

# %%
figure, ax = plt.subplots(figsize=(5.6, 3.0), layout="constrained")
ends = np.append(found.base, found.base + np.cumsum(found.contributions[best]))
for j in range(len(names)):
    ax.barh(j, ends[j + 1] - ends[j], left=ends[j], color="#c8553d" if ends[j + 1] > ends[j] else "#2a78a8")
    ax.annotate(f"{found.contributions[best, j]:+.2f}", (max(ends[j], ends[j + 1]), j), xytext=(4, -3),
                textcoords="offset points")  # fmt: skip
ax.set_yticks(range(4), [f"{name} = {pool[best, j]:.1f}" for j, name in enumerate(names)])
ax.invert_yaxis()
ax.axvline(found.base, color="0.5", linestyle=":")
ax.set_xlabel("log-odds, from the other rows' mean to this row's")
ax.set_title("What speaks for the most suspicious row", loc="left")
plt.show()
