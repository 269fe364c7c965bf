"""The sensitivity of scores to word lists as tables: runs, words, verdicts, other lists."""

from __future__ import annotations

from evenrank.tables import Interval, Table
from evenrank.wordlists.sensitivity import MeasureSensitivity, Sensitivity

NO_DIFFERENCE = "no difference shown"


def sensitivity_tables(found: Sensitivity, words: int = 10) -> list[Table]:
    tables: list[Table] = []
    for one in found.measures:
        tables += [_runs(one, found), _words(one, words)]
        if one.stability:
            tables.append(_verdicts(one))
        if one.variants:
            tables.append(_variants(one))
    return tables


def _runs(one: MeasureSensitivity, found: Sensitivity) -> Table:
    return Table.of(
        ["run", "value", "95% over queries", "95% over word lists", "shift"],
        [
            (
                row.run,
                row.value,
                Interval(row.low, row.high),
                Interval(row.list_low, row.list_high),
                row.shift,
            )
            for row in one.runs
        ],
        title=f"{one.measure!r} by word list",
        notes=[
            f"over word lists: 95% of {found.lists:,} lists drawn from the {len(one.lexicon):,} terms of "
            f"{one.lexicon.name}, with replacement within each group, centred on the value",
            "shift: how far drawn lists are from the whole list on average, because they hold about 63% of "
            "its words",
            *found.notes,
        ],
        records=[{"measure": repr(one.measure), **row._asdict()} for row in one.runs],
        meaning=(
            "Where the interval over word lists is wide, the choice of words decides the value as "
            "much as the queries do."
        ),
    )


def _words(one: MeasureSensitivity, most: int) -> Table:
    return Table.of(
        [
            "word left out",
            "group",
            "documents",
            "mean change",
            "largest change",
            "in run",
            "verdicts changed",
        ],
        one.word_effects[:most],
        words=2,
        title=f"{one.measure!r}: the words that matter most",
        notes=[
            f"{len(one.words):,} of the {len(one.lexicon):,} terms stand in documents that the measure looks "
            "at"
        ],
        records=[{"measure": repr(one.measure), **row._asdict()} for row in one.word_effects],
        meaning="How far values move when one word is taken off the list.",
    )


def _verdicts(one: MeasureSensitivity) -> Table:
    rows, records, survive = [], [], 0
    for row in one.stability:
        others = "; ".join(f"{name or NO_DIFFERENCE} {share:.1%}" for name, share in row.others.items())
        more = f" and {len(row.words) - 3} more" if len(row.words) > 3 else ""
        rows.append((
            row.system, row.baseline, row.verdict or NO_DIFFERENCE, f"{row.same:.1%}", others,
            ", ".join(row.words[:3]) + more, ", ".join(row.variants),
        ))  # fmt: skip
        lists = {"others": dict(row.others), "words": list(row.words), "variants": list(row.variants)}
        records.append({"measure": repr(one.measure), **row._asdict(), **lists})
        survive += not (row.words or row.variants or row.others)
    head = [
        "run", "baseline", "verdict", "same verdict", "other verdicts", "one word flips it",
        "lists that flip it",
    ]  # fmt: skip
    return Table.of(
        head,
        rows,
        words=len(head),
        title=f"{one.measure!r}: does the word list change a verdict?",
        notes=[f"{survive} of {len(rows)} verdicts are the same under every list that was tried"],
        records=records,
        meaning="A verdict that another list or one word changes should not be relied on.",
    )


def _variants(one: MeasureSensitivity) -> Table:
    rows = [("as counted", len(one.lexicon), *one.means.tolist(), 0)]
    for variant in one.variants:
        changed = sum(variant.verdicts[pair] != own for pair, own in one.verdicts.items())
        rows.append((variant.name, variant.terms, *variant.values.values(), changed))
    return Table.of(
        ["list", "terms", *one.systems, "verdicts changed"],
        rows,
        title=f"{one.measure!r} by other lists and settings",
        meaning="How far values and verdicts depend on the list and the settings that are chosen.",
    )
