"""Names with parameters: ``Name(param=value, ...)@cutoff``, in Python, on the command line, in tables.

The grammar is that of ir_measures, so that a name works in both. A term is a frozen value: it is
hashable, ``repr`` is its name everywhere, and ``parse(repr(term)) == term``. A value may itself be a
term, and measures may be added with weights. Text is read with ``ast`` and never evaluated.
"""

from __future__ import annotations

from evenrank.grammar.reading import build as build
from evenrank.grammar.reading import expression as expression
from evenrank.grammar.reading import literal as literal
from evenrank.grammar.reading import make as make
from evenrank.grammar.reading import operands as operands
from evenrank.grammar.reading import parse as parse
from evenrank.grammar.reading import split_list as split_list
from evenrank.grammar.terms import ALIASES as ALIASES
from evenrank.grammar.terms import LOADERS as LOADERS
from evenrank.grammar.terms import REFUSED as REFUSED
from evenrank.grammar.terms import REGISTRY as REGISTRY
from evenrank.grammar.terms import ParameterRule as ParameterRule
from evenrank.grammar.terms import Term as Term
from evenrank.grammar.terms import alias as alias
from evenrank.grammar.terms import choice, declare, integer, number, parameter, register, term_of, unregister
from evenrank.grammar.terms import find as find
from evenrank.grammar.terms import flag as flag
from evenrank.grammar.terms import grade as grade
from evenrank.grammar.terms import lookup as lookup
from evenrank.grammar.terms import text as text
from evenrank.grammar.terms import unknown_name as unknown_name

__all__ = [
    "choice",
    "declare",
    "integer",
    "number",
    "parameter",
    "register",
    "term_of",
    "unregister",
]
