"""Audits: from an engine or a run to who is favoured, how sure that is, and what to do."""
