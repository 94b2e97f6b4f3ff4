"""Saving and loading of models: one file, no pickle, nothing run when it is read.

A model file is a safetensors file: arrays as they are, the rest as JSON in its metadata, with a schema version, the
versions of the libraries and a checksum.
"""

from __future__ import annotations

from purely.persistence._fields import ModelFileError, ModelFileWarning, UnsupportedModelError
from purely.persistence._file import ModelDescription, describe, load, save

__all__ = [
    "ModelDescription",
    "ModelFileError",
    "ModelFileWarning",
    "UnsupportedModelError",
    "describe",
    "load",
    "save",
]
