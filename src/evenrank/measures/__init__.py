"""Measures: each a declaration and a kernel over arrays, one family a module."""

from evenrank.measures.base import Direction, Measure, Result
from evenrank.measures.combined import WeightedSum
from evenrank.measures.delegated import Delegated
from evenrank.measures.diversity import ERR_IA, NRBP, D_nDCG, Dsharp_nDCG, I_rec, alpha_nDCG
from evenrank.measures.registry import all_measures, parse_measure, parse_measures
from evenrank.measures.relevance import AP, ERR, RBP, RR, P, R, iRBU, nDCG

__all__ = [
    "AP", "ERR", "ERR_IA", "NRBP", "RBP", "RR", "D_nDCG", "Delegated", "Direction", "Dsharp_nDCG", "I_rec",
    "Measure", "P", "R", "Result", "WeightedSum", "all_measures", "alpha_nDCG", "iRBU", "nDCG",
    "parse_measure", "parse_measures",
]  # fmt: skip
