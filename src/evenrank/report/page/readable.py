"""What measures are called in words, for readers who never read a paper; the exact name stands beside it."""

from __future__ import annotations

from evenrank.measures import Measure

NAMES = {
    "ABR": "equal attention of groups",
    "alpha_nDCG": "diversity without repeats",
    "Amortised": "long-run exposure error",
    "AP": "early relevant documents",
    "ARaB": "lean of the words",
    "AWRF": "attention away from target",
    "DUO": "one side first",
    "dGF": "lean of the groups",
    "EE_L": "exposure away from merit",
    "ERR": "soon satisfied",
    "ERR_IA": "soon satisfied, all intents",
    "EXP": "equal exposure of groups",
    "FAIR": "relevant and fair",
    "FaiRR": "neutral documents",
    "GF": "groups near the target",
    "GFR": "relevant and fair",
    "Gini": "inequality of exposure",
    "GroupExposure": "exposure by words",
    "GroupShare": "share of the group",
    "I_rec": "intents covered",
    "iRBU": "usefulness",
    "KL": "groups away from target",
    "MaxSkew": "most over-represented group",
    "MinSkew": "most under-represented group",
    "nDCG": "relevance",
    "NDKL": "groups away from target",
    "NFaiRR": "neutral documents",
    "NRBP": "diversity",
    "NSetFaiRR": "neutral background",
    "OB": "lean of the groups",
    "P": "relevant among the first",
    "Polarity": "lean of the groups",
    "R": "relevant documents found",
    "RBP": "relevant documents met",
    "rKL": "mixing of the group",
    "rND": "mixing of the group",
    "RR": "first relevant document",
    "rRD": "mixing of the group",
    "Skew": "group against target",
    "TED": "words away from target",
    "TExFAIR": "even exposure by words",
    "UnderExposure": "attention that groups lack",
}


def readable(measure: Measure) -> str:
    """In words what a measure is about; empty where its name has to do.

    >>> from evenrank.measures import parse_measure
    >>> readable(parse_measure("nDCG@10")), readable(parse_measure("0.5*nDCG@10 + 0.5*ERR@10"))
    ('relevance', '')
    """
    return NAMES.get(type(measure).__name__, "")
