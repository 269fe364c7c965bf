"""Loads a ranker of any kind from its folder."""

from __future__ import annotations

from pathlib import Path

from evenrank.errors import DataError
from evenrank.neural.bi_encoder import BiEncoderRanker
from evenrank.neural.model import CrossEncoderRanker
from evenrank.neural.ranker import NeuralRanker, kind_of

KINDS: dict[str, type[NeuralRanker]] = {cls.kind: cls for cls in (CrossEncoderRanker, BiEncoderRanker)}


def load_ranker(folder: str | Path) -> NeuralRanker:
    """The ranker that a training wrote into this folder."""
    kind = kind_of(folder)
    if kind not in KINDS:
        raise DataError(f"{folder}: holds a {kind!r}, which this version does not know")
    return KINDS[kind].load(folder)
