"""What a corpus is made with: ``corpus.toml`` in its folder."""

from __future__ import annotations

DOMAINS = (
    "Entertainment", "Environment", "History", "Languages", "Law and order", "Media and culture", "People",
    "Philosophy", "Politics and economics", "Psychiatry", "Religion", "Science, biology, and health",
    "Sex, sexuality, and gender identity", "Sports", "Technology",
)  # fmt: skip
"""The domains of pair-duo-2024."""
