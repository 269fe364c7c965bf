"""Which queries the numbers are over: what a reader of a mean must know."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from evenrank.errors import DataError

WORDS = {"relevance": "judgements", "intents": "judgements by intent"}


def query_notes(
    name: str, own: Sequence[str], judged: Mapping[str, Sequence[str]], asked: Sequence[str] | None
) -> tuple[str, ...]:
    """What the run, the judgements and the request do not share. Nothing in common is an error.

    ``judged`` has the judged queries by kind of judgement, for the kinds that a measure needs;
    ``asked`` is None where no queries were named.
    """
    findings: list[tuple[Sequence[str], str]] = []
    if asked is not None:
        absent = _without(asked, own)
        if len(absent) == len(asked):
            raise DataError(
                f"run {name!r} has none of the queries asked for: {_few(asked)}; it has {_few(own)}"
            )
        findings.append((absent, "asked for but not in the run (an empty list)"))
        for kind, ids in judged.items():
            findings.append((_without(asked, ids), f"asked for but without {WORDS[kind]} (undefined)"))
        return _lines(findings)
    for kind, ids in judged.items():
        unjudged = _without(own, ids)
        if len(unjudged) == len(own):
            raise DataError(
                f"no query of run {name!r} has {WORDS[kind]}: "
                f"the run has {_few(own)}; they are for {_few(ids)}"
            )
        findings.append((_without(ids, own), f"with {WORDS[kind]} but not in the run (an empty list)"))
        findings.append((unjudged, f"in the run but without {WORDS[kind]} (left out where those are needed)"))
    return _lines(findings)


def _without(ids: Sequence[str], others: Collection[str]) -> list[str]:
    excluded = set(others)
    return [identifier for identifier in ids if identifier not in excluded]


def _lines(findings: Sequence[tuple[Sequence[str], str]]) -> tuple[str, ...]:
    return tuple(
        f"{len(ids):,} {'query' if len(ids) == 1 else 'queries'} {what}: {_few(ids)}"
        for ids, what in findings
        if ids
    )


def _few(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:3])) + (", ..." if len(ids) > 3 else "")
