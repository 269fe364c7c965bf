"""A measure, and how it changes when lists are ordered by judgements (nfairc-advbert-2021, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenrank.comparison.audits.audited import Audited
from evenrank.comparison.audits.declared import declare_view
from evenrank.comparison.audits.marked import Footnotes, system_cells, system_heads
from evenrank.comparison.audits.methods_view import IMPROVED, _baseline
from evenrank.errors import ParameterError
from evenrank.tables import Column, Table, Value

OVER_ITS_OWN = "†"


@declare_view(
    "changes",
    "a measure and how it changes on a second corpus (Rekabsaz et al. 2021, Table 2)",
    "",
    "over",
)
def changes_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """Corpora come in pairs: ``dl19`` and ``dl19+qrels`` have a column for the value and one for its change.

    ``over=adv>bert`` marks with † where a system is significantly better than its own original.
    """
    measure = audited.measure(settings.get(""))
    pairs = [(name, _second(audited, name)) for name in audited.corpora if "+" not in name]
    over = _originals(audited, settings.get("over"))
    baseline = _baseline(audited)
    footnotes = Footnotes()
    heads, columns = system_heads(audited), []
    records: list[dict[str, Any]] = []
    for corpus, second in pairs:
        tested = audited.pairs(corpus, measure, baseline) if baseline is not None else {}
        values, changes = [], []
        for one in audited.systems:
            found = audited.estimate(corpus, measure, one.system)
            marks = IMPROVED if _is_better(tested.get(one.system)) else ""
            if one.system in over:
                own = audited.pairs(corpus, measure, over[one.system])
                marks += OVER_ITS_OWN if _is_better(own.get(one.system)) else ""
            after = audited.estimate(second, measure, one.system)
            values.append(footnotes.cell(found.reason) if found.reason else Value(found.value, raised=marks))
            change = after.value - found.value
            reason = found.reason or after.reason
            changes.append(footnotes.cell(reason) if reason else Value(change, signed=True))
            records.append(
                {"corpus": corpus, "second": second, "class": one.system_class, "system": one.system,
                 "measure": measure, "value": found.value, "change": change, "marks": marks}
            )  # fmt: skip
        columns += [values, changes]
        heads += [Column(f"{corpus or 'value'}"), Column(f"change on {second}")]
    rows = [
        [*first, *(column[place] for column in columns)] for place, first in enumerate(system_cells(audited))
    ]
    test = (
        f"paired {audited.test}, corrected by {audited.correction} over the other systems, alpha "
        f"{audited.alpha:g}"
    )
    notes = [] if baseline is None else [f"{IMPROVED}: significantly better than {baseline}; {test}"]
    if over:
        named = ", ".join(f"{system} over {other}" for system, other in over.items())
        notes.append(f"{OVER_ITS_OWN}: significantly better than its own original ({named}); {test}")
    return (
        Table.of(heads, rows, words=len(system_heads(audited)), title=audited.shown(measure),
                 notes=[*notes, *footnotes.notes(), *audited.name_notes()], records=records, meaning=(
                     "A change tells how far a system's value moves on the second corpus of a pair."
                 )),
    )  # fmt: skip


def _second(audited: Audited, corpus: str) -> str:
    found = [name for name in audited.corpora if name.startswith(f"{corpus}+")]
    if len(found) != 1:
        raise ParameterError(
            f"--view changes needs scores in pairs, as --scores dl19=a.jsonl --scores dl19+qrels=b.jsonl; "
            f"{corpus or 'the runs'!r} has {len(found)} others"
        )
    return found[0]


def _originals(audited: Audited, given: str | None) -> dict[str, str]:
    names = {one.system for one in audited.systems}
    found = {}
    for part in (given or "").split(","):
        system, sign, other = (piece.strip() for piece in part.partition(">"))
        if not part.strip():
            continue
        if not sign or not {system, other} <= names:
            raise ParameterError(
                f"over must be SYSTEM>ORIGINAL,.. of {', '.join(sorted(names))}; got {part!r}"
            )
        found[system] = other
    return found


def _is_better(pair: Any) -> bool:
    return pair is not None and pair.verdict == "better"
