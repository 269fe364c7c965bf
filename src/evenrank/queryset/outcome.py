"""What becomes of each query: how far it got, why it stopped, and the query set of those that are kept."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evenrank.errors import ParameterError
from evenrank.io.atomic import atomic_write
from evenrank.queryset.procedure import Procedure
from evenrank.queryset.sampling import LogSize
from evenrank.queryset.sheets import Votes
from evenrank.tables import Table, delimited, json_line

KEPT = "kept"
TIE = "tie"
MISSING_LABELS = "votes are missing"
NO_OPINION = "opinions are missing"
DISAGREE = "experts disagree"


class Decision(NamedTuple):
    """One query: the stage it reached (0: no majority yet), and why it is not kept."""

    query: str
    text: str
    stage: int  # 1: stopped by the workers, 2: by the experts, 3: kept
    why: str
    label: str = ""  # of the majority of workers
    domains: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuerySetOutcome:
    """The decisions on all queries, in their order."""

    decisions: tuple[Decision, ...]
    procedure: Procedure

    @property
    def kept(self) -> tuple[Decision, ...]:
        return tuple(one for one in self.decisions if one.why == KEPT)

    def open(self) -> tuple[Decision, ...]:
        """Those that nobody may decide but the annotators: ties and missing votes."""
        return tuple(one for one in self.decisions if one.why in (TIE, MISSING_LABELS, NO_OPINION))

    def flow(self, candidates: int | None = None, log: LogSize | None = None) -> Table:
        """How many queries come in, pass each stage and are kept, and why others stop.

        It begins with the log that candidates were drawn from, where its size is known.
        """
        passed = [one for one in self.decisions if one.stage >= 2]
        rows: list[tuple[str, int, str]] = []
        if log is not None and log.left_out is not None:
            rows.append(("in the log", log.drawn_from + log.left_out, ""))
        if log is not None and log.left_out:
            rows.append(("  stopped", log.left_out, "has a word of the lexicon"))
        if log is not None and log.left_out != 0:
            rows.append(("drawn from", log.drawn_from, ""))
        if candidates is not None:
            rows.append(("candidates", candidates, ""))
        rows.append(("annotated by workers", len(self.decisions), ""))
        rows += [("  stopped", count, why) for why, count in self._reasons(1)]
        rows.append((f"majority {self.procedure.passing!r}", len(passed), ""))
        rows += [("  stopped", count, why) for why, count in self._reasons(2)]
        rows.append((KEPT, len(self.kept), ""))
        title = f"from {'candidates' if log is None else 'the log'} to the query set"
        return Table.of(
            ["stage", "queries", "why"],
            rows,
            title=title,
            meaning="How many queries pass each stage, and why others stop.",
        )

    def domains(self) -> Table:
        counts = Counter(domain for one in self.kept for domain in one.domains)
        rows = [(domain, counts[domain]) for domain in self.procedure.domains]
        return Table.of(
            ["domain", "queries"],
            rows,
            notes=["a query may have several domains"],
            meaning="How many of the kept queries belong to each domain.",
        )

    def rejected(self) -> Table:
        rows = [(one.query, one.text, one.stage, one.why) for one in self.decisions if one.why != KEPT]
        return Table.of(
            ["query", "text", "stage", "why"],
            rows,
            words=2,
            meaning="These queries were not kept; the last column says why.",
        )

    def _reasons(self, stage: int) -> list[tuple[str, int]]:
        return Counter(one.why for one in self.decisions if one.stage == stage).most_common()

    def write(self, path: str | os.PathLike[str], provenance: str = "") -> None:
        """The query set as .csv or .jsonl, which ``--queries`` and ``--by`` of every command read.

        Annotators are not named in it.
        """
        rows = [
            {
                "query": one.query, "text": one.text, "domains": ", ".join(one.domains),
                "reason": " | ".join(one.reasons), "provenance": provenance,
            }
            for one in self.kept
        ]  # fmt: skip
        suffix = Path(path).suffix.lower()
        if suffix not in (".csv", ".jsonl"):
            raise ParameterError(f"{path}: a query set is written as .csv or .jsonl")
        if suffix == ".jsonl":
            text = "".join(map(json_line, rows))
        else:
            text = delimited(rows, ",", ["query", "text", "domains", "reason", "provenance"])
        with atomic_write(path) as file:
            file.write(text.encode())


def decide(votes: Votes, procedure: Procedure) -> QuerySetOutcome:
    """A query goes on with the passing label of more than half of the workers, and is kept when all experts
    say yes to all questions. Where more workers voted than were asked for, it is more than half of those who
    voted. Ties (no label has so many) and missing votes are never guessed; machines do not vote."""
    return QuerySetOutcome(tuple(_decided(query, votes, procedure) for query in votes.texts), procedure)


def _decided(query: str, votes: Votes, procedure: Procedure) -> Decision:
    text = votes.texts[query]
    labels = {who: label for who, label in votes.labels.get(query, {}).items() if who not in votes.machines}
    counts = Counter(labels.values())
    label, most = counts.most_common(1)[0] if counts else ("", 0)
    if 2 * most <= max(procedure.workers, len(labels)):
        why = TIE if len(labels) >= procedure.workers else MISSING_LABELS
        return Decision(query, text, 1, why)
    if label != procedure.passing:
        return Decision(query, text, 1, f"majority {label!r}", label)
    opinions = {
        who: opinion for who, opinion in votes.opinions.get(query, {}).items() if who not in votes.machines
    }
    reasons = tuple(opinion.reason for opinion in opinions.values() if opinion.reason)
    named = [domain for opinion in opinions.values() for domain in opinion.domains]
    domains = tuple(domain for domain in procedure.domains if domain in named)
    for number, question in enumerate(procedure.questions):
        answers = [opinion.answers[number] for opinion in opinions.values()]
        yes, no = answers.count(True), answers.count(False)
        if no and yes:
            return Decision(query, text, 2, f"{DISAGREE} on {question}", label)
        if no >= procedure.experts:
            return Decision(query, text, 2, f"no to {question}", label)
        if yes < procedure.experts:
            return Decision(query, text, 2, NO_OPINION, label)
    return Decision(query, text, 3, KEPT, label, domains, reasons)


def texts_of(decisions: tuple[Decision, ...]) -> Mapping[str, str]:
    return {one.query: one.text for one in decisions}
