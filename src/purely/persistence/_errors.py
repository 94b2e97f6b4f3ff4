"""The ways in which saving and loading fail."""

from __future__ import annotations

__all__ = ["Misfit", "ModelFileError", "ModelFileWarning", "UnsupportedModelError", "Untrusted"]


class ModelFileError(ValueError):
    """A file is no model of purely, is damaged, or holds what no model can hold; nothing of it was run."""


class UnsupportedModelError(TypeError):
    """A model holds something that a model file cannot, and nothing was written; the message names its place."""


class ModelFileWarning(UserWarning):
    """A model file was written by another version of a library, or will not load without `trusted`."""


class Misfit(Exception):  # noqa: N818 - callers never see it
    """A value that its place in a model does not allow; becomes one of the errors above, with the name of the file."""


class Untrusted(Exception):  # noqa: N818 - callers never see it
    """A class or function that is neither one of ours nor trusted; its argument lists the names."""
