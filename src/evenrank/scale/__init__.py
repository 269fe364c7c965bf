"""Collection-sized work on the engines that organisations have: Dask and Spark.

Everything that works on a partition is a function that works here as well; this package only says where it
runs.
"""

from __future__ import annotations

from evenrank.scale.opening import open_executor

__all__ = ["open_executor"]
