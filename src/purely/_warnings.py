"""Warnings that a user can act on, and can silence by kind."""

from __future__ import annotations


class PurelyWarning(UserWarning):
    """Base of all warnings of this package."""


class SearchBoundWarning(PurelyWarning):
    """An estimate lies at the end of the range that was searched; the text says which and what to do."""


class DegenerateDataWarning(PurelyWarning):
    """The data carry no information that the estimator could use, for example constant columns only."""


class TrivialModelWarning(PurelyWarning):
    """An answer that looks at no data, such as calling every row positive, does at least as well as the best model."""
