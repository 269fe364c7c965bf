"""Audits: from an engine or a run to who is favoured, how sure that is, and what to do.

``audit`` is the command ``evenrank audit`` for Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from evenrank.auditing.gating import gate as gate
from evenrank.auditing.making import Audit, AuditRequest, make_audit
from evenrank.auditing.sources import EngineSource
from evenrank.auditing.summary import AuditSummary as AuditSummary
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.inputs.any_groups import as_groups
from evenrank.inputs.coerce import apart, named_runs
from evenrank.inputs.description import Description
from evenrank.inputs.file_options import RUN, FileOption
from evenrank.inputs.group_options import groups_of, target_of
from evenrank.verdict.targets import TARGETS, WhichTarget

__all__ = ["audit", "gate"]


def audit(
    sources: Any,
    output: str | PathLike[str] = "audit",
    *,
    queries: Any = None,
    documents: Any = None,
    groups: Any = (),
    target: Any = (),
    qrels: Any = None,
    words: Any = None,
    lexicon: str | None = None,
    depth: int = 100,
    cutoff: int = 10,
    keep_texts: bool = False,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Audit:
    """Ask engines or take runs, find out who is favoured, and write it into a dated folder below ``output``.

    ``sources`` is one of, or a list of: runs as ``evaluate`` takes them, addresses of engines, engine files,
    Python functions or PyTerrier pipelines. ``queries`` are their ids or texts, ``groups``, ``qrels`` and
    ``words`` what ``evaluate`` takes. ``target`` is ``NAME=TARGET`` as on the command line, a dict by
    attribute, or one kind for all: catalogue, candidates or equal.
    """
    from evenrank.engines import is_engine

    files, engines, held = [], [], dict[str, Any]()
    runs: dict[str, Run | RunSet] = {}
    for one in list(sources) if isinstance(sources, (list, tuple)) else [sources]:
        if is_engine(one) and not hasattr(one, "columns"):  # a frame has columns, an engine none
            engines.append(EngineSource(one))
        elif _is_path(one):
            files.append(RUN.parse(fspath(one)))
        else:
            runs = apart(runs, named_runs(one))
    qrels, clicked = qrels if isinstance(qrels, tuple) else (qrels, None)  # as read_clicks gives them
    texts = [groups] if isinstance(groups, str) else groups
    is_written = isinstance(texts, (list, tuple)) and all(map(_is_written, texts))
    if not is_written or (texts and documents is not None and not _is_path(documents)):
        held["groups"], texts = as_groups(groups, documents), []
    kind: WhichTarget = None
    aims = [target] if isinstance(target, str) else list(target)
    if isinstance(target, Mapping):
        kind, aims = {name: one for name, one in target.items() if one in TARGETS}, []
        held["target"] = {name: one for name, one in target.items() if name not in kind} or None
    elif len(aims) == 1 and "=" not in aims[0]:
        kind, aims = aims[0], []
    elif aims and "groups" in held:  # the groups are not read from files, nor are their targets
        given = {name.strip(): aim.strip() for name, _, aim in (one.partition("=") for one in aims)}
        kind = {name: aim for name, aim in given.items() if aim in TARGETS}
        options, aims = [target_of(one) for one in aims if one.partition("=")[2].strip() not in TARGETS], []
        held["target"] = {option.name: option.path or option.target for option in options} or None
    paths = {"qrels": qrels, "queries": queries, "documents": documents, "words": words}
    held |= {name: one for name, one in paths.items() if one is not None and not _is_path(one)}
    named = {name: fspath(one) for name, one in paths.items() if _is_path(one)}
    known = Description(
        runs=tuple(files),
        groups=tuple(option for text in texts for option in groups_of(text)),
        target=tuple(map(target_of, aims)),
        words=named.pop("words", None),
        lexicon=lexicon,
        notes=[] if clicked is None else [clicked],
        **_files(named),
    )
    if runs:
        held["runs"] = runs
    request = AuditRequest(
        known, tuple(engines), kind, depth, cutoff, keep_texts, held=held, clicks=clicked is not None
    )
    return make_audit(request, output, now=now)


def _is_written(group: Any) -> bool:
    """Whether it is a field of the documents, or ``NAME=FILE``."""
    return isinstance(group, str) and not Path(group).exists()


def _files(named: Mapping[str, str]) -> Any:
    return {name: FileOption(path) for name, path in named.items()}


def _is_path(given: Any) -> bool:
    return isinstance(given, (str, PathLike))
