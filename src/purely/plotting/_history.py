"""How the training of networks went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from purely.checks import check_choice
from purely.crossfit import last_step
from purely.nn.fitted import History
from purely.plotting.common import Display
from purely.plotting.style import ESTIMATE, POSITIVE, Axes, label
from purely.typing import Estimator, Floats, Indices, Matrix

What = Literal["auto", "j", "loss"]


@dataclass
class HistoryDisplay(Display):
    """Loss of every network epoch by epoch, on training batches and on rows held out.

    Parameters
    ----------
    train, held : ndarray of shape (n_epochs, n_networks)
        NaN after a network's stop, and where nothing was held out.
    best_epoch : ndarray of int, shape (n_networks,)
    loss_name : str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import numpy as np
    >>> from purely.plotting import HistoryDisplay
    >>> fall = np.linspace(-0.5, -0.8, 20)[:, None]
    >>> display = HistoryDisplay(fall, fall + 0.05, np.array([19])).plot()
    >>> display.ax_.get_xlabel()
    'epoch'
    """

    _title: ClassVar[str] = "How the networks learnt"

    train: Floats
    held: Floats
    best_epoch: Indices
    loss_name: str = "loss"

    @classmethod
    def from_history(cls, history: History, *, what: What = "j") -> Self:
        """From a `history_`: J where `what` is "j", the loss that was minimised where it is "loss"."""
        check_choice("what", what, ("j", "loss"))
        train, held = getattr(history, f"train_{what}"), getattr(history, f"held_{what}")
        name = "objective J, lower is better" if what == "j" else "loss, lower is better"
        return cls(np.asarray(train), np.asarray(held), np.asarray(history.best_epoch), name)

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Matrix | None = None, y: ArrayLike | None = None, *, what: What = "auto"
    ) -> Self:
        """From a fitted network: representations show J, classifiers their risk; `X` and `y` are not used."""
        found = last_step(estimator)
        if not hasattr(found, "history_"):
            raise TypeError(f"estimator must have a history_ of its training; {type(found).__name__} has none.")
        own: What = "j" if hasattr(found, "transform") else "loss"
        return cls.from_history(found.history_, what=own if what == "auto" else what)

    def _missing(self) -> str:
        return "" if np.isfinite(self.train).any() else "The history holds no finite value."

    def _draw(self, ax: Axes) -> None:
        epochs = np.arange(1, self.train.shape[0] + 1)
        notes = []
        for values, colour, line, name in (
            (self.train, ESTIMATE, "-", "training batches"),
            (self.held, POSITIVE, "--", "rows held out"),
        ):
            if not np.isfinite(values).any():
                notes.append("No rows were held out.")
                continue
            ax.plot(epochs, values, color=colour, alpha=0.25, linewidth=0.8)
            alive = np.isfinite(values).any(axis=1)
            mean = np.array([np.nanmean(row) for row in values[alive]])
            ax.plot(epochs[alive], mean, color=colour, linestyle=line, linewidth=2.0, label=f"{name}, mean")
        if np.isfinite(self.held).any():
            at = np.clip(self.best_epoch, 0, self.train.shape[0] - 1)
            kept = self.held[at, np.arange(at.size)]
            ax.plot(at + 1, kept, "v", color=POSITIVE, markersize=5, label="kept")
        ax.legend(loc="upper right")
        many = self.train.shape[1]
        title = f"How {many} networks learnt" if many > 1 else "How the network learnt"
        label(ax, title, "epoch", self.loss_name, notes)


def plot_history(estimator: Estimator, *, what: What = "auto", ax: Axes | None = None) -> HistoryDisplay:
    """Training of a fitted network: :class:`HistoryDisplay`.

    Examples
    --------
    >>> from purely.classifiers import NNPUClassifier
    >>> from purely.datasets import make_gaussians
    >>> from purely.plotting import plot_history
    >>> data = make_gaussians(50, 100, n_features=2, random_state=0)
    >>> model = NNPUClassifier(0.5, hidden=(4,), max_epochs=3, n_ensemble=1, device="cpu").fit(data.X, data.y)
    >>> plot_history(model).ax_.get_title(loc="left")
    'How the network learnt'
    """
    return HistoryDisplay.from_estimator(estimator, what=what).plot(ax)
