"""What an audit has changed: its numbers beside what the model alone says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from purely.metrics import PUEstimate
from purely.typing import Floats


@dataclass(frozen=True)
class Change:
    """A number of an audit beside what the model alone says of it.

    Attributes
    ----------
    estimate : PUEstimate
        By the labels, with its interval.
    without : float
        By the model's probabilities alone.

    Examples
    --------
    >>> import numpy as np
    >>> from purely.audit import draw_audit, read_audit
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(4000) < 200
    >>> probability = 1 / (1 + np.exp(-rng.normal(2.0 * truth - 2.0)))
    >>> sample = draw_audit(probability, 100, random_state=0)
    >>> share = read_audit(sample, truth[sample.index], probability).changes()["share"]
    >>> share.verdict  # the model alone says far more than 5 %
    'lower'
    """

    estimate: PUEstimate
    without: float

    @property
    def numbers(self) -> dict[str, float]:
        """Value, interval and what the model alone says, by name."""
        return {**self.estimate.numbers, "without_labels": self.without}

    @property
    def verdict(self) -> Literal["same", "higher", "lower"]:
        """Whether the labels say more or less than the model alone; "same" where its number is within the interval."""
        if self.without < self.estimate.low:
            return "higher"
        return "lower" if self.without > self.estimate.high else "same"


def believed(probability: Floats, threshold: float) -> dict[str, float]:
    """Share, precision, recall and error of a pool if every probability were right."""
    q, called = probability, probability > threshold
    return {
        "share": float(q.mean()),
        "precision": float(q[called].mean()) if called.any() else float("nan"),
        "recall": float(q[called].sum() / max(q.sum(), 1e-300)),
        "error": float(np.where(called, 1.0 - q, q).mean()),
    }
