"""How the file of an option is read: a run, polarity, intents with probabilities, categories of queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError
from evenrank.inputs.file_options import STDIN, FileOption
from evenrank.io.run_record import RECORD_SUFFIX

if TYPE_CHECKING:
    from evenrank.data.run import Run
    from evenrank.io.queries import Queries


def read_run_of(file: FileOption, name: str | None, columns: dict[str, str] | None) -> Run:
    from evenrank.io import read_run

    return read_run(file.path, name=name, ties=file.get("ties"), format=file.get("format"), columns=columns)


def read_polarity_of(file: FileOption) -> Any:
    """Scores, or where ``positive=`` is given labels, of which that one is +1 and the other -1."""
    from evenrank.io.polarity import read_labelled_polarity, read_polarity

    positive = file.get("positive")
    if positive is None:
        return read_polarity(file.path, format=file.get("format"))
    neutral = file.get("neutral")
    return read_labelled_polarity(
        file.path,
        positive=positive,
        negative=file.get("negative"),
        neutral=[] if neutral is None else neutral.split(","),
        column=file.get("column"),
        format=file.get("format"),
    )


def is_table(file: FileOption) -> bool:
    from evenrank.io.source import guess_format

    return (file.get("format") or guess_format(file.path) or "trec") not in ("trec", "ntcir")


def run_files(path: str) -> list[str]:
    """The run itself, or the files of a folder of them, by name; hidden ones and records of runs are none."""
    folder = Path(path)
    if path == STDIN or not folder.is_dir():
        return [path]
    found = sorted(
        file
        for file in folder.iterdir()
        if not file.is_dir() and not file.name.startswith(".") and not file.name.endswith(RECORD_SUFFIX)
    )
    if not found:
        raise ParameterError(f"{path}: the folder has no runs in it")
    return [str(file) for file in found]


def likely_intents(read: Callable[[], Any], probabilities: str | None) -> Any:
    from evenrank.io.intents import with_probabilities

    return with_probabilities(read(), probabilities)


def categories_by(by: str, queries: Queries | None) -> Mapping[str, list[str]]:
    """The categories of each query: columns of the queries, or a file of query and category."""
    from evenrank.io.queries import read_categories

    if Path(by).exists():
        return read_categories(by)
    if queries is None:
        raise ParameterError(f"--by {by}: is this a column of the queries? Then add --queries FILE")
    return queries.categories([name.strip() for name in by.split(",")])
