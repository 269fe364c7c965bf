"""What rankers learn from: triples, labels, balance, folds, and texts without the words of groups."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenrank import DataError, EvenrankWarning, Lexicon, ParameterError, Qrels, Run
from evenrank.neural import (
    PairLabels,
    balanced,
    build_examples,
    label_pairs,
    query_folds,
    read_triples,
    scrub_examples,
)

pytestmark = pytest.mark.needs("torch")


def pairs_of(examples: Any) -> list[tuple[str, str, str]]:
    """Query, relevant text, other text of every triple."""
    found = []
    for positive, negative in examples.triples.tolist():
        queries, texts = examples.texts(np.array([positive, negative]))
        assert queries[0] == queries[1]
        found.append((queries[0], *texts))
    return found


def examples_of(pairs: list[tuple[str, str]]) -> Any:
    """Examples with these pairs of a query and a text, each with a text that no other has."""
    names = [f"q{place}" for place in range(len(pairs))]
    qrels = Qrels.build(names * 2, [*names, *("x" for _ in names)], [1] * len(names) + [0] * len(names))
    queries = {name: query for name, (query, _) in zip(names, pairs, strict=True)}
    texts = {name: text for name, (_, text) in zip(names, pairs, strict=True)}
    return build_examples(qrels, queries, {**texts, "x": "and nothing else"})


def codes_of(pairs: list[tuple[str, str]], lexicon: Lexicon, **how: Any) -> tuple[PairLabels, list[int]]:
    """The labels, and those of these pairs in their order."""
    examples = examples_of(pairs)
    found = label_pairs(examples, lexicon, **how)
    known = zip(*examples.texts(np.arange(len(found.codes))), strict=True)
    code_of = dict(zip(known, found.codes.tolist(), strict=True))
    return found, [code_of[pair] for pair in pairs]


QRELS = Qrels.build(["q1", "q1", "q1", "q1", "q2", "q2"], ["a", "b", "c", "d", "a", "e"], [3, 1, 0, 0, 2, 0])
TEXTS = {name: f"text of {name}" for name in "abcdefg"}
QUERIES = {"q1": "first", "q2": "second"}


def test_triples_from_judgements() -> None:
    examples = build_examples(QRELS, QUERIES, TEXTS, negatives=9)
    assert Counter(pairs_of(examples)) == Counter(
        [("first", f"text of {p}", f"text of {n}") for p in "ab" for n in "cd"]
        + [("second", "text of a", "text of e")]
    )
    assert len(examples.pair_queries) == 6  # every pair once
    graded = build_examples(QRELS, QUERIES, TEXTS, negatives=9, min_grade=2)
    assert {t[1:] for t in pairs_of(graded) if t[0] == "first"} == {
        ("text of a", f"text of {n}") for n in "bcd"
    }


def test_negatives_from_the_pool_are_never_relevant() -> None:
    pool = Run.build(["q1"] * 4 + ["q2"] * 2, ["a", "b", "f", "c", "g", "a"], [4, 3, 2, 1, 2, 1])
    found = pairs_of(build_examples(QRELS, QUERIES, TEXTS, pool=pool, negatives=9))
    assert {t[2] for t in found if t[0] == "first"} == {"text of f", "text of c"}
    assert {t[2] for t in found if t[0] == "second"} == {"text of g"}


def test_negatives_are_drawn_by_seed_and_query_alone() -> None:
    documents = {f"d{n}": f"text {n}" for n in range(30)}
    grades = [1] + [0] * 29
    both = Qrels.build(["q1"] * 30 + ["q2"] * 30, [*documents, *documents], grades * 2)
    alone = Qrels.build(["q2"] * 30, list(documents), grades)
    of = lambda qrels, seed: pairs_of(build_examples(qrels, QUERIES, documents, negatives=5, seed=seed))  # noqa: E731
    second = [t for t in of(both, 1) if t[0] == "second"]
    assert len(second) == len(set(second)) == 5
    assert of(alone, 1) == second
    assert of(alone, 2) != second


def test_what_has_no_text_is_left_out_and_named() -> None:
    texts = {name: text for name, text in TEXTS.items() if name not in "ad"}
    with pytest.warns(EvenrankWarning) as said:
        found = pairs_of(build_examples(QRELS, QUERIES, texts, negatives=9))
    assert found == [("first", "text of b", "text of c")]
    assert ["'a', 'd'" in str(said[0].message), "'q2'" in str(said[1].message), len(said)] == [True, True, 2]
    with pytest.raises(DataError, match="no query has a relevant document"):
        build_examples(QRELS, QUERIES, {})


def test_triples_files(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("q one\tgood\tbad\nq two\tgut, schön\t坏\n\nq one\tgood\t\n", encoding="utf-8")
    examples = read_triples(path)
    assert pairs_of(examples) == [
        ("q one", "good", "bad"),
        ("q two", "gut, schön", "坏"),
        ("q one", "good", ""),
    ]
    assert examples.query_ids == ("q one", "q two")
    assert len(read_triples(path, limit=2)) == 2
    path.write_text("q\tonly two\nq\ta\tb\nx\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_triples(path)
    assert [problem.line for problem in error.value.problems] == [1, 3]
    with pytest.raises(ParameterError, match="limit"):
        read_triples(path, limit=0)


def test_labels_by_neutrality(kin: Lexicon) -> None:
    """1 where the neutrality of "query document" is below 1, by its definition."""
    cases = [
        ("moon", "nothing here", 0),
        ("moon", "he", 0),  # tau = 1: one word is none
        ("he", "his moon", 1),  # the query counts
        ("moon", "he she", 0),  # in balance
        ("moon", "he he she", 1),
    ]
    found, codes = codes_of([(query, text) for query, text, _ in cases], kin)
    assert codes == [code for _, _, code in cases]
    assert (found.name, found.values) == ("kin", ("neutral", "biased"))
    assert codes_of([("moon", "he")], kin, tau=0)[1] == [1]


def test_labels_by_group() -> None:
    three = Lexicon.build("ages", {"young": ["kid"], "middle": ["adult"], "old": ["elder"]})
    texts = ["kid kid", "adult adult elder", "elder elder", "none", "kid adult elder"]
    found, codes = codes_of([("moon", text) for text in texts], three, kind="groups")
    assert found.values == ("neutral", "young", "middle", "old")
    assert codes == [1, 2, 3, 0, 0]
    with pytest.raises(ParameterError, match="neutrality, groups"):
        codes_of([("moon", "kid")], three, kind="words")


def test_labels_are_checked() -> None:
    with pytest.raises(ParameterError, match="'x'"):
        PairLabels("x", ("one",), np.zeros(3, dtype=np.int64))
    with pytest.raises(DataError, match=r"'x'.* 2 values"):
        PairLabels("x", ("no", "yes"), np.array([0, 2]))


def test_balanced_triples_are_equally_of_every_combination() -> None:
    generator = np.random.default_rng(0)
    codes = (generator.random(400) < 0.15).astype(np.int64)
    other = generator.integers(0, 3, 400)
    labels = {"a": PairLabels("a", ("n", "y"), codes), "b": PairLabels("b", ("x", "y", "z"), other)}
    triples = np.unique(generator.integers(0, 400, (3000, 2)), axis=0)[:2900]
    one = {"a": labels["a"]}
    even = balanced(triples, one, np.random.default_rng(1))
    counts = Counter(map(tuple, codes[even].tolist()))
    assert set(counts) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert set(counts.values()) == {725}
    known = set(map(tuple, triples.tolist()))
    assert set(map(tuple, even.tolist())) <= known
    often = Counter(map(tuple, even[(codes[even] == 1).all(axis=1)].tolist()))
    assert max(often.values()) - min(often.values()) == 1
    both = balanced(triples, labels, np.random.default_rng(1), size=3600)
    cells = Counter((*codes[row].tolist(), *other[row].tolist()) for row in both)
    assert len(cells) == 36
    assert set(cells.values()) == {100}
    assert not np.array_equal(even, balanced(triples, one, np.random.default_rng(2)))
    none = {"a": PairLabels("a", ("neutral", "biased"), np.zeros(4, dtype=np.int64))}
    with pytest.raises(DataError, match="'biased'"):
        balanced(np.array([[0, 1], [2, 3]]), none, np.random.default_rng(0))


def test_folds_share_no_query() -> None:
    queries = [f"q{n}" for n in range(17)]
    folds = query_folds(queries, 4, seed=3)
    assert sorted(q for fold in folds for q in fold) == sorted(queries)
    assert {len(fold) for fold in folds} == {4, 5}
    assert folds == query_folds(queries, 4, seed=3) != query_folds(queries, 4, seed=4)
    with pytest.raises(ParameterError, match="17 queries"):
        query_folds(queries, 18)


def test_examples_of_some_queries(examples: Any) -> None:
    some = examples.of_queries(["q1", "q3"])
    assert {examples.query_ids[place] for place in some.triple_queries.tolist()} == {"q1", "q3"}
    rest = examples.of_queries(set(examples.query_ids) - {"q1", "q3"})
    assert len(some) + len(rest) == len(examples)


def test_scrubbing_takes_out_what_a_scan_counts(examples: Any, kin: Lexicon) -> None:
    two = Lexicon.build("kin", {"f": ["step mother", "mother"], "m": ["father"]})
    given = examples_of([("My step-mother's Mother; fathers, FATHER!", "father's")])
    clean = scrub_examples(given, two)
    assert clean.query_texts == ("My 's ; fathers, !",)
    assert set(clean.documents) == {"'s", "and nothing else"}
    clean = scrub_examples(examples, kin)
    assert label_pairs(clean, kin, tau=0).codes.max() == 0
    assert label_pairs(examples, kin, tau=0).codes.max() == 1
    assert np.array_equal(clean.triples, examples.triples)
