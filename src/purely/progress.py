"""How far long work has come: one bar for everything, shown where someone wants to see it.

Long work says where it stands through :func:`track`. Nothing is shown unless the caller asks for it: an estimator with
``verbose=True``, the command line with :func:`showing` when a person sits at a terminal.

:func:`stoppable` is the one place where an interrupt (Ctrl-C) is caught: training that is stopped by hand keeps what it
has, unless :func:`interrupts_pass` says that half of an answer is none.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from purely.exceptions import TrainingInterrupted

_showing: ContextVar[bool] = ContextVar("showing", default=False)
_interrupts_pass: ContextVar[bool] = ContextVar("interrupts_pass", default=False)


class Bar:
    """What :func:`track` gives: told how much is done, it shows it, or does nothing."""

    def __init__(self, shown: Any = None, *, told: bool = True) -> None:
        self._shown, self._told = shown, told

    def advance(self, values: Mapping[str, str] | None = None) -> None:
        """Say that one unit more is done; `values` are shown beside the bar of somebody who asked for ``verbose``."""
        if self._shown is not None:
            self._shown.set_postfix(values if self._told else None, refresh=False)
            self._shown.update()

    def reach(self, done: float, values: Mapping[str, str] | None = None) -> None:
        """Say how much is done in all; `values` are shown beside the bar."""
        if self._shown is not None:
            self._shown.set_postfix(values, refresh=False)
            self._shown.update(max(0.0, done - self._shown.n))


@contextmanager
def track(
    what: str, total: float | None = 1.0, *, start: float = 0.0, unit: str = "", verbose: bool = False
) -> Iterator[Bar]:
    """Show how far some work has come while the block runs.

    Parameters
    ----------
    what : str
        The work in a few words.
    total : float or None, default=1.0
        How much there is to do; None where nobody knows.
    start : float, default=0.0
        How much was done before.
    unit : str
        What is counted, such as "epoch"; a share without one.
    verbose : bool, default=False
        Show it also outside of :func:`showing`.

    Yields
    ------
    Bar

    Examples
    --------
    >>> from purely.progress import track
    >>> with track("counting", total=3, unit="step") as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    """
    if not (verbose or _showing.get()):
        yield Bar()
        return
    from tqdm.auto import tqdm

    own = (unit and verbose) or total is None  # tqdm's own form has the units and what it is told beside the bar
    form = None if own else "{desc} {percentage:3.0f}%|{bar:24}| {elapsed}, {remaining} left{postfix}"
    with tqdm(
        desc=what, total=total, initial=start, unit=unit, leave=verbose, bar_format=form, dynamic_ncols=True
    ) as shown:
        yield Bar(shown, told=verbose or not unit)


@contextmanager
def _meanwhile(variable: ContextVar[bool], value: bool) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def showing(visible: bool = True) -> AbstractContextManager[None]:
    """Show the progress of everything in the block."""
    return _meanwhile(_showing, visible)


class Stop:
    """Whether the work was stopped by hand."""

    requested = False


@contextmanager
def stoppable(sentence: Callable[[], str]) -> Iterator[Stop]:
    """Let an interrupt end the block and nothing else: what was reached so far is kept, with a warning.

    Parameters
    ----------
    sentence : callable
        Gives the text of the warning, :class:`purely.exceptions.TrainingInterrupted`.

    Yields
    ------
    Stop
        Its `requested` is True afterwards where the block was stopped.
    """
    stop = Stop()
    try:
        yield stop
    except KeyboardInterrupt:
        if _interrupts_pass.get():
            raise
        stop.requested = True
        warnings.warn(sentence(), TrainingInterrupted, stacklevel=4)


def interrupts_pass() -> AbstractContextManager[None]:
    """Let interrupts end the whole work in the block: the command line has no use for half-trained networks."""
    return _meanwhile(_interrupts_pass, True)
