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


class Leaf(NamedTuple):
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
    choices: tuple[Leaf, ...]


TREE: tuple[Branch, ...] = (
    Branch(
        JUDGEMENTS,
        "`--qrels`",
        (
            Leaf("Do the best documents come first?", "nDCG", "it takes grades and ranks into account", True),
            Leaf("Where is the first right answer?", "RR", "nothing below the first one counts"),
            Leaf("Are all relevant documents found?", "R", "the order does not count"),
            Leaf("How soon is a reader satisfied?", "ERR", "a reader who found something good stops"),
        ),
    ),
    Branch(
        INTENTS,
        "`--qrels FILE:intents`",
        (
            Leaf(
                "Are the different meanings of a query served early?",
                "alpha_nDCG",
                "a meaning that was served before counts less",
                True,
            ),
            Leaf("How many of the meanings are served at all?", "I_rec", "the order does not count"),
            Leaf("Are the likely meanings served first?", "D_nDCG", "meanings count by how likely they are"),
        ),
    ),
    Branch(
        GROUPS,
        "`--groups`",
        (
            Leaf(
                "Is the list fair to groups, from the top?",
                "GF",
                "it compares every part of the list that a reader may see with the target",
                True,
            ),
            Leaf(
                "Are small sellers seen? Does every group get its share of attention?",
                "AWRF",
                "it weighs ranks by attention; UnderExposure is half of it, GroupShare shows who lacks what",
            ),
            Leaf(
                "How much does each group get?", "GroupShare", "one column for each group, without a verdict"
            ),
            Leaf(
                "Is one group ranked lower, where there is no target?",
                "EXP",
                "it compares the groups with each other; ABR does so for a reader who soon stops",
            ),
            Leaf(
                "Is exposure in proportion to relevance?",
                "EXPU",
                "it divides exposure by relevance; EE_L does so for several rankings of a query",
            ),
            Leaf(
                "Does it even out over many queries?",
                "Amortised",
                "what a group lacks in one query it may get in another; one value for a run",
            ),
            Leaf("Is a quota kept at every rank?", "InfeasibleIndex", "it counts the ranks that break it"),
            Leaf(
                "Could chance explain so few of a group?",
                "FA_IR_Test",
                "it tests every rank; BinomialTest and HypergeometricTest test one cut-off",
            ),
            Leaf(
                "Relevance and fairness in one number?",
                "FAIR(part='columns')",
                "it shows both parts beside the number; GFR takes several attributes",
            ),
            Leaf("Which of two groups leads?", "dGF", "its sign says which"),
            Leaf(
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
            Leaf(
                "Is each document balanced between genders, or other groups?",
                "NFaiRR",
                "it counts documents that favour nobody",
                True,
            ),
            Leaf(
                "Is the list balanced as a whole?",
                "TExFAIR",
                "documents about women balance documents about men",
                True,
            ),
            Leaf("Which group is mentioned more?", "GroupExposure", "one column for each group"),
        ),
    ),
    Branch(
        POLARITY,
        "`--polarity`",
        (
            Leaf(
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
        (Leaf("How different are two rankings?", "RBO", "the top counts most", cutoff=False),),
    ),
)


def default_choices(evidence: str) -> list[Leaf]:
    """The measures to take for what is known, where none is named."""
    return [
        choice for known in TREE if known.evidence == evidence for choice in known.choices if choice.default
    ]
