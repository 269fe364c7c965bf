"""Forms of the words of a list by rule: English plurals, and the declension of German words."""

from __future__ import annotations

from collections.abc import Collection

from evenrank.data.lexicon import Lexicon
from evenrank.io.lexicons import read_lexicon

# how English words for people often end
_PERSON = ("man", "er", "or", "ist", "ian", "ess", "ant", "ee", "hero")
_OTHER_MAN = ("human", "german", "roman", "norman", "ottoman", "shaman")  # their plural has an s
_NO_NOUN = frozenset({"her", "sir", "mister"})  # end so too, and have no plural that is used
_UMLAUTS = str.maketrans("äöü", "aou")
_ENDINGS = ("e", "n", "en", "er", "ern", "es", "s", "em", "nen")


def inflections(term: str) -> list[str]:
    """The English plural of a word, or what it may be the plural of.

    >>> inflections("wife"), inflections("ladies"), inflections("boy"), inflections("hero")
    (['wives'], ['lady'], ['boys'], ['heroes'])
    """
    if " " in term or len(term) < 3:
        return []
    if term.endswith("men"):
        return [f"{term[:-3]}man"]
    if term.endswith("man") and not term.endswith(_OTHER_MAN):
        return [f"{term[:-3]}men"]
    if term.endswith("ives"):
        return [f"{term[:-3]}fe"]
    if term.endswith("ies"):
        return [f"{term[:-3]}y"]
    if term.endswith("sses"):
        return [term[:-2]]
    if term.endswith("s") and not term.endswith("ss"):
        return [term[:-1]]
    if term.endswith("ife"):
        return [f"{term[:-2]}ves"]
    if term.endswith("y") and term[-2] not in "aeiou":
        return [f"{term[:-1]}ies"]
    hissing = term.endswith(("s", "x", "ch", "sh", "hero")) and not term.endswith("arch")
    return [f"{term}es" if hissing else f"{term}s"]


def regular_plural(term: str, nouns: Collection[str]) -> str | None:
    """The plural of an English word for people; None for a word that may be something else, or a plural.

    The rule knows no parts of speech: a word counts as a noun for people where it ends like one, or in one of
    ``nouns``.

    >>> [regular_plural(word, ["mother"]) for word in ("stepmother", "teacher", "she", "teachers")]
    ['stepmothers', 'teachers', None, None]
    """
    if term in _NO_NOUN or _is_plural(term) or term.endswith("less") or not term.endswith((*_PERSON, *nouns)):
        return None
    return next(iter(inflections(term)), None)


def nouns_with_plurals() -> list[str]:
    """The words of ``gender-en`` that it has with their plurals."""
    terms = set(read_lexicon("gender-en").terms)
    singular = (term for term in terms if len(term) > 2 and not _is_plural(term))
    return sorted(term for term in singular if terms.intersection(inflections(term)))


def _is_plural(term: str) -> bool:
    return term.endswith("men") or (term.endswith("s") and not term.endswith("ss"))


def is_german(lexicon: Lexicon) -> bool:
    """Whether more words of a list are those of ``gender-de`` or have letters of German than are English."""
    german, english = set(read_lexicon("gender-de").terms), set(read_lexicon("gender-en").terms)
    words = [term for term in lexicon.terms if term in german or set(term) & set("äöüß")]
    return len(words) > sum(term in english for term in lexicon.terms)


def german_forms(term: str, known: Collection[str]) -> list[str]:
    """The forms of a German word among ``known`` ones: its stem, perhaps with an umlaut, and an ending.

    A noun in -in has its plural by rule; others need to be known, since their endings do not follow from
    their letters.

    >>> german_forms("mann", ["mannes", "männer", "mannschaft"]), german_forms("ärztin", [])
    (['mannes', 'männer'], ['ärztinnen'])
    """
    if " " in term:
        return []
    stem = term.translate(_UMLAUTS)
    found = [form for form in known if form != term and _is_form(stem, form.translate(_UMLAUTS))]
    if term.endswith("in") and not term.endswith("ein") and len(term) > 4 and term not in known:
        found.append(f"{term}nen")
    return found


def _is_form(stem: str, other: str) -> bool:
    """Whether one is the other with an ending, or only the umlaut differs."""
    short, long = sorted((stem, other), key=len)
    return long == short or (long.startswith(short) and long[len(short) :] in _ENDINGS)
