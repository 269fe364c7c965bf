"""What groups say of single documents, asked as users ask: by a list that holds nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from evenrank import Membership, evaluate


def shares_of(groups: Membership, pairs: Sequence[tuple[str, str]]) -> list[list[float] | None]:
    """The shares of each (query, document), which are all different; None for one that is not listed."""
    lists: dict[str, list[str]] = {}
    for query, document in pairs:
        lists.setdefault(query, []).append(document)
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for query, documents in lists.items():
        for place, document in enumerate(documents):
            runs.setdefault(str(place), {})[query] = {document: 1.0}
    found = {}
    scores = evaluate(runs, f"GroupShare(attr='{groups.attribute.name}')@1", groups=groups)
    for name, values in scores.to_dict().items():
        for query, own in runs[name].items():
            (document,) = own
            row = [column.get(query) for column in values.values()]
            found[query, document] = None if any(one is None or one != one for one in row) else row
    return [found[pair] for pair in pairs]


def of_documents(groups: Membership, *documents: str) -> list[list[float] | None]:
    """The shares of documents, whatever the query."""
    return shares_of(groups, [(f"q{place}", document) for place, document in enumerate(documents)])
