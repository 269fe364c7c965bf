from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import DataError, DiversityQrels, Qrels
from evenrank.data import lookup
from evenrank.data.lookup import PairIndex, repeated_pairs
from evenrank.ids import WHOLE_IN_HASH, StringRows, as_strings, hash_strings, mix_codes

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.text(max_size=20)), unique=True)


def check(known: list[tuple[int, str]], asked: list[tuple[int, str]]) -> None:
    index = PairIndex(np.array([q for q, _ in known], dtype=np.int64), as_strings([d for _, d in known]))
    ids = as_strings([d for _, d in asked])
    rows = index.locate(
        np.array([q for q, _ in asked], dtype=np.int64), StringRows(ids), lookup.hash_strings(ids)
    )
    place = {pair: row for row, pair in enumerate(known)}
    assert rows.tolist() == [place.get(pair, -1) for pair in asked]


@given(PAIRS, st.lists(st.tuples(st.integers(-1, 4), st.text(max_size=20))))
def test_every_pair_is_found_and_no_other(known, asked) -> None:
    check(known, asked + known)
    original, lookup._PAIRS_AT_ONCE = lookup._PAIRS_AT_ONCE, 3
    try:
        check(known, asked + known)
    finally:
        lookup._PAIRS_AT_ONCE = original


def test_a_few_ids_are_found_by_a_pass_and_many_passes_make_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rows either way: ids that repeat, that belong to another query, and that are not there."""
    known = [(query, f"document {number}") for number in range(500) for query in range(2)]
    asked = [(1, "document 7"), (0, "document 7"), (1, "document 7"), (2, "document 8"), (0, "document 500")]
    place = {pair: row for row, pair in enumerate(known)}
    index = PairIndex(np.array([q for q, _ in known]), as_strings([d for _, d in known]))
    hashed: list[int] = []

    def counting(strings: pa.LargeStringArray) -> np.ndarray:
        hashed.append(len(strings))
        return hash_strings(strings)

    ids, codes = as_strings([d for _, d in asked]), np.array([q for q, _ in asked])
    monkeypatch.setattr(lookup, "hash_strings", counting)
    for _ in range(lookup._PASSES + 2):
        rows = index.locate(codes, StringRows(ids), hash_strings(ids))
        assert rows.tolist() == [place.get(pair, -1) for pair in asked]
    assert hashed == [4] * lookup._PASSES + [len(known)]  # documents 7 and 8 of two queries, then all, once


@given(PAIRS, PAIRS)
def test_even_if_all_hashes_of_long_ids_collide(known, asked) -> None:
    original = lookup.hash_strings
    lookup.hash_strings = lambda strings: np.zeros(len(strings), np.uint64)
    long = [[(query, "more than " + document) for query, document in pairs] for pairs in (known, asked)]
    try:
        check(long[0], long[1] + long[0])
    finally:
        lookup.hash_strings = original


@given(st.lists(st.text(max_size=8).map(str.encode).filter(lambda data: len(data) <= WHOLE_IN_HASH)))
def test_the_hash_of_a_short_id_can_be_undone(ids) -> None:
    """So that equal hashes and equal lengths mean equal ids, and nobody needs to compare them."""

    def undone(value: int, length: int) -> bytes:
        value = value * pow(0xD6E8FEB86659FD93, -1, 1 << 64) % (1 << 64)
        value ^= value >> 32
        value = value * pow(0x9E3779B97F4A7C15, -1, 1 << 64) % (1 << 64)
        return (value ^ length).to_bytes(8, "little")[:length]

    hashes = hash_strings(as_strings([data.decode() for data in ids])).tolist()
    assert [undone(value, len(data)) for value, data in zip(hashes, ids, strict=True)] == ids


def test_a_key_of_another_query_is_not_taken_for_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = as_strings(["a"])
    first, second = mix_codes(np.arange(2)).reshape(2, 1)
    monkeypatch.setattr(lookup, "hash_strings", lambda strings: second - first)
    index = PairIndex(np.zeros(1, np.int64), ids)  # its key is that of (1, "a") with a hash of 0
    zero = np.zeros(1, np.uint64)
    assert index.locate(np.ones(1, np.int64), StringRows(ids), zero).tolist() == [-1]
    assert index.locate(np.zeros(1, np.int64), StringRows(ids), second - first).tolist() == [0]


def test_many_rows_in_a_few_slots() -> None:
    """Keys that all begin alike, at the end of the table: they go on behind it."""
    ids = as_strings([f"document {number}" for number in range(200)])
    last = np.iinfo(np.uint64).max - int(lookup._NO_QUERY)
    alike = np.uint64(last) - np.arange(len(ids), dtype=np.uint64)
    original = lookup.hash_strings
    lookup.hash_strings = lambda strings: alike[: len(strings)]
    try:
        index = PairIndex(np.zeros(150, np.int64), ids.slice(0, 150))
        rows = index.locate(None, StringRows(ids), alike)
    finally:
        lookup.hash_strings = original
    assert rows.tolist() == [*range(150), *[-1] * 50]


@given(st.lists(st.text(max_size=40)), st.integers(0, 5))
def test_a_hash_depends_on_the_string_alone(strings, start) -> None:
    hashes = hash_strings(as_strings(strings))
    assert hashes[start:].tolist() == hash_strings(as_strings(strings).slice(start)).tolist()
    for text, value in zip(strings, hashes.tolist(), strict=True):
        assert hash_strings(as_strings([text])).tolist() == [value]


def test_hashes_of_similar_ids_differ() -> None:
    ids = [str(i) for i in range(100_000)] + [
        f"clueweb12-0000tw-05-{i:05d}_{j}" for i in range(2000) for j in range(9)
    ]
    assert len(set(hash_strings(as_strings(ids)).tolist())) == len(ids)
    assert len(set(hash_strings(as_strings(["a", "a\0", "a\0\0", "", "\0"])).tolist())) == 5


def test_judgements_by_intent_keep_their_intents() -> None:
    table = {"q1": {"x": {"a": 1, "b": 0}, "y": {"a": 2}}, "q2": {"z": {"a": 3}}}
    rows = [(q, i, d, g) for q, inner in table.items() for i, docs in inner.items() for d, g in docs.items()]
    qrels = DiversityQrels.build(*map(list, zip(*rows, strict=True)))
    assert qrels.to_dict() == table
    assert qrels.graded().to_dict() == {"q1": {"a": 2, "b": 0}, "q2": {"a": 3}}
    assert qrels.probabilities.tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_qrels_stand_best_grade_first() -> None:
    qrels = Qrels.build(["q", "q", "q"], ["a", "c", "b"], [1, 1, 3])
    assert qrels.doc_ids.to_pylist() == ["b", "c", "a"]
    assert qrels.to_dict() == {"q": {"b": 3, "c": 1, "a": 1}}
    assert qrels.max_grade == 3


@pytest.mark.parametrize("grade", [0.5, float("nan")])
def test_a_grade_that_is_not_whole_is_refused(grade: float) -> None:
    with pytest.raises(DataError, match="grades must be whole numbers, got"):
        Qrels.build(["q", "q"], ["a", "b"], [1.0, grade])
    with pytest.raises(DataError, match="grades must be whole numbers, got"):
        DiversityQrels.build(["q", "q"], ["1", "1"], ["a", "b"], [1.0, grade])


def test_a_pair_judged_twice_is_refused() -> None:
    with pytest.raises(DataError, match="qrels:3: document 'a' is judged twice for query 'q'"):
        Qrels.build(["q", "q", "q"], ["a", "b", "a"], [1, 1, 1])
    with pytest.raises(DataError, match="qrels:3: document 'a' is judged twice for an intent of 'q'"):
        DiversityQrels.build(["q", "q", "q"], ["1", "2", "1"], ["a", "a", "a"], [1, 1, 0])


@pytest.mark.parametrize(
    ("probabilities", "complaint"),
    [
        ({"q": {"x": 0.5, "y": 0.6}}, "sum to 1"),
        ({"q": {"x": 1.5, "y": -0.5}}, ">= 0"),
        ({"q": {"x": 0.5, "w": 0.5}}, r"intents \['w'\] are not judged"),
    ],
)
def test_intent_probabilities_are_checked(probabilities, complaint) -> None:
    columns = ["q", "q"], ["x", "y"], ["a", "a"], [1, 1]
    with pytest.raises(DataError, match=complaint):
        DiversityQrels.build(*columns, probabilities=probabilities)
    given = DiversityQrels.build(*columns, probabilities={"q": {"x": 0.25, "y": 0.75}})
    assert given.probabilities.tolist() == [[0.25, 0.75]]


@pytest.mark.parametrize("collide", [False, True])
def test_repeated_pairs_and_where_they_stood_first(collide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes find candidates only: where all of them are equal, ids and queries still decide."""
    if collide:
        monkeypatch.setattr("evenrank.data.lookup.hash_strings", lambda ids: np.zeros(len(ids), np.uint64))
        monkeypatch.setattr("evenrank.data.lookup.mix_codes", lambda codes: np.zeros(len(codes), np.uint64))
    ids = pa.array(["a", "b", "a", "a", "b", "a", "c", "c"], pa.large_string())
    codes = np.array([0, 0, 1, 0, 1, 1, 0, 1])
    assert repeated_pairs(codes, ids, 10) == [(0, 3), (2, 5)]
    assert repeated_pairs(codes, ids, 1) == [(0, 3)]
    assert repeated_pairs(codes[:3], ids[:3], 10) == []
