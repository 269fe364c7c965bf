"""The collections that ``debias.py`` measures on: texts, vectors of MiniLM, word counts and judgements."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import evenrank as er
from evenrank.arrays import Floats
from evenrank.erasure.encoding import encode_documents

Vectors = npt.NDArray[np.float32]
Texts = dict[str, str]


@dataclass(frozen=True)
class Collection:
    """Documents with their vectors and word counts."""

    texts: Texts
    vectors: Vectors
    words: er.WordCounts

    @property
    def ids(self) -> list[str]:
        return list(self.texts)


@dataclass(frozen=True)
class QuerySet:
    """Queries with their vectors, the collection that they search, and judgements where there are some."""

    texts: Texts
    vectors: Vectors
    collection: Collection
    qrels: er.Qrels | None = None


@dataclass(frozen=True)
class Versions:
    """Grep-BiasIR: the same document about a man, a woman and nobody, relevant and not."""

    collection: Collection
    queries: list[str]
    query_vectors: Vectors  # (Q, D)
    places: npt.NDArray[np.int64]  # (Q, 2, 3): rows of relevant and other documents, of men, women, nobody


def encoded(texts: Texts, cache: Path) -> Vectors:
    source = encode_documents("minilm", texts, cache=cache)
    return np.concatenate([block.vectors for block in source.blocks()]).astype(np.float32)


def collection(texts: Texts, lexicon: er.Lexicon, cache: Path) -> Collection:
    return Collection(texts, encoded(texts, cache), er.scan(texts, lexicon, terms=True))


def read_lines(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("\t")


def passages(shared: Path) -> Texts:
    return {line[0]: "\t".join(line[1:]) for line in read_lines(shared / "msmarco_trecdl/passages.tsv")}


def query_sets(shared: Path, found: Collection, cache: Path) -> dict[str, QuerySet]:
    """DL19, DL20, the 1,765 queries without gender, and the 215 of them whose answers should be fair."""
    folder = shared / "msmarco_trecdl"
    texts: dict[str, Texts] = {"dl19": {}, "dl20": {}}
    for year, query, text in read_lines(folder / "queries.tsv"):
        texts[year][query] = text
    texts["QS1"] = {line[0]: line[1] for line in read_lines(folder / "queries_QS1_1765_neutral.tsv")}
    texts["215"] = {line[0]: line[1] for line in read_lines(folder / "msmarco_passage.dev.fair.tsv")}
    made = {}
    for name, asked in texts.items():
        path = folder / f"qrels.{name}-passage.txt"
        qrels = er.read_qrels(path) if path.is_file() else None
        made[name] = QuerySet(asked, encoded(asked, cache), found, qrels)
    return made


_WHOLE = 370  # up to here the articles of TIME stand where the judgements have them


def time_texts(shared: Path) -> tuple[Texts, Texts, list[tuple[str, str]]]:
    """The 423 articles and 83 queries of TIME, 1963, and the relevant pairs of query and article."""
    folder = shared / "classic_ir/time"
    raw = {name: (folder / f"TIME.{name}").read_text(encoding="latin-1") for name in ("ALL", "QUE", "REL")}
    articles = re.split(r"^\*(?:TEXT|STOP).*$", raw["ALL"], flags=re.M)[1:]
    articles = [" ".join(text.split()) for text in articles if text.strip()]
    asked = re.split(r"^\*FIND\s+(\d+)\s*$", raw["QUE"], flags=re.M)
    queries = {
        number: " ".join(text.split()).removesuffix("*STOP").strip()
        for number, text in zip(asked[1::2], asked[2::2], strict=True)
    }
    rows = [line.split() for line in raw["REL"].splitlines() if line.strip()]
    texts = {f"t{place}": text for place, text in enumerate(articles, 1)}
    judged = dict.fromkeys((row[0], f"t{_place(int(number))}") for row in rows for number in row[1:])
    unknown = [pair for pair in judged if pair[1] not in texts]
    if unknown:
        raise ValueError(f"TIME: judgements of articles that are not there: {unknown[:3]}")
    return texts, queries, list(judged)


def _place(number: int) -> int:
    """The judgements count 425 articles, and the file has 423: two are missing between 371 and 379, where
    nothing is judged. BM25 finds judged articles at their number up to 370, and two before it from 380 on."""
    return number if number <= _WHOLE else number - 2


def time_set(shared: Path, lexicon: er.Lexicon, cache: Path) -> QuerySet:
    texts, queries, judged = time_texts(shared)
    found = collection(texts, lexicon, cache)
    qrels = er.Qrels.build([query for query, _ in judged], [doc for _, doc in judged], [1] * len(judged))
    return QuerySet(queries, encoded(queries, cache), found, qrels)


def grep_versions(shared: Path, lexicon: er.Lexicon, cache: Path) -> Versions:
    rows: list[dict[str, str]] = []
    for path in sorted((shared / "grepbiasir").glob("queries-documents_*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows += csv.DictReader(file)
    texts = {row["d_id"]: f"{row['doc_title']} {row['document']}" for row in rows}
    found = collection(texts, lexicon, cache)
    at = {document: place for place, document in enumerate(texts)}
    cells: dict[str, dict[tuple[str, str], int]] = {}
    asked = {}
    for row in rows:
        cells.setdefault(row["q_id"], {})[row["relevant"], row["content_gender"].strip()] = at[row["d_id"]]
        asked[row["q_id"]] = row["query"]
    keys = [[(relevant, kind) for kind in "MFN"] for relevant in "10"]
    whole = [query for query in cells if all(key in cells[query] for line in keys for key in line)]
    places = np.array([[[cells[query][key] for key in line] for line in keys] for query in whole])
    return Versions(found, whole, encoded({query: asked[query] for query in whole}, cache), places)


def halves(lexicon: er.Lexicon, seed: int) -> tuple[er.Lexicon, er.Lexicon]:
    """The word list cut in two at random, each half with words of every group."""
    generator = np.random.default_rng([21, seed])
    parts: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    owners = np.array(lexicon.term_groups)
    for place, group in enumerate(lexicon.groups):
        own = generator.permutation([lexicon.terms[at] for at in np.flatnonzero(owners == place)]).tolist()
        for part, chosen in zip(parts, (own[: len(own) // 2], own[len(own) // 2 :]), strict=True):
            part[group] = chosen
    seen, unseen = (er.Lexicon.build(name, part) for name, part in zip(("A", "B"), parts, strict=True))
    return seen, unseen


def names_of(shared: Path, lexicon: er.Lexicon, texts: Texts) -> er.Lexicon:
    """First names, of which the word list has none. Those that stand in small letters more often than not,
    as ``will`` and ``may`` do, are words."""
    pairs = json.loads((shared / "gender_lexicons/cds_names_pairs_1000_scaled.json").read_text())
    wanted = {name.lower() for pair in pairs for name in pair}
    small, large = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, 0)
    for text in texts.values():
        for word in re.findall(r"[A-Za-z]+", text):
            low = word.lower()
            if low in wanted:
                (small if word[0].islower() else large)[low] += 1
    own = set(lexicon.terms)
    men, women = (
        [name.lower() for name in side if large[name.lower()] > small[name.lower()]]
        for side in zip(*pairs, strict=True)
    )
    both = set(men) & set(women)
    parts = {"m": men, "f": women}
    return er.Lexicon.build(
        "names",
        {group: sorted(set(parts[group]) - own - both) for group in lexicon.groups},
    )


def weights_of(words: er.WordCounts) -> Floats:
    """(N,): the neutrality of every document."""
    from evenrank.measures.neutrality import neutrality

    counts = words.counts.astype(float)
    return neutrality(counts, np.array(words.lexicon.targets), 1, words.tokens.astype(float))
