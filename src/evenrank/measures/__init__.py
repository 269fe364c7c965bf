"""Measures: each a declaration and a kernel over arrays, one family a module.

A new measure is one new file in this folder; its class is then ``evenrank.measures.<name of the class>`` and
is found by its name in all commands. Named in ``_HOMES``, it is found without loading all others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from evenrank.grammar import LOADERS, REGISTRY, find
from evenrank.measures.base import Direction, Measure, Note, Result
from evenrank.measures.combined import Product as Product
from evenrank.measures.combined import WeightedSum
from evenrank.measures.delegated import Delegated as Delegated
from evenrank.measures.registry import parse_measure, parse_measures
from evenrank.modules import load_folder, load_home

_HOMES = {
    "attention_fairness": "AWRF UnderExposure Gini",
    "count_tests": "BinomialTest HypergeometricTest FA_IR_Test",
    "diversity": "alpha_nDCG ERR_IA NRBP I_rec D_nDCG Dsharp_nDCG",
    "duo": "DUO",
    "expected_exposure": "EE_L EE_D EE_R Amortised",
    "exposure": "RBDF TED TExFAIR GroupExposure TermExposure RaB ARaB",
    "fair": "FAIR",
    "group_attention": "ECE MA ABR EXP EXPU EXPRU",
    "group_fairness": "GF dGF GFR",
    "group_share": "GroupShare Skew MinSkew MaxSkew",
    "neutrality": "FaiRR NFaiRR SetFaiRR NSetFaiRR",
    "indexical": "rND rKL rRD",
    "polarity": "OB Polarity PairPreference VersionExposure",
    "prefixes": "KL nDRKL FeasibleDepth InfeasibleIndex InfeasibleCount NDKL",
    "random_order": "RandomOrder",
    "rank_overlap": "RBO",
    "relevance": "nDCG P R RR AP RBP ERR iRBU",
}
LOADERS["measure"] = partial(load_home, __name__, __path__, _HOMES)

__all__ = [
    "Direction",
    "Measure",
    "Note",
    "Result",
    "WeightedSum",
    "all_measures",
    "parse_measure",
    "parse_measures",
]


def all_measures() -> dict[str, type[Measure]]:
    """The registered measures by name, in alphabetical order; delegated ones are not listed."""
    load_folder(__name__, __path__)
    known = REGISTRY["measure"]
    return {name: known[name] for name in sorted(known, key=str.lower) if issubclass(known[name], Measure)}  # type: ignore[misc]


def __getattr__(name: str) -> Any:
    """The class of a measure by its name."""
    found = None if name.startswith("_") else find(name, "measure")
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *all_measures()})
