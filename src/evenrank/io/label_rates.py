"""Error rates of labels: a confusion matrix, or rows of true value, observed value and rate."""

from __future__ import annotations

from itertools import repeat

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.attribute import Attribute
from evenrank.data.label_error import checked_rates
from evenrank.errors import DataError
from evenrank.io.cells import score_cells
from evenrank.io.tables import the_table

LONG = ("true", "observed", "rate")


def read_rates(path: str, attribute: Attribute) -> Floats:
    """(L, L): for each true value the shares of the labels that it gets; counts are divided by their sum.

    The columns are ``true, observed, rate``, or a first one of true values and one for each label.
    """
    table = the_table(path, "rates")
    report = table.report
    report.check()  # a file that cannot be read has no columns
    first, *labels = table.names
    trues = [str(cell).strip() for cell in table.column(first)]
    if [name.lower() for name in table.names] == list(LONG):
        columns = [(table.column(labels[0]), labels[1])]
    else:
        columns = [(repeat(label, len(trues)), label) for label in labels]
    rates = np.zeros((len(attribute.values), len(attribute.values)))
    for observed, name in columns:
        numbers = score_cells(table.column(name), report, "rate", text=table.text).tolist()
        for row, (true, label, rate) in enumerate(zip(trues, observed, numbers, strict=True)):
            both = true, str(label).strip()
            unknown = [value for value in both if value not in attribute.values]
            if unknown:
                report.add(row, f"{unknown[0]!r} is not a value of {attribute.name!r}: {attribute.listed()}")
            elif not 0 <= rate < 2**53:  # counts are taken, too
                report.add(row, f"the rate {rate:g} is not a number from 0 on")
            else:
                rates[attribute.values.index(both[0]), attribute.values.index(both[1])] = rate
    report.check()
    total = rates.sum(axis=1, keepdims=True)
    if not total.all():
        lacking = attribute.values[int(np.argmin(total))]
        raise DataError(f"{table.name}: has no rates of the true value {lacking!r}")
    return checked_rates(rates / total if (total > 1.5).any() else rates, attribute.values, table.name)
