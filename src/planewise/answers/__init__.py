"""What people decided about a model's predictions: the answers file, decisions by reviewer, agreement, export.

The review page writes these files; ``planewise review --export`` and ``planewise fit --corrections`` read them.
"""

from planewise.answers._agreement import ClassAgreement, NumberAgreement, agreement
from planewise.answers._decisions import ACCEPTED, OPEN, OVERRIDDEN, Decisions, Ledger, Settled
from planewise.answers._export import (
    EXPORTED,
    FORMATS,
    LABEL,
    ExportedColumns,
    exported_columns,
    guarded,
    reviewed_table,
    table_bytes,
)
from planewise.answers._file import (
    AnswersFile,
    AnswersFileError,
    Content,
    NotSavedError,
    id_column_of,
    now,
    read_content,
)
from planewise.answers._record import Batch, Record, is_key, record_key
from planewise.answers._table import TableFile, old_fingerprint, row_fingerprints, table_checksum

__all__ = [
    "ACCEPTED",
    "EXPORTED",
    "FORMATS",
    "LABEL",
    "OPEN",
    "OVERRIDDEN",
    "AnswersFile",
    "AnswersFileError",
    "Batch",
    "ClassAgreement",
    "Content",
    "Decisions",
    "ExportedColumns",
    "Ledger",
    "NotSavedError",
    "NumberAgreement",
    "Record",
    "Settled",
    "TableFile",
    "agreement",
    "exported_columns",
    "guarded",
    "id_column_of",
    "is_key",
    "now",
    "old_fingerprint",
    "read_content",
    "record_key",
    "reviewed_table",
    "row_fingerprints",
    "table_bytes",
    "table_checksum",
]
