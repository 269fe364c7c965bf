"""What a re-ranker is: a declared value with a pure function from run to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.errors import InputTypeError, ParameterError
from evenrank.grammar import Term, parse


@dataclass(frozen=True, repr=False)
class Reranker(Term):
    """Gives every query of a run its documents in another order, with strictly falling scores."""

    kind: ClassVar[str] = "reranker"
    needs_judgements: ClassVar[bool] = False

    def apply(self, run: Run, qrels: Qrels | None) -> Run:
        """The new run; the old one stays as it is."""
        raise NotImplementedError(f"{type(self).__name__} does not re-rank")


def parse_reranker(source: str | Reranker) -> Reranker:
    """A re-ranker from its name.

    >>> parse_reranker("Oracle(insert=True)")
    Oracle(insert=True)
    """
    if isinstance(source, Reranker):
        return source
    if not isinstance(source, str):
        raise InputTypeError(f"a re-ranker is a string or a Reranker, got {type(source).__name__}")
    found = parse(source, "reranker")
    if not isinstance(found, Reranker):
        raise ParameterError(f"{source!r} is not a re-ranker")
    return found


def rerank(run: Run, method: str | Reranker, *, qrels: Any = None) -> Run:
    """The run in the order of a re-ranker.

    >>> run = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0])
    >>> rerank(run, "Oracle()", qrels={"q": {"b": 1}}).documents("q")
    ['b', 'a']
    """
    if not isinstance(run, Run):
        raise InputTypeError(f"rerank takes a Run, as read_run gives; got {type(run).__name__}")
    reranker = parse_reranker(method)
    if qrels is not None and not isinstance(qrels, Qrels):
        from evenrank.io import read_qrels

        qrels = read_qrels(qrels)
    if reranker.needs_judgements and qrels is None:
        raise ParameterError(f"{reranker!r} needs judgements: pass qrels=")
    return reranker.apply(run, qrels)
