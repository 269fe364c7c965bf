"""The order of a participant's steps, and what each step takes for an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evenrank.study.conditions import ShownList, Study

SCALE = {
    "-3": "minus_3",
    "-2": "minus_2",
    "-1": "minus_1",
    "0": "zero",
    "1": "plus_1",
    "2": "plus_2",
    "3": "plus_3",
}
BEFORE = ("consent", "eligibility", "warning")
ASKED = ("prior", "search", "results", "posterior")
AFTER = ("comment", "debriefing")
MOST_CHARACTERS = 5000
_WORD = re.compile(r"\w+(?:['’]\w+)*")


class Place(NamedTuple):
    """A step of the journey: its page, and the question that it is about."""

    page: str
    question: str | None = None
    number: int = 0  # of the question, from 1


class Taken(NamedTuple):
    """The answers of a form, or what is wrong with them."""

    answers: dict[str, Any]
    problems: tuple[str, ...] = ()


def journey(study: Study, questions: Sequence[str]) -> list[Place]:
    """Every step from consent to the end."""
    places = [Place(page) for page in BEFORE]
    attention = study.settings.attention
    for number, question in enumerate(questions, 1):
        places += [Place(page, question, number) for page in ASKED]
        if attention is not None and attention.after == number:
            places.append(Place("attention"))
    return places + [Place(page) for page in AFTER]


def take_answers(study: Study, place: Place, form: Mapping[str, str], shown: ShownList | None) -> Taken:
    """Read the form of a step."""
    texts = study.texts
    if place.page in ("prior", "posterior"):
        value = form.get("opinion", "")
        if value not in SCALE:
            return Taken({}, (texts.text("prior", "must_choose"),))
        return Taken({"opinion": int(value)})
    if place.page == "eligibility":
        value = form.get("eligible", "")
        if value not in ("yes", "no"):
            return Taken({}, (texts.text("eligibility", "must_choose"),))
        return Taken({"eligible": value == "yes"})
    if place.page == "attention":
        attention = study.settings.attention
        value = form.get("answer", "")
        if attention is None or value not in attention.answers:
            return Taken({}, (texts.text("attention", "must_choose"),))
        return Taken({"answer": value, "passed": value == attention.correct})
    if place.page == "results":
        return _opinion(study, form, shown)
    if place.page == "comment":
        return _limited(study, {"comment": form.get("comment", "").strip()})
    return Taken({})  # consent, warning, search and debriefing are answered by going on


def _limited(study: Study, answers: dict[str, Any]) -> Taken:
    if any(len(text) > MOST_CHARACTERS for text in answers.values()):
        return Taken(answers, (study.texts.text("results", "too_long", most=MOST_CHARACTERS),))
    return Taken(answers)


def _opinion(study: Study, form: Mapping[str, str], shown: ShownList | None) -> Taken:
    settings, texts = study.settings, study.texts
    opinion, quote = form.get("opinion", "").strip(), form.get("quote", "").strip()
    answers = {"opinion": opinion, "quote": quote}
    limited = _limited(study, answers)
    if limited.problems:
        return limited
    problems = []
    distinct = len(set(words_of(opinion)))
    if distinct < settings.minimum_words:
        problems.append(texts.text("results", "too_few_words", number=distinct))
    if settings.quote_words:
        phrase = words_of(quote)
        if len(phrase) < settings.quote_words:
            problems.append(texts.text("results", "quote_too_short", number=len(phrase)))
        elif shown is None or not any(stands_in(phrase, words_of(one.text)) for one in shown.documents):
            problems.append(texts.text("results", "quote_unknown"))
    return Taken(answers, tuple(problems))


def words_of(text: str) -> list[str]:
    """
    >>> words_of("It's TRUE, it is!")
    ["it's", 'true', 'it', 'is']
    """
    return [word.replace("’", "'").casefold() for word in _WORD.findall(text)]


def stands_in(phrase: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words of a phrase stand side by side in a text, whatever the punctuation between them.

    >>> stands_in(["b", "c"], ["a", "b", "c"]), stands_in(["a", "c"], ["a", "b", "c"])
    (True, False)
    """
    # no word has a blank, so blanks around both make whole words of substrings
    return f" {' '.join(phrase)} " in f" {' '.join(words)} "
