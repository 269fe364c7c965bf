"""Learned sparse retrieval: a network weighs words, and the scores are dot products of those weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.data.run import Run
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.models import folder_identity, load_from
from evenrank.grammar import declare, integer, parameter, text
from evenrank.systems.base import (
    IndexedDocuments,
    Progress,
    Texts,
    check_depth,
    check_texts,
    not_indexed,
    run_of,
)
from evenrank.systems.declared import SPARSE, SystemSettings, SystemTerm
from evenrank.systems.kept import Arrays, KeptArrays, digest_of
from evenrank.systems.model_folders import MASKED, check_model, need_transformers, weights_of

TEXTS_AT_ONCE = 1024
DECIMALS = 6
WORD_HEADS = ("cls.predictions", "lm_head", "vocab_transform", "predictions.dense")  # of BERT and its heirs
Weigh = Callable[[Any, Any], Any]  # the model's input, its output: (texts, vocabulary) of weights >= 0


class LearnedSparse:
    """Every document by the dot product of two sparse vectors of word weights, those of query and document.

    A document without a word in common with the query is not found.
    """

    def __init__(
        self,
        load: Callable[[], tuple[Any, Weigh]],
        *,
        name: str,
        identity: str,
        length: int = 256,
        batch: int = 32,
        cache: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.name = name
        self._load, self._identity, self._length, self._batch = load, identity, length, batch
        self._kept, self._progress = KeptArrays(cache), progress
        self._loaded: tuple[Any, Weigh] | None = None
        self._collection: IndexedDocuments | None = None
        self._weights: Any = None  # (V, N), by word

    def index(self, documents: Texts) -> None:
        from scipy.sparse import vstack

        texts = check_texts(documents, "documents")
        self._weights = vstack(self._encoded(list(texts.values()), "encoding documents")).tocsc().T.tocsr()
        self._collection = IndexedDocuments(texts)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        from scipy.sparse import vstack

        if self._collection is None:
            raise not_indexed(self.name)
        asked, k = check_texts(queries, "queries"), check_depth(k)
        held = vstack(self._encoded(list(asked.values()), "encoding queries")).tocsr()
        lists = []
        for row, query in enumerate(asked):
            scores = (held[row] @ self._weights).toarray()[0].astype(np.float64).round(DECIMALS)
            rows = np.flatnonzero(scores > 0)
            best = self._collection.best(scores[rows], k, rows)
            lists.append((query, [self._collection.ids[at] for at in best], scores[best].tolist()))
        return run_of(lists, self.name)

    def _encoded(self, texts: list[str], what: str) -> list[Any]:
        from scipy.sparse import csr_matrix

        found = []
        for begin in range(0, len(texts), TEXTS_AT_ONCE):
            block = texts[begin : begin + TEXTS_AT_ONCE]
            key = digest_of(f"{self._identity} {self._length}", block) if self._kept.lasting else ""
            held = self._kept.get(key, lambda block=block: self._arrays(block))  # type: ignore[misc]
            shape = tuple(held["shape"].tolist())
            found.append(csr_matrix((held["data"], held["indices"], held["indptr"]), shape=shape))
            if self._progress is not None:
                self._progress(what, begin + len(block), len(texts))
        return found

    def _arrays(self, texts: list[str]) -> Arrays:
        import torch
        from scipy.sparse import csr_matrix, vstack

        if self._loaded is None:
            self._loaded = self._load()
        tokens, weigh = self._loaded
        rows = []
        for begin in range(0, len(texts), self._batch):
            given = tokens(
                texts[begin : begin + self._batch], truncation=True, max_length=self._length, padding=True,
                return_tensors="pt",
            )  # fmt: skip
            with torch.no_grad():
                weights = weigh(given["input_ids"], given["attention_mask"]).float().numpy()
            if not np.isfinite(weights).all():
                raise DataError(f"{self.name}: gave a weight that is not finite")
            rows.append(csr_matrix(weights.astype(np.float32)))
        whole = vstack(rows).tocsr()
        shape = np.array(whole.shape)
        return {"data": whole.data, "indices": whole.indices, "indptr": whole.indptr, "shape": shape}


def load_splade(folder: Path) -> tuple[Any, Weigh]:
    """Weight of a word: the largest log(1 + relu(logit)) over the tokens of the text.

    Formal et al. 2021, SPLADE v2, Eq. 6.
    """
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokens = load_from(folder, AutoTokenizer.from_pretrained)
    model = load_from(folder, AutoModelForMaskedLM.from_pretrained).eval()

    def weigh(ids: Any, mask: Any) -> Any:
        logits = model(input_ids=ids, attention_mask=mask).logits  # (N, T, V)
        return (torch.log1p(torch.relu(logits)) * mask[:, :, None]).amax(dim=1)

    return tokens, weigh


def load_unicoil(folder: Path) -> tuple[Any, Weigh]:
    """Weight of a word: the largest relu(w h + b) over its occurrences; words that the text lacks have none.

    Lin and Ma 2021, A few brief notes on DeepImpact, COIL, and a conceptual framework.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokens = load_from(folder, AutoTokenizer.from_pretrained)
    model = load_from(folder, AutoModel.from_pretrained).eval()
    head = weights_of(folder, ["tok_proj.weight", "tok_proj.bias"])
    special = torch.tensor(sorted(tokens.all_special_ids))
    size = int(model.config.vocab_size)

    def weigh(ids: Any, mask: Any) -> Any:
        hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state  # (N, T, D)
        weights = torch.relu(hidden @ head["tok_proj.weight"].T + head["tok_proj.bias"])[:, :, 0]
        weights = weights * mask * ~torch.isin(ids, special)
        found = torch.zeros(len(ids), size)
        return found.scatter_reduce(1, ids, weights, reduce="amax")

    return tokens, weigh


@dataclass(frozen=True, repr=False, kw_only=True)
class LearnedSparseTerm(SystemTerm):
    """What learned sparse systems have in common."""

    family = SPARSE
    extra = "embed"

    model: str = parameter("", text(), "the folder of the model")
    length: int = parameter(256, integer(8), "how many tokens of a text are read")

    def _check_folder(
        self, settings: SystemSettings, job: str, kinds: tuple[str, ...], parts: tuple[str, ...]
    ) -> None:
        if not self.model:
            raise ParameterError(f"{self.name}: name the folder of the model, as {self.name}(model='FOLDER')")
        check_model(settings.path(self.model), job, kinds=kinds, parts=parts)
        need_transformers(job)  # last: a wrong folder is heard of before a large package is installed

    def _made(self, settings: SystemSettings, load: Callable[[Path], tuple[Any, Weigh]]) -> LearnedSparse:
        folder = settings.path(self.model)
        identity = f"{self.name} {folder_identity(folder)}"
        return LearnedSparse(
            lambda: load(folder), name=folder.name, identity=identity, length=self.length,
            cache=settings.cache, progress=settings.progress,
        )  # fmt: skip


@declare
class SpladeTerm(LearnedSparseTerm):
    """SPLADE: a masked language model weighs all words of its vocabulary for a text."""

    name = "Splade"

    def check(self, settings: SystemSettings) -> None:
        self._check_folder(settings, "SPLADE model", (MASKED,), WORD_HEADS)

    def make(self, settings: SystemSettings) -> LearnedSparse:
        return self._made(settings, load_splade)


@declare
class UniCoilTerm(LearnedSparseTerm):
    """uniCOIL: an encoder weighs the words of a text; documents are not expanded with further words."""

    name = "UniCoil"

    def check(self, settings: SystemSettings) -> None:
        self._check_folder(settings, "uniCOIL model", (), ("tok_proj.weight",))

    def make(self, settings: SystemSettings) -> LearnedSparse:
        return self._made(settings, load_unicoil)
