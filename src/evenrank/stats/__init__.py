"""Statistics over per-query scores."""
