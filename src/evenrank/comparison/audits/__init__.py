"""The tables in which papers audit many systems: by class, by corpus, by domain.

Every module of this folder is loaded with it, so a new view is one new file that declares itself.
"""

from __future__ import annotations

from evenrank.comparison.audits.audited import Audited, RunLabel
from evenrank.comparison.audits.declared import AUDIT_VIEWS, audit_tables
from evenrank.modules import load_folder

load_folder(__name__, __path__)

__all__ = ["AUDIT_VIEWS", "Audited", "RunLabel", "audit_tables"]
