"""Which column of a table is what."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from evenrank.errors import DataError, EvenrankWarning, ParameterError

PRODUCTS = ("product_id", "product", "sku", "item_id", "item", "article_id", "asin", "doc_no")
SEARCHES = ("search_term", "search_terms", "search_query", "search", "keyword", "keywords", "term")
_QUERIES = ("query", "query_id", "qid", "topic", "query-id")
_DOCUMENTS = ("document", "doc", "doc_id", "docid", "docno", "did", "corpus-id")
_USERS = ("user", "user_id")
# What the column of each role is called. Later names, those of exports of shops, recommenders and other
# tools, are looked at only where none of the names before is there.
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (_QUERIES, SEARCHES, _USERS),
    "document": (_DOCUMENTS, PRODUCTS),
    "score": (("score", "sim"), ("prediction",)),
    "rank": (("rank",), ("position", "pos")),
    "grade": (("grade", "relevance", "label", "rel"), ("score",), ("rating",)),
    "intent": (("intent", "iteration", "subtopic", "subtopic_id"),),
    "value": (("value", "group", "label"),),
    "share": (("share", "prob", "probability"),),
    "rater": (("rater", "annotator", "worker", "assessor"),),
    "weight": (("weight", "frequency", "freq", "count", "searches", "search_volume", "volume"),),
    "word": (("word", "term"),),
    "word group": (("group",),),
    "partner": (("partner",),),
    "degree": (("weight",),),
    "category": (("category", "domain", "family", "group", "class"),),
    "clicks": (("clicks", "click", "clicked"),),
    "impressions": (("impressions", "shown", "views"),),
    "user": (_USERS, ("query", "query_id")),
    "item": (("item", "item_id", "movie_id", "movie"), ("document", "doc_id"), PRODUCTS),
    "rating": (("rating", "stars", "grade"),),
    "polarity": (("polarity",), ("score",), ("bias",)),
    "id": (("_id", "id", "doc_id", "docid", "docno", "document"), PRODUCTS),
    "text": (
        ("text", "contents", "body", "content", "description", "abstract"),
        ("name", "product_name", "product_title", "product_description", "long_description"),
        ("doc",),
    ),
    "document of a text": (_DOCUMENTS[:1] + _DOCUMENTS[2:5], ("id", "_id"), PRODUCTS),
    "query of a list": (
        (
            "qid",
            "query_id",
            "query",
            "topic",
            "query-id",
            "_id",
            "id",
            "doc_id",
            "docid",
            "docno",
            "document",
        ),
        SEARCHES,
        _USERS,
    ),
    "query with a number": (("id",),),
    "text of a query": (("text", "contents", "body", "query_text", "question", "title", "query"), SEARCHES),
    "perspective": (("perspective",), ("label",), ("side",), ("stance",)),
    "vector": (("vector", "embedding", "embeddings"),),
    "title": (("title",),),
}
ACCEPTED = {role: names[0] for role, names in NAMES.items()}
_DOCUMENT_ROLES = ("id", "text", "title")


def spelled(name: str) -> str:
    """A column's name without what people write differently: capitals, blanks, hyphens and underscores.

    >>> spelled("Product ID"), spelled(" search-term"), spelled("userId") == spelled("user_id")
    ('productid', 'searchterm', True)
    """
    return "".join(name.lower().replace("-", " ").replace("_", " ").split())


def spellings(*names: str) -> frozenset[str]:
    return frozenset(map(spelled, names))


def candidates(found: Sequence[str], role: str) -> list[str]:
    """The columns that may have a role, by the likeliest names of which there are any.

    >>> candidates(["Product ID", "Price"], "document"), candidates(["query", "Query"], "query")
    (['Product ID'], ['query'])
    """
    exact = [name for name in found if name in NAMES[role][0]]
    if exact:
        return exact
    for names in NAMES[role]:
        wanted = spellings(*names)
        alike = [name for name in found if spelled(name) in wanted]
        if alike:
            return alike
    return []


class Role(NamedTuple):
    """What a column is for, and what its cells must be: ``query``, ``id``, ``number`` or ``grade``.

    ``called`` is another role whose names it has, as queries that are users."""

    name: str
    cells: str = "id"
    called: str = ""
    optional: bool = False


def resolve(
    found: Sequence[str],
    roles: Sequence[Role],
    columns: Mapping[str, str] | None,
    source: str,
    *,
    first: bool = False,
) -> dict[str, str]:
    """The column of each role; ``columns`` names those that are called otherwise. Where several may have a
    role, that is an error, or, with ``first``, the one whose name is the first accepted.

    >>> resolve(["qid", "docno", "sim"], [Role("query"), Role("document"), Role("score")], None, "run")
    {'query': 'qid', 'document': 'docno', 'score': 'sim'}

    A frame of PyTerrier has both ``qid`` and ``query`` (the text of it), ``docno`` and ``docid`` (a
    number inside its index); the pair ``qid``, ``docno`` decides. Judgements of BEIR call the grade
    ``score``.
    """
    given = _given(columns, found, [role.name for role in roles], source)
    if {"qid", "docno"} <= set(found):
        given = {"query": "qid", "document": "docno"} | given
    chosen: dict[str, str] = {}
    for role in roles:
        name, called = role.name, role.called or role.name
        there = [given[name]] if name in given else []
        there = there or candidates([column for column in found if column not in chosen.values()], called)
        if first:
            there = [*(column for column in ACCEPTED[called] if column in there), *there][:1]
        if len(there) > 1:
            raise DataError(
                f"{source}: the {called} could be any of the columns {listed(there)}: "
                f"say which, columns={{{name!r}: {there[0]!r}}} (in the project file too)"
            )
        if there:
            chosen[name] = there[0]
        elif not role.optional:
            rank = "; a rank will do, as the role rank" if called == "score" else ""
            raise DataError(
                f"{source}: no column for the {called} (accepted: {', '.join(ACCEPTED[called])}); "
                f"the columns found are {listed(found)}: name it with columns={{{name!r}: ...}} "
                f"(in the project file too){rank}"
            )
    for name, column in chosen.items():
        if list(found).count(column) > 1:
            raise DataError(f"{source}: there are several columns {column!r} (the {name})")
    return chosen


def resolve_documents(found: Sequence[str], columns: Mapping[str, str] | None, source: str) -> dict[str, str]:
    """The columns ``id``, ``text`` and, if there is one, ``title``. The first accepted name wins. Who names
    the text gets the text and nothing else, and a title is the text where there is no other.

    >>> resolve_documents(["_id", "title", "text"], None, "corpus.jsonl")
    {'id': '_id', 'text': 'text', 'title': 'title'}
    """
    named = one_document_role(columns or {}, _DOCUMENT_ROLES)
    title = Role("title", optional=True)
    roles = [Role("id"), Role("text"), *([title] if "title" in named or "text" not in named else [])]
    titles = candidates(found, "title")
    if titles and not {"text", "title"} & set(named) and not candidates(found, "text"):
        roles = [Role("id"), Role("text", called="title")]
    return resolve(found, roles, columns, source, first=True)


def score_role(found: Sequence[str], columns: Mapping[str, str] | None) -> list[str]:
    """The roles that order a run here: a score, a rank, both, or none.

    >>> score_role(["query", "document", "Position"], None), score_role(["position", "score"], None)
    (['rank'], ['score'])
    """
    given = columns or {}
    has_score = "score" in given or bool(candidates(found, "score"))
    # beside a score, a position may be anything
    has_rank = "rank" in given or "rank" in found or (not has_score and bool(candidates(found, "rank")))
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

    source = as_source(path)
    if guess_format(path) != "tsv" or not Path(path).is_file() or source is None:
        return True
    first = next(source.blocks(1 << 16), b"").partition(b"\n")[0].decode("utf-8-sig", "replace")
    return any(name in first.rstrip("\r").split("\t") for name in columns.values())


def _given(
    columns: Mapping[str, str] | None, found: Sequence[str], wanted: Sequence[str], source: str
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
        usual = [other for other in ACCEPTED[role] if other in found]
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
