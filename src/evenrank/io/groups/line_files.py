"""Groups in files without named columns: NTCIR's, those with the fields of judgements, TREC Fair's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem, counted
from evenrank.ids import as_strings
from evenrank.io.cells import ID_LIMIT, BadValue, is_whole, long_id, parse_score, quoted
from evenrank.io.groups.entries import Entries
from evenrank.io.groups.hints import has_header, other_lines
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
from evenrank.io.trec.careful import numbered_lines

Values = Sequence[str] | None


class _Lines:
    """The lines of a file, cut into fields. What is wrong is said after the last of them, at once."""

    def __init__(self, source: Source, cut: Callable[[bytes], list[bytes]]) -> None:
        self._source = source
        self._cut = cut
        self._problems: list[Problem] = []
        self.numbers: list[int] = []  # of the lines that were used

    def __iter__(self) -> Iterator[list[str]]:
        for number, line, flaw in numbered_lines(self._source.content().without_bom(self._source.name)):
            if len(self._problems) > PROBLEMS_SHOWN:
                break
            self._number = number
            if flaw is not None:
                self.wrong(flaw)
            elif line.strip() and not line.lstrip().startswith(b"#"):
                yield [field.decode() for field in self._cut(line)]
        if self._problems:
            raise DataError.listing(self._source.name, self._problems)
        if not self.numbers:
            raise nothing(self._source.name, "there is no line with fields")

    def wrong(self, what: str) -> None:
        self._problems.append(Problem(self._number, what))

    def fit(self, **ids: str) -> bool:
        """Whether the ids, each under its role, are no longer than an id may be; else it is a problem."""
        for role, text in ids.items():
            length = len(text.encode())
            if length > ID_LIMIT:
                self.wrong(long_id(role, text, length))
                return False
        return True

    def hint(self, fields: list[str], format: str) -> str:
        """What the file may be instead, unless some line of it was as it should be."""
        return "" if self.numbers else other_lines(fields, format)

    def used(self) -> None:
        self.numbers.append(self._number)

    def report(self) -> RowProblems:
        return RowProblems(self._source.name, lines=self.numbers)


def nothing(name: str, why: str) -> DataError:
    return DataError(f"{name}: no groups ({why})")


def read_gmemb(source: Source, values: Values, multilabel: bool) -> Entries:
    """``query document share share ..``; without names for the values they are called 1, 2, .."""
    lines = _Lines(source, bytes.split)
    queries, documents, shares = list[str](), list[str](), list[list[float]]()
    width = None if values is None else len(values)
    for fields in lines:
        if len(fields) < 4:
            what = (
                f"{counted(len(fields), 'field', 'fields')}, but 4 or more are needed: query document "
                "share share .."
            )
            lines.wrong(what + lines.hint(fields, "gmemb"))
            continue
        query, document, *given = fields
        if not lines.fit(query=query, document=document):
            continue
        width = width or len(given)
        if len(given) != width:
            lines.wrong(f"document {quoted(document)}: {len(given)} shares, but {width} are needed")
            continue
        try:
            row = [parse_score(share.encode(), "share") for share in given]
        except BadValue as error:
            lines.wrong(f"document {quoted(document)}: {error}{lines.hint(fields, 'gmemb')}")
            continue
        lines.used()
        queries.append(query)
        documents.append(document)
        shares.append(row)
    names = tuple(values) if values is not None else tuple(str(n + 1) for n in range(width or 0))
    return Entries(
        as_strings(documents),
        as_strings(queries),
        np.repeat(np.arange(len(documents)), len(names)),
        as_strings(list(names) * len(documents)),
        np.array(shares).ravel(),
        lines.report(),
        names,
    )


def read_judged_labels(source: Source, values: Values, multilabel: bool) -> Entries:
    """``query iteration document label``."""
    lines = _Lines(source, bytes.split)
    queries, documents, labels = list[str](), list[str](), list[str]()
    seconds: dict[str, str] = {}  # the second field of each query, while it is one
    by_intent = False
    for fields in lines:
        if len(fields) != 4:
            what = (
                f"{counted(len(fields), 'field', 'fields')}, but 4 are needed: query iteration document label"
            )
            lines.wrong(what + lines.hint(fields, "trec"))
            continue
        if not lines.fit(query=fields[0], document=fields[2]):
            continue
        lines.used()
        queries.append(fields[0])
        documents.append(fields[2])
        labels.append(fields[3])
        by_intent = by_intent or seconds.setdefault(fields[0], fields[1]) != fields[1]
    if by_intent and values is None and all(is_whole(label.encode()) for label in set(labels)):
        raise DataError(
            f"{source.name}: is not read as groups: the second field differs within a query and every label "
            "is a whole number, as in judgements by intent, whose fourth field is a grade. For those use "
            "read_qrels(FILE, diversity=True) and Membership.from_intents (in the shell --qrels "
            "FILE:intents); if the numbers are labels, name them: values=['0', '1'] (in the shell "
            "FILE:format=trec:values=0,1)"
        )
    return Entries(
        as_strings(documents),
        as_strings(queries),
        np.arange(len(documents)),
        as_strings(labels),
        None,
        lines.report(),
    )


def read_trec_fair(source: Source, values: Values, multilabel: bool) -> Entries:
    """``document,label,label,..`` with a label for each author: the share of the authors that have it."""
    lines = _Lines(source, lambda line: [field.strip() for field in line.split(b",")])
    documents, rows, labels, shares = list[str](), list[int](), list[str](), list[float]()
    for document, *authors in lines:
        header = "" if documents else has_header([document, *authors])
        if header:
            lines.wrong(header)
            continue
        if not document:
            lines.wrong("the document is empty: a line is document,label,label,..")
            continue
        if not lines.fit(document=document):
            continue
        known = Counter(label for label in authors if label)
        for label, count in known.items():
            rows.append(len(documents))
            labels.append(label)
            shares.append(count / known.total())
        lines.used()
        documents.append(document)
    return Entries(
        as_strings(documents),
        None,
        np.array(rows, np.int64),
        as_strings(labels),
        None if multilabel else np.array(shares),
        lines.report(),
    )


READERS: dict[str, Callable[[Source, Values, bool], Entries]] = {
    "gmemb": read_gmemb,
    "trec": read_judged_labels,
    "trec-fair": read_trec_fair,
}
