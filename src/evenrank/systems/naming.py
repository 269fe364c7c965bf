"""From what people write to a system as a value: a term, a short name, a folder, or a chain with ``>>``."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from evenrank.errors import DataError, ParameterError, UnknownNameError
from evenrank.grammar import lookup, make, parse
from evenrank.systems.declared import DEPTH, SystemTerm, all_systems
from evenrank.systems.known_models import way_to_write

ARROW = ">>"
SHORT: dict[str, tuple[str, Mapping[str, str]]] = {}  # short name: term, parameters
SECOND: dict[str, tuple[str, Mapping[str, str]]] = {}  # the same for what stands behind >>
_TERM = re.compile(r"[A-Za-z_]\w*\s*(\(.*\))?\s*(@\s*\d+)?", re.DOTALL)


def declare_short(name: str, term: str, second: bool = False, **parameters: str) -> None:
    """Let a short name stand for a term with parameters; ``second`` if it re-ranks behind ``>>``."""
    (SECOND if second else SHORT)[name] = (term, parameters)


def parse_system(text: str, *, depth: int = DEPTH, folder: str | os.PathLike[str] = ".") -> SystemTerm:
    """A system from its name.

    ``BM25(k1=0.9,b=0.4)@100``, ``RRF(BM25,Dense(model=minilm))``; the short names bm25, bm25+rm3 and minilm;
    the folder of a sentence-transformers model. With ``>>`` the first ``depth`` documents of a system (or
    ``:depth=N``) are ordered anew, as in ``bm25>>nanoranker``.

    >>> parse_system("bm25>>nanoranker:depth=50")
    Nanoranker(first=BM25,depth=50)
    """
    first, *others = (part.strip() for part in _split(text))
    found = _one(first, SHORT, "system", lambda folder: ("Dense", {"model": folder}), folder)
    for other in others:
        name, own = _depth_of(other)
        made = _one(
            name, SECOND, "re-ranker", lambda folder: ("CrossEncoder", {"model": folder}), folder,
            first=found, own=own, usual=depth,
        )  # fmt: skip
        found = made
    return found


def _one(
    text: str,
    short: Mapping[str, tuple[str, Mapping[str, str]]],
    what: str,
    of_folder: Callable[[str], tuple[str, Mapping[str, str]]],
    folder: str | os.PathLike[str],
    *,
    first: SystemTerm | None = None,
    own: int | None = None,
    usual: int = DEPTH,
) -> SystemTerm:
    chain = {} if first is None else {"first": first, "depth": own or usual}
    name: str | None = None
    parameters: Mapping[str, str] = {}
    if text in short:
        name, parameters = short[text]
    elif text and (Path(folder) / Path(text).expanduser()).is_dir():
        name, parameters = of_folder(text)
    elif text.lower() in short:
        name, parameters = short[text.lower()]
    if name is not None:
        term: SystemTerm = make(lookup(name, "system"), {**parameters, **chain})  # type: ignore[assignment]
        return term
    text = _as_declared(text)
    if not _TERM.fullmatch(text) or _name_of(text) not in all_systems():
        raise _unknown(text, short, what, first is not None)
    term = parse(text, "system")
    return term if first is None else _behind(term, text, first, own)


def _name_of(text: str) -> str:
    return text.partition("(")[0].partition("@")[0].strip()


def _as_declared(text: str) -> str:
    """The same term with its name as it is declared: ``Bm25@5`` is ``BM25@5``."""
    name = _name_of(text)
    declared = {known.lower(): known for known in all_systems()}.get(name.lower(), name)
    return text.replace(name, declared, 1)


def _behind(term: SystemTerm, text: str, first: SystemTerm, own: int | None) -> SystemTerm:
    """A term behind an arrow takes what stands before it as its first stage."""
    import dataclasses

    names = {field.name for field in term.parameters()}
    if "first" not in names:
        raise ParameterError(f"{text} retrieves by itself and re-ranks nothing: write it without {ARROW}")
    if own is not None:
        return dataclasses.replace(term, first=first, depth=own)  # type: ignore[call-arg]
    return dataclasses.replace(term, first=first)  # type: ignore[call-arg]


def _split(text: str) -> list[str]:
    """The parts of a chain: arrows within brackets or quotes belong to a part."""
    parts, depth, quote, begin, at = [], 0, "", 0, 0
    while at < len(text):
        character = text[at]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif text.startswith(ARROW, at) and depth == 0:
            parts.append(text[begin:at])
            at += len(ARROW)
            begin = at
            continue
        at += 1
    return [*parts, text[begin:]]


def _depth_of(text: str) -> tuple[str, int | None]:
    """The re-ranker and how many documents it takes, as ``nanoranker:depth=50``."""
    name, colon, depth = text.partition(":depth=")
    if colon and not (depth.isascii() and depth.isdigit() and int(depth) > 0):
        raise ParameterError(f"{text}: depth must be an integer > 0, got {depth!r}")
    return name, int(depth) if colon else None


def _unknown(
    text: str, short: Mapping[str, tuple[str, Mapping[str, str]]], what: str, second: bool
) -> Exception:
    name = _name_of(text)
    if os.sep in name:
        return DataError(f"{name}: no such folder of a model")
    written = way_to_write(name, second=second)
    if written is not None:
        return UnknownNameError(
            f"no {what} is called {name!r}: write {written} (evenrank retrieve lists all systems)"
        )
    terms = [key for key, cls in all_systems().items() if not second or _reranks(cls)]
    known = [*short, *terms]
    close = difflib.get_close_matches(name, known, 3, 0.4)
    if not close:
        folded = {one.lower(): one for one in known}
        close = [folded[one] for one in difflib.get_close_matches(name.lower(), folded, 3, 0.4)]
    return UnknownNameError(
        f"no {what} is called {name!r}: {', '.join(close or known)}, or the folder of a model "
        "(evenrank retrieve lists them)"
    )


def _reranks(cls: type[SystemTerm]) -> bool:
    return any(field.name == "first" for field in cls.parameters())
