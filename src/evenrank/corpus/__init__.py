"""Balanced corpora: for every contested question documents from both sides, written, checked and released."""

from evenrank.corpus.balance import balance_folder, corpus_hash, read_balance
from evenrank.corpus.folder import Corpus, read_corpus

__all__ = ["Corpus", "balance_folder", "corpus_hash", "read_balance", "read_corpus"]
