"""What made a run, in a small file beside it: the system with its settings, its class, and its input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenrank.io.run_record import write_record
from evenrank.systems.base import Retriever, Texts
from evenrank.systems.declared import SystemTerm
from evenrank.systems.kept import digest_of
from evenrank.systems.registry import notes_of
from evenrank.systems.second_stage import SecondStageTerm


@dataclass(frozen=True)
class RunRecord:
    """What ``evenrank retrieve`` knows about a run that it made."""

    system: str
    system_class: str
    depth: int  # documents that were asked for
    stages: tuple[Mapping[str, Any], ...] = ()  # depth of every re-ranker, from the last to the first
    documents: int = 0
    documents_digest: str = ""
    queries: int = 0
    notes: tuple[str, ...] = field(default=())
    similarity: str | None = None  # how vectors were compared, where any were

    def write(self, run: str) -> Path:
        """Write the record beside a run that is there already, with the run's fingerprint."""
        content = {
            "system": self.system, "class": self.system_class, "depth": self.depth,
            "stages": [dict(stage) for stage in self.stages],
            "documents": {"count": self.documents, "digest": self.documents_digest},
            "queries": self.queries, "notes": list(self.notes),
            **({} if self.similarity is None else {"similarity": self.similarity}),
        }  # fmt: skip
        return write_record(run, content)


def record_of(
    term: SystemTerm,
    system: Retriever,
    documents: Texts | None,
    queries: Texts,
    depth: int,
    notes: Sequence[str] = (),
) -> RunRecord:
    """``notes`` are those about the input; those of the system follow them."""
    stages = [
        {"system": part.name, "depth": part.depth_asked}
        for part in term.walk()
        if isinstance(part, SecondStageTerm)
    ]
    texts = {} if documents is None else documents
    return RunRecord(
        system=repr(term), system_class=term.system_class, depth=depth, stages=tuple(stages),
        documents=len(texts), documents_digest=digest_of(texts, texts.values()) if texts else "",
        queries=len(queries), notes=(*notes, *notes_of(system)),
        similarity=getattr(system, "similarity", None),
    )  # fmt: skip
