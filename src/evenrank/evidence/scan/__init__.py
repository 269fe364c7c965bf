"""Counting the words of a lexicon in a collection of any size.

``simple.py`` says what is counted, ``kernel.py`` and ``terms.py`` do it fast. ``documents.py``,
``line_files.py``, ``json_files.py`` and ``parquet_files.py`` cut a collection into pieces, ``partitions.py``
into partitions of them; ``part.py`` counts a partition, wherever that is, and ``spread.py`` joins what comes.
"""

from __future__ import annotations

from evenrank.evidence.scan.derive import derive_groups
from evenrank.evidence.scan.engine import scan, scan_file
from evenrank.evidence.scan.summary import ScanSummary as ScanSummary

__all__ = ["derive_groups", "scan", "scan_file"]
