"""What people decided about a model's predictions: the answers file, decisions by reviewer, agreement, export.

The review page writes these files; ``planewise review --export`` and ``planewise fit --corrections`` read them.
"""

from planewise.answers._agreement import ClassAgreement, NumberAgreement, agreement
from planewise.answers._content import Content, id_column_of, read_content, require_about
from planewise.answers._decisions import ACCEPTED, OPEN, OVERRIDDEN, Decisions, Ledger, Settled
from planewise.answers._export import (
    EXPORTED,
    FORMATS,
    LABEL,
    ExportedColumns,
    exported_columns,
    reviewed_table,
    table_bytes,
)
from planewise.answers._file import AnswersFile, NotSavedError, now
from planewise.answers._match import Reviewed
from planewise.answers._opening import AnswersFileError
from planewise.answers._record import Batch, Record, is_key, is_text, record_key
from planewise.answers._repair import Repaired, repair
from planewise.answers._table import TableFile, row_fingerprints, table_checksum

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
    "Repaired",
    "Reviewed",
    "Settled",
    "TableFile",
    "agreement",
    "exported_columns",
    "id_column_of",
    "is_key",
    "is_text",
    "now",
    "read_content",
    "record_key",
    "repair",
    "require_about",
    "reviewed_table",
    "row_fingerprints",
    "table_bytes",
    "table_checksum",
]
