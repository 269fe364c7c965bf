"""Word lists: how far scores depend on them, what is wrong with them, and how they grow."""

from __future__ import annotations

from evenrank.wordlists.sensitivity import Sensitivity, sensitivity

__all__ = ["Sensitivity", "sensitivity"]
