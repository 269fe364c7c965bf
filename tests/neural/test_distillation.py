"""Rankers that keep a teacher's order, without judgements, while an adversary looks on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evenrank import Inputs
from evenrank.errors import DataError, ParameterError, UnknownNameError
from evenrank.inputs.sections import Training
from evenrank.neural import (
    BiEncoderRanker,
    CrossEncoderRanker,
    PairLabels,
    Stage,
    Trainer,
    load_ranker,
    make_config,
    train,
)
from evenrank.neural.adversaries import Adversaries
from evenrank.neural.lists import ListSizes, draw_lists
from evenrank.neural.losses import distillation_loss
from evenrank.neural.objectives import DistillationObjective
from evenrank.neural.sampling import paper_balanced, value_weights
from evenrank.neural.scorer import RankerScorer
from evenrank.neural.teacher import Teacher, read_teacher

pytestmark = pytest.mark.needs("torch", "transformers")

VALUES = {"kin": ("neutral", "biased")}


@pytest.fixture
def content(checkpoint: Path, tmp_path: Path) -> dict[str, Any]:
    """Half a minute of training in a second."""
    lexicon = tmp_path / "kin.json"
    lexicon.write_text(
        json.dumps({"name": "kin", "groups": {"male": ["he", "his"], "female": ["she", "her"]}})
    )
    return {
        "attributes": [{"name": "kin", "lexicon": str(lexicon), "tau": 0}],
        "model": {"encoder": str(checkpoint), "kind": "bi-encoder", "loss": "distillation", "max_length": 24},
        "distil": {"teacher": str(checkpoint), "depth": 10, "documents": 4, "lists": 2},
        "training": {"device": "cpu", "batch": 8, "save_seconds": 0},
        "examples": {"validation": 0.25},
        "tune": {"epochs": 0},
        "adversary": {"epochs": 1, "dropout": 0.3, "weight_decay": 0.3, "steps": 2},
        "joint": {"strengths": [1.0], "epochs": 2, "checkpoints": 2, "ceiling": 1.5},
    }


def slow_vector(ranker: BiEncoderRanker, text: str) -> Any:
    """One text, no padding: the mean over its tokens, of length 1."""
    given = ranker.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        mean = ranker.encoder(**given).last_hidden_state[0].mean(dim=0)
    return (mean / mean.norm()).numpy()


def test_a_bi_encoder_scores_pairs_by_the_cosine_of_their_means(checkpoint: Path) -> None:
    ranker = BiEncoderRanker.start(str(checkpoint), VALUES, max_length=24).eval()
    queries, texts = ["moon", "star river", "moon"], ["the moon of bread", "she her his", "river"]
    found = RankerScorer(ranker).score(queries, texts)
    expected = [
        float(slow_vector(ranker, query) @ slow_vector(ranker, text))
        for query, text in zip(queries, texts, strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-5)
    assert found.std() > 1e-3


@pytest.mark.needs("sentence_transformers")
def test_the_folder_of_a_bi_encoder_is_read_by_sentence_transformers(
    checkpoint: Path, tmp_path: Path
) -> None:
    import sentence_transformers as library

    ranker = BiEncoderRanker.start(str(checkpoint), VALUES, max_length=24).eval()
    ranker.save(tmp_path / "ranker")
    model = library.SentenceTransformer(str(tmp_path / "ranker"), device="cpu", local_files_only=True)
    texts = ["moon", "the river of bread and music"]
    assert model.encode(texts) == pytest.approx(
        np.stack([slow_vector(ranker, text) for text in texts]), abs=1e-5
    )
    again = load_ranker(tmp_path / "ranker")
    assert isinstance(again, BiEncoderRanker)
    assert RankerScorer(again).score(["moon"], ["star"]) == RankerScorer(ranker).score(["moon"], ["star"])
    with pytest.raises(DataError, match="holds a bi-encoder, not a cross-encoder"):
        CrossEncoderRanker.load(tmp_path / "ranker")


def test_the_loss_is_the_divergence_from_the_teacher() -> None:
    student, teacher = (
        np.array([[1.0, 2.0, 0.5], [0.0, 0.0, 3.0]]),
        np.array([[0.2, 2.0, 1.0], [1.0, 2.0, 3.0]]),
    )
    p = np.exp(teacher) / np.exp(teacher).sum(axis=1, keepdims=True)
    q = np.exp(student) / np.exp(student).sum(axis=1, keepdims=True)
    found = distillation_loss(torch.tensor(student), torch.tensor(teacher)).item()
    assert found == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-5)


@pytest.mark.parametrize("kind", [BiEncoderRanker, CrossEncoderRanker])
def test_what_is_distilled(kind: Any, checkpoint: Path) -> None:
    """A bi-encoder over all documents of the batch, each once; a cross-encoder over those of the list."""
    generator = np.random.default_rng(1)
    queries, documents = (generator.normal(size=(n, 16)).astype(np.float32) for n in (2, 5))
    queries, documents = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (queries, documents))
    first = np.array([[0, 1, 2, 3], [4, 3, 2, 1]])
    texts = ["moon", "star", "river bread", "his music", "paper"]
    examples = draw_lists(
        first, ["u", "v"], ["moon", "garden"], texts, np.zeros(5, bool), ListSizes(4, 3, 1), seed=2
    )
    ranker = kind.start(str(checkpoint), {}, loss="distillation", max_length=24).eval()
    rows = examples.triples
    batch = ranker.batches(examples.texts, len(examples.pair_queries)).batch(rows.T.ravel())
    with torch.no_grad():
        vectors = ranker.encode(batch)
        objective = DistillationObjective(Teacher(queries, documents), examples, 0.1, torch.device("cpu"))
        found = objective(ranker, vectors, rows).item()
        own = ranker.scores(vectors).numpy().reshape(3, 2).T  # (n, m)
    expected = 0.0
    for row, pairs in enumerate(rows):
        listed = examples.pair_documents[pairs]
        over = np.unique(examples.pair_documents[rows]) if kind is BiEncoderRanker else listed
        if kind is BiEncoderRanker:
            query = slow_vector(ranker, examples.query_texts[row])
            student = np.array([query @ slow_vector(ranker, texts[place]) for place in over]) / 0.1
        else:
            student = own[row]
        teacher = documents[over] @ queries[row] / 0.1
        p, q = (np.exp(x) / np.exp(x).sum() for x in (teacher, student))
        expected += float((p * np.log(p / q)).sum())
    assert found == pytest.approx(expected, rel=1e-3)


def test_lists_have_near_and_far_documents_and_a_marked_one() -> None:
    first = np.stack([np.random.default_rng(q).permutation(500)[:100] for q in range(30)])
    marked = np.zeros(500, dtype=bool)
    marked[first[0, 50]] = True  # one document; other queries may have it too
    examples = draw_lists(
        first, [f"q{n}" for n in range(30)], ["moon"] * 30, [f"text {n}" for n in range(500)], marked,
        ListSizes(100, 8, 4),
    )  # fmt: skip
    assert examples.triples.shape == (120, 8)
    for number, pairs in enumerate(examples.triples):
        query = number // 4
        assert set(examples.pair_queries[pairs].tolist()) == {query}
        listed = examples.pair_documents[pairs].tolist()
        assert set(listed[:3]) <= set(first[query, :20].tolist())
        assert set(listed[3:6]) <= set(first[query, 20:].tolist())
        assert len(set(listed[:6])) == 6
        if marked[first[query]].any():
            assert marked[listed].any()
    again = draw_lists(
        first, [f"q{n}" for n in range(30)], ["moon"] * 30, [f"text {n}" for n in range(500)], marked,
        ListSizes(100, 8, 4),
    )  # fmt: skip
    assert (again.triples == examples.triples).all()


def test_the_teacher_is_kept_and_not_asked_again(checkpoint: Path, tmp_path: Path, monkeypatch: Any) -> None:
    texts = ["moon", "star river"]
    made = read_teacher(
        str(checkpoint), ["moon"], texts, kept=tmp_path / "teacher.safetensors", max_length=24
    )
    ranker = BiEncoderRanker.start(str(checkpoint), {}, max_length=24).eval()
    assert made.documents == pytest.approx(np.stack([slow_vector(ranker, text) for text in texts]), abs=1e-5)
    assert made.first(1).tolist() == [[0]]
    monkeypatch.setattr(BiEncoderRanker, "text_vectors", None)
    again = read_teacher(
        str(checkpoint), ["moon"], texts, kept=tmp_path / "teacher.safetensors", max_length=24
    )
    assert (again.documents == made.documents).all()
    from transformers import BertModel

    moved = tmp_path / "moved"
    shutil.copytree(checkpoint, moved)
    kept = {"kept": tmp_path / "moved.safetensors", "max_length": 24}
    monkeypatch.undo()
    before = read_teacher(str(moved), ["moon"], texts, **kept)
    model = BertModel.from_pretrained(moved)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.mul_(-2)
    model.save_pretrained(moved)  # the folder has another model now
    after = read_teacher(str(moved), ["moon"], texts, **kept)
    assert not np.allclose(before.documents, after.documents)
    monkeypatch.setattr(BiEncoderRanker, "text_vectors", None)
    with pytest.raises(TypeError):  # other texts: it is asked
        read_teacher(str(checkpoint), ["star"], texts, kept=tmp_path / "teacher.safetensors", max_length=24)


def test_a_teacher_that_was_interrupted_goes_on_where_it_was(
    checkpoint: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    texts = ["moon", "star river", "river", "moon moon star", "stone"]
    monkeypatch.setattr("evenrank.neural.teacher.PIECE", 2)
    kept, seen = tmp_path / "teacher.safetensors", []

    def read(encoder: str = str(checkpoint), **options: Any) -> Teacher:
        return read_teacher(encoder, ["moon"], texts, max_length=24, **options)

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if done > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(kept=kept, progress=stop)
    assert not kept.exists()
    assert seen[0] == (2, 6)
    asked: list[int] = []
    whole = read()
    again = read(kept=kept, progress=lambda done, total: asked.append(done))
    assert min(asked) > 2  # the first piece was there
    assert (again.documents == whole.documents).all()
    assert (again.queries == whole.queries).all()
    assert {path.name for path in tmp_path.iterdir()} >= {"teacher.safetensors"}
    assert not list(tmp_path.glob("*.parts"))


def test_a_bi_encoder_is_trained_in_the_three_stages(
    content: dict[str, Any], planted: Any, tmp_path: Path
) -> None:
    """Without judgements; stopped after any step it ends with the same weights."""
    known = {"query_texts": planted.queries, "documents": planted.documents}
    heard: list[str] = []
    whole = train(make_config(content), tmp_path / "whole", say=heard.append, **known)
    assert [one.name for one in whole] == ["base", "lambda-1/checkpoint-01", "lambda-1/checkpoint-02"]
    assert any("12 lists of 6 queries, 4 for validation; kin:" in line for line in heard)
    base, last = (load_ranker(tmp_path / "whole" / one.name) for one in (whole[0], whole[-1]))
    assert isinstance(last, BiEncoderRanker)
    assert not torch.equal(next(base.encoder.parameters()), next(last.encoder.parameters()))

    class Stopped(Exception):
        pass

    for stop in (2, 4):

        def progress(step: int, steps: int, stop: int = stop) -> None:
            if step == stop:
                raise Stopped

        folder = tmp_path / f"stopped-{stop}"
        with pytest.raises(Stopped):
            train(make_config(content), folder, progress=progress, **known)
        train(make_config(content), folder, resume=True, **known)
        again = load_ranker(folder / whole[-1].name)
        for name, value in last.state_dict().items():
            assert torch.equal(value, again.state_dict()[name]), name


def test_a_teacher_that_pools_otherwise_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(checkpoint, folder)
    kind = "sentence_transformers.models."
    modules = [{"path": "", "type": f"{kind}Transformer"}, {"path": "1_Pooling", "type": f"{kind}Pooling"}]
    (folder / "1_Pooling").mkdir()
    for modes, more, refused in (
        ({"pooling_mode_mean_tokens": True}, [], None),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, [], "pooling by cls_token"),
        ({"pooling_mode": "mean"}, [{"path": "2_Dense", "type": f"{kind}Dense"}], "with Dense"),
    ):
        (folder / "modules.json").write_text(json.dumps([*modules, *more]))
        (folder / "1_Pooling/config.json").write_text(json.dumps(modes))
        if refused is None:
            read_teacher(str(folder), ["moon"], ["star"], max_length=24)
        else:
            with pytest.raises(DataError, match=refused):
                read_teacher(str(folder), ["moon"], ["star"], max_length=24)


def test_a_cross_encoder_learns_the_order_of_a_teacher(
    content: dict[str, Any], planted: Any, tmp_path: Path
) -> None:
    content["model"] |= {"kind": "cross-encoder"}
    content["tune"] = {"epochs": 60, "checkpoints": 2, "patience": 0}
    content["training"] |= {"learning_rate": 1e-3, "save_seconds": 1000}
    content["joint"]["epochs"] = 0
    train(make_config(content), tmp_path / "out", query_texts=planted.queries, documents=planted.documents)
    lines = [json.loads(line) for line in (tmp_path / "out/log/log.jsonl").read_text().splitlines()]
    losses = [line["utility"] for line in lines if "utility" in line]
    assert np.mean(losses[-3:]) < 0.5 * np.mean(losses[:3])


def test_adversaries_take_steps_of_their_own(checkpoint: Path) -> None:
    """They learn from vectors that stay, and the encoder does not move."""
    ranker = BiEncoderRanker.start(str(checkpoint), VALUES, max_length=24)
    ranker.dropout = 0.2
    labels = PairLabels("kin", VALUES["kin"], np.array([0, 1, 0, 1]))
    rows = np.array([[0, 1], [2, 3]])
    vectors = torch.nn.functional.normalize(
        torch.randn(4, 32, generator=torch.Generator().manual_seed(0)), dim=1
    )
    optimizer = torch.optim.AdamW(ranker.parameters(), lr=1e-2)
    before = {name: value.clone() for name, value in ranker.state_dict().items()}
    once = Adversaries({"kin": labels}, 1, False, ranker.device)
    once.catch_up(ranker, vectors, rows.T.ravel(), optimizer)
    assert all(torch.equal(value, before[name]) for name, value in ranker.state_dict().items())
    often = Adversaries({"kin": labels}, 40, False, ranker.device)
    often.catch_up(ranker, vectors, rows.T.ravel(), optimizer)
    moved = {
        name.partition(".")[0]
        for name, value in ranker.state_dict().items()
        if not torch.equal(value, before[name])
    }
    assert moved == {"adversaries"}
    ranker.eval()
    loss = often.losses(ranker, vectors, rows.T.ravel(), 0.0)["adversary kin"].item() / 4
    assert loss < 0.5 * np.log(2)


def test_nothing_is_reversed_above_the_ceiling(checkpoint: Path) -> None:
    ranker = BiEncoderRanker.start(str(checkpoint), VALUES, max_length=24).eval()
    labels = PairLabels("kin", VALUES["kin"], np.array([0, 1]))
    adversaries = Adversaries({"kin": labels}, 1, False, ranker.device)
    for ceiling, moves in ((None, True), (1e-6, False), (1e6, True)):
        vectors = torch.ones(2, 32, requires_grad=True)
        adversaries.losses(ranker, vectors, np.array([0, 1]), 2.0, ceiling)["adversary kin"].backward()
        assert bool(vectors.grad.abs().sum() > 0) is moves


def test_the_adversary_counts_the_same_for_lists_of_any_length(checkpoint: Path) -> None:
    """Its mean over the documents of a list stands beside the divergence of that list."""
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, loss="distillation", max_length=24).eval()
    labels = PairLabels("kin", VALUES["kin"], np.array([0, 1, 0, 0] * 3))
    texts = ranker.batches(lambda rows: (["moon"] * len(rows), ["star"] * len(rows)), 12)
    trainer = Trainer(
        ranker, texts, {"kin": labels}, Training(), objective=lambda ranker, vectors, rows: vectors.sum() * 0,
    )  # fmt: skip
    found = []
    for rows in (np.arange(4)[None, :], np.arange(12)[None, :]):  # the same labels, three times as often
        losses = trainer._losses(Stage("joint", rows, 1, strength=1.0), rows, trainer._vectors(rows))
        found.append(losses["adversary kin"].item())
    assert found[1] == pytest.approx(found[0], rel=1e-4)


def test_rare_values_weigh_more() -> None:
    labels = PairLabels("kin", VALUES["kin"], np.array([0, 0, 0, 1]))
    weights = value_weights(np.array([[0, 1], [2, 3]]), labels)
    assert weights.tolist() == pytest.approx([1 / 1.5, 2.0])


def test_the_balance_of_the_paper() -> None:
    """Every triple with a biased document, and as many others; two labels in one triple count as biased."""
    labels = {"kin": PairLabels("kin", VALUES["kin"], np.array([0, 1, 0, 0, 0, 0, 0, 0, 1]))}
    triples = np.array([[0, 1], [2, 3], [4, 5], [6, 7], [8, 2], [3, 4]])
    found = paper_balanced(triples, labels, np.random.default_rng(0))
    biased = [row for row in found.tolist() if row in ([0, 1], [8, 2])]
    assert (len(found), len(biased), len({tuple(row) for row in found.tolist()})) == (4, 2, 4)


def test_presets_of_the_paper() -> None:
    config = make_config({"preset": "advbert-L4", "joint": {"epochs": 1}})
    assert config.joint.strengths == (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    assert (config.joint.epochs, config.joint.checkpoints, config.model.layers) == (1.0, 20, 4)
    assert (config.examples.balance, config.evaluate.depth, config.tune.stop_on) == ("paper", 200, "RR@10")
    assert make_config({"preset": "advbert-L2"}).joint.strengths[0] == 0.1
    with pytest.raises(UnknownNameError, match="preset must be one of advbert-L2, advbert-L4, got 'L3'"):
        make_config({"preset": "L3"})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model": {"kind": "bi-encoder"}}, "set model.loss = 'distillation'"),
        ({"model": {"loss": "distillation"}, "examples": {"triples": "x"}}, "draws its own lists"),
        ({"model": {"loss": "distillation"}, "tune": {"stop_on": "RR@10"}}, "no judgements to measure"),
        ({"adversary": {"dropout": 1}}, "adversary.dropout: must be"),
        ({"distil": {"documents": 2}}, "documents: must be an integer >= 3"),  # two columns are a triple
    ],
)
def test_configurations_that_cannot_be(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        make_config(change)


def test_what_a_distillation_needs(content: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="needs texts of queries and documents"):
        train(make_config(content), tmp_path / "a", Inputs({}), documents={"d": "moon"})
    with pytest.raises(DataError, match="two with different texts"):
        train(make_config(content), tmp_path / "b", query_texts={"q": "moon"}, documents={"d": "x", "e": "x"})
    plain = {f"d{n}": text for n, text in enumerate(["moon star", "river", "bread", "music of stars"])}
    queries = {f"q{n}": word for n, word in enumerate(["moon", "river", "bread", "star"])}
    with pytest.raises(DataError, match="no training pair has the value 'biased'"):
        train(make_config(content), tmp_path / "c", query_texts=queries, documents=plain)


@pytest.mark.parametrize("stop_on", ["RR@10", "probe"])
def test_early_stopping_on_a_measure_and_on_the_probe(
    stop_on: str, checkpoint: Path, planted: Any, content: dict[str, Any], tmp_path: Path
) -> None:
    section = "tune" if stop_on != "probe" else "joint"
    config = {
        "attributes": content["attributes"],
        "model": {"encoder": str(checkpoint), "max_length": 24},
        "training": {"device": "cpu", "batch": 16, "learning_rate": 1e-9, "head_learning_rate": 1e-9},
        "examples": {"validation": 0.5},
        "tune": {"epochs": 0},
        "adversary": {"epochs": 0},
        "joint": {"epochs": 0},
    }
    config[section] = {"epochs": 5, "checkpoints": 5, "patience": 1, "stop_on": stop_on}
    if section == "joint":
        config["joint"]["strengths"] = [0]
    train(
        make_config(config), tmp_path / "out",
        qrels=planted.qrels, query_texts=planted.queries, documents=planted.documents,
    )  # fmt: skip
    lines = [json.loads(line) for line in (tmp_path / "out/log/log.jsonl").read_text().splitlines()]
    judged = [line[stop_on] for line in lines if stop_on in line]
    assert len(judged) == 2  # the second is no better, since nothing is learnt
    if stop_on != "probe":
        assert -1 <= judged[0] < 0
    else:
        assert 0 <= judged[0] <= 0.5
