"""
How much the columns tell, and which of them
============================================

:class:`~purely.plotting.InformationDisplay` measures the information on growing parts of the rows;
:class:`~purely.plotting.FeatureDisplay` shows what each column tells alone and what is lost without it. Three of the
ten columns carry the class here.
"""

import matplotlib.pyplot as plt

from purely.datasets import make_high_dimensional
from purely.plotting import FeatureDisplay, InformationDisplay

data = make_high_dimensional(400, 1200, n_features=10, n_informative=3, class_prior=0.4, random_state=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.2), layout="constrained")
InformationDisplay.from_data(data.X, data.y).plot(left)
FeatureDisplay.from_data(data.X, data.y, random_state=0).plot(right)
plt.show()
