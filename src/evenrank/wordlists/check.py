"""What may be wrong with a word list: forms that are missing, words with another meaning, uneven groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from evenrank.data.lexicon import Lexicon
from evenrank.evidence.scan.phrases import tokenize
from evenrank.io.lexicons import Repeat, read_lexicon
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
    repeats: Iterable[Repeat] = (),
) -> list[ListFinding]:
    """What a person should look at. With ``documents``, texts, also how the words are used there.

    ``names`` are words that are meant as first names, ``repeats`` those that the file has several times.
    Forms are missing by what the documents have; without documents, by rule.
    """
    meant_as_names = set(names)
    owner = {
        term: lexicon.groups[group] for term, group in zip(lexicon.terms, lexicon.term_groups, strict=True)
    }
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
        *(ListFinding("duplicate", one.word, one.group, one.what) for one in repeats),
        *_alike(lexicon, owner),
        *_other_meanings(owner, meant_as_names),
        *_used_otherwise(owner, use, meant_as_names),
        *_missing_forms(lexicon, owner, candidates, use),
    ]
    if documents is None:
        doubtful = {one.word for one in found if one.kind == "other meaning"} | meant_as_names
        listed = {one.word for one in found}
        found += [
            one
            for one in _forms_by_rule(owner, candidates, german=german)
            if candidates[one.word] not in doubtful and one.word not in listed
        ]
    found += _uneven(lexicon)
    if documents is not None:
        found += [
            ListFinding("never found", term, group, "does not occur in these documents")
            for term, group in owner.items()
            if " " not in term and term not in use
        ]
    return found


def spellings(documents: Iterable[str], words: set[str]) -> dict[str, Spelling]:
    """How these words are written in texts, for those that occur at all."""
    inside: Counter[str] = Counter()
    capitals: Counter[str] = Counter()
    seen: set[str] = set()
    for text in documents:
        for match in _WORD.finditer(text):
            word = match[0]
            small = word.lower()
            if small not in words:
                continue
            seen.add(small)
            before = text[: match.start()].rstrip(" ")[-1:]
            if before and before not in _SENTENCE_ENDS:
                inside[small] += 1
                capitals[small] += word[0].isupper()
    return {word: Spelling(inside[word], capitals[word]) for word in seen}


def finding_table(lexicon: Lexicon, found: list[ListFinding]) -> Table:
    kinds = Counter(finding.kind for finding in found)
    note = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing to look at was found"
    head = ["kind", "word", "group", "what"]
    return Table.of(
        head,
        found,
        words=4,
        title=repr(lexicon)[1:-1],
        notes=[note],
        meaning="These words deserve a look before the list is used.",
    )


def excluded_names() -> dict[str, str]:
    """Frequent first names that mean something else as often, and what."""
    text = files("evenrank.lexicons").joinpath("excluded-names.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: reasons[0].rstrip(":") for name, *reasons in lines}


def _alike(lexicon: Lexicon, owner: dict[str, str]) -> Iterable[ListFinding]:
    """Terms that one tokeniser or the other cannot tell apart or can never find."""
    for tokenizer in ("word", "whitespace"):
        first: dict[tuple[str, ...], str] = {}
        for term in lexicon.terms:
            tokens = tuple(tokenize(term, tokenizer))
            other = first.setdefault(tokens, term)
            if other != term:
                yield ListFinding(
                    "duplicate", term, owner[term], f"is {other!r} to the tokeniser {tokenizer!r}"
                )


def _other_meanings(owner: dict[str, str], names: set[str]) -> Iterable[ListFinding]:
    excluded = excluded_names()
    for term, group in owner.items():
        if term in _AMBIGUOUS and term not in _KEPT:
            yield ListFinding("other meaning", term, group, f"is also {_AMBIGUOUS[term]}")
        elif term in excluded and term not in names:
            yield ListFinding("other meaning", term, group, f"is a first name and also a {excluded[term]}")


def _used_otherwise(
    owner: dict[str, str], use: dict[str, Spelling], names: set[str]
) -> Iterable[ListFinding]:
    for term, group in owner.items():
        found = use.get(term)
        if found is None or found.inside < ENOUGH:
            continue
        share = found.capitals / found.inside
        if term in names and 1 - share > SMALL:
            yield ListFinding(
                "mostly a word", term, group, f"{1 - share:.0%} of {found.inside:,} uses are in small letters"
            )
        if term not in names and share > CAPITALS:
            what = f"{share:.0%} of {found.inside:,} uses inside a sentence have a capital"
            yield ListFinding("mostly a name", term, group, what)


def _missing_forms(
    lexicon: Lexicon, owner: dict[str, str], candidates: dict[str, str], use: dict[str, Spelling]
) -> Iterable[ListFinding]:
    for form, term in candidates.items():
        partner = lexicon.partners.get(term)
        balanced = partner is not None and any(other in owner for other in inflections(partner))
        if form in use:
            yield ListFinding(
                "missing form", form, owner[term], f"{term!r} is in the list; this form is in the documents"
            )
        elif balanced:
            yield ListFinding(
                "missing form", form, owner[term], f"{term!r} is in the list, and {partner!r} has such a form"
            )


def _forms_by_rule(
    owner: dict[str, str], candidates: dict[str, str], *, german: bool
) -> Iterable[ListFinding]:
    nouns = nouns_with_plurals()
    for form, term in candidates.items():
        if german or regular_plural(term, nouns) == form:
            what = "this is a form of it" if german else "this is its regular plural"
            yield ListFinding("missing form", form, owner[term], f"{term!r} is in the list; {what}")


def _uneven(lexicon: Lexicon) -> Iterable[ListFinding]:
    sizes = {group: len(lexicon.words(group)) for group in lexicon.groups}
    least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    if sizes[most] > 1.5 * sizes[least]:
        what = f"has {sizes[least]:,} terms, {most!r} has {sizes[most]:,}"
        yield ListFinding("uneven groups", "", least, what)
