"""Inputs evaluated and compared in one step, for whoever shows the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenrank.inputs import Inputs

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.scores import Scores


def evaluated_inputs(inputs: Inputs, measures: Any) -> tuple[Scores, Comparison | None]:
    """The scores of what is known, and where there are several runs how they compare with the first."""
    from evenrank.comparison import compare
    from evenrank.evaluation import evaluate
    from evenrank.inputs.default_measures import default_measures

    chosen = measures if measures is not None else [one.name for one in default_measures(inputs)]
    if len(inputs.runs) == 1:
        return evaluate(inputs, chosen), None
    comparison = compare(inputs, chosen)
    return comparison.scores, comparison
