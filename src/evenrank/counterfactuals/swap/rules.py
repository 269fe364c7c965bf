"""Whether a ``her`` or ``his`` stands before the noun that it belongs to, by the words around it.

Used alone where there is no tagger, and before the tagger where a rule is ``sure``. A rule never asks which
of the two words it is, nor which form a group word next to it has: so the swapped text is read alike, and a
second swap undoes the first.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import NamedTuple

_TOKEN = re.compile(r"\d[\d.,]*\d|\w+(?:['’]\w+)*|[^\w\s]")
_REACH = 80  # characters to each side: the rules look at four words
_FORMS = {"her": "f", "hers": "f", "his": "m", "him": "m"}
_QUOTES = frozenset("\"'“”‘’«»`*")
_COMPOUND = re.compile(r"\s+\w+[-‐‑]\w")
_NO_WORD = re.compile(r"\W+")
_END = (".", ".", ".", ".")  # behind the tokens, so that there is a next one everywhere


def _word_lists() -> dict[str, frozenset[str]]:
    text = (files("evenrank") / "counterfactuals/swap/possessive-words.toml").read_text(encoding="utf-8")
    lists: dict[str, frozenset[str]] = {}
    for name, words in tomllib.loads(text).items():
        lists[name] = frozenset().union(*(lists.get(word, {word}) for word in words.split()))
    return lists


WORDS = _word_lists()


class PossessiveReading(NamedTuple):
    """``determiner``: her book, his book. Else the word stands for itself: I saw her, it is his."""

    determiner: bool
    sure: bool


_DETERMINER, _ALONE = PossessiveReading(True, True), PossessiveReading(False, True)
_LIKELY_DETERMINER, _LIKELY_ALONE = PossessiveReading(True, False), PossessiveReading(False, False)


def is_determiner(text: str, start: int, end: int) -> PossessiveReading:
    """Whether the word at ``text[start:end]`` stands before the noun that it belongs to.

    >>> is_determiner("I met her brother.", 6, 9).determiner, is_determiner("I met her.", 6, 9).determiner
    (True, False)
    """
    after = [*_TOKEN.findall(text[end : end + _REACH].lower()), *_END]
    before = _TOKEN.findall(text[max(0, start - _REACH) : start].lower()) or ["."]
    if after[0] in _QUOTES:
        if before[-1] in WORDS["NAME"] | WORDS["STATE"]:  # called her "the boss"
            return _ALONE
        after.pop(0)
    if _COMPOUND.match(text, end):  # her back-to-basics campaign
        return _DETERMINER
    return _judged(text[start:end].lower(), before, after)


def _judged(word: str, before: list[str], after: list[str]) -> PossessiveReading:
    following, then, previous = _stem(after[0]), after[1], before[-1]
    if following in ("and", "or", "/", "&"):
        return _coordinated(word, before, after)
    if following == "own":
        return _DETERMINER
    if following in ("only", "daily", "weekly"):
        return _ALONE if _ends(then) else _LIKELY_DETERMINER
    if following == "all":
        return _DETERMINER if previous in WORDS["GIVE"] and _ends(then) else _ALONE
    if following == "will":
        return _LIKELY_DETERMINER if _ends(then) and then not in ("not", "be", "have") else _LIKELY_ALONE
    if following == "$" or (following == "no" and then == "."):
        return _DETERMINER
    if following == "(":
        return _LIKELY_ALONE
    if _ends(following):
        return _ALONE
    if following == "then":
        return _LIKELY_ALONE if _ends(then) else _LIKELY_DETERMINER
    if following == "back":
        return _back(previous, then)
    if following in ("last", "next") and then in WORDS["SEASONS"] and previous not in WORDS["INSIDE"]:
        return _ALONE
    if following in WORDS["DEGREE"] or (following.endswith("ly") and following not in WORDS["NOT_ADVERBS"]):
        return _degree(previous, following, after)
    if following in WORDS["NUMBERS"] or following[0].isdigit():
        return _number(previous, after)
    return _verb_before(before, after) or _LIKELY_DETERMINER


def _verb_before(before: list[str], after: list[str]) -> PossessiveReading | None:
    """What the verb before makes of the word behind: made her cry, found her guilty, gave her time."""
    following, then, previous = after[0], after[1], before[-1]
    helps, makes, sees = (previous in WORDS[name] for name in ("LET", "MAKE", "SEE"))
    is_perceived = helps or makes or sees
    if is_perceived and then in WORDS["OBJECTS"]:  # heard her raise his voice
        return _ALONE
    if following in WORDS["VERBS_AND_NOUNS"]:
        if ((helps or sees) and _ends(then)) or (makes and following == "cry"):
            return _ALONE
    elif following in WORDS["VERBS"] and (
        is_perceived or (previous in WORDS["HAVE"] and then in WORDS["CLOSED"])
    ):
        return _ALONE
    doing = following.endswith("ing") and following not in WORDS["THINGS"] and len(following) > 4
    if doing and (helps or sees or previous in WORDS["CATCH"] or previous in WORDS["HAVE"]):
        return _ALONE
    is_role = following in WORDS["ROLES"] and then not in ("and", "or", "to", "'s")
    if _ends(then) and (
        (previous in WORDS["STATE"] and following in WORDS["STATES"])
        or (previous in WORDS["GIVE"] and following in WORDS["GIVEN"])
        or (previous in WORDS["LEAD"] and following == "home")
        or (previous in WORDS["NAME"] and is_role)
    ):
        return _ALONE
    # a friend of his called: with an article before, what "of" leads to need not be a noun
    of_some = previous == "of" and len(before) > 2 and not WORDS["SMALL"].isdisjoint(before[-3:-1])
    return _LIKELY_ALONE if of_some and following.endswith("ed") and _ends(then) else None


def _coordinated(word: str, before: list[str], after: list[str]) -> PossessiveReading:
    """her or his version, his and his sister's shoes; but: saw her and her sister."""
    other = after[1]
    if other in ("her", "his"):
        behind = _judged(other, before, after[2:])
        if not behind.determiner:
            return _ALONE
        mixed = _FORMS[other] != _FORMS.get(word)
        owner = any(token.endswith(("'s", "’s")) for token in after[2:4])
        return _DETERMINER if mixed or owner else _LIKELY_ALONE
    return _ALONE


def _back(previous: str, then: str) -> PossessiveReading:
    if previous in WORDS["TURN"] and then in ("on", "to"):
        return _DETERMINER
    if previous in WORDS["BRING_BACK"] and (_ends(then) or then in WORDS["CLOSED"]):
        return _ALONE
    return _LIKELY_DETERMINER


def _number(previous: str, after: list[str]) -> PossessiveReading:
    """took her three years, hit her 26 times, died two years later; but: her two daughters."""
    then, behind = after[1], after[2]
    if previous in WORDS["TAKE_TIME"] or (previous in WORDS["GIVE"] and _ends(behind)):
        return _ALONE
    if then == "of" or then == "times" or (then in WORDS["TIMES"] and behind in WORDS["LATER"]):
        return _ALONE
    return _LIKELY_DETERMINER


def _degree(previous: str, following: str, after: list[str]) -> PossessiveReading:
    """paid her well; her very talented sister, but: thinks her very talented."""
    then, behind = after[1], after[2]
    if following in ("best", "worst") and (previous in WORDS["TRY"] or previous in WORDS["CLOSED"]):
        return _DETERMINER  # did her best, at his worst
    if following == "most" and then == "well":
        return _DETERMINER
    if _ends(then) and then != "and":
        return _ALONE if following not in ("first", "second", "third", "last", "best") else _LIKELY_ALONE
    if following in ("very", "so", "too", "quite", "rather") and _ends(behind):
        return _ALONE if behind != "and" else _LIKELY_ALONE
    return _LIKELY_DETERMINER


def _stem(token: str) -> str:
    """he'd and he’s are he; don't stays."""
    head = re.split(r"['’]", token)[0]
    return head if head in WORDS["CLOSED"] else token


def _ends(token: str) -> bool:
    """Whether no noun can follow: the clause ends, or something else begins."""
    return token in WORDS["CLOSED"] or token in WORDS["CLOSING"] or _NO_WORD.fullmatch(token) is not None
