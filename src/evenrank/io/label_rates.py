"""Error rates of labels: a confusion matrix, or rows of true value, observed value and rate."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.attribute import Attribute
from evenrank.data.label_error import checked_rates
from evenrank.errors import DataError
from evenrank.io.tables import the_table

LONG = ("true", "observed", "rate")


def read_rates(path: str, attribute: Attribute) -> Floats:
    """(L, L): for each true value the shares of the labels that it gets; counts are divided by their sum.

    The columns are ``true, observed, rate``, or a first one of true values and one for each label.
    """
    table = the_table(path, "rates")
    table.report.check()
    columns = [[str(cell).strip() for cell in table.column(name)] for name in table.names]
    rates = np.zeros((len(attribute.values), len(attribute.values)))
    if [name.lower() for name in table.names] == list(LONG):
        cells = list(zip(columns[0], columns[1], columns[2], range(len(columns[0])), strict=True))
    else:
        cells = [
            (true, observed, column[row], row)
            for row, true in enumerate(columns[0])
            for observed, column in zip(table.names[1:], columns[1:], strict=True)
        ]
    for true, observed, number, row in cells:
        unknown = [value for value in (true, observed) if value not in attribute.values]
        if unknown:
            known = attribute.listed()
            table.report.add(row, f"{unknown[0]!r} is not a value of {attribute.name!r}: {known}")
            continue
        try:
            rate = float(number)
        except ValueError:
            rate = -1.0
        if 0 <= rate < 2**53:  # counts are taken, too
            rates[attribute.values.index(true), attribute.values.index(observed)] = rate
        else:
            table.report.add(row, f"the rate {number!r} is not a number from 0 on")
    table.report.check()
    total = rates.sum(axis=1, keepdims=True)
    if not total.all():
        lacking = attribute.values[int(np.argmin(total))]
        raise DataError(f"{table.name}: has no rates of the true value {lacking!r}")
    return checked_rates(rates / total if (total > 1.5).any() else rates, attribute.values, table.name)
