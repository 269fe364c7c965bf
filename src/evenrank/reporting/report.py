"""``evenrank report`` for Python: runs, or their scores, as one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Unpack

from evenrank.errors import ParameterError
from evenrank.inputs import Inputs, Known
from evenrank.reporting.page import write_report
from evenrank.scores import Scores

if TYPE_CHECKING:
    from evenrank.data.lexicon import Lexicon


def report(
    run: Any,
    output: str | PathLike[str] = "report.html",
    measures: Any = None,
    *,
    title: str = "evenrank report",
    sort_by: str | None = None,
    system: str | None = None,
    cutoffs: Sequence[int] | None = None,
    lexicon: Lexicon | None = None,
    urls: Mapping[str, str] | None = None,
    readable: int = 200,
    **known: Unpack[Known],
) -> None:
    """Write one HTML file about a run or several, which needs no network and can be read without scripts.

    The inputs are those of ``evaluate``; ``Scores`` will do in the place of runs. ``measures`` are chosen by
    what is known where none are named; several runs are compared with the first. Queries are sorted by the
    measure ``sort_by``, for the run ``system``. ``urls`` are those of documents by id, ``readable`` is how
    many queries show documents where scripts are off.
    """
    if not fspath(output).lower().endswith((".html", ".htm")):
        raise ParameterError(f"output={fspath(output)!r}: a report is a page: name it FILE.html")
    if isinstance(run, Scores) and known:
        raise ParameterError(f"Scores are shown as they are: leave out {next(iter(known))}=, or pass runs")
    source = run if isinstance(run, Scores) else Inputs.of(run, **known)
    write_report(
        output, source, measures=measures, title=title, measure=sort_by, system=system, cutoffs=cutoffs,
        lexicon=lexicon, urls=urls, readable=readable,
    )  # fmt: skip
