"""Names of models and engines that people write as systems, and the system that runs each of them."""

from __future__ import annotations

from collections.abc import Mapping

FOLDER = "(model='FOLDER') with the folder of the model"
DENSE, CROSS = f"Dense{FOLDER}", f"CrossEncoder{FOLDER}"
LATE = "LateInteraction(model=minilm), or with the folder of another model"
LISTWISE = "Listwise(url='http://../v1',model='NAME')"
ENGINE = "Engine(address='..')"

SEARCH: Mapping[str, str] = {
    **dict.fromkeys(("mpnet", "e5", "bge", "gte", "contriever", "tasb", "ance", "dpr", "sbert"), DENSE),
    **dict.fromkeys(("maxsim", "colbert", "colbertv2"), LATE),
    **dict.fromkeys(("opensearch", "elasticsearch", "solr", "vespa"), ENGINE),
    "minilm": "Dense(model=minilm), or with the folder of another model",
    "lucene": "Tantivy, a library that works as Lucene does",
}
RERANK: Mapping[str, str] = {
    **dict.fromkeys(("monot5", "monobert", "minilm", "electra"), CROSS),
    **dict.fromkeys(("rankgpt", "rankzephyr", "rankvicuna", "llm", "gpt"), LISTWISE),
}


def way_to_write(name: str, *, second: bool) -> str | None:
    """How to write a system that is known by this name; ``second`` where it re-ranks behind ``>>``.

    >>> way_to_write("all-mpnet-base-v2", second=False)
    "Dense(model='FOLDER') with the folder of the model"
    """
    words = name.lower().replace("_", "-").split("-")
    tables = (RERANK,) if second else (SEARCH, RERANK)
    found = (table[word] for table in tables for word in ("".join(words), *words) if word in table)
    return next(found, None)
