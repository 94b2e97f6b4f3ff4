"""Tables: read in many formats, bounded in memory, and made into matrices of numbers.

Needs pyarrow: ``pip install 'purely[cli]'``.
"""

from purely.tables.columns import ColumnPlan
from purely.tables.encoder import Encoded, EncodingReport, Origin, TableEncoder, TableWarning
from purely.tables.errors import TableError
from purely.tables.formats import open_table, read_table
from purely.tables.labels import LabelRule, find_label_rule
from purely.tables.source import TableSource
from purely.tables.writing import writing_table

__all__ = [
    "ColumnPlan",
    "Encoded",
    "EncodingReport",
    "LabelRule",
    "Origin",
    "TableEncoder",
    "TableError",
    "TableSource",
    "TableWarning",
    "find_label_rule",
    "open_table",
    "read_table",
    "writing_table",
]
