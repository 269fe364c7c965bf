"""Error rates of labels: a confusion matrix, or rows of true value, observed value and rate."""

from __future__ import annotations

import csv
import io

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.attribute import Attribute
from evenrank.data.label_error import checked_rates
from evenrank.errors import DataError, ParameterError, Problem
from evenrank.io.source import as_source

LONG = ("true", "observed", "rate")


def read_rates(path: str, attribute: Attribute) -> Floats:
    """(L, L): for each true value the shares of the labels that it gets; counts are divided by their sum.

    The file is CSV or TSV: ``true,observed,rate``, or a first column of true values and one for each label.
    """
    source = as_source(path)
    if source is None:
        raise ParameterError(f"error rates are read from a file, got {path!r}")
    source.check()
    text = b"".join(source.blocks()).decode("utf-8-sig", "replace")
    try:
        delimiter = "\t" if source.guessed_format == "tsv" else ","
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise DataError(f"{source.name}: is not CSV: {error}") from None
    head = [cell.strip() for cell in rows[0][1]] if rows else []
    long = [cell.lower() for cell in head] == list(LONG)
    place = {value: code for code, value in enumerate(attribute.values)}
    table = np.zeros((len(place), len(place)))
    problems: list[Problem] = []
    for line, row in rows[1:]:
        cells = [cell.strip() for cell in row]
        pairs = (
            [(cells[1], cells[2])]
            if long and len(cells) == 3
            else list(zip(head[1:], cells[1:], strict=False))
        )
        for observed, number in pairs:
            unknown = next((value for value in (cells[0], observed) if value not in place), None)
            if unknown is not None:
                known = ", ".join(attribute.values)
                problems.append(Problem(line, f"{unknown!r} is not a value of {attribute.name!r}: {known}"))
                continue
            try:
                rate = float(number)
            except ValueError:
                rate = -1.0
            if 0 <= rate < 2**53:  # counts are taken, too
                table[place[cells[0]], place[observed]] = rate
            else:
                problems.append(Problem(line, f"the rate {number!r} is not a number from 0 on"))
    if problems:
        raise DataError.listing(source.name, problems[:20])
    lacking = [value for value, code in place.items() if not table[code].any()]
    if lacking:
        raise DataError(f"{source.name}: has no rates of the true value {lacking[0]!r}")
    total = table.sum(axis=1, keepdims=True)
    return checked_rates(table / total if (total > 1.5).any() else table, attribute.values, source.name)
