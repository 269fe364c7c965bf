"""What every declared system keeps: adding a system file adds its tests."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_models

import evenrank as er
from evenrank import DataError, ParameterError
from evenrank.systems import all_systems, make_system, parse_system

pytestmark = pytest.mark.needs("bm25s")

# how a system is made here, where its defaults alone will not do; {folder} has what MADE makes
NEEDS = {
    "Splade": "Splade(model='{folder}/splade')",
    "UniCoil": "UniCoil(model='{folder}/unicoil')",
    "CrossEncoder": "CrossEncoder(model='{folder}/cross_encoder')",
    "Dense": "Dense(model='{folder}/encoder')",
    "LateInteraction": "LateInteraction(model='{folder}/encoder')",
    "RunFile": "RunFile(path='{folder}/first.trec')",
    "Engine": "Engine(address='{folder}/shop.db?table=docs')",
}
ELSEWHERE = {"Listwise", "Engine"}  # they ask a server: tests/systems/test_listwise.py, tests/engines
NAMES = list(all_systems())
RUNNING = [
    # the libraries of models take seconds to load
    pytest.param(name, marks=pytest.mark.slow) if cls.extra in ("embed", "nanoranker") else name
    for name, cls in all_systems().items()
    if name not in ELSEWHERE
]
MODELS = ("splade", "unicoil", "cross_encoder", "encoder")


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders that look like models: what they say they are, and the names of their weights."""
    numpy = pytest.importorskip("safetensors.numpy", reason="the extra [embed] is not installed")
    made = tmp_path_factory.mktemp("broken")
    kinds = {
        "encoder": ("BertModel", "embeddings.weight"), "empty": ("BertModel", None), "nothing": (None, None),
        "cross_encoder": ("BertForSequenceClassification", "classifier.weight"),
        "splade": ("BertForMaskedLM", "cls.predictions.bias"),
        "headless": ("BertForMaskedLM", "embeddings.weight"), "damaged": ("BertForMaskedLM", None),
    }  # fmt: skip
    for name, (kind, tensor) in kinds.items():
        (made / name).mkdir()
        if kind is not None:
            (made / name / "config.json").write_text(json.dumps({"architectures": [kind]}))
        if tensor is not None:
            numpy.save_file({tensor: np.zeros(2)}, made / name / "model.safetensors")
    (made / "damaged" / "model.safetensors").write_bytes(b"x" * 9)
    return made


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("systems")
    (made / "first.trec").write_text(
        "q1 0 d1 1 3 x\nq1 0 d4 2 2 x\nq1 0 d2 3 1 x\nq2 0 d3 1 2 x\nq2 0 d4 2 1 x\n"
    )
    return made


@pytest.fixture
def written(folder: Path) -> Callable[[str], str]:
    def text(name: str) -> str:
        extra = all_systems()[name].extra
        if extra == "embed":
            pytest.importorskip("sentence_transformers", reason="the extra [embed] is not installed")
            for model in MODELS:
                if f"{{folder}}/{model}'" in NEEDS[name] and not (folder / model).exists():
                    getattr(tiny_models, model)(folder / model)
        if extra in ("tantivy", "nanoranker") and importlib.util.find_spec(extra) is None:
            pytest.skip(f"the extra [{extra}] is not installed")
        return NEEDS.get(name, name).format(folder=folder)

    return text


@pytest.mark.parametrize("name", NAMES)
def test_a_system_is_what_its_name_says(name: str) -> None:
    cls = all_systems()[name]
    assert cls.__doc__
    assert parse_system(repr(cls())) == cls()
    assert parse_system(f"{cls()!r}@7").cutoff == 7
    assert hash(cls()) == hash(cls())


def test_the_guide_names_every_system_with_its_class() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "systems.md").read_text(encoding="utf-8")
    for name, cls in all_systems().items():
        if name != "RunFile":  # its class is that of the system that made it
            assert f"| {cls.family} | `{name}(" in guide, name


@pytest.mark.parametrize("name", RUNNING)
def test_what_a_run_of_a_system_is(
    name: str,
    written: Callable[[str], str],
    documents: dict[str, str],
    queries: dict[str, str],
    tmp_path: Path,
) -> None:
    """Lists of known documents, no longer than asked, by falling score; equal ones by id, descending."""
    system = make_system(written(name), cache=tmp_path)
    before = dict(documents), dict(queries)
    system.index(documents)
    run = system.retrieve(queries, 3)
    assert (documents, queries) == before
    assert set(run.query_ids) <= set(queries)
    for query, scored in run.to_dict().items():
        ranked = run.documents(query)
        assert 1 <= len(ranked) <= 3
        assert set(ranked) <= set(documents)
        assert np.isfinite(list(scored.values())).all()
        assert ranked == sorted(ranked, key=lambda one: (scored[one], one.encode()), reverse=True)
        shorter = system.retrieve({query: queries[query]}, 2)
        assert shorter.documents(query) == ranked[:2]  # alone or with others, and however deep
    again = make_system(written(name), cache=tmp_path)  # from what was kept
    again.index(dict(reversed(documents.items())))
    repeated = again.retrieve(queries, 3).to_dict()
    assert repeated.keys() == run.to_dict().keys()
    for query, scored in run.to_dict().items():
        assert repeated[query] == pytest.approx(scored, abs=1e-5)
        assert again.retrieve(queries, 3).documents(query) == run.documents(query)


@pytest.mark.parametrize("name", RUNNING)
def test_what_a_system_refuses(name: str, written: Callable[[str], str], documents: dict[str, str]) -> None:
    system = make_system(written(name))
    with pytest.raises(DataError, match="documents"):
        system.index({})
    if name != "RunFile":  # which needs no index
        with pytest.raises(ParameterError, match="index"):
            make_system(written(name)).retrieve({"q1": "nurse"})
    system.index(documents)
    with pytest.raises(DataError, match="queries"):
        system.retrieve({})
    with pytest.raises(ParameterError, match=r"\bk\b"):
        system.retrieve({"q1": "nurse"}, 0)


@pytest.mark.parametrize("name", RUNNING)
def test_an_empty_text_is_a_document_like_any_other(
    name: str, written: Callable[[str], str], documents: dict[str, str]
) -> None:
    system = make_system(written(name))
    system.index({**documents, "d9": ""})
    assert "d4" in system.retrieve({"q1": "nurse hospital"}, 10).documents("q1")


def test_the_systems_of_a_fusion_and_of_a_chain() -> None:
    term = parse_system("RRF(bm25,Dense(model=minilm)@50,k=10)>>Nanoranker(depth=5)@3")
    assert repr(term) == "Nanoranker(first=RRF(BM25,Dense@50,k=10.0),depth=5)@3"
    assert [part.name for part in term.walk()] == ["Nanoranker", "RRF", "BM25", "Dense"]
    assert parse_system(repr(term)) == term
    assert parse_system("bm25>>nanoranker", depth=100).depth == 100  # type: ignore[attr-defined]
    assert parse_system("bm25>>nanoranker:depth=7").depth == 7  # type: ignore[attr-defined]
    assert parse_system("RRF('bm25>>nanoranker',minilm)").parts[0].name == "Nanoranker"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("BM52", "'BM52'.*BM25"),
        ("Dense(modell=minilm)", "Dense.*'modell'.*model"),
        ("bm25>>CrossEncode(model=x)", "'CrossEncode'.*CrossEncoder"),
        ("BM25>>Dense", "Dense"),
        ("RRF(BM25)", "RRF.*systems"),
        ("BM25('x')", "BM25"),
        ("BM25(b=2)", r"BM25.*\bb\b"),
        ("RRF(BM25,BM25,systems=1)", "systems"),
        ("Nanoranker(first=7)", "Nanoranker.*first"),
        ("BM25@0", "BM25.*cutoff"),
    ],
)
def test_names_that_are_none(text: str, complaint: str) -> None:
    with pytest.raises(er.EvenrankError, match=complaint):
        parse_system(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Dense(model='{folder}/empty')", "empty"),
        ("Dense(model='{folder}/nothing')", r"config\.json"),
        ("Dense(model='{folder}/nowhere')", "nowhere"),
        ("Dense(model='{folder}/cross_encoder')", "CrossEncoder"),
        ("LateInteraction(model='{folder}/cross_encoder')", "cross_encoder"),
        ("CrossEncoder(model='{folder}/splade')", "Splade"),
        ("CrossEncoder", "model"),
        ("Splade(model='{folder}/encoder')", "BertModel"),
        ("Splade(model='{folder}/headless')", r"cls\.predictions"),
        ("UniCoil(model='{folder}/encoder')", r"tok_proj\.weight"),
        ("Splade", "model"),
        ("Splade(model='{folder}/damaged')", "damaged"),
        ("RunFile(path='{folder}/none.trec')", r"none\.trec"),
        ("Listwise(model=x)", "url="),
        ("Listwise(model=x,url='http://h/v1',window=5,step=6)", "step.*window"),
        ("Listwise(model=x,url='http://h/v1',key='HOME')", "EVENRANK_"),
        ("Engine", "address"),
    ],
)
def test_models_that_cannot_be_used(broken: Path, text: str, complaint: str) -> None:
    """Before any document is read, also deep within a chain."""
    with pytest.raises(er.EvenrankError, match=complaint):
        make_system(text.format(folder=broken))
    with pytest.raises(er.EvenrankError, match=complaint):
        make_system(f"RRF(BM25,{text.format(folder=broken)})")


def test_a_run_with_other_ids(folder: Path, documents: dict[str, str]) -> None:
    system = make_system(f"RRF(BM25,RunFile(path='{folder}/first.trec'))")
    with pytest.raises(DataError, match=r"\b2\b.*'d1', 'd2'"):
        system.index({key: text for key, text in documents.items() if key not in ("d1", "d2")})
    system.index(documents)
    with pytest.raises(DataError, match=r"'x'.*'q1', 'q2'"):
        system.retrieve({"x": "nurse"})
    assert system.retrieve({"q1": "bridges"}, 2).documents("q1")
