"""Measures that ir_measures has and we have not: accepted by name, computed there.

They get the same lists as ours: document codes instead of ids and minus the rank as score, so that no
other tool sorts or breaks ties its own way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.evidence_source import Sparse
from evenrank.errors import DataError, MissingExtraError, ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence, Reference
from evenrank.measures.base import NO_RELEVANT, NOT_JUDGED, Direction, Measure, Result, reasons

BY_INTENT = frozenset(
    {"alpha_DCG", "nERR_IA", "nNRBP", "AP_IA", "P_IA", "StRecall", "alpha_nDCG", "ERR_IA", "NRBP"}
)
# they say what a run or the judgements are like, not how good
DESCRIPTIVE = frozenset({"NumQ", "NumRel", "NumRelRet", "NumRet", "Judged"})
GRADE_LIMIT = 10_000  # trec_eval keeps a counter for each grade up to the largest: gigabytes for 2**31 - 1


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class Delegated(Measure):
    """A measure of ir_measures under its own name."""

    name: ClassVar[str] = "Delegated"
    family: ClassVar[str] = "delegated"
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    undefined_when: ClassVar[Mapping[str, str]] = reasons(NOT_JUDGED, NO_RELEVANT)

    text: str = ""  # as ir_measures writes it

    def __post_init__(self) -> None:
        super().__post_init__()
        measure = self.measure
        summed = type(measure.aggregator()).__name__ != "MeanAgg"
        object.__setattr__(self, "aggregation", "sum" if summed else "mean")
        object.__setattr__(self, "takes_cutoff", "cutoff" in measure.SUPPORTED_PARAMS)
        if measure.NAME not in DESCRIPTIVE:
            object.__setattr__(self, "direction", Direction.HIGHER)

    def __repr__(self) -> str:
        return self.text

    def __matmul__(self, cutoff: int) -> Self:
        if not self.takes_cutoff:
            raise ParameterError(f"{self.text} takes no cut-off")
        deeper = delegate(repr(self.measure @ cutoff))  # the cut-off is part of the text
        return self if deeper is None else dataclasses.replace(self, text=deeper.text)

    @property
    def measure(self) -> Any:
        import ir_measures

        return ir_measures.parse_measure(self.text)

    @property
    def judged(self) -> tuple[str, str]:
        """The block and the kind of the judgements that it takes."""
        by_intent = self.measure.NAME in BY_INTENT
        return ("judged_by_intent", "intents") if by_intent else ("judged", "relevance")

    @property
    def needs(self) -> frozenset[str]:
        block, kind = self.judged
        return frozenset({"ranked.documents", f"{block}.documents", f"{block}.{kind}"})

    depth = None  # what lies below the cut-off may matter to it

    def compute(self, evidence: RankedEvidence) -> Result:
        import ir_measures

        measure, (block, kind) = self.measure, self.judged
        values = np.full(len(evidence), float(measure.DEFAULT))
        grades = evidence.reference[block].padded(kind)
        broken, largest = grades[grades % 1 != 0], int(grades.max(initial=0))
        if len(broken) or largest > GRADE_LIMIT:
            wrong = f"{broken[0]:g} is none" if len(broken) else f"the largest of these is {largest:,}"
            raise DataError(
                f"{self.text} is computed by ir_measures, which takes whole grades up to {GRADE_LIMIT:,}; "
                f"{wrong}: read ratings in steps (read_ratings(FILE, step=0.5), or "
                "step = 0.5 in the project file), or choose one that 'evenrank measures' lists"
            )
        qrels, run = evidence.ranked.remembered(
            f"{kind} of ir_measures",
            lambda: (
                [ir_measures.Qrel(*row) for row in _judgements(evidence.reference[block], kind)],
                [ir_measures.ScoredDoc(*row) for row in _scored(evidence)],
            ),
        )
        try:
            for metric in ir_measures.iter_calc([measure], qrels, run) if qrels and run else ():
                values[int(metric.query_id)] = metric.value
        except RuntimeError as error:  # no tool behind ir_measures can compute it
            raise MissingExtraError(
                f"{self.text} is not one of ours, and ir_measures cannot compute it here: {error}"
            ) from error
        except (ArithmeticError, ValueError, KeyError, IndexError, TypeError) as error:
            raise DataError(f"{self.text}: ir_measures fails on these judgements ({error!r})") from error
        undefined = {NOT_JUDGED: ~evidence.query[f"{kind}.judged"]}
        if measure.NAME not in DESCRIPTIVE:
            undefined[NO_RELEVANT] = ~np.asarray((grades > 0).reshape(len(evidence), -1).any(axis=1))
        return Result(values, undefined)

    def aggregate(self, values: Floats) -> Floats:
        if self.aggregation == "mean":
            return super().aggregate(values)
        return np.sum(values, axis=-1)  # type: ignore[no-any-return]


def _judgements(judged: Reference, kind: str) -> Iterator[tuple[str, str, int, str]]:
    codes: Any = judged.gathered["documents"].columns[""]
    grades: Any = judged.gathered[kind].columns[""]
    for query, (start, count) in enumerate(zip(judged.starts.tolist(), judged.counts.tolist(), strict=True)):
        for row in range(start, start + count):
            document = str(int(codes[row]))
            if not isinstance(grades, Sparse):
                yield str(query), document, int(grades[row]), "0"
                continue
            for entry in range(int(grades.offsets[row]), int(grades.offsets[row + 1])):
                yield str(query), document, int(grades.values[entry]), str(int(grades.places[entry]))


def _scored(evidence: RankedEvidence) -> Iterator[tuple[str, str, float]]:
    queries, ranks = np.nonzero(evidence.ranked.mask)
    documents = evidence.ranked["documents"][queries, ranks]
    for query, document, rank in zip(queries.tolist(), documents.tolist(), ranks.tolist(), strict=True):
        yield str(query), str(document), -float(rank)


@cache
def delegated_names() -> tuple[str, ...]:
    from ir_measures import measures

    return tuple(sorted(measures.registry))


def delegate(text: str) -> Delegated | None:
    """The measure that ir_measures understands by this text, if it does and it is not one of ours."""
    import ir_measures

    try:
        measure: Any = ir_measures.parse_measure(text)
        measure.validate_params()
    except NameError:
        return None
    except (ValueError, TypeError, KeyError, AssertionError) as error:
        name = text.partition("(")[0].partition("@")[0].strip()
        from evenrank.grammar import REGISTRY

        if name in REGISTRY["measure"] or name not in delegated_names():
            return None  # ours says better what is wrong
        raise ParameterError(_missing_parameter(name, text) or f"{text}: {error}") from None
    if hasattr(measure, "evenrank_measure"):
        return None  # ours, registered there by the plug-in
    return Delegated(text=repr(measure))


def _missing_parameter(name: str, text: str) -> str | None:
    """What to say where ir_measures needs a parameter that was not given."""
    from ir_measures import measures

    for parameter, info in measures.registry[name].SUPPORTED_PARAMS.items():
        if info.required and f"{parameter}=" not in text and (parameter != "cutoff" or "@" not in text):
            example = f"{name}@10" if parameter == "cutoff" else f"{name}({parameter}=...)"
            return f"{text} needs {parameter}, as in {example}"
    return None
