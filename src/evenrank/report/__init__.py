"""What is made of scores for readers: figures. Nothing is computed here that the scores do not say."""

from evenrank.report.figures.bars import bars_figure
from evenrank.report.figures.cutoffs import cutoff_figure
from evenrank.report.figures.files import save_figure
from evenrank.report.figures.scatter import scatter_figure

__all__ = ["bars_figure", "cutoff_figure", "save_figure", "scatter_figure"]
