"""Vectors of the tokens of a text: of any sentence-transformers model, or as ColBERT makes them."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import DataError
from evenrank.evidence.models import MINILM, folder_identity, load_from, model_path, sentence_model
from evenrank.systems.model_folders import architectures, weights_of

COLBERT = "ColBERT"
QUERY_TOKENS, DOCUMENT_TOKENS = 32, 300  # as the ColBERT papers have them
QUERY_MARK, DOCUMENT_MARK = "[unused0]", "[unused1]"


@dataclass(frozen=True)
class TokenEncoder:
    """``encode(texts, query=..)`` gives for each text (tokens, width), every token of length 1."""

    name: str
    run: Callable[[list[str], bool], list[Floats]]
    identity: str | None = None

    def encode(self, texts: Sequence[str], *, query: bool) -> list[Floats]:
        found = []
        for text, tokens in zip(texts, self.run(list(texts), query), strict=True):
            table = np.asarray(tokens, dtype=np.float64)
            if table.ndim != 2 or not len(table) or not np.isfinite(table).all():
                raise DataError(f"{self.name}: gave no token vectors for the text {text!r:.60}")
            lengths = np.linalg.norm(table, axis=1, keepdims=True)
            found.append(table / np.where(lengths > 0, lengths, 1.0))
        return found


def token_folder(model: str, folder: Path) -> Path:
    return Path(model_path(MINILM)) if model == MINILM and not folder.is_dir() else folder


def token_encoder(folder: Path, name: str, *, batch: int) -> TokenEncoder:
    """The tokens of the model in a folder. ColBERT weights are known by their name in config.json."""
    if any(COLBERT in kind for kind in architectures(folder)):
        return TokenEncoder(name, _colbert(folder, batch), folder_identity(folder))
    return TokenEncoder(name, _any_encoder(folder, batch), folder_identity(folder))


def _any_encoder(folder: Path, batch: int) -> Callable[[list[str], bool], list[Floats]]:
    """The last layer for every token that is no padding, queries and documents alike."""
    model = cache(partial(sentence_model, folder))

    def run(texts: list[str], query: bool) -> list[Floats]:
        found = model().encode(
            texts, batch_size=batch, output_value="token_embeddings", convert_to_numpy=False,
            show_progress_bar=False,
        )  # fmt: skip
        return [tokens.detach().cpu().float().numpy() for tokens in found]

    return run


def _colbert(folder: Path, batch: int) -> Callable[[list[str], bool], list[Floats]]:
    """A BERT with a projection (``linear.weight``); queries are filled up with [MASK], and the punctuation of
    documents is left out."""

    @cache
    def load() -> tuple[Any, Any, Any, set[int]]:
        from transformers import AutoTokenizer, BertModel

        tokens = load_from(folder, AutoTokenizer.from_pretrained)
        model = load_from(folder, BertModel.from_pretrained, add_pooling_layer=False).eval()
        weight = weights_of(folder, ["linear.weight"])["linear.weight"]
        skipped = {tokens.convert_tokens_to_ids(mark) for mark in string.punctuation}
        return tokens, model, weight, skipped

    def run(texts: list[str], query: bool) -> list[Floats]:
        import torch

        tokens, model, weight, skipped = load()
        mark = tokens.convert_tokens_to_ids(QUERY_MARK if query else DOCUMENT_MARK)
        found: list[Floats] = []
        for begin in range(0, len(texts), batch):
            length = QUERY_TOKENS if query else DOCUMENT_TOKENS
            given = tokens(
                [f". {text}" for text in texts[begin : begin + batch]], truncation=True, max_length=length,
                padding="max_length" if query else "longest", return_tensors="pt",
            )  # fmt: skip
            ids, seen = given["input_ids"], given["attention_mask"]
            ids[:, 1] = mark  # in the place of the dot
            if query:
                ids[ids == tokens.pad_token_id] = tokens.mask_token_id
                seen = torch.ones_like(seen)
            with torch.no_grad():
                hidden = model(input_ids=ids, attention_mask=given["attention_mask"]).last_hidden_state
            vectors = (hidden @ weight.T).float()
            for row, own, mask in zip(vectors, ids.tolist(), seen.bool(), strict=True):
                kept = [bool(on) and (query or one not in skipped)
                        for one, on in zip(own, mask.tolist(), strict=True)]  # fmt: skip
                found.append(row[torch.tensor(kept)].numpy())
        return found

    return run
