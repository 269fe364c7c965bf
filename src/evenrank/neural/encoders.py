"""Encoders: BERT-like checkpoints from a folder, the shipped one, or a hub that can be reached.

Weights are read from safetensors alone; a checkpoint that has only pickled ones is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, ParameterError, counted
from evenrank.evidence.models import (
    MODULES,
    NORMALIZE,
    POOLING,
    TRANSFORMER,
    kind_of,
    model_path,
    pooling_modes,
    quiet,
    read_modules,
)


def encoder_path(name: str) -> str:
    """Where the checkpoint of this name lies: a folder, or the name itself for a model of the hub."""
    return model_path(name, "train")


def load_encoder(name: str, layers: int | None = None) -> tuple[Any, Any]:
    """The encoder and its tokenizer. ``layers`` keeps only so many of the first ones.

    A folder is never asked of a network; a name that is no folder is, unless the hub is switched off
    (``HF_HUB_OFFLINE=1``).
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    path = encoder_path(name)
    local = Path(path).is_dir()
    try:
        with quiet():
            config = AutoConfig.from_pretrained(path, local_files_only=local)
            there = getattr(config, "num_hidden_layers", None)
            if layers is not None:
                if there is None or layers > there:
                    raise ParameterError(f"model.layers must be at most the {there} layers of {name!r}")
                config.num_hidden_layers = layers
            tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=local)
            encoder, found = AutoModel.from_pretrained(
                path, config=config, local_files_only=local, use_safetensors=True, output_loading_info=True
            )
        _check_whole(name, tokenizer, found["missing_keys"])
    except (ParameterError, DataError):
        raise
    except Exception as error:  # what a checkpoint can fail with is any library's
        why = str(error).partition("\n")[0]
        raise DataError(f"encoder {name!r}: cannot be loaded: {why}") from error
    return encoder.float(), tokenizer


def check_mean_pooling(name: str) -> None:
    """Raise where a model of sentence-transformers makes the vector of a text otherwise than by the mean of
    its tokens: the teacher would not be the model that was named."""
    path = Path(encoder_path(name))
    if not (path / MODULES).is_file():
        return
    try:
        kinds = [(kind_of(module["type"]), path / module["path"]) for module in read_modules(path)]
        ways = {
            way
            for kind, folder in kinds
            if kind == POOLING
            for way in pooling_modes(json.loads((folder / "config.json").read_text(encoding="utf-8")))
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"encoder {name!r}: {MODULES} and its parts cannot be read: {error}") from error
    others = [kind for kind, _ in kinds if kind not in (TRANSFORMER, POOLING, NORMALIZE)]
    if others or ways - {"mean"}:
        what = others[0] if others else f"pooling by {sorted(ways)[0]}"
        raise DataError(
            f"encoder {name!r}: makes vectors with {what}, and a bi-encoder takes the mean over tokens here: "
            "name a model with mean pooling"
        )


def _check_whole(name: str, tokenizer: Any, missing: Iterable[str]) -> None:
    """Raise where the library has made up for a missing file: an empty vocabulary, or random weights."""
    if tokenizer.vocab_size <= len(set(tokenizer.all_special_ids)):
        raise DataError(
            f"encoder {name!r}: its tokenizer knows no words: tokenizer.json or vocab.txt is missing"
        )
    lacking = sorted(key for key in missing if not key.startswith("pooler."))  # which is not used here
    if lacking:
        raise DataError(
            f"encoder {name!r}: the checkpoint lacks {counted(len(lacking), 'weight', 'weights')}, "
            f"such as {lacking[0]}: they would be random numbers"
        )
