"""Re-rankers over a first stage: cross-encoders, rankers of ``evenrank debias``, nanoranker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenrank.errors import ParameterError
from evenrank.grammar import declare, integer, parameter, text
from evenrank.systems.declared import DEPTH, RERANKER, SystemSettings, SystemTerm, system_value
from evenrank.systems.model_folders import PAIRS, check_model
from evenrank.systems.naming import declare_short
from evenrank.systems.reranking import Reranked
from evenrank.systems.scorers import NANORANKER, RANKER, as_scorer


@dataclass(frozen=True, repr=False, kw_only=True)
class SecondStageTerm(SystemTerm):
    """What the systems have in common that order the first documents of another system anew."""

    family = RERANKER

    first: SystemTerm = parameter(  # noqa: RUF009
        "BM25", system_value(), "the system whose first documents are re-ranked"
    )
    depth: int = parameter(DEPTH, integer(1), "how many of its documents are re-ranked")

    @property
    def parts(self) -> tuple[SystemTerm, ...]:
        return (self.first,)

    @property
    def depth_asked(self) -> int:
        """How many documents the first stage is asked for: no more than its own ``@k`` allows."""
        return min(self.depth, self.first.cutoff or self.depth)


@declare
class CrossEncoderTerm(SecondStageTerm):
    """A cross-encoder over the first documents of another system: a sentence-transformers folder or a ranker
    that evenrank debias wrote."""

    name = "CrossEncoder"
    extra = "embed"

    model: str = parameter("", text(), "the folder of the cross-encoder")

    def check(self, settings: SystemSettings) -> None:
        super().check(settings)
        if not self.model:
            raise ParameterError(
                "CrossEncoder: name the folder of the model, as CrossEncoder(model='FOLDER')"
            )
        folder = settings.path(self.model)
        if not (folder / RANKER).is_file():
            check_model(folder, "cross-encoder", kinds=(PAIRS,))

    def make(self, settings: SystemSettings) -> Reranked:
        return _reranked(self, settings, as_scorer(settings.path(self.model)))


@declare
class NanorankerTerm(SecondStageTerm):
    """A small trained network over sentence vectors, with its weights in a package, over the first documents
    of another system."""

    name = "Nanoranker"
    extra = "nanoranker"

    def make(self, settings: SystemSettings) -> Reranked:
        return _reranked(self, settings, as_scorer(NANORANKER))


def _reranked(term: SecondStageTerm, settings: SystemSettings, scorer: Any) -> Reranked:
    first = term.first.make(settings)
    return Reranked(first, scorer, depth=term.depth_asked, progress=settings.progress, cache=settings.cache)


declare_short(NANORANKER, "Nanoranker", second=True)
