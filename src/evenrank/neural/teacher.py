"""The teacher of a distillation: a bi-encoder, whose order of documents the student is to keep."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from evenrank.arrays import Int64s
from evenrank.errors import DataError
from evenrank.io.atomic import atomic_write
from evenrank.io.content_hash import hash_of_file
from evenrank.io.part_folder import PartFolder, part_path
from evenrank.neural.bi_encoder import BiEncoderRanker
from evenrank.neural.encoders import encoder_path
from evenrank.neural.scoring import Floats, Progress, text_vectors

PIECE = 1 << 13  # texts that are read before they are kept
_AT_ONCE = 1 << 24  # scores of queries and documents that are held at the same time


@dataclass(frozen=True, eq=False)
class Teacher:
    """The unit vectors of queries and documents. No judgements are needed: their cosines are what is kept."""

    queries: Floats  # (Q, width)
    documents: Floats  # (D, width)

    def first(self, depth: int) -> Int64s:
        """(Q, depth): the documents that it ranks first for each query, best first."""
        documents = torch.from_numpy(self.documents)
        found = [
            torch.topk(part @ documents.T, depth, dim=1).indices
            for part in torch.from_numpy(self.queries).split(max(1, _AT_ONCE // len(documents)))
        ]
        places: Int64s = torch.cat(found).numpy()
        return places


def read_teacher(
    encoder: str,
    queries: Sequence[str],
    documents: Sequence[str],
    *,
    kept: Path | None = None,
    max_length: int = 256,
    device: torch.device | str = "cpu",
    precision: str = "float32",
    progress: Progress | None = None,
) -> Teacher:
    """The vectors that an encoder gives these texts; a file ``kept`` has them for the next time, and a
    reading that is interrupted goes on where it was."""
    key = _key(encoder, max_length, queries, documents)
    if kept is not None and kept.is_file():
        try:
            with safe_open(str(kept), framework="numpy") as file:
                if (file.metadata() or {}).get("key") == key:
                    return Teacher(file.get_tensor("queries"), file.get_tensor("documents"))
        except (OSError, SafetensorError):  # made anew
            pass
    ranker = BiEncoderRanker.start(encoder, {}, max_length=max_length).to(device)
    texts = [*queries, *documents]

    def read(begin: int) -> Floats:
        def advance(done: int, _: int) -> None:
            if progress is not None:
                progress(begin + done, len(texts))

        return text_vectors(ranker, texts[begin : begin + PIECE], progress=advance, precision=precision)

    if kept is None:
        vectors = [read(begin) for begin in range(0, len(texts), PIECE)]
    else:
        vectors = _resumed(kept, key, precision, range(0, len(texts), PIECE), read)
    whole = np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32)
    found = Teacher(whole[: len(queries)], whole[len(queries) :])
    if not (np.isfinite(found.queries).all() and np.isfinite(found.documents).all()):
        raise DataError(f"teacher {encoder!r}: its vectors are not finite: name another teacher")
    if kept is not None:
        with atomic_write(kept) as file:
            file.write(save({"queries": found.queries, "documents": found.documents}, metadata={"key": key}))
    return found


def _resumed(
    kept: Path, key: str, precision: str, begins: Sequence[int], read: Callable[[int], Floats]
) -> list[Floats]:
    """The vectors of all pieces; those that an interrupted reading has finished are not made again."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    parts = PartFolder(kept, {"key": key, "precision": precision}, resume=True)
    found = []
    for index, begin in enumerate(begins):
        path = part_path(parts.folder, index, parts.key, "npy")
        if path.is_file():
            found.append(np.load(path, allow_pickle=False))
            continue
        found.append(read(begin))
        with atomic_write(path) as file:
            np.save(file, found[-1], allow_pickle=False)
    parts.remove()
    return found


def _key(encoder: str, max_length: int, *texts: Sequence[str]) -> str:
    digest = hashlib.sha256(f"{encoder} {max_length}".encode())
    for weights in sorted(Path(encoder_path(encoder)).glob("*.safetensors")):  # none of a name of the hub
        digest.update(hash_of_file(weights).encode())
    for side in texts:
        for text in side:
            digest.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
        digest.update(b"|")
    return digest.hexdigest()
