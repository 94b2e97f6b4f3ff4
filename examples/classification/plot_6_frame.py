"""
A data frame with words, dates and gaps
=======================================

:class:`~purely.tables.TableEncoder` turns columns of any kind into numbers and needs no labels, so it can be the first
step of a pipeline. :func:`~purely.explain_rows` then speaks of the frame's own columns, not of the features that were
made of them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from purely import PULogisticClassifier, explain_rows
from purely.tables import TableEncoder

rng = np.random.default_rng(0)
n = 1200
fraud = np.arange(n) < 400
frame = pd.DataFrame(
    {
        "amount": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(np.where(fraud, 5.0, 4.0), 0.6)),
        "country": np.where(fraud, rng.choice(["DE", "NG"], n), rng.choice(["DE", "FR", "IT"], n)),
        "since": pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        "text": np.where(
            rng.random(n) < np.where(fraud, 0.6, 0.1), "please send it today", "thank you for the invoice"
        ),
    }
)
y = np.where(np.arange(n) < 200, 1, 0)  # half of the frauds are known

model = make_pipeline(TableEncoder(), PULogisticClassifier(0.2)).fit(frame, y)
for column in model[0].report_.columns:
    print(f"{column.name:8} {column.kind:9} {column.n_features} features: {column.action}")

# %%
# Which columns the model looks at, and why one record is near the top of the list.
found = explain_rows(model, frame[200:], frame, n_samples=16)
print(found)
first = int(np.argmax(found.log_odds))
order = np.argsort(found.contributions[first])

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
left.barh(list(found.importance)[::-1], list(found.importance.values())[::-1], color="C1")
left.set(xlabel="mean size of the contribution to the log-odds", title="What the model looks at")
row = frame.iloc[200 + first]
shown = {"amount": f"{row.amount:.0f}", "country": row.country, "since": f"{row.since:%d %b %Y}", "text": row.text[:11]}
names = [f"{found.names[j]} = {shown[found.names[j]]}" for j in order]
right.barh(names, found.contributions[first][order], color="C0")
right.set(xlabel="contribution to the log-odds", title="Why this record is first")
plt.show()
