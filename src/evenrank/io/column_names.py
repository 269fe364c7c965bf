"""Which column of a table is what."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenrank.errors import DataError, EvenrankWarning, ParameterError

ACCEPTED: dict[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "qid", "topic", "query-id"),
    "document": ("document", "doc", "doc_id", "docid", "docno", "did", "corpus-id"),
    "score": ("score", "sim"),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "label", "rel"),
    "intent": ("intent", "iteration", "subtopic", "subtopic_id"),
    "value": ("value", "group", "label"),
    "share": ("share", "prob", "probability"),
    "rater": ("rater", "annotator", "worker", "assessor"),
    "weight": ("weight", "frequency", "freq", "count", "searches", "search_volume", "volume"),
}
DOCUMENT_COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("_id", "id", "doc_id", "docid", "docno", "document"),
    "text": ("text", "contents", "body", "content", "description", "abstract"),
    "title": ("title",),
}
PRODUCTS = ("product_id", "product", "sku", "item_id", "item", "article_id", "asin", "doc_no")
SEARCHES = ("search_term", "search_terms", "search_query", "search", "keyword", "keywords", "term")
# what exports of shops call them; looked at only where none of the names above is there
FURTHER: dict[str, tuple[str, ...]] = {
    "query": SEARCHES,
    "document": PRODUCTS,
    "rank": ("position", "pos"),
    "id": PRODUCTS,
    "text": ("name", "product_name", "product_title", "product_description", "long_description"),
}


def spelled(name: str) -> str:
    """A column's name without what people write differently: capitals, blanks and hyphens.

    >>> spelled("Product ID"), spelled(" search-term")
    ('product_id', 'search_term')
    """
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


def also_called(found: Sequence[str], role: str) -> list[str]:
    """The columns that may have a role by another spelling or by what a shop calls it, the likeliest first.

    >>> also_called(["Product ID", "Price"], "document")
    ['Product ID']
    """
    usual = (*ACCEPTED.get(role, ()), *DOCUMENT_COLUMNS.get(role, ()))
    for names in ({spelled(name) for name in usual}, FURTHER.get(role, ())):
        candidates = [name for name in found if spelled(name) in names]
        if candidates:
            return candidates
    return []


def resolve(
    found: Sequence[str],
    wanted: Sequence[str],
    columns: Mapping[str, str] | None,
    source: str,
    *,
    advice: str = "",
    shell: str = "--columns ",
) -> dict[str, str]:
    """The column of each role in ``wanted``; ``columns`` names those that are called otherwise.

    >>> resolve(["qid", "docno", "sim"], ["query", "document", "score"], None, "run")
    {'query': 'qid', 'document': 'docno', 'score': 'sim'}

    A frame of PyTerrier has both ``qid`` and ``query`` (the text of it), ``docno`` and ``docid`` (a
    number inside its index); the pair ``qid``, ``docno`` decides. Judgements of BEIR call the grade
    ``score``.
    """
    given = _given(columns, found, wanted, source, ACCEPTED)
    if {"qid", "docno"} <= set(found):
        given = {"query": "qid", "document": "docno"} | given
    chosen: dict[str, str] = {}
    for role in wanted:
        if role in given:
            chosen[role] = given[role]
            continue
        candidates = [name for name in found if name in ACCEPTED[role]]
        if not candidates and role == "grade" and "score" in found:
            candidates = ["score"]
        candidates = candidates or also_called([name for name in found if name not in chosen.values()], role)
        if len(candidates) > 1:
            raise DataError(
                f"{source}: the {role} could be any of the columns {listed(candidates)}: "
                f"say which, columns={{{role!r}: {candidates[0]!r}}} ({shell}{role}={candidates[0]})"
            )
        if not candidates:
            rank = " (a rank will do: --columns rank=NAME)" if role == "score" else ""
            raise DataError(
                f"{source}: no column for the {role} (accepted: {', '.join(ACCEPTED[role])}); "
                f"the columns found are {listed(found)}: name it with columns={{{role!r}: ...}}{rank}{advice}"
            )
        chosen[role] = candidates[0]
    for role, name in chosen.items():
        if list(found).count(name) > 1:
            raise DataError(f"{source}: there are several columns {name!r} (the {role})")
    return chosen


def resolve_documents(found: Sequence[str], columns: Mapping[str, str] | None, source: str) -> dict[str, str]:
    """The columns ``id``, ``text`` and, if there is one, ``title``. The first accepted name wins.

    >>> resolve_documents(["_id", "title", "text"], None, "corpus.jsonl")
    {'id': '_id', 'text': 'text', 'title': 'title'}
    """
    given = _given(columns, found, list(DOCUMENT_COLUMNS), source, DOCUMENT_COLUMNS)
    chosen = dict(given)
    for role, accepted in DOCUMENT_COLUMNS.items():
        name = next((name for name in (*accepted, *also_called(found, role)) if name in found), None)
        titles = [other for other in found if spelled(other) == "title"]
        if role == "text" and name is None and titles and "title" not in given:
            name = titles[0]  # all the text that there is
        if role == "title" and (name is None or "text" in given or chosen.get("text") == name):
            continue  # who names the text gets the text and nothing else
        if role not in chosen and name is None:
            raise DataError(
                f"{source}: no column for the {role} (accepted: {', '.join(accepted)}); "
                f"the columns found are {listed(found)}: "
                f"name it with columns={{{role!r}: ...}} (--columns {role}=NAME)"
            )
        chosen.setdefault(role, str(name))
    return chosen


def score_role(found: Sequence[str], columns: Mapping[str, str] | None) -> list[str]:
    """The roles that order a run here: a score, a rank, both, or none.

    >>> score_role(["query", "document", "Position"], None), score_role(["position", "score"], None)
    (['rank'], ['score'])
    """
    given = columns or {}
    has_score = "score" in given or bool(also_called(found, "score"))
    # beside a score, a position may be anything
    has_rank = "rank" in given or "rank" in found or (not has_score and bool(also_called(found, "rank")))
    return [role for role, there in (("score", has_score), ("rank", has_rank)) if there]


class SharedColumns(dict[str, str]):
    """Columns that are named once for several files, not each of which calls them so."""


def one_document_role(columns: Mapping[str, str], wanted: Sequence[str]) -> dict[str, str]:
    """The document is called ``document`` in runs and judgements and ``id`` in collections; either will do.

    >>> one_document_role({"id": "sku"}, ["query", "document"])
    {'document': 'sku'}
    """
    other = {"id": "document", "document": "id"}
    return {
        (other[role] if role in other and role not in wanted and other[role] in wanted else role): name
        for role, name in columns.items()
    }


def document_columns(
    columns: Mapping[str, str] | None, path: str, roles: Sequence[str]
) -> SharedColumns | None:
    """Those of the columns, named for several files, that a collection has; None where it names none.

    A TSV file without a header line has no named columns, though other files of the command may.
    """
    named = one_document_role(columns or {}, roles)
    found = SharedColumns({role: name for role, name in named.items() if role in roles})
    if not found or not _has_header(path, found):
        return None
    return found


def _has_header(path: str, columns: Mapping[str, str]) -> bool:
    from evenrank.io.source import as_source, guess_format

    if guess_format(path) != "tsv" or not Path(path).is_file():
        return True
    source = as_source(path)
    block = b"" if source is None else next(iter(source.blocks(1 << 16)), b"")
    first = block.partition(b"\n")[0].decode("utf-8-sig", "replace").rstrip("\r").split("\t")
    return any(name in first for name in columns.values())


def _given(
    columns: Mapping[str, str] | None,
    found: Sequence[str],
    wanted: Sequence[str],
    source: str,
    accepted: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """The columns that were named for this table, each of them there."""
    given = one_document_role(columns or {}, wanted)
    if len(given) < len(columns or {}):
        raise ParameterError("columns: 'id' and 'document' are the same: name one of them")
    for role, name in list(given.items()):
        if role not in wanted:
            raise ParameterError(f"columns: {role!r} is not one of {', '.join(wanted)}")
        if name in found:
            continue
        usual = [other for other in accepted[role] if other in found]
        if not isinstance(columns, SharedColumns) or not usual:
            raise DataError(
                f"{source}: no column {name!r} for the {role}; the columns found are {listed(found)}"
            )
        warnings.warn(
            f"{source}: no column {name!r} for the {role}: {usual[0]!r} was taken",
            EvenrankWarning,
            stacklevel=2,
        )
        del given[role]
    return given


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:20])
    return (shown or "none") + (", ..." if len(names) > 20 else "")
