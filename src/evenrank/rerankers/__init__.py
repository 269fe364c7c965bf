"""Re-rankers: each takes a run and gives a run, so that any fix is measured like any system."""

from evenrank.rerankers.base import Reranker, parse_reranker, rerank
from evenrank.rerankers.oracle import Oracle

__all__ = ["Oracle", "Reranker", "parse_reranker", "rerank"]
