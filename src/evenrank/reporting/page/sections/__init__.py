"""The sections of the report: one module each, with a function from the report's data to a section.

Every module of this folder is loaded with it, so a new section is one new file.
"""

from __future__ import annotations

from evenrank.modules import load_folder

load_folder(__name__, __path__)
