"""The two ways in which saving and loading fail."""

from __future__ import annotations

__all__ = ["ModelFileError", "ModelFileWarning", "UnsupportedModelError"]


class ModelFileError(ValueError):
    """A file is no model of purely, is damaged, or holds what no model can hold; nothing of it was run."""

    #: What is wrong within the model, where that is the trouble.
    reason: str = ""


class UnsupportedModelError(TypeError):
    """A model holds something that a model file cannot, and nothing was written; the message names its place."""


class ModelFileWarning(UserWarning):
    """A model file was written by another version of a library than the one that reads it."""
