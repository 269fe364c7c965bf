"""What is made of scores for readers: figures. Nothing is computed here that the scores do not say."""

from evenrank.report.bars import bars_figure
from evenrank.report.figures import cutoff_figure
from evenrank.report.files import save_figure
from evenrank.report.scatter import scatter_figure

__all__ = ["bars_figure", "cutoff_figure", "save_figure", "scatter_figure"]
