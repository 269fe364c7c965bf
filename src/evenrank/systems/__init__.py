"""Systems that produce runs: what audits, demos and counterfactuals rank with.

Every module of this folder is loaded with it, so a new system is one new file that declares itself.
"""

from __future__ import annotations

from evenrank.io.texts import read_texts
from evenrank.modules import load_folder
from evenrank.systems.adapters import FunctionSystem, PyTerrierSystem
from evenrank.systems.base import Retriever
from evenrank.systems.bm25 import BM25, RM3
from evenrank.systems.declared import SystemTerm, all_systems
from evenrank.systems.dense import Dense
from evenrank.systems.naming import parse_system
from evenrank.systems.registry import make_system
from evenrank.systems.reranking import Reranked
from evenrank.systems.scorers import Scorer
from evenrank.systems.scorers import as_scorer as as_scorer

load_folder(__name__, __path__)

__all__ = [
    "BM25",
    "RM3",
    "Dense",
    "FunctionSystem",
    "PyTerrierSystem",
    "Reranked",
    "Retriever",
    "Scorer",
    "SystemTerm",
    "all_systems",
    "make_system",
    "parse_system",
    "read_texts",
]
