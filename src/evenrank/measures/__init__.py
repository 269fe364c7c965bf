"""Measures: each a declaration and a kernel over arrays, one family a module."""

from evenrank.measures.attention_fairness import AWRF
from evenrank.measures.base import Direction, Measure, Note, Result
from evenrank.measures.combined import WeightedSum
from evenrank.measures.delegated import Delegated
from evenrank.measures.diversity import ERR_IA, NRBP, D_nDCG, Dsharp_nDCG, I_rec, alpha_nDCG
from evenrank.measures.expected_exposure import EE_D, EE_L, EE_R
from evenrank.measures.exposure import RBDF, TED, GroupExposure, TermExposure, TExFAIR
from evenrank.measures.fair import FAIR
from evenrank.measures.gfr import GFR
from evenrank.measures.group_attention import ABR, ECE, MA
from evenrank.measures.group_fairness import GF, dGF
from evenrank.measures.group_share import GroupShare
from evenrank.measures.indexical import DUO, rKL, rND, rRD
from evenrank.measures.ndkl import NDKL
from evenrank.measures.neutrality import FaiRR, NFaiRR, NSetFaiRR, SetFaiRR
from evenrank.measures.polarity import OB, Polarity
from evenrank.measures.prefixes import KL, InfeasibleCount, InfeasibleIndex, nDRKL
from evenrank.measures.random_order import RandomOrder
from evenrank.measures.rank_bias import ARaB, RaB
from evenrank.measures.rank_overlap import RBO
from evenrank.measures.registry import all_measures, parse_measure, parse_measures
from evenrank.measures.relevance import AP, ERR, RBP, RR, P, R, iRBU, nDCG
from evenrank.measures.skew import MaxSkew, MinSkew, Skew

__all__ = [
    "ABR",
    "AP",
    "AWRF",
    "DUO",
    "ECE",
    "EE_D",
    "EE_L",
    "EE_R",
    "ERR",
    "ERR_IA",
    "FAIR",
    "GF",
    "GFR",
    "KL",
    "MA",
    "NDKL",
    "NRBP",
    "OB",
    "RBDF",
    "RBO",
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
    "GroupShare",
    "I_rec",
    "InfeasibleCount",
    "InfeasibleIndex",
    "MaxSkew",
    "Measure",
    "MinSkew",
    "NFaiRR",
    "NSetFaiRR",
    "Note",
    "P",
    "Polarity",
    "R",
    "RaB",
    "RandomOrder",
    "Result",
    "SetFaiRR",
    "Skew",
    "TExFAIR",
    "TermExposure",
    "WeightedSum",
    "all_measures",
    "alpha_nDCG",
    "dGF",
    "iRBU",
    "nDCG",
    "nDRKL",
    "parse_measure",
    "parse_measures",
    "rKL",
    "rND",
    "rRD",
]  # fmt: skip
