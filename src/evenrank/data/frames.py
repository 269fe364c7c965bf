"""Arrow tables as the frames of other libraries, where these are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenrank.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa


def to_pandas(table: pa.Table, job: str) -> pandas.DataFrame:
    """``job`` is what asks for it, for the error where pandas is not installed."""
    try:
        import pandas  # noqa: F401  (Arrow imports it, with an error that does not say what to do)
    except ImportError as error:
        raise MissingExtraError.for_job(job, "pandas", "pandas") from error
    frame: pandas.DataFrame = table.to_pandas()
    return frame


def to_polars(table: pa.Table, job: str) -> polars.DataFrame:
    try:
        import polars
    except ImportError as error:
        raise MissingExtraError.for_job(job, "polars", "polars") from error
    return polars.DataFrame(table)
