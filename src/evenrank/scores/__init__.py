"""Scores: what an evaluation gives, how it prints, and how it is written and read back."""

from evenrank.scores.scores import INFINITE, OK, Scores, ScoresBlock, SummaryRow

__all__ = ["INFINITE", "OK", "Scores", "ScoresBlock", "SummaryRow"]
