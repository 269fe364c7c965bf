"""A penalty inside a search engine: neutrality as a field of the index, which the query adds to the score.

``s(d) - lam (1 - w(d))`` and ``s(d) + lam w(d)`` give the same order, and engines can compute the second: the
field is w, the neutrality of the document, and lam is in the units of the engine's scores.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from string import Template

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.errors import DataError, ParameterError, UnknownNameError, nearest_hint
from evenrank.io.atomic import atomic_write
from evenrank.io.counts import counts_in_pieces
from evenrank.measures.neutrality import neutrality
from evenrank.rerankers.penalty import DEPTH, deviations

FORMS = ("opensearch", "elasticsearch", "rank_feature", "solr", "vespa", "postgresql")
POSITIVE = 1e-30
"""Instead of 0 in a field of type rank_feature, which takes no 0; its floats go down to 1.2e-38."""

_NAME = re.compile(r"[A-Za-z_]\w{0,62}", re.ASCII)


@dataclass(frozen=True)
class IndexField:
    """Which engine the field is for, what it is called, and with how few group words a document is neutral.

    ``type`` and ``namespace`` are Vespa's, whose documents are called ``id:namespace:type::ID``.
    """

    form: str
    name: str = "neutrality"
    tau: int = 1
    type: str | None = None
    namespace: str | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UnknownNameError(
                f"no engine that a field can be written for is called {self.form!r}"
                f"{nearest_hint(self.form, FORMS)}"
            )
        for what, value in (("name", self.name), ("type", self.type), ("namespace", self.namespace)):
            if value is not None and not _NAME.fullmatch(value):
                raise ParameterError(f"{what}= must be letters, digits and underscores, got {value!r}")
        if self.tau < 0:
            raise ParameterError(f"tau must be an integer >= 0, got {self.tau}")
        if self.form == "vespa" and self.type is None:
            raise ParameterError(
                "an update for Vespa names the type of the documents: add type=DOCUMENT_TYPE"
            )
        if self.form != "vespa" and (self.type or self.namespace):
            raise ParameterError("type= and namespace= are for Vespa alone: leave them out")


@dataclass(frozen=True)
class FieldWeight:
    """What ``lam`` standard deviations are in the units of a run's scores."""

    weight: float
    deviation: float  # the median over queries
    queries: int
    flat: int  # queries left out, because their scores do not differ
    ranked: int  # queries left out, because their scores are ranks


def write_field(counts: str | os.PathLike[str], path: str | os.PathLike[str], field: IndexField) -> int:
    """Write the neutrality of every document in a file of counts, and return how many there are.

    Memory stays the same whatever the size. A document without text is neutral.
    """
    begin, between, end = _FRAMES.get(field.form, (b"", b"\n", b"\n"))
    row, written = _ROWS[field.form], 0
    with atomic_write(path) as file:
        file.write(begin.replace(b"NAME", field.name.encode()))
        for piece in counts_in_pieces(counts):
            target = np.asarray(piece.lexicon.targets, dtype=np.float64)
            w = neutrality(piece.counts.astype(float), target, field.tau, piece.tokens.astype(float))
            w = np.clip(w, POSITIVE if field.form == "rank_feature" else 0.0, 1.0)
            ids, values = piece.doc_ids.to_pylist(), w.tolist()
            lines = [row(field, key, value).encode() for key, value in zip(ids, values, strict=True)]
            file.write((between if written else b"") + between.join(lines))
            written += len(ids)
        file.write(end)
    return written


def weight_of(run: Run, lam: float) -> FieldWeight:
    """``lam`` times the median over queries of the standard deviation of their first 100 scores.

    Queries whose scores are ranks are left out: re-ranked runs have n, n - 1, ..., 1, and tables without
    scores have -1, -2, ..., which say nothing about the engine's scores.

    >>> weight_of(Run.build(["q", "q"], ["a", "b"], [3.0, 1.0]), 0.5).weight
    0.5
    """
    spreads, ranked = [], 0
    for begin, end in zip(run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True):
        scores = run.scores[None, begin : min(end, begin + DEPTH)]
        if _are_ranks(scores[0]):
            ranked += 1
            continue
        spreads.append(float(deviations(scores, np.ones(scores.shape, dtype=bool))[0, 0]))
    known = [spread for spread in spreads if spread > 0]
    if ranked and not known:
        raise DataError(
            f"run {run.name!r} has ranks in place of the engine's scores, as a run that was re-ranked has: "
            "give the engine's own run (evenrank retrieve -o RUN.csv)"
        )
    if not known:
        raise DataError(
            f"no query of run {run.name!r} has scores that differ: give a run with the engine's own scores"
        )
    deviation = float(np.median(known))
    return FieldWeight(lam * deviation, deviation, len(known), len(spreads) - len(known), ranked)


def _are_ranks(scores: Floats) -> bool:
    """Whether they are whole numbers of which each is one less than that before it."""
    whole = bool((scores == np.round(scores)).all())
    return len(scores) > 1 and whole and bool((np.diff(scores) == -1).all())


def _bulk(field: IndexField, key: str, value: float) -> str:
    return f"{_json({'update': {'_id': key}})}\n{_json({'doc': {field.name: value}})}"


def _atomic_update(field: IndexField, key: str, value: float) -> str:
    return _json({"id": key, field.name: {"set": value}})


def _partial_update(field: IndexField, key: str, value: float) -> str:
    name = f"id:{field.namespace or field.type}:{field.type}::{key}"
    return _json({"update": name, "fields": {field.name: {"assign": value}}})


def _table_row(field: IndexField, key: str, value: float) -> str:
    quoted = key.replace('"', '""')
    return f'"{quoted}",{value!r}'  # without quotes, COPY takes an empty id for NULL


_ROWS: dict[str, Callable[[IndexField, str, float], str]] = {
    "opensearch": _bulk,
    "elasticsearch": _bulk,
    "rank_feature": _bulk,
    "solr": _atomic_update,
    "vespa": _partial_update,
    "postgresql": _table_row,
}
# before the first document, between two, after the last
_FRAMES = {"solr": (b"[", b",\n", b"]\n"), "postgresql": (b"id,NAME\n", b"\n", b"\n")}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def query_of(field: IndexField, lam: float) -> str:
    """What the engine is asked then: ``lam`` times the field is added to the score.

    In all but ``rank_feature``, a document that lacks the field counts as neutral, as in the re-ranker.
    """
    return Template(_QUERIES[field.form]).substitute(FIELD=field.name, LAM=f"{lam:.6g}")


_SCRIPT = (
    '{"query": {"script_score": {\n'
    '  "query": {"match": {"text": "QUERY"}},\n'
    '  "script": {"source": "_score + params.lam * (doc[\'${FIELD}\'].size() == 0 ? 1 : '
    "doc['${FIELD}'].value)\",\n"
    '             "params": {"lam": ${LAM}}}}}}'
)
_QUERIES = {
    "opensearch": _SCRIPT,
    "elasticsearch": _SCRIPT,
    "rank_feature": (
        '{"query": {"bool": {\n'
        '  "must": {"match": {"text": "QUERY"}},\n'
        '  "should": {"rank_feature": {"field": "${FIELD}", "boost": ${LAM}, "linear": {}}}}}}'
    ),
    "solr": "q=QUERY&defType=edismax&qf=text&bf=product(${LAM},def(${FIELD},1))",
    "vespa": "expression: bm25(text) + ${LAM} * if(isNan(attribute(${FIELD})) == 1, 1, attribute(${FIELD}))",
    "postgresql": (
        "select id, ts_rank_cd(search, words) + ${LAM} * coalesce(${FIELD}, 1) as score\n"
        "from documents, websearch_to_tsquery('english', %(query)s) as words\n"
        "where search @@ words order by score desc, id limit %(depth)s"
    ),
}
