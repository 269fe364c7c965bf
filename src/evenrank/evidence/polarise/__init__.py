"""From texts to polarity: the axis on which the documents of a query differ, and where each stands on it."""

from evenrank.evidence.polarise.engine import PolariseResult, polarise, polarise_with_accuracy
from evenrank.evidence.polarise.opinions import Opinions, read_opinions
from evenrank.evidence.polarise.vectors import as_vectors

__all__ = ["Opinions", "PolariseResult", "as_vectors", "polarise", "polarise_with_accuracy", "read_opinions"]
