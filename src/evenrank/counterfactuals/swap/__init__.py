"""Every group word becomes its counterpart, and nothing else in a text changes."""

from __future__ import annotations

from evenrank.counterfactuals.swap.pairing import KINDS as KINDS
from evenrank.counterfactuals.swap.swapper import Swapped, Swapper, make_swapper

__all__ = ["Swapped", "Swapper", "make_swapper"]
