"""Which column of a table is what."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

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


def resolve(
    found: Sequence[str],
    wanted: Sequence[str],
    columns: Mapping[str, str] | None,
    source: str,
    *,
    names: Mapping[str, str] | None = None,
    optional: Sequence[str] = (),
    advice: str = "",
    shell: str = "--columns ",
) -> dict[str, str]:
    """The column of each role in ``wanted``; ``columns`` names those that are called otherwise, and ``names``
    says where a role has the names of another one, as queries that are users.

    >>> resolve(["qid", "docno", "sim"], ["query", "document", "score"], None, "run")
    {'query': 'qid', 'document': 'docno', 'score': 'sim'}

    A frame of PyTerrier has both ``qid`` and ``query`` (the text of it), ``docno`` and ``docid`` (a
    number inside its index); the pair ``qid``, ``docno`` decides. Judgements of BEIR call the grade
    ``score``.
    """
    given = _given(columns, found, wanted, source)
    if {"qid", "docno"} <= set(found):
        given = {"query": "qid", "document": "docno"} | given
    chosen: dict[str, str] = {}
    for role in wanted:
        if role in given:
            chosen[role] = given[role]
            continue
        called = (names or {}).get(role, role)
        there = candidates([name for name in found if name not in chosen.values()], called)
        if len(there) > 1:
            raise DataError(
                f"{source}: the {called} could be any of the columns {listed(there)}: "
                f"say which, columns={{{role!r}: {there[0]!r}}} ({shell}{role}={there[0]})"
            )
        if there:
            chosen[role] = there[0]
        elif role not in optional:
            rank = " (a rank will do: --columns rank=NAME)" if role == "score" else ""
            raise DataError(
                f"{source}: no column for the {called} (accepted: {', '.join(NAMES[called][0])}); "
                f"the columns found are {listed(found)}: name it with columns={{{role!r}: ...}}{rank}{advice}"
            )
    for role, name in chosen.items():
        if list(found).count(name) > 1:
            raise DataError(f"{source}: there are several columns {name!r} (the {role})")
    return chosen


def resolve_documents(found: Sequence[str], columns: Mapping[str, str] | None, source: str) -> dict[str, str]:
    """The columns ``id``, ``text`` and, if there is one, ``title``. The first accepted name wins.

    >>> resolve_documents(["_id", "title", "text"], None, "corpus.jsonl")
    {'id': '_id', 'text': 'text', 'title': 'title'}
    """
    given = _given(columns, found, _DOCUMENT_ROLES, source)
    chosen = dict(given)
    for role in _DOCUMENT_ROLES:
        name = next((name for name in (*ACCEPTED[role], *candidates(found, role)) if name in found), None)
        titles = [other for other in found if spelled(other) == "title"]
        if role == "text" and name is None and titles and "title" not in given:
            name = titles[0]  # all the text that there is
        if role == "title" and (name is None or "text" in given or chosen.get("text") == name):
            continue  # who names the text gets the text and nothing else
        if role not in chosen and name is None:
            raise DataError(
                f"{source}: no column for the {role} (accepted: {', '.join(ACCEPTED[role])}); "
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

    if guess_format(path) != "tsv" or not Path(path).is_file():
        return True
    source = as_source(path)
    block = b"" if source is None else next(iter(source.blocks(1 << 16)), b"")
    first = block.partition(b"\n")[0].decode("utf-8-sig", "replace").rstrip("\r").split("\t")
    return any(name in first for name in columns.values())


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
