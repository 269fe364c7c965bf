"""Audits: from an engine or a run to who is favoured, how sure that is, and what to do.

``audit`` is the command ``evenrank audit`` for Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

from evenrank.auditing.making import Audit, AuditRequest, make_audit
from evenrank.auditing.sources import EngineSource
from evenrank.auditing.summary import AuditSummary as AuditSummary
from evenrank.errors import ParameterError
from evenrank.inputs.description import Description
from evenrank.inputs.file_options import DOCUMENTS, QRELS, RUN
from evenrank.inputs.group_options import groups_of, target_of

__all__ = ["audit"]


def audit(
    sources: Any,
    output: str | PathLike[str] = "audit",
    *,
    queries: str | PathLike[str] | None = None,
    documents: str | PathLike[str] | None = None,
    groups: str | Iterable[str] = (),
    target: Iterable[str] | str = (),
    qrels: str | PathLike[str] | None = None,
    lexicon: str | None = None,
    depth: int = 100,
    cutoff: int = 10,
    keep_texts: bool = False,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Audit:
    """Ask engines or take runs, find out who is favoured, and write it into a dated folder below ``output``.

    ``sources`` is one of, or a list of: run files, addresses of engines, engine files, Python functions or
    PyTerrier pipelines. ``groups`` are fields of ``documents`` or ``NAME=FILE``. ``target`` is
    ``NAME=TARGET`` as on the command line, or one kind for all: catalogue, candidates or equal.
    """
    from evenrank.engines import is_engine

    listed = list(sources) if isinstance(sources, (list, tuple)) else [sources]
    files, engines = [], []
    for one in listed:
        if is_engine(one):
            engines.append(EngineSource(one))
        elif isinstance(one, (str, PathLike)):
            files.append(RUN.parse(fspath(one)))
        else:
            raise ParameterError(f"an audit is of run files and engines, got {type(one).__name__}")
    texts = [groups] if isinstance(groups, str) else list(groups)
    aims = [target] if isinstance(target, str) else list(target)
    kind = aims[0] if len(aims) == 1 and "=" not in aims[0] else None
    known = Description(
        runs=tuple(files),
        qrels=() if qrels is None else (QRELS.parse(fspath(qrels)),),
        groups=tuple(option for text in texts for option in groups_of(text)),
        targets=() if kind is not None else tuple(map(target_of, aims)),
        queries=None if queries is None else fspath(queries),
        documents=None if documents is None else DOCUMENTS.parse(fspath(documents)),
        lexicon=lexicon,
    )
    request = AuditRequest(known, tuple(engines), kind, depth, cutoff, keep_texts)
    return make_audit(request, output, now=now)
