"""Which parameters of FAIR go together; an error says which do not, and what to do instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenrank.errors import ParameterError
from evenrank.measures.divergences import OF_PREFIXES, OF_SHARES
from evenrank.measures.diversity import ERR_IA
from evenrank.measures.fair_lists import BY_DOCUMENT, BY_GROUP, JUDGED_ONLY, NAMES

if TYPE_CHECKING:
    from evenrank.measures.fair import FAIR

BOTH, UTILITY, FAIRNESS, COLUMNS = "both", "utility", "fairness", "columns"
EVEN_WEIGHT = 0.5


def check_parameters(fair: FAIR) -> None:
    if fair.whole:
        _check_whole(fair)
    else:
        _check_sum(fair)
    _check_parts(fair)


def _check_parts(fair: FAIR) -> None:
    if fair.part != BOTH and fair.weight != EVEN_WEIGHT:
        raise ParameterError(f"FAIR: give weight= or part=, not both, got {fair!r}")
    split = fair.part != BOTH or fair.weight != EVEN_WEIGHT
    if split and (fair.whole or fair.reachable):
        raise ParameterError(f"FAIR: weight= and part= go without whole= and reachable=, got {fair!r}")
    if fair.reachable and fair.div in OF_PREFIXES:
        raise ParameterError(
            f"FAIR: reachable=True is for distances between shares ({', '.join(OF_SHARES)}), "
            f"got div={fair.div!r}"
        )
    if fair.pseudo and not fair.alone and isinstance(fair.irm, JUDGED_ONLY):
        raise ParameterError(
            f"FAIR: irm={fair.irm!r} needs judgements (qrels=, --qrels); nDCG and RBP do without them"
        )


def _check_whole(fair: FAIR) -> None:
    if fair.pseudo or fair.reachable:
        raise ParameterError(
            "FAIR: whole=True needs judgements (qrels=, --qrels) and cannot be combined with "
            "reachable=True: leave one of the two out"
        )
    if fair.irm.family not in ("relevance", "diversity"):
        raise ParameterError(
            f"FAIR: irm must be a measure of relevance or diversity, such as nDCG, got {fair.irm!r}"
        )


def _check_sum(fair: FAIR) -> None:
    if not isinstance(fair.irm, BY_GROUP + BY_DOCUMENT):
        raise ParameterError(
            f"FAIR: {fair.irm!r} is no sum over ranks that can be divided rank by rank: "
            f"use {NAMES}, or whole=True"
        )
    if fair.irm.cutoff is not None:
        raise ParameterError(f"FAIR: the cut-off is its own, FAIR(irm=..)@k, got irm={fair.irm!r}")
    if getattr(fair.irm, "attr", None) is not None:
        raise ParameterError(f"FAIR: the attribute is its own, FAIR(attr=..), got irm={fair.irm!r}")
    if getattr(fair.irm, "judged_only", False):
        raise ParameterError("FAIR: ranks are those of the list: irm has no judged_only, or whole=True")
    if isinstance(fair.irm, ERR_IA) and not fair.irm.normalized:
        raise ParameterError(
            "FAIR: ERR_IA(normalized=False) is by intents, not groups: leave it out, or whole=True"
        )
