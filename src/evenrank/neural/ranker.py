"""What every ranker that is trained here has: an encoder, an adversary for each attribute, and a folder."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from evenrank.errors import DataError, ParameterError
from evenrank.evidence.models import quiet
from evenrank.files import regular_file
from evenrank.io.atomic import whole_folder
from evenrank.neural.encoders import encoder_path, load_encoder
from evenrank.neural.losses import LOSSES, OUTPUTS
from evenrank.neural.reversal import reverse
from evenrank.neural.tokens import PairBatches, Texts

FORMAT = 1
CROSS_ENCODER, BI_ENCODER = "cross-encoder", "bi-encoder"
_ABOUT, _HEADS = "ranker.json", "heads.safetensors"


class NeuralRanker(nn.Module):
    """Scores pairs of a query and a document by vectors of an encoder.

    For every attribute a head h, Linear-tanh-Linear, tells its values from what it sees of those vectors. It
    stands behind a gradient reversal, so that what h learns to see, the encoder learns to hide. Kinds of
    rankers say what the vectors of a pair are, how they give its score, and what the heads see of them.
    Reference: nfairc-advbert-2021, Section 5.
    """

    kind: ClassVar[str]
    separate: ClassVar[bool] = False
    """Whether query and document have a vector each, so that any query can be scored with any document."""

    def __init__(
        self,
        encoder: Any,
        tokenizer: Any,
        attributes: Mapping[str, tuple[str, ...]],
        *,
        loss: str = "margin",
        max_length: int = 256,
        seed: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if loss not in LOSSES:
            raise ParameterError(f"the utility loss must be one of {', '.join(LOSSES)}, got {loss!r}")
        if "." in "".join(attributes):
            raise ParameterError(f"names of attributes have no dot, got {', '.join(attributes)}")
        for name in attributes:
            if not name or hasattr(nn.ModuleDict(), name):  # torch keeps these to itself
                raise ParameterError(f"an attribute cannot be called {name!r}: take another name")
        if not isinstance(max_length, int) or max_length < 1:
            raise ParameterError(f"max_length must be an integer >= 1, got {max_length!r}")
        self.width: int = encoder.config.hidden_size
        self.tokenizer, self.loss, self.dropout = tokenizer, loss, dropout
        longest = getattr(encoder.config, "max_position_embeddings", max_length)
        self.max_length = min(max_length, longest, getattr(tokenizer, "model_max_length", max_length))
        self.attributes = dict(attributes)
        self.encoder = encoder
        self._takes = frozenset(inspect.signature(encoder.forward).parameters)  # not all know token types
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._add_head()
            self.adversaries = nn.ModuleDict(
                {name: adversary(self.width, len(values)) for name, values in attributes.items()}
            )

    def _add_head(self) -> None:
        """What gives the score, where it is learnt."""

    @classmethod
    def start(
        cls,
        name: str,
        attributes: Mapping[str, tuple[str, ...]],
        *,
        layers: int | None = None,
        loss: str | None = None,
        max_length: int = 256,
        seed: int = 0,
        dropout: float = 0.0,
    ) -> Self:
        """A ranker with the weights of a checkpoint, and new heads drawn by ``seed``.

        A whole ranker of this kind that ``save`` wrote goes on with what it scores by.
        """
        encoder, tokenizer = load_encoder(name, layers)
        chosen = {} if loss is None else {"loss": loss}
        ranker = cls(
            encoder, tokenizer, attributes, max_length=max_length, seed=seed, dropout=dropout, **chosen
        )
        folder = Path(encoder_path(name))
        if layers is None and (folder / _ABOUT).is_file():
            ranker._take_head(folder)
        return ranker

    def _take_head(self, folder: Path) -> None:
        """The relevance head of the ranker in a folder, which may have been trained against others."""
        if kind_of(folder) != self.kind:
            return  # its encoder alone was wanted
        saved = type(self).load(folder)
        if OUTPUTS[saved.loss] != OUTPUTS[self.loss]:
            raise ParameterError(
                f"model.loss must be {saved.loss!r}, with which {folder} was trained, got {self.loss!r}"
            )
        head = {
            name: value
            for name, value in saved.state_dict().items()
            if not name.startswith(("encoder.", "adversaries."))
        }
        self.load_state_dict(head, strict=False)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def batches(self, texts: Texts, pairs: int) -> PairBatches:
        """The tokens of so many pairs of texts, as ``encode`` takes them."""
        raise NotImplementedError

    def encode(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The vectors of each pair, one row a pair."""
        raise NotImplementedError

    def outputs(self, vectors: torch.Tensor) -> torch.Tensor:
        """What the utility loss is computed from: (P, 1) scores, or (P, 2) for the two-way loss."""
        raise NotImplementedError

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        """(P,): higher is more relevant."""
        raise NotImplementedError

    def seen(self, vectors: torch.Tensor) -> torch.Tensor:
        """z: what the adversaries see of the vectors of each pair, (P, width)."""
        raise NotImplementedError

    def sides(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The vectors of queries and of documents, where a ranker has them."""
        raise NotImplementedError

    def guesses(self, vectors: torch.Tensor, strength: float | torch.Tensor) -> dict[str, torch.Tensor]:
        """h(rev(z)) for each attribute: (P, values)."""
        with torch.autocast(vectors.device.type, enabled=False):
            hidden = reverse(self.seen(vectors.float()), strength)
            return {name: self._guess(head, hidden) for name, head in self.adversaries.items()}

    def _guess(self, head: Any, hidden: torch.Tensor) -> torch.Tensor:
        """With dropout an adversary cannot learn documents by heart, and has to find what they share."""
        if not self.dropout:
            return head(hidden)
        first, curve, last = head
        inner = curve(first(functional.dropout(hidden, self.dropout, head.training)))
        return last(functional.dropout(inner, self.dropout, head.training))

    def _layers(self, known: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The last layer's vectors, (P, L, width)."""
        found: torch.Tensor = self.encoder(
            **{name: table for name, table in known.items() if name in self._takes}
        ).last_hidden_state
        return found

    def save(self, folder: str | Path, notes: Mapping[str, object] | None = None) -> None:
        """The folder that ``load`` reads: the encoder as transformers has it, and our heads beside it.

        ``notes`` are files of JSON that belong to it, and are there when it is.
        """
        about = {
            "format": FORMAT,
            "kind": self.kind,
            "loss": self.loss,
            "max_length": self.max_length,
            "attributes": {name: list(values) for name, values in self.attributes.items()},
        }
        heads = {name: value for name, value in self.state_dict().items() if not name.startswith("encoder.")}
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is not None:  # how it was used last would be saved: a resumed run has used it for less
            backend.no_truncation()
            backend.no_padding()
        with whole_folder(folder, replace=True) as new, quiet():
            self.encoder.save_pretrained(new, safe_serialization=True)
            self.tokenizer.save_pretrained(new)
            save_file(
                {name: value.detach().cpu().contiguous() for name, value in heads.items()}, new / _HEADS
            )
            self._write_more(new)
            about["files"] = {path.name: _digest(path) for path in sorted(new.iterdir()) if path.is_file()}
            for name, content in {_ABOUT: about, **(notes or {})}.items():
                (new / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def _write_more(self, folder: Path) -> None:
        """Files by which other programs can read the folder."""

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A ranker of this kind that ``save`` wrote."""
        where = Path(folder)
        about = _about(where)
        kind = about.get("kind", CROSS_ENCODER)
        if kind != cls.kind:
            raise DataError(f"{folder}: holds a {kind}, not a {cls.kind}")
        try:
            if about["format"] != FORMAT:
                raise DataError(f"{folder}: written by another version (format {about['format']})")
            _check_files(where, about.get("files", {}))
            values = {str(name): tuple(found) for name, found in about["attributes"].items()}
            encoder, tokenizer = load_encoder(str(where.resolve()))
            ranker = cls(encoder, tokenizer, values, loss=about["loss"], max_length=about["max_length"])
            heads = load_file(where / _HEADS)
            unknown = ranker.load_state_dict(heads, strict=False).unexpected_keys
            lacking = {name for name in ranker.state_dict() if not name.startswith("encoder.")} - set(heads)
        except DataError:
            raise
        except KeyError as error:
            raise DataError(f"{folder}: the ranker cannot be read: {_ABOUT} has no {error}") from error
        except (OSError, AttributeError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
            why = " ".join(str(error).split())
            raise DataError(f"{folder}: the ranker cannot be read: {why}") from error
        if unknown or lacking:
            raise DataError(f"{folder}: {_HEADS} and {_ABOUT} do not fit each other")
        return ranker


def kind_of(folder: str | Path) -> str:
    """The kind of the ranker in a folder."""
    return str(_about(Path(folder)).get("kind", CROSS_ENCODER))


def _about(folder: Path) -> dict[str, Any]:
    path = folder / _ABOUT
    if not path.is_file():
        raise DataError(
            f"{folder}: this folder holds no ranker (it has no {_ABOUT}): name one that evenrank debias wrote"
        )
    try:
        about = json.loads(regular_file(path).read_text(encoding="utf-8"))
        if not isinstance(about, dict):
            raise ValueError("it is no table of keys")
    except (OSError, ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise DataError(f"{folder}: the ranker cannot be read: {why}") from error
    return about


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_ranker(folder: Path) -> None:
    """Raise unless the files of a ranker are as they were written, without loading it."""
    try:
        _check_files(
            folder, json.loads(regular_file(folder / _ABOUT).read_text(encoding="utf-8")).get("files", {})
        )
    except FileNotFoundError as error:
        raise DataError(f"{folder}: no ranker: there is no {_ABOUT}") from error
    except (AttributeError, ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{folder / _ABOUT}: is damaged: {error}") from error


def _check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Raise unless every file is as it was written: libraries make up for what is missing with random
    numbers and empty vocabularies, and say nothing. Folders of earlier versions have no such list."""
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            raise DataError(f"{folder}: the ranker is not whole: there is no {name}; copy or train it anew")
        if _digest(path) != expected:
            raise DataError(f"{folder}: {name} is not as it was written: it was damaged or changed")


def adversary(width: int, values: int) -> nn.Sequential:
    """h: two layers with a tanh between them; the softmax is in the loss."""
    return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, values))
