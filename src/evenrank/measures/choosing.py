"""From a question to one measure: the tree behind ``docs/choosing.md`` and the measures of commands that name
none.

The first step is what is known of the documents, the second what is asked. Each leaf is one measure, with the
reason why it is the one to take and its neighbours are not.
"""

from __future__ import annotations

from typing import NamedTuple

JUDGEMENTS = "judgements"
INTENTS = "judgements by intent"
GROUPS = "groups"
WORDS = "word counts"
POLARITY = "polarity"
TWO_RUNS = "two runs"


class Answer(NamedTuple):
    """A question, in the words of somebody who knows no measure, and the measure that answers it."""

    question: str
    measure: str  # as it is written, without its cut-off
    because: str
    default: bool = False  # what commands take where no measure is named
    cutoff: bool = True


class Branch(NamedTuple):
    """What is known of the documents, how it is given, and what can be asked then."""

    evidence: str
    given: str
    choices: tuple[Answer, ...]


TREE: tuple[Branch, ...] = (
    Branch(
        JUDGEMENTS,
        "`--qrels`",
        (
            Answer(
                "Do the best documents come first?", "nDCG", "it takes grades and ranks into account", True
            ),
            Answer("Where is the first right answer?", "RR", "nothing below the first one counts"),
            Answer("Are all relevant documents found?", "R", "the order does not count"),
            Answer("How soon is a reader satisfied?", "ERR", "a reader who found something good stops"),
        ),
    ),
    Branch(
        INTENTS,
        "`--qrels FILE:intents`",
        (
            Answer(
                "Are the different meanings of a query served early?",
                "alpha_nDCG",
                "a meaning that was served before counts less",
                True,
            ),
            Answer("How many of the meanings are served at all?", "I_rec", "the order does not count"),
            Answer(
                "Are the likely meanings served first?", "D_nDCG", "meanings count by how likely they are"
            ),
        ),
    ),
    Branch(
        GROUPS,
        "`--groups`",
        (
            Answer(
                "Is the list fair to groups, from the top?",
                "GF",
                "it compares every part of the list that a reader may see with the target",
                True,
            ),
            Answer(
                "Are small sellers seen? Does every group get its share of attention?",
                "AWRF",
                "it weighs ranks by attention; UnderExposure is half of it, GroupShare shows who lacks what",
            ),
            Answer(
                "How much does each group get?", "GroupShare", "one column for each group, without a verdict"
            ),
            Answer(
                "Is one group ranked lower, where there is no target?",
                "EXP",
                "it compares the groups with each other; ABR does so for a reader who soon stops",
            ),
            Answer(
                "Is exposure in proportion to relevance?",
                "EXPU",
                "it divides exposure by relevance; EE_L does so for several rankings of a query",
            ),
            Answer(
                "Does it even out over many queries?",
                "Amortised",
                "what a group lacks in one query it may get in another; one value for a run",
            ),
            Answer("Is a quota kept at every rank?", "InfeasibleIndex", "it counts the ranks that break it"),
            Answer(
                "Could chance explain so few of a group?",
                "FA_IR_Test",
                "it tests every rank; BinomialTest and HypergeometricTest test one cut-off",
            ),
            Answer(
                "Relevance and fairness in one number?",
                "FAIR(part='columns')",
                "it shows both parts beside the number; GFR takes several attributes",
            ),
            Answer("Which of two groups leads?", "dGF", "its sign says which"),
            Answer(
                "Do few documents get all the attention?",
                "Gini",
                "it needs no groups; over all queries, one value for a run",
            ),
        ),
    ),
    Branch(
        WORDS,
        "`--words`, from `evenrank scan`",
        (
            Answer(
                "Is each document balanced between genders, or other groups?",
                "NFaiRR",
                "it counts documents that favour nobody",
                True,
            ),
            Answer(
                "Is the list balanced as a whole?",
                "TExFAIR",
                "documents about women balance documents about men",
                True,
            ),
            Answer("Which group is mentioned more?", "GroupExposure", "one column for each group"),
        ),
    ),
    Branch(
        POLARITY,
        "`--polarity`",
        (
            Answer(
                "Do readers meet both sides of a question?",
                "DUO",
                "it compares the order with all orders of the same documents",
                True,
            ),
        ),
    ),
    Branch(
        TWO_RUNS,
        "`--against`",
        (Answer("How different are two rankings?", "RBO", "the top counts most", cutoff=False),),
    ),
)


def default_choices(evidence: str) -> list[Answer]:
    """The measures to take for what is known, where none is named."""
    return [
        choice for known in TREE if known.evidence == evidence for choice in known.choices if choice.default
    ]
