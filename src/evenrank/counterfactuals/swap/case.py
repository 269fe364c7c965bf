"""The case of a word, given to the word that takes its place."""

from __future__ import annotations

from evenrank.data.lexicon import lower


def upper(text: str) -> str:
    """Upper case, character by character: a character whose upper case is several stays as it is.

    >>> upper("fiancé ß")
    'FIANCÉ ß'
    """
    return "".join(large if len(large := character.upper()) == 1 else character for character in text)


def as_cased(old: str, new: str) -> str:
    """``new``, which is in lower case, as ``old`` is written.

    Lower stays lower, Title stays Title, UPPER stays UPPER. Anything else goes letter by letter, and
    beyond the end of ``old`` as its last letter is. So the way back finds the same case, except where
    the new word is the shorter one and the old one changes its case behind that.

    >>> as_cased("He", "she"), as_cased("HE", "she"), as_cased("he", "she"), as_cased("JoAnn", "craig")
    ('She', 'SHE', 'she', 'CrAig')
    """
    if old == lower(old):
        return new
    if len(old) > 1 and old == upper(old):
        return upper(new)
    if old[1:] == lower(old[1:]):
        return upper(new[:1]) + new[1:]
    last = len(old) - 1
    return "".join(
        character if (own := old[min(place, last)]) == lower(own) else upper(character)
        for place, character in enumerate(new)
    )
