"""Tables: read in many formats, bounded in memory, and made into matrices of numbers.

Needs pyarrow: ``pip install 'purely[cli]'``. Names load on first use, so that a command line which only reads does not
wait for what only learns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from purely.tables.columns import ColumnPlan as ColumnPlan
    from purely.tables.columns import Encoded as Encoded
    from purely.tables.encoder import EncodingReport as EncodingReport
    from purely.tables.encoder import Origin as Origin
    from purely.tables.encoder import TableEncoder as TableEncoder
    from purely.tables.encoder import TableWarning as TableWarning
    from purely.tables.errors import TableError as TableError
    from purely.tables.formats import open_table as open_table
    from purely.tables.formats import read_table as read_table
    from purely.tables.labels import LabelRule as LabelRule
    from purely.tables.labels import find_label_rule as find_label_rule
    from purely.tables.source import TableSource as TableSource

_HOME = {
    "ColumnPlan": "columns",
    "Encoded": "columns",
    "EncodingReport": "encoder",
    "LabelRule": "labels",
    "Origin": "encoder",
    "TableEncoder": "encoder",
    "TableError": "errors",
    "TableSource": "source",
    "TableWarning": "encoder",
    "find_label_rule": "labels",
    "open_table": "formats",
    "read_table": "formats",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"purely.tables.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'purely.tables' has no attribute {name!r}; it has: {', '.join(__all__)}")
