"""Counting the words of a lexicon in a collection of any size.

``phrases.py`` says what is counted, ``kernel.py`` does it fast, ``counter.py`` chooses. ``work.py`` is what a
worker makes of some documents, ``engine.py`` gives it to the parts of a collection and joins what comes.
"""

from __future__ import annotations

from evenrank.evidence.scan.derive import derive_groups
from evenrank.evidence.scan.engine import scan, scan_file
from evenrank.evidence.scan.work import ScanSummary as ScanSummary

__all__ = ["derive_groups", "scan", "scan_file"]
