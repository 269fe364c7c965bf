"""The bi-encoder: query and document are read apart, and the cosine of their vectors is the score."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch.nn import functional

from evenrank.errors import ParameterError
from evenrank.neural.encoders import check_mean_pooling
from evenrank.neural.losses import DISTILLATION
from evenrank.neural.ranker import BI_ENCODER, NeuralRanker
from evenrank.neural.tokens import SeparateTokens, Texts

# the folder of a bi-encoder is one that sentence-transformers and Dense(model='FOLDER') read
_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]


class BiEncoderRanker(NeuralRanker):
    """``cos(f(q), f(d))``: f the mean of an encoder's last vectors over the tokens of a text.

    The adversaries see the vector of the document alone, which is all that an index keeps of it.
    """

    kind: ClassVar[str] = BI_ENCODER
    separate: ClassVar[bool] = True

    def __init__(self, *given: Any, loss: str = DISTILLATION, **more: Any) -> None:
        if loss != DISTILLATION:
            raise ParameterError(
                f"a bi-encoder learns from a teacher: its loss is {DISTILLATION!r}, got {loss!r}"
            )
        super().__init__(*given, loss=loss, **more)

    @classmethod
    def start(cls, name: str, attributes: Mapping[str, tuple[str, ...]], **more: Any) -> Self:
        check_mean_pooling(name)
        return super().start(name, attributes, **more)

    def batches(self, texts: Texts, pairs: int) -> SeparateTokens:
        return SeparateTokens(self.tokenizer, texts, pairs, self.max_length)

    def encode(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """(P, 2 width): the unit vector of the query, then that of the document."""
        sides = []
        for side in ("query", "document"):
            known = {
                name.removeprefix(f"{side}."): table
                for name, table in batch.items()
                if name.startswith(f"{side}.")
            }
            row_of = known.pop("of")  # a text that is in several pairs is read once
            sides.append(self.text_vectors(known)[row_of])
        return torch.cat(sides, dim=1)

    def text_vectors(self, known: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """(T, width): the unit vectors of texts."""
        layers = self._layers(known).float()  # (T, L, width)
        mask = known["attention_mask"][:, :, None].float()
        return functional.normalize((layers * mask).sum(dim=1) / mask.sum(dim=1), dim=1)

    def sides(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The vectors of queries and of documents, (P, width) each."""
        return vectors[:, : self.width], vectors[:, self.width :]

    def outputs(self, vectors: torch.Tensor) -> torch.Tensor:
        query, document = self.sides(vectors.float())
        return (query * document).sum(dim=1, keepdim=True)

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        return self.outputs(vectors)[:, 0]

    def seen(self, vectors: torch.Tensor) -> torch.Tensor:
        # components of a unit vector are small numbers, from which an adversary learns too slowly
        return self.sides(vectors)[1] * math.sqrt(self.width)

    def _write_more(self, folder: Path) -> None:
        pooling = {"word_embedding_dimension": self.width, "pooling_mode_mean_tokens": True}
        for name, content in {
            "modules.json": _MODULES,
            "sentence_bert_config.json": {"max_seq_length": self.max_length, "do_lower_case": False},
            "1_Pooling/config.json": pooling,
        }.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        (folder / "2_Normalize").mkdir()
