"""Systems and erasers as candidates of ``evenrank select``: their runs, their rows, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
from toy_encoder import ToyModel, model_folder, takes_the_place_of_the_library

import evenrank as er
from evenrank import Inputs, Run
from evenrank.comparison.candidates import candidates
from evenrank.erasure import Eraser
from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.systems import BM25, Dense
from evenrank.systems.candidate_runs import with_systems

pytestmark = pytest.mark.needs("bm25s")

Evenrank = Callable[..., Any]
SUBJECTS = ("nurse", "bridge", "river", "night")
DOCUMENTS = {
    f"d{place}": f"{'the' if place % 3 else 'she'} {SUBJECTS[place % 4]} {SUBJECTS[place // 4 % 4]} {place}"
    for place in range(48)
}
QUERIES = {"q1": "nurse night", "q2": "bridge", "q3": "river"}
BASELINE = "".join(
    f"{query} Q0 d{place} {rank} {9 - rank} x\n"
    for query, places in (("q1", (0, 3, 7, 4)), ("q2", (1, 5, 9)))
    for rank, place in enumerate(places, 1)
)
MEASURES = ("--fairness", "NFaiRR@3", "--relevance", "nDCG@3:loss=1")
TEXTS = ("--documents", "docs.tsv", "--queries", "queries.tsv")


def letters(texts: Sequence[str]) -> np.ndarray:
    return np.array([[1.0 + text.count(letter) for letter in "abdeghinrstuv"] for text in texts])


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def encoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A folder with a collection, a run, and a model called toy; every text that the model has encoded."""
    monkeypatch.chdir(tmp_path)
    Path("docs.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in DOCUMENTS.items()))
    Path("queries.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in QUERIES.items()))
    Path("base.trec").write_text(BASELINE)
    Path("qrels.txt").write_text("q1 0 d0 1\nq1 0 d15 2\nq2 0 d5 1\n")
    er.scan(list(DOCUMENTS.items()), "gender-en", "counts.parquet")
    model_folder(Path("toy"))
    takes_the_place_of_the_library(monkeypatch, model := ToyModel(letters))
    return model.texts


def made_eraser(path: str, encoder: str | None = "toy") -> Eraser:
    Path(path).parent.mkdir(exist_ok=True)
    labels = ["she" in text for text in DOCUMENTS.values()]
    eraser = Eraser.fit(unit(letters(list(DOCUMENTS.values()))), np.array(labels), encoder=encoder)
    eraser.save(path)
    return eraser


def inputs(**known: Any) -> Inputs:
    given = {"documents": DOCUMENTS, "query_texts": QUERIES, "qrels": "qrels.txt", "words": "counts.parquet"}
    return Inputs.of({"base": er.read_run("base.trec")}, **{**given, **known})


def retrieved(system: Any, depth: int = 4) -> Run:
    system.index(DOCUMENTS)
    run: Run = system.retrieve({query: QUERIES[query] for query in ("q1", "q2")}, depth)
    return run


def rows_of(outcome: Any) -> dict[str, dict[str, Any]]:
    assert outcome.code == 0, outcome.err
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    return {row["candidate"]: row for row in rows}


def select(evenrank: Evenrank, *candidates: str, texts: Sequence[str] = TEXTS) -> Any:
    known = ("--qrels", "qrels.txt", "--words", "counts.parquet", "--format", "jsonl")
    return evenrank("select", *candidates, *known, *MEASURES, *texts)


def test_a_system_searches_for_the_queries_of_the_baseline_as_deep_as_it(encoded: list[str]) -> None:
    found = with_systems(inputs(), ["BM25", "BM25(k1=0.9)@2", "bm25"])
    assert list(found.inputs.runs) == ["base", "BM25", "BM25(k1=0.9)@2", "bm25"]
    assert found.inputs.runs["BM25"].has_same_lists(retrieved(BM25()))
    assert found.inputs.runs["BM25"].depth == 4
    assert found.inputs.runs["BM25(k1=0.9)@2"].has_same_lists(retrieved(BM25(0.9), 2))
    assert found.made["bm25"] == ("BM25", "lexical")
    assert found.inputs.background is found.inputs.runs["base"]  # it was the only run
    assert re.findall(r"\b\d\b", found.notes[0]) == ["2", "4"]
    one = with_systems(inputs(queries=["q2"]), ["BM25"])  # others are not scored
    assert list(one.inputs.runs["BM25"].query_ids) == ["q2"]


def test_an_eraser_is_a_search_with_the_encoder_that_its_file_names(encoded: list[str]) -> None:
    eraser = made_eraser("gender.safetensors")
    found = with_systems(inputs(), ["gender.safetensors", "Dense(model='toy')"])
    expected = retrieved(Dense(letters, eraser=eraser))
    assert found.inputs.runs["gender"].has_same_lists(expected)
    assert found.inputs.runs["Dense(model='toy')"].has_same_lists(retrieved(Dense(letters)))
    assert not expected.has_same_lists(retrieved(Dense(letters)))
    table = candidates(
        found.inputs, ["Penalty(lam=0.5)"], fairness="NFaiRR@3", relevance="nDCG@3", loss=1,
        systems=found.made,
    )  # fmt: skip
    assert [(row.name, row.query_time, row.needs) for row in table.rows] == [
        ("base", "that of the run", "a run"),
        ("gender", "a search by a dense system", "vectors, labels of documents"),
        ("Dense(model='toy')", "a search by a dense system", "an index"),
        ("Penalty(lam=0.5)", "a sort of each list", "the scores of the run, counts at index time"),
    ]


@pytest.mark.parametrize("own", ["cosine", "dot"])
def test_an_eraser_is_searched_by_the_similarity_of_its_model(
    evenrank: Evenrank, encoded: list[str], own: str
) -> None:
    """A model that compares by dot product is not searched by cosine unless somebody says so."""
    made_eraser("gender.safetensors")
    compared = json.dumps({"similarity_fn_name": own})
    Path("toy/config_sentence_transformers.json").write_text(compared)
    if own == "dot":
        with pytest.raises(ParameterError, match="dot"):
            with_systems(inputs(), ["gender.safetensors"])
        assert encoded == []
    else:
        assert with_systems(inputs(), ["gender.safetensors"]).notes[0].endswith("cosine")
    said = "Dense(model='toy',similarity='cosine',eraser='gender.safetensors')"
    found = with_systems(inputs(), [said, "Dense(model='toy')"])
    assert [note.rpartition(" ")[2] for note in found.notes if note.startswith("Dense")] == ["cosine", own]


def test_the_folder_of_the_encoder_is_known_by_its_weights(encoded: list[str]) -> None:
    made_eraser("elsewhere/gender.safetensors")
    Path("toy").rename("elsewhere/toy")
    model_folder(Path("toy"), weight=2.0)  # another model of the same name
    found = with_systems(inputs(), ["elsewhere/gender.safetensors"])
    assert found.made["gender"][0].startswith(f"Dense(model='{Path('elsewhere/toy').absolute()}'")
    Path("elsewhere/toy").rename("elsewhere/other")
    with pytest.raises(ParameterError, match=r"toy"):
        with_systems(inputs(), ["elsewhere/gender.safetensors"])


def test_what_a_file_of_tensors_must_be(encoded: list[str]) -> None:
    made_eraser("vectors.safetensors", encoder=None)
    with pytest.raises(ParameterError, match=r"Dense\(model='ENCODER',eraser='vectors\.safetensors'\)"):
        with_systems(inputs(), ["vectors.safetensors"])
    Path("broken.safetensors").write_bytes(b"x")
    for name in ("toy/model.safetensors", "broken.safetensors", "none.safetensors"):
        with pytest.raises(DataError, match=re.escape(name)):
            with_systems(inputs(), [name])


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"documents": None}, "BM25.*documents="),
        ({"query_texts": None}, r"base: 2 .*q1.*query_texts="),
        ({"query_texts": {"q1": "nurse"}}, r"base: 1 .*q2"),
        ({"documents": {"x": "nurse"}}, r"base: .*'d0', 'd3'"),
    ],
)
def test_what_a_search_needs(encoded: list[str], known: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, ParameterError), match=message):
        with_systems(inputs(**known), ["BM25"])


def test_names_and_runs_that_cannot_be(encoded: list[str]) -> None:
    with pytest.raises(ParameterError, match="'BM25'"):
        with_systems(inputs(), ["BM25", "BM25"])
    with pytest.raises(ParameterError, match=r"'x'.*base, BM25"):
        with_systems(inputs(), ["BM25"], baseline="x")
    several = Inputs.of({"draws": er.RunSet.build([er.read_run("base.trec")] * 2)})
    with pytest.raises(InputTypeError, match="one ranking"):
        with_systems(several, ["BM25"])


def test_the_command_takes_systems_and_erasers(evenrank: Evenrank, encoded: list[str]) -> None:
    made_eraser("gender.safetensors")
    assert evenrank("retrieve", "BM25@4", *TEXTS, "-o", "runs/written.trec").code == 0
    outcome = select(
        evenrank, "base.trec", "runs/written.trec", "BM25", "lexical=BM25(k1=0.9)@2", "Dense(model='toy')",
        "Dense(model='toy',eraser='gender.safetensors')", "own=gender.safetensors", "Penalty(lam=0.5)",
        texts=(*TEXTS, "--background", "base"),
    )  # fmt: skip
    rows = rows_of(outcome)
    assert list(rows) == [
        "base", "written", "BM25", "lexical", "Dense(model='toy')",
        "Dense(model='toy',eraser='gender.safetensors')", "own", "Penalty(lam=0.5)",
    ]  # fmt: skip
    numbers = ("NFaiRR@3", "nDCG@3", "gain", "change", "query time", "needs")
    same = (("written", "BM25"), ("own", "Dense(model='toy',eraser='gender.safetensors')"))
    for one, other in same:
        assert [rows[one][key] for key in numbers] == [rows[other][key] for key in numbers]
    assert rows["own"]["needs"] == "vectors, labels of documents"
    assert rows["lexical"]["query time"] == "a search by a lexical system"
    assert "lexical (lexical): 2 lists of up to 2 documents" in outcome.err
    assert len(encoded) == len(set(encoded)) == len(DOCUMENTS) + 2  # three searches, each text once
    assert not Path("retrieve-cache").exists()


def test_braces_and_a_system_as_the_baseline(evenrank: Evenrank, encoded: list[str]) -> None:
    given = ("base.trec", "BM25(k1={0.9,2})", "Dense(model='toy')")
    rows = rows_of(select(evenrank, *given, texts=(*TEXTS, "--baseline", "Dense(model='toy')")))
    assert list(rows) == ["Dense(model='toy')", "base", "BM25(k1=0.9)", "BM25(k1=2)"]
    named = select(evenrank, "base.trec", "lexical=BM25(k1={0.9,2})")
    assert (named.code, "lexical" in named.err) == (2, True)


def test_evidence_that_lacks_is_said_before_the_search(evenrank: Evenrank, encoded: list[str]) -> None:
    outcome = evenrank("select", "base.trec", "Dense(model='toy')", "--qrels", "qrels.txt", *MEASURES, *TEXTS)
    assert outcome.code in (1, 2)
    assert "NFaiRR@3" in outcome.err
    assert encoded == []


def test_a_file_that_is_called_as_a_system_is_a_run(evenrank: Evenrank, encoded: list[str]) -> None:
    Path("BM25").write_text(BASELINE)
    rows = rows_of(select(evenrank, "base.trec", "BM25", texts=("--background", "base")))
    assert rows["BM25"]["query time"] == "that of the run"


def test_vectors_that_retrieve_kept_are_used(evenrank: Evenrank, encoded: list[str]) -> None:
    assert evenrank("retrieve", "Dense(model='toy')", *TEXTS, "-o", "dense.trec").code == 0
    before = len(encoded)
    rows_of(select(evenrank, "base.trec", "Dense(model='toy')"))
    assert len(encoded) == before


def test_systems_of_the_project_file_and_its_runs(evenrank: Evenrank, encoded: list[str]) -> None:
    made_eraser("gender.safetensors")
    Path("evenrank.toml").write_text(
        '[data]\ndocuments = "docs.tsv"\nqueries = "queries.tsv"\nruns = { bm25 = "base.trec" }\n'
        "[systems]\nbm26 = \"Dense(model='toy',eraser='gender.safetensors')\"\n"
    )
    outcome = select(evenrank, "bm25", "bm26", texts=())  # the run of that name is no search
    assert {name: row["needs"] for name, row in rows_of(outcome).items()} == {
        "bm25": "a run", "bm26": "vectors, labels of documents",
    }  # fmt: skip
    assert "bm26 (dense): 2 lists of up to 4 documents" in outcome.err


@pytest.mark.parametrize(
    ("given", "texts", "named"),
    [
        (["BM25"], TEXTS, "BM25"),
        (["base.trec", "BM25"], (), "--documents"),
        (["base.trec", "gender.safetensors"], TEXTS[:2], "--queries"),
        (["base.trec", "Dense(model='toy')"], TEXTS[2:], "--documents"),
        (["base.trec", "BM25"], (*TEXTS[:2], "--queries", "ids.txt"), "--queries"),
        (["base.trec", "gender.safetensors:format=csv"], TEXTS, "format = "),
        (["base.trec", "toy/model.safetensors"], TEXTS, "toy/model.safetensors"),
        (["base.trec", "Dens(model='toy')"], TEXTS, "'Dens'"),
        (["base.trec", "Dense(model='none')"], TEXTS, "none"),
        (["base.trec", "Dense(modell='toy')"], TEXTS, "'modell'"),
        (["base.trec", "nothing"], TEXTS, "nothing"),
    ],
)
def test_what_the_command_refuses(
    evenrank: Evenrank, encoded: list[str], given: list[str], texts: Sequence[str], named: str
) -> None:
    made_eraser("gender.safetensors")
    Path("ids.txt").write_text("q1\nq2\n")
    outcome = select(evenrank, *given, texts=texts)
    assert outcome.code in (1, 2)
    assert named in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert encoded == []  # nothing was searched


@pytest.mark.needs("sentence_transformers")
@pytest.mark.slow  # the libraries of models take seconds to load
def test_an_eraser_that_debias_wrote(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in DOCUMENTS.items()))
    Path("queries.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in QUERIES.items()))
    Path("base.trec").write_text(BASELINE)
    Path("qrels.txt").write_text("q1 0 d0 1\nq1 0 d15 2\nq2 0 d5 1\n")
    er.scan(list(DOCUMENTS.items()), "gender-en", "counts.parquet")
    tiny_models.encoder(tmp_path / "tiny")
    written = evenrank("debias", "erase", "tiny", "--documents", "docs.tsv", "-o", "gender.safetensors")
    assert written.code == 0, written.err
    system = "Dense(model='tiny',eraser='gender.safetensors')@4"
    assert evenrank("retrieve", system, *TEXTS, "-o", "erased.trec").code == 0
    outcome = select(
        evenrank, "base.trec", "erased.trec", "gender.safetensors", texts=(*TEXTS, "--background", "base")
    )
    rows = rows_of(outcome)
    for key in ("NFaiRR@3", "nDCG@3", "needs", "query time"):
        assert rows["gender"][key] == rows["erased"][key]
