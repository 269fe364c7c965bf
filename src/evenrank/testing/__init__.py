"""Checks for people who add a measure or a re-ranker, and for our own: every one is put through them."""

from evenrank.testing.cases import Case, random_case
from evenrank.testing.measures import check_measure
from evenrank.testing.rerankers import check_reranker

__all__ = ["Case", "check_measure", "check_reranker", "random_case"]
