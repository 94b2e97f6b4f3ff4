"""Tables: read in many formats, bounded in memory, and made into matrices of numbers.

Needs pyarrow: ``pip install 'purely[cli]'``.
"""

from purely.tables._errors import TableError
from purely.tables._labels import LabelRule, find_label_rule
from purely.tables.encoder import ColumnPlan, Encoded, EncodingReport, TableEncoder
from purely.tables.source import TableSource, open_table, read_table

__all__ = [
    "ColumnPlan",
    "Encoded",
    "EncodingReport",
    "LabelRule",
    "TableEncoder",
    "TableError",
    "TableSource",
    "find_label_rule",
    "open_table",
    "read_table",
]
