"""``evenrank gate`` for Python: a run, rules, and whether it fulfils them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from evenrank.auditing.share_rules import share_rules
from evenrank.comparison.gate import Gate, GateResult, apply_gate
from evenrank.comparison.gate.config import gate_of
from evenrank.errors import ParameterError
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, Known
from evenrank.inputs.coerce import named_runs


def gate(
    run: Any,
    rules: Gate | Mapping[str, Any] | str | Iterable[str],
    *,
    baseline: Any = None,
    missing: str | None = None,
    **known: Unpack[Known],
) -> GateResult:
    """Hold a run against rules; ``failed`` of the result says whether it breaks one.

    ``rules`` are limits such as ``"GroupShare(attr='size',attention=log2)@10[small] >= 0.3"``, one or
    several, the table ``[gate]`` of a project file as a dict, or a ``Gate``. ``baseline`` is a run, or the
    name of one of the runs; limits need none. The other inputs are those of ``evaluate``.

    >>> held = gate({"q": {"a": 2.0, "b": 1.0}}, "RR >= 0.9", qrels={"q": {"b": 1}})
    >>> held.failed, held.verdicts[0].value
    (True, 0.5)
    """
    if not isinstance(rules, Gate):
        texts = [rules] if isinstance(rules, str) else rules
        table = dict(texts) if isinstance(texts, Mapping) else {"limits": list(texts)}
        rules = gate_of(table, "rules").gate
    inputs, before = _with_baseline(Inputs.of(run, **known), baseline)
    now, *others = [name for name in inputs.runs if name != before] or [""]
    if others or not now:
        raise ParameterError(f"a gate is for one run and its baseline, got {', '.join(inputs.runs)}")
    measures = list(dict.fromkeys(rule.measure for rule in rules.rules))
    scores = evaluate(inputs, measures, missing=missing)
    rules = rules if missing is None else rules.with_missing(missing)
    shares = share_rules(rules, inputs, now, missing=missing)
    return apply_gate(scores, rules, now=now, baseline=before, intervals=shares.intervals)


def _with_baseline(inputs: Inputs, baseline: Any) -> tuple[Inputs, str | None]:
    """The inputs with the baseline among the runs, and its name."""
    if baseline is None or (isinstance(baseline, str) and baseline in inputs.runs):
        return inputs, baseline
    ((name, run), *others) = named_runs(baseline).items()
    if others:
        raise ParameterError("the baseline is one run")
    name = f"baseline {name}" if name in inputs.runs else name
    return inputs.with_runs({**inputs.runs, name: run}), name
