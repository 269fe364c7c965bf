"""What is made of scores for readers: figures. Nothing is computed here that the scores do not say."""

from evenrank.report.figures import cutoff_figure
from evenrank.report.files import save_figure

__all__ = ["cutoff_figure", "save_figure"]
