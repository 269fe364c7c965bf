"""The ranker: an encoder of query and document, a relevance head, and an adversary for each attribute."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from evenrank.errors import DataError, ParameterError
from evenrank.io.folders import whole_folder
from evenrank.neural.encoders import load_encoder, quiet
from evenrank.neural.losses import CROSS_ENTROPY, LOSSES, OUTPUTS
from evenrank.neural.reversal import reverse

FORMAT = 1
_ABOUT, _HEADS = "ranker.json", "heads.safetensors"


class CrossEncoderRanker(nn.Module):
    """``g(f(q, d))``: f an encoder of the pair, whose first vector z a linear head g turns into a score.

    For every attribute a head h, Linear-tanh-Linear, tells its values from z. It stands behind a gradient
    reversal, so that what h learns to see, f learns to hide. Reference: nfairc-advbert-2021, Section 5.
    """

    def __init__(
        self,
        encoder: Any,
        tokenizer: Any,
        attributes: Mapping[str, tuple[str, ...]],
        *,
        loss: str = "margin",
        max_length: int = 256,
        seed: int = 0,
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
        width = encoder.config.hidden_size
        self.tokenizer, self.loss = tokenizer, loss
        longest = getattr(encoder.config, "max_position_embeddings", max_length)
        self.max_length = min(max_length, longest, getattr(tokenizer, "model_max_length", max_length))
        self.attributes = dict(attributes)
        self.encoder = encoder
        self._takes = frozenset(inspect.signature(encoder.forward).parameters)  # not all know token types
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.relevance = nn.Linear(width, OUTPUTS[loss])
            self.adversaries = nn.ModuleDict(
                {name: adversary(width, len(values)) for name, values in attributes.items()}
            )

    @classmethod
    def start(
        cls,
        name: str,
        attributes: Mapping[str, tuple[str, ...]],
        *,
        layers: int | None = None,
        loss: str = "margin",
        max_length: int = 256,
        seed: int = 0,
    ) -> CrossEncoderRanker:
        """A ranker with the weights of a checkpoint, and new heads drawn by ``seed``."""
        encoder, tokenizer = load_encoder(name, layers)
        return cls(encoder, tokenizer, attributes, loss=loss, max_length=max_length, seed=seed)

    @property
    def device(self) -> torch.device:
        return self.relevance.weight.device

    def encode(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """z: the last layer's vector at the first token, (P, width)."""
        known = {name: table for name, table in batch.items() if name in self._takes}
        first: torch.Tensor = self.encoder(**known).last_hidden_state[:, 0]
        return first

    def outputs(self, vectors: torch.Tensor) -> torch.Tensor:
        """g(z): (P, 1) scores, or (P, 2) for the two-way loss."""
        with torch.autocast(vectors.device.type, enabled=False):  # or near scores become equal ones
            found: torch.Tensor = self.relevance(vectors.float())
        return found

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        """(P,): higher is more relevant. Of two outputs the log odds."""
        found = self.outputs(vectors)
        return found[:, 1] - found[:, 0] if self.loss == CROSS_ENTROPY else found[:, 0]

    def guesses(self, vectors: torch.Tensor, strength: float) -> dict[str, torch.Tensor]:
        """h(rev(z)) for each attribute: (P, values)."""
        with torch.autocast(vectors.device.type, enabled=False):
            hidden = reverse(vectors.float(), strength)
            return {name: head(hidden) for name, head in self.adversaries.items()}

    def save(self, folder: str | Path, notes: Mapping[str, object] | None = None) -> None:
        """The folder that ``load`` reads: the encoder as transformers has it, and our heads beside it.

        ``notes`` are files of JSON that belong to it, and are there when it is.
        """
        about = {
            "format": FORMAT,
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
            about["files"] = {path.name: _digest(path) for path in sorted(new.iterdir())}
            for name, content in {_ABOUT: about, **(notes or {})}.items():
                (new / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> CrossEncoderRanker:
        """A ranker that ``save`` wrote."""
        where = Path(folder)
        if not (where / _ABOUT).is_file():
            raise DataError(
                f"{folder}: this folder holds no ranker (it has no {_ABOUT}): name one that evenrank "
                "debias wrote"
            )
        try:
            about = json.loads((where / _ABOUT).read_text(encoding="utf-8"))
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


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_ranker(folder: Path) -> None:
    """Raise unless the files of a ranker are as they were written, without loading it."""
    try:
        _check_files(folder, json.loads((folder / _ABOUT).read_text(encoding="utf-8")).get("files", {}))
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
