"""Search engines by address: queries go in, and a run and the documents' fields come out.

Every module of this folder is loaded with it, so a new engine is one new file that declares itself.
"""

from __future__ import annotations

from evenrank.engines.answers import Answers
from evenrank.engines.asking import Plan, ask, plan
from evenrank.engines.base import Answer, AnswerProblem, Engine, EngineDescription, Hit
from evenrank.engines.opening import is_engine as is_engine
from evenrank.engines.opening import open_engine
from evenrank.modules import load_folder

load_folder(__name__, __path__)

__all__ = [
    "Answer",
    "AnswerProblem",
    "Answers",
    "Engine",
    "EngineDescription",
    "Hit",
    "Plan",
    "ask",
    "open_engine",
    "plan",
]
