"""What may be wrong with a word list: forms that are missing, words with another meaning, uneven groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import NamedTuple

from evenrank.data.lexicon import Lexicon
from evenrank.evidence.scan.phrases import tokenize
from evenrank.io.lexicons import read_lexicon
from evenrank.tables import Table
from evenrank.wordlists.forms import german_forms, inflections, is_german, nouns_with_plurals, regular_plural

# English words that are first names or verbs as often as they are what a list may mean by them
_AMBIGUOUS = {
    "art": "a noun", "bill": "a noun and a verb", "drew": "a verb", "faith": "a noun", "grace": "a noun",
    "grant": "a noun and a verb", "guy": "a name", "hope": "a noun and a verb", "jack": "a noun",
    "joy": "a noun", "mark": "a noun and a verb", "may": "a verb and a month", "miss": "a verb",
    "pat": "a verb", "ray": "a noun", "rob": "a verb", "rose": "a verb and a flower", "sue": "a verb",
    "will": "a verb", "count": "a verb", "dean": "an office", "groom": "a verb", "host": "a verb",
    "master": "a verb", "father": "a verb", "mother": "a verb", "man": "a verb", "mate": "a verb",
    "ms": "an abbreviation", "mum": "a flower", "pa": "an abbreviation", "pop": "a verb", "sire": "a verb",
}  # fmt: skip
_KEPT = {"father", "mother", "man", "guy"}  # in nearly every use what a list means by them
CAPITALS = 0.5  # of a word that is no name: with more it mostly names somebody or something
SMALL = 0.2  # of a name: with more it is often another word
ENOUGH = 20  # occurrences from which a share says something
_WORD = re.compile(r"\w+")
_SENTENCE_ENDS = ".!?:;\"'([\n"


class ListFinding(NamedTuple):
    """One thing to look at. ``kind`` groups findings that are alike."""

    kind: str
    word: str
    group: str
    what: str


class Spelling(NamedTuple):
    """How often a word stands in texts, and how often with a capital inside a sentence."""

    inside: int  # occurrences that do not begin a sentence
    capitals: int  # of those with a capital


def check_lexicon(
    lexicon: Lexicon,
    documents: Iterable[str] | None = None,
    names: Iterable[str] = (),
) -> list[ListFinding]:
    """What a person should look at. With ``documents``, texts, also how the words are used there.

    ``names`` are words that are meant as first names. Forms are missing by what the documents have; without
    documents, by rule.
    """
    meant_as_names = set(names)
    owner = {term: group for group in lexicon.groups for term in lexicon.words(group)}
    german = is_german(lexicon)
    shipped = read_lexicon("gender-de").terms if german else ()
    candidates = {
        form: term
        for term in owner
        for form in (german_forms(term, shipped) if german else inflections(term))
        if form not in owner
    }
    use = spellings(documents, {*owner, *candidates}) if documents is not None else {}
    found = [
        *_alike(owner),
        *_other_meanings(owner, meant_as_names),
        *_used_otherwise(owner, use, meant_as_names),
        *_missing_forms(lexicon, owner, candidates, use),
    ]
    if documents is None:
        doubtful = {one.word for one in found if one.kind == "other meaning"} | meant_as_names
        listed = {one.word for one in found}
        certain = {
            form: term for form, term in candidates.items() if term not in doubtful and form not in listed
        }
        found += _forms_by_rule(owner, certain, german=german)
    found += _uneven(lexicon)
    if documents is not None:
        unused = (term for term in owner if " " not in term and term not in use)
        what = "does not occur in these documents"
        found += (ListFinding("never found", term, owner[term], what) for term in unused)
    return found


def spellings(documents: Iterable[str], words: set[str]) -> dict[str, Spelling]:
    """How these words are written in texts, for those that occur at all."""
    inside, capitals, seen = Counter[str](), Counter[str](), set[str]()
    for text in documents:
        for match in _WORD.finditer(text):
            small = match[0].lower()
            if small in words:
                seen.add(small)
                before = text[: match.start()].rstrip(" ")[-1:]
                if before and before not in _SENTENCE_ENDS:
                    inside[small] += 1
                    capitals[small] += match[0][0].isupper()
    return {word: Spelling(inside[word], capitals[word]) for word in seen}


def finding_table(lexicon: Lexicon, found: list[ListFinding]) -> Table:
    kinds = Counter(finding.kind for finding in found)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return Table.of(
        ListFinding._fields,
        found,
        words=4,
        title=repr(lexicon)[1:-1],
        notes=[counts or "nothing to look at was found"],
        meaning="These words deserve a look before the list is used.",
    )


def excluded_names() -> dict[str, str]:
    """Frequent first names that mean something else as often, and what."""
    text = files("evenrank.lexicons").joinpath("excluded-names.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: reasons[0].rstrip(":") for name, *reasons in lines}


def _alike(owner: Mapping[str, str]) -> Iterable[ListFinding]:
    """Terms that one tokeniser or the other cannot tell apart or can never find."""
    for tokenizer in ("word", "whitespace"):
        first: dict[tuple[str, ...], str] = {}
        for term, group in owner.items():
            other = first.setdefault(tuple(tokenize(term, tokenizer)), term)
            if other != term:
                yield ListFinding("duplicate", term, group, f"is {other!r} to the tokeniser {tokenizer!r}")


def _other_meanings(owner: Mapping[str, str], names: set[str]) -> Iterable[ListFinding]:
    excluded = excluded_names()
    for term, group in owner.items():
        if term in _AMBIGUOUS and term not in _KEPT:
            yield ListFinding("other meaning", term, group, f"is also {_AMBIGUOUS[term]}")
        elif term in excluded and term not in names:
            yield ListFinding("other meaning", term, group, f"is a first name and also a {excluded[term]}")


def _used_otherwise(
    owner: Mapping[str, str], use: Mapping[str, Spelling], names: set[str]
) -> Iterable[ListFinding]:
    for term, group in owner.items():
        inside, capitals = use.get(term, Spelling(0, 0))
        if inside < ENOUGH:
            continue
        share = capitals / inside
        if term in names and 1 - share > SMALL:
            what = f"{1 - share:.0%} of {inside:,} uses are in small letters"
            yield ListFinding("mostly a word", term, group, what)
        if term not in names and share > CAPITALS:
            what = f"{share:.0%} of {inside:,} uses inside a sentence have a capital"
            yield ListFinding("mostly a name", term, group, what)


def _missing_forms(
    lexicon: Lexicon, owner: Mapping[str, str], candidates: Mapping[str, str], use: Mapping[str, Spelling]
) -> Iterable[ListFinding]:
    for form, term in candidates.items():
        partner = lexicon.partners.get(term)
        why = ""
        if form in use:
            why = "; this form is in the documents"
        elif partner is not None and any(other in owner for other in inflections(partner)):
            why = f", and {partner!r} has such a form"
        if why:
            yield ListFinding("missing form", form, owner[term], f"{term!r} is in the list{why}")


def _forms_by_rule(
    owner: Mapping[str, str], candidates: Mapping[str, str], *, german: bool
) -> Iterable[ListFinding]:
    nouns = nouns_with_plurals()
    what = "this is a form of it" if german else "this is its regular plural"
    for form, term in candidates.items():
        if german or regular_plural(term, nouns) == form:
            yield ListFinding("missing form", form, owner[term], f"{term!r} is in the list; {what}")


def _uneven(lexicon: Lexicon) -> Iterable[ListFinding]:
    sizes = {group: len(lexicon.words(group)) for group in lexicon.groups}
    least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    if sizes[most] > 1.5 * sizes[least]:
        what = f"has {sizes[least]:,} terms, {most!r} has {sizes[most]:,}"
        yield ListFinding("uneven groups", "", least, what)
