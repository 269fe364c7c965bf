"""What is made of scores for readers: figures. Nothing is computed here that the scores do not say."""

from evenrank.reporting.figures.bars import bars_figure
from evenrank.reporting.figures.cutoffs import cutoff_figure
from evenrank.reporting.figures.files import save_figure
from evenrank.reporting.figures.scatter import scatter_figure

__all__ = ["bars_figure", "cutoff_figure", "save_figure", "scatter_figure"]
