"""Measures: each a declaration and a kernel over arrays, one family a module."""

from evenrank.measures.attention_fairness import AWRF
from evenrank.measures.base import Direction, Measure, Result
from evenrank.measures.combined import WeightedSum
from evenrank.measures.delegated import Delegated
from evenrank.measures.diversity import ERR_IA, NRBP, D_nDCG, Dsharp_nDCG, I_rec, alpha_nDCG
from evenrank.measures.exposure import RBDF, TED, GroupExposure, TermExposure, TExFAIR
from evenrank.measures.neutrality import FaiRR, NFaiRR, NSetFaiRR, SetFaiRR
from evenrank.measures.random_order import RandomOrder
from evenrank.measures.rank_bias import ARaB, RaB
from evenrank.measures.registry import all_measures, parse_measure, parse_measures
from evenrank.measures.relevance import AP, ERR, RBP, RR, P, R, iRBU, nDCG

__all__ = [
    "AP",
    "AWRF",
    "ERR",
    "ERR_IA",
    "NRBP",
    "RBDF",
    "RBP",
    "RR",
    "TED",
    "ARaB",
    "D_nDCG",
    "Delegated",
    "Direction",
    "Dsharp_nDCG",
    "FaiRR",
    "GroupExposure",
    "I_rec",
    "Measure",
    "NFaiRR",
    "NSetFaiRR",
    "P",
    "R",
    "RaB",
    "RandomOrder",
    "Result",
    "SetFaiRR",
    "TExFAIR",
    "TermExposure",
    "WeightedSum",
    "all_measures",
    "alpha_nDCG",
    "iRBU",
    "nDCG",
    "parse_measure",
    "parse_measures",
]  # fmt: skip
