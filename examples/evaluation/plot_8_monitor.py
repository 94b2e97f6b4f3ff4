"""
Has the pool changed?
=====================

A model is used week after week. :class:`~purely.audit.Monitor` compares the scores and columns of each week with a
reference. All looks together, however many, raise a false alarm with probability 5 % at most. The picture is a
:class:`~purely.plotting.MonitorDisplay`.
"""

import matplotlib.pyplot as plt
import numpy as np

from purely.audit import Batch, Monitor
from purely.plotting import plot_monitor

rng = np.random.default_rng(0)
monitor = Monitor(Batch("reference", rng.beta(1.0, 9.0, 3000)))
for week in range(1, 13):
    drift = 0.15 * max(0, week - 8)  # nothing happens for eight weeks
    print(monitor.look(Batch(f"week {week}", rng.beta(1.0 + drift, 9.0, 1000))))

# %%
plot_monitor(monitor)
plt.show()
