"""All measures by name, and reading them from text."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from evenrank.errors import InputTypeError, ParameterError, UnknownNameError
from evenrank.grammar import (
    REGISTRY,
    alias,
    build,
    expression,
    find,
    literal,
    operands,
    split_list,
    unknown_name,
)
from evenrank.measures.base import Measure
from evenrank.measures.combined import Product, WeightedSum
from evenrank.measures.delegated import delegate, delegated_names

MeasureLike = str | Measure

# the other names that ir_measures and papers have for these
for other, name in {
    "NDCG": "nDCG", "MAP": "AP", "MRR": "RR", "Precision": "P", "Recall": "R", "α_nDCG": "alpha_nDCG",
    "nDKL": "NDKL",
}.items():  # fmt: skip
    alias("measure", other, name)


def parse_measure(source: MeasureLike, *, check: bool = True) -> Measure:
    """A measure from its name; ``check=False`` lets one lack the cut-off that it will be given later.

    >>> parse_measure("nDCG(dcg='exp-log2')@10")
    nDCG(dcg='exp-log2')@10
    >>> parse_measure("0.5*P@5 + 0.5*RR")
    0.5*P@5 + 0.5*RR
    """
    if isinstance(source, type) and issubclass(source, Measure):
        source = source()  # a class stands for itself with the default parameters
    if isinstance(source, Measure):
        return source
    if type(source).__module__.partition(".")[0] == "ir_measures":
        source = repr(source)  # their measures are known here by the same names
    if not isinstance(source, str):
        raise InputTypeError(f"a measure must be a string or a Measure, got {type(source).__name__}")
    if source.strip().isdigit():
        raise ParameterError(
            f"{source!r} is a number: several cut-offs are given by cutoffs=[5, 10] (--cutoffs 5,10)"
        )
    if not source.strip():
        raise ParameterError("an empty string names no measure")
    measure = _sum(expression(source), source)
    if check:
        measure.check()
    return measure


def parse_measures(source: MeasureLike | Iterable[MeasureLike], *, check: bool = True) -> list[Measure]:
    """One or several measures; a string may hold several, separated by blanks or commas."""
    items: Iterable[MeasureLike] = [source] if isinstance(source, (str, Measure, type)) else source
    try:
        iterator = iter(items)
    except TypeError:
        raise InputTypeError(
            f"measures must be a string, a Measure or a list of them, got {type(source).__name__}"
        ) from None
    parts = [part for item in iterator for part in (split_list(item) if isinstance(item, str) else [item])]
    measures = [parse_measure(part, check=check) for part in parts]
    if not measures:
        raise ParameterError("no measure was given")
    return list(dict.fromkeys(measures))


def _sum(node: ast.expr, source: str) -> Measure:
    terms = [_addend(part, source) for part in operands(node, ast.Add)]
    if len(terms) == 1 and terms[0][0] is None:
        return terms[0][1]
    return WeightedSum(terms=tuple((1.0 if weight is None else weight, measure) for weight, measure in terms))


def _addend(node: ast.expr, source: str) -> tuple[float | None, Measure]:
    """A measure or a product of measures, with its weight; None where none is written."""
    factors = _factors(node)
    weight: Any = None
    misplaced = ParameterError(f"{source!r}: a weight is a number and stands first, as in 0.5*nDCG@10")
    if len(factors) > 1 and not isinstance(factors[0], (ast.Name, ast.Call, ast.BinOp)):
        weight = literal(factors[0], "measure", source)
        factors = factors[1:]
        if isinstance(weight, bool) or not isinstance(weight, (int, float)):
            raise misplaced
        weight = float(weight)
    for factor in factors[1:]:
        if isinstance(factor, (ast.Constant, ast.UnaryOp)):
            raise misplaced
        if isinstance(factor, ast.BinOp) and isinstance(factor.op, ast.Add):
            raise ParameterError(f"{source!r}: a product is of single measures, as in nDCG@10 * GF@10")
    measures = [_one(factor, source) for factor in factors]
    return weight, measures[0] if len(measures) == 1 else Product(factors=tuple(measures))


def _factors(node: ast.expr) -> list[ast.expr]:
    """What a chain of products joins. * and @ bind alike, so Python reads 0.5*P@5 as (0.5*P)@5."""
    chain: list[ast.BinOp] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.MatMult)):
        chain.append(node)
        node = node.left
    factors = [node]
    for link in reversed(chain):
        if isinstance(link.op, ast.Mult):
            factors.append(link.right)
        else:
            factors[-1] = ast.BinOp(left=factors[-1], op=ast.MatMult(), right=link.right)
    return factors


def _one(node: ast.expr, source: str) -> Measure:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and isinstance(node.right, ast.Name):
        raise ParameterError(f"{source!r}: a cut-off is a whole number, as in nDCG@10, got {node.right.id!r}")
    call = node.left if isinstance(node, ast.BinOp) else node
    keywords = {keyword.arg for keyword in call.keywords} if isinstance(call, ast.Call) else set()
    name = getattr(call.func if isinstance(call, ast.Call) else call, "id", "")
    ours = find(name, "measure")
    if ours is None or keywords - {field.name for field in ours.parameters()}:
        found = delegate(ast.unparse(node))  # ir_measures may know the name, or a parameter that ours has not
        if found is not None:
            return found
    try:
        measure = build(node, "measure", source)
    except UnknownNameError as error:
        raise _with_delegated_names(error, name) from None
    if not isinstance(measure, Measure):
        raise ParameterError(f"{source!r} is not a measure")
    return measure


def _with_delegated_names(error: UnknownNameError, name: str) -> UnknownNameError:
    """The error for a name that neither we nor ir_measures know, with what is meant instead."""
    if name in REGISTRY["measure"]:
        return error
    import ir_measures

    try:
        meant = ir_measures.parse_trec_measure(name)
    except ValueError:
        names = list(dict.fromkeys([*sorted(REGISTRY["measure"], key=str.lower), *delegated_names()]))
        return unknown_name("measure", name, names) or error
    ours = repr(meant[0]) if len(meant) == 1 else f"{meant[0].NAME}@k"
    return UnknownNameError(f"{name!r} is trec_eval's name; here it is {ours}")
