"""Figures: one file for each kind, and what they share. ``evenrank.figures`` is this package.

Each function gives an Altair chart, ``save_figure`` writes it. Everything is loaded on first use: the names
are there without the extra ``[report]``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "bars_figure": "bars",
    "cloud_figure": "cloud",
    "correlation_figure": "correlation",
    "cutoff_figure": "cutoffs",
    "origin_figure": "origin",
    "plane_figure": "tradeoff",
    "polarity_figure": "histogram",
    "power_figure": "power",
    "ranks_figure": "tradeoff",
    "save_figure": "files",
    "scatter_figure": "scatter",
    "shares_figure": "group_shares",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from evenrank.reporting.figures.bars import bars_figure as bars_figure
    from evenrank.reporting.figures.cloud import cloud_figure as cloud_figure
    from evenrank.reporting.figures.correlation import correlation_figure as correlation_figure
    from evenrank.reporting.figures.cutoffs import cutoff_figure as cutoff_figure
    from evenrank.reporting.figures.files import save_figure as save_figure
    from evenrank.reporting.figures.group_shares import shares_figure as shares_figure
    from evenrank.reporting.figures.histogram import polarity_figure as polarity_figure
    from evenrank.reporting.figures.origin import origin_figure as origin_figure
    from evenrank.reporting.figures.power import power_figure as power_figure
    from evenrank.reporting.figures.scatter import scatter_figure as scatter_figure
    from evenrank.reporting.figures.tradeoff import plane_figure as plane_figure
    from evenrank.reporting.figures.tradeoff import ranks_figure as ranks_figure


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
