"""Checks for people who add a measure, and for our own: every measure is put through them."""

from evenrank.testing.cases import Case, random_case
from evenrank.testing.measures import check_measure

__all__ = ["Case", "check_measure", "random_case"]
