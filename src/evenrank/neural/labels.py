"""Protected labels: what the adversary of an attribute is to tell from a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Int64s
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.scan import scan
from evenrank.measures.neutrality import neutrality
from evenrank.neural.examples import Examples

NEUTRALITY = "neutrality"
GROUPS = "groups"
KINDS = (NEUTRALITY, GROUPS)
NEUTRAL = "neutral"


@dataclass(frozen=True, eq=False)
class PairLabels:
    """The value of one attribute for every pair."""

    name: str
    values: tuple[str, ...]
    codes: Int64s  # (P,)

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise ParameterError(f"attribute {self.name!r}: an adversary tells two values or more apart")
        if len(self.codes) and not (self.codes.min() >= 0 and self.codes.max() < len(self.values)):
            raise DataError(
                f"attribute {self.name!r}: a label is a place among its {len(self.values)} values"
            )


def label_pairs(
    examples: Examples, lexicon: Lexicon, *, name: str | None = None, kind: str = NEUTRALITY, tau: int = 1
) -> PairLabels:
    """Labels by the words of a lexicon in "query document".

    ``neutrality``: 1 where its neutrality is below 1, else 0 (the paper's sentence and its formula
    contradict each other; here 1 is gendered). ``groups``: which group stands out most over its
    target share, the first of equal ones, where the text is not neutral; as many values as groups and one.
    """
    pairs = np.arange(len(examples.pair_queries))
    queries, documents = examples.texts(pairs)
    return label_texts(queries, documents, lexicon, name=name, kind=kind, tau=tau)


def label_documents(
    examples: Examples, lexicon: Lexicon, *, name: str | None = None, kind: str = NEUTRALITY, tau: int = 1
) -> PairLabels:
    """``label_pairs`` by the words of the document alone, for rankers that read it apart from the query."""
    empty = [""] * len(examples.documents)
    found = label_texts(empty, examples.documents, lexicon, name=name, kind=kind, tau=tau)
    return PairLabels(found.name, found.values, found.codes[examples.pair_documents])


def label_texts(
    queries: Sequence[str],
    documents: Sequence[str],
    lexicon: Lexicon,
    *,
    name: str | None = None,
    kind: str = NEUTRALITY,
    tau: int = 1,
) -> PairLabels:
    """``label_pairs`` of texts."""
    if kind not in KINDS:
        raise ParameterError(f"labels must be one of {', '.join(KINDS)}, got {kind!r}")
    texts = (
        (str(place), f"{query} {text}")
        for place, (query, text) in enumerate(zip(queries, documents, strict=True))
    )
    words = scan(texts, lexicon)
    counts = words.counts.astype(float)  # (P, G)
    target = np.array(lexicon.targets)
    biased = neutrality(counts, target, tau, words.tokens.astype(float)) < 1
    called = lexicon.name if name is None else name
    if kind == NEUTRALITY:
        return PairLabels(called, (NEUTRAL, "biased"), biased.astype(np.int64))
    total = counts.sum(axis=1, keepdims=True)
    share = counts / np.where(total > 0, total, 1)  # (P, G)
    return PairLabels(
        called, (NEUTRAL, *lexicon.groups), np.where(biased, (share - target).argmax(axis=1) + 1, 0)
    )


def shares(labels: Mapping[str, PairLabels], pairs: Int64s) -> str:
    """``gender: 79% neutral, 21% biased``, of these pairs."""
    said = []
    for name, found in labels.items():
        parts = np.bincount(found.codes[pairs], minlength=len(found.values)) / max(len(pairs), 1)
        said.append(f"{name}: " + ", ".join(f"{p:.0%} {v}" for v, p in zip(found.values, parts, strict=True)))
    return "; ".join(said)
