"""Reading and writing: runs, judgements, documents. Bad input is listed, never half loaded."""

from __future__ import annotations

from evenrank.io.atomic import atomic_write as atomic_write
from evenrank.io.documents import read_documents
from evenrank.io.rankings import read_qrels, read_run
from evenrank.io.written import write_qrels, write_run

__all__ = ["read_documents", "read_qrels", "read_run", "write_qrels", "write_run"]
