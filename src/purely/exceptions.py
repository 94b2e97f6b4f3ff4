"""Warnings that a user can act on, and can silence by kind, and errors with names of their own."""

from __future__ import annotations

__all__ = [
    "ClassPriorWarning",
    "DegenerateDataWarning",
    "DistillationError",
    "DivergedWarning",
    "LabelWarning",
    "OverfittingWarning",
    "PromiseWarning",
    "PurelyWarning",
    "SearchBoundWarning",
    "TrainingInterrupted",
    "TrivialModelWarning",
]


class PurelyWarning(UserWarning):
    """Base of all warnings of this package."""


class SearchBoundWarning(PurelyWarning):
    """An estimate lies at the end of the range that was searched; the text says which and what to do."""


class DegenerateDataWarning(PurelyWarning):
    """The data carry no information that the estimator could use, for example constant columns only."""


class TrivialModelWarning(PurelyWarning):
    """An answer that uses no data, such as calling every row positive, does at least as well as the best model."""


class LabelWarning(PurelyWarning):
    """A label was read in one of several possible ways, or rows were set aside; the text says which."""


class ClassPriorWarning(PurelyWarning):
    """The class prior is a bound of a search, or the data do not determine it."""


class OverfittingWarning(PurelyWarning):
    """The information of the training rows exceeds that of the rows held out."""


class DivergedWarning(PurelyWarning):
    """Networks whose held-out loss was never finite."""


class TrainingInterrupted(PurelyWarning):
    """Training was stopped by hand; each network is the best so far."""


class PromiseWarning(PurelyWarning):
    """What was asked for cannot be promised; the text says what can, and what would help."""


class DistillationError(ValueError):
    """A distilled classifier would differ too much from the classifier that it was made of."""
