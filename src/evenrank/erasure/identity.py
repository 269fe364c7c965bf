"""Which encoder an eraser belongs to: the name, and a hash of its weights and of what is made of them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from evenrank.errors import DataError, MissingExtraError, shortened
from evenrank.evidence.models import MINILM, WORDLLAMA, model_path, unusual_modules
from evenrank.files import regular_file

ERASER_FILE = "eraser.safetensors"  # in the folder of a model
WEIGHTS = ("*.safetensors", "*.bin")
_NO_WEIGHTS = ("training_args.bin", ERASER_FILE)
_BLOCK = 1 << 20


class EncoderIdentity(NamedTuple):
    """The name of an encoder and the SHA-256 of its weights; the hash is empty where nobody knows them."""

    name: str
    weights: str = ""

    def is_other_than(self, other: EncoderIdentity) -> bool:
        """Whether the weights differ, or the names where nobody knows the weights of one of the two.

        A folder may be renamed, but it has weights. The owner of a model of a hub is not compared.

        >>> EncoderIdentity("BAAI/bge-small").is_other_than(EncoderIdentity("bge-small", "0f"))
        False
        """
        if self.weights and other.weights:
            return self.weights != other.weights
        return self._last_name != other._last_name

    @property
    def _last_name(self) -> str:
        return self.name.rstrip("/").rpartition("/")[2].lower()

    def __str__(self) -> str:
        return f"{shortened(self.name)} (weights {self.weights[:12]})" if self.weights else self.name


def encoder_identity(encoder: str | os.PathLike[str]) -> EncoderIdentity:
    """The identity of ``minilm``, ``wordllama``, or the folder of a sentence-transformers model.

    Of one file of weights the hash is that of ``sha256sum``; of several, that of their hashes. The layer of
    an eraser is one of them: a model that erases gives other vectors than the encoder in it. The eraser's own
    file, which lies beside the layer, is not counted: it says what was erased, and nothing runs it. Where
    modules make something else of the weights than the mean of token vectors, they are part of the hash.
    """
    name = os.fspath(encoder)
    if name == WORDLLAMA and not Path(name).is_dir():
        from importlib import metadata, util

        if util.find_spec(WORDLLAMA) is None:
            raise MissingExtraError.for_job(f"the encoder {WORDLLAMA!r}", WORDLLAMA, WORDLLAMA)
        version = metadata.version(WORDLLAMA)
        return EncoderIdentity(name, hashlib.sha256(f"{WORDLLAMA} {version}".encode()).hexdigest())
    folder = Path(model_path(name) if name == MINILM else name).expanduser()
    if not folder.is_dir():
        return EncoderIdentity(name)  # of a hub: what is there may change
    files = sorted(
        path
        for pattern in WEIGHTS
        for path in folder.rglob(pattern)
        if path.is_file() and path.name not in _NO_WEIGHTS
    )
    if not files:
        raise DataError(f"{folder}: has no weights (model.safetensors or pytorch_model.bin)")
    hashes = [_sha256(path) for path in files]
    joined = hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()
    unusual = unusual_modules(folder)
    if unusual:
        joined = hashlib.sha256(f"{joined} {unusual}".encode()).hexdigest()
    return EncoderIdentity(MINILM if name == MINILM else folder.resolve().name, joined)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with regular_file(path).open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
