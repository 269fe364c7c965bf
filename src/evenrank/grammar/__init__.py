"""Names with parameters: ``Name(param=value, ...)@cutoff``, in Python, on the command line, in tables.

The grammar is that of ir_measures, so that a name works in both. A term is a frozen value: it is
hashable, ``repr`` is its name everywhere, and ``parse(repr(term)) == term``. A value may itself be a
term, and measures may be added with weights. Text is read with ``ast`` and never evaluated.
"""

from __future__ import annotations

from evenrank.grammar.reading import (
    build,
    expression,
    literal,
    make,
    operands,
    parse,
    split_list,
)
from evenrank.grammar.rules import (
    REFUSED,
    ParameterRule,
    choice,
    flag,
    grade,
    integer,
    number,
    text,
)
from evenrank.grammar.terms import (
    ALIASES,
    KINDS,
    REGISTRY,
    Term,
    alias,
    declare,
    lookup,
    parameter,
    register,
    term_of,
    unregister,
    usual_names,
)

__all__ = [
    "ALIASES",
    "KINDS",
    "REFUSED",
    "REGISTRY",
    "ParameterRule",
    "Term",
    "alias",
    "build",
    "choice",
    "declare",
    "expression",
    "flag",
    "grade",
    "integer",
    "literal",
    "lookup",
    "make",
    "number",
    "operands",
    "parameter",
    "parse",
    "register",
    "split_list",
    "term_of",
    "text",
    "unregister",
    "usual_names",
]
