"""Finding measures by what somebody wants to know, in everyday words."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable
from functools import cache

from evenrank.grammar import ALIASES
from evenrank.measures.base import Measure

MOST = 5  # measures that one search gives
CLOSE = 0.4  # of the best score: what is below it has too little to do with the question

NAME, USE, SUMMARY, FAMILY, TEXT = 6.0, 2.0, 1.0, 1.5, 0.3  # how much a word counts by where it is
SYNONYM, RELATED = 0.6, 0.25  # how much another word counts in the place of the one that was asked for

_STOP_WORDS = """
    a all an and any are as at be by can do does each every for from get gets has have how i if in is it its
    list lists many mean means measure measures more most much my of on one or other so than that the them
    their there they this to two was we what when where whether which who with
"""
_IGNORED = frozenset(_STOP_WORDS.split())

# words that ask for the same, and words of the descriptions that are about it
_TOPICS = (
    ("gender sex woman women man men female male girl boy feminine masculine", "group word mention"),
    (
        "seller brand source provider shop publisher creator author supplier vendor producer artist company",
        "group exposure attention",
    ),
    ("country race ethnicity religion age nationality language region candidate applicant", "group"),
    (
        "viewpoint stance opinion perspective political politics ideology ideological partisan side polarity "
        "leaning controversy left right",
        "order polarity mixed",
    ),
    ("relevance utility quality usefulness effectiveness accuracy", "relevant"),
    ("fairness unfair bias biased discrimination equal equity balance even neutral", "target group"),
    ("diversity novelty redundancy redundant subtopic intent aspect coverage variety", "intents"),
    ("share percentage percent proportion fraction part", "represented"),
    ("top first page early start", "cut-off"),
    ("exposure attention visibility seen position", "rank"),
    ("quota minimum constraint violation", "feasible target"),
    ("similar alike same overlap agreement difference change", "two runs"),
    ("protected minority disadvantaged underrepresented", "group"),
    ("random chance baseline", "order"),
)


def find_measures(question: str, measures: Iterable[type[Measure]]) -> list[type[Measure]]:
    """The measures that fit a question best, at most five, the best first; none where no word is known.

    >>> from evenrank.measures import all_measures
    >>> find_measures("share of the first page", all_measures().values())[0].name
    'GroupShare'
    """
    pages = [_Page(measure) for measure in measures]
    asked = list(dict.fromkeys(stems(question)))
    scores = {page: page.score(asked, _rarity(pages, asked)) for page in pages}
    best = max(scores.values(), default=0.0)
    found = [page for page, score in scores.items() if score > 0 and score >= CLOSE * best]
    return [page.measure for page in sorted(found, key=lambda page: -scores[page])][:MOST]


def stems(text: str) -> list[str]:
    """The words of a text that say something, without their endings.

    >>> stems("Do the sellers get fairness?")
    ['seller', 'fair']
    """
    words = re.findall(r"[^\W\d_]{2,}", text.lower())
    return [_stem(word) for word in words if word not in _IGNORED]


def _stem(word: str) -> str:
    word = word.replace("iz", "is")  # polarization
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending) + instead
            break
    return word.rstrip("e")


_ENDINGS = (
    ("nesses", ""), ("ness", ""), ("ances", ""), ("ance", ""), ("ant", ""), ("ations", ""), ("ation", ""),
    ("ities", ""), ("ity", ""), ("ings", ""), ("ing", ""), ("ies", "y"), ("ed", ""), ("ss", "ss"), ("s", ""),
)  # fmt: skip


@cache
def _accepted(word: str) -> dict[str, float]:
    """The words that may stand in the place of one, and how much each counts."""
    found = {word: 1.0}
    for same, about in _TOPICS:
        if word in stems(same):
            for weight, others in ((SYNONYM, same), (RELATED, about)):
                for other in stems(others):
                    found.setdefault(other, weight)
    return found


class _Page:
    """The words of one measure, by where they are."""

    def __init__(self, measure: type[Measure]) -> None:
        self.measure = measure
        text = (inspect.getdoc(measure) or "").partition("\n\n")[2].partition(">>>")[0]
        text = text.partition("When to use:")[0]  # which names the neighbours and not this measure
        names = [measure.name, *(other for other, name in ALIASES["measure"].items() if name == measure.name)]
        self.use = frozenset(stems(measure.use()))
        places = (
            (TEXT, stems(text)),
            (SUMMARY, stems(measure.summary())),
            (FAMILY, stems(measure.family)),
            (USE, list(self.use)),
            *((NAME / (1 + name.count("_")), stems(name)) for name in names),
        )
        self.weights: dict[str, float] = {}
        for weight, words in places:
            for word in words:
                self.weights[word] = max(self.weights.get(word, 0.0), weight)

    def score(self, asked: list[str], rarity: dict[str, float]) -> float:
        """More where its use has several of the words: they belong together."""
        shared = [rarity[word] for word in asked if word in self.use]
        together = USE * sum(shared) * len(shared) / max(len(asked), 1)
        return together + sum(rarity[word] * self._fit(word) for word in asked)

    def _fit(self, word: str) -> float:
        others = (
            count * min(self.weights.get(other, 0.0), USE)  # a name is that of the word itself alone
            for other, count in _accepted(word).items()
        )
        return max(self.weights.get(word, 0.0), *others)


def _rarity(pages: list[_Page], asked: list[str]) -> dict[str, float]:
    """A word that few measures have says more."""
    having = {word: sum(word in page.weights for page in pages) for word in asked}
    return {word: math.log(1 + len(pages) / (1 + count)) for word, count in having.items()}
