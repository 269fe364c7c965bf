"""Ratings of users, probabilities of intents, and groups that judgements name in their second column."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evenrank as er
from evenrank.errors import DataError, ParameterError
from evenrank.io import write_qrels
from evenrank.io.ratings import read_ratings

Evenrank = Callable[..., Any]
RATINGS = "userId,movieId,rating,timestamp\nu1,m1,3.5,1\nu1,m2,5.0,2\nu2,m1,0.5,3\n"
BY_INTENT = "q 1 a 2\nq 2 a 2\nq 2 b 1\nr 1 c 1\nr 2 d 1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: str) -> None:
    Path(name).write_text(content, encoding="utf-8")


def asked(evenrank: Evenrank, lists: dict[str, str], measure: str, *options: str) -> dict[str, float]:
    """The values of lists of documents with names of one letter, by query and column."""
    rows = [f"{q} Q0 {d} {rank} {-rank} r\n" for q, own in lists.items() for rank, d in enumerate(own, 1)]
    write("run.trec", "".join(rows))
    done = evenrank("evaluate", "run.trec", "-m", measure, *options, "--view", "queries", "--format", "jsonl")
    assert done.code == 0, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    return {row["query"] + (row.get("column") or ""): row["value"] for row in found if row.get("query")}


def refused(evenrank: Evenrank, measure: str, *options: str) -> str:
    write("run.trec", "q Q0 a 1 2 r\n")
    done = evenrank("evaluate", "run.trec", "-m", measure, *options)
    assert done.code in (1, 2)
    assert done.out == ""
    return str(done.err)


def test_ratings_are_grades_as_they_are_or_in_steps() -> None:
    path = Path("ratings.csv")
    write("ratings.csv", RATINGS)
    assert read_ratings(path).to_dict() == {"u1": {"m2": 5.0, "m1": 3.5}, "u2": {"m1": 0.5}}
    assert not read_ratings(path).whole
    assert read_ratings(path, step=0.5).to_dict() == {"u1": {"m2": 10, "m1": 7}, "u2": {"m1": 1}}
    assert read_ratings(path, step=0.25).max_grade == 20
    with pytest.raises(DataError, match="steps"):
        write_qrels(read_ratings(path), "qrels.txt")
    with pytest.raises(DataError, match=r"ratings\.csv:2: .*3\.5"):
        read_ratings(path, step=1)
    with pytest.raises(ParameterError, match="step"):
        read_ratings(path, step=0)
    write("ratings.csv", "who,what,rating\nu,m,1\n")
    with pytest.raises(DataError, match="'who', 'what'"):
        read_ratings(path)
    named = read_ratings(path, columns={"query": "who", "document": "what"})
    assert (named.to_dict(), named.whole) == ({"u": {"m": 1}}, True)


def test_the_step_does_not_change_linear_gain() -> None:
    table = {"user": ["u"] * 3, "item": ["a", "b", "c"], "rating": [1.0, 3.5, 2.0]}
    run = {"u": {"a": 3.0, "b": 2.0, "c": 1.0}}
    fine, coarse, own = (
        er.evaluate(run, "nDCG@2", qrels=read_ratings(table, step=s)).mean("nDCG@2") for s in (0.1, 0.5, None)
    )
    assert fine == pytest.approx(coarse) == pytest.approx(own)


def test_a_measure_that_another_tool_computes_needs_whole_grades_and_says_how_to_get_them(
    evenrank: Evenrank,
) -> None:
    write("r.csv", "userId,movieId,rating\nq,a,3.5\nq,b,5.0\n")
    write("case.toml", "data.qrels = { file = 'r.csv', kind = 'ratings' }")
    said = refused(evenrank, "Bpref", "--project", "case.toml")
    assert "3.5" in said
    assert "step" in said
    write("case.toml", "data.qrels = { file = 'r.csv', kind = 'ratings', step = 0.5 }")
    assert "q" in asked(evenrank, {"q": "ab"}, "Bpref", "--project", "case.toml")


def judged(chances: str = "") -> tuple[str, str]:
    more = f", probabilities = '{chances}'" if chances else ""
    write("case.toml", f"data.intents = {{ file = 'intents.txt'{more} }}")
    return "--project", "case.toml"


def test_probabilities_weigh_the_gains_of_intents(evenrank: Evenrank) -> None:
    write("intents.txt", BY_INTENT)
    write("chances.csv", "query,intent,probability\nq,1,0.75\nq,2,0.25\n")
    found = asked(evenrank, {"q": "ba", "r": "c"}, "D_nDCG@2", *judged("chances.csv"))
    gains = {"a": 3 * 0.75 + 3 * 0.25, "b": 1 * 0.25}
    best = gains["a"] + gains["b"] / 1.584962500721156
    assert found["q"] == pytest.approx((gains["b"] + gains["a"] / 1.584962500721156) / best)
    assert found["r"] == pytest.approx(1 / (1 + 1 / 1.584962500721156))  # equal, since none are given


def test_an_intent_may_be_certain(evenrank: Evenrank) -> None:
    write("intents.txt", BY_INTENT)
    write("c.txt", "r 1 1\nr 2 0\n")
    assert asked(evenrank, {"r": "cd"}, "D_nDCG@1", *judged("c.txt"))["r"] == 1
    assert asked(evenrank, {"r": "dc"}, "D_nDCG@1", *judged("c.txt"))["r"] == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("q 1 0.5\nq 2 0.4\n", ["'q'", "0.9"]),
        ("q 1 x\n", ["c.txt:1"]),
        ("q 1 0.5\nq 1 0.5\n", ["c.txt:2", "'1'", "'q'"]),
        ("q 1 1.5\n", ["c.txt:1", "1.5"]),
        ("q 1 -0.5\nq 2 1\n", ["c.txt:1", "-0.5"]),
        ("q 1 nan\n", ["c.txt:1", "nan"]),
        ("q 1 x\nq 2 2\n", ["c.txt:1", "c.txt:2"]),
        ("q 1 1\nquery intent probability\n", ["c.txt:2"]),
        ("q 1 0.5\nq 2 0.499997\n", ["'q'", "0.999997"]),
        ("", ["c.txt"]),
    ],
)
def test_probabilities_that_are_none(evenrank: Evenrank, content: str, words: list[str]) -> None:
    write("intents.txt", BY_INTENT)
    write("c.txt", content)
    said = refused(evenrank, "D_nDCG@2", *judged("c.txt"))
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffquery\tintent\tprobability\nq\t1\t0.75\nq\t2\t0.25\n",
        "query,intent,prob\nq,1,0.75\nq,2,0.25\n",
        "query intent share\nq 1 0.75\nq 2 0.25\n",
        "a b P\nq 1 0.75\nq 2 0.25\n",
        "\ufeffq\t1\t0.75\nq\t2\t0.25\n",
    ],
)
def test_a_header_and_a_mark_of_the_byte_order_are_no_lines(evenrank: Evenrank, content: str) -> None:
    write("intents.txt", "q 1 a 1\nq 2 b 1\n")
    write("c.txt", content)
    found = asked(evenrank, {"q": "ba"}, "D_nDCG@1", *judged("c.txt"))
    assert found["q"] == pytest.approx(0.25 / 0.75)


def test_intents_are_groups_whose_target_is_their_probability(evenrank: Evenrank) -> None:
    write("intents.txt", BY_INTENT)
    write("chances.txt", "q 1 0.75\nq 2 0.25\n")
    more = "intents = true, probabilities = 'chances.txt'"
    write("case.toml", f"groups.intent = {{ file = 'intents.txt', {more} }}")
    groups = ("--project", "case.toml")
    # document a is half of each intent, where 3/4 and 1/4 are wanted; c is one of two
    assert asked(evenrank, {"q": "a", "r": "c"}, "AWRF", *groups) == pytest.approx({"q": 0.5, "r": 1.0})


def test_groups_in_the_second_column(evenrank: Evenrank) -> None:
    """expeval's judgements: query, group, document, grade."""
    write("fair.txt", "q x a 1\nq y b 0\nq x c 1\nq y c 1\nr y a 1\n")
    write("case.toml", "groups.side = { file = 'fair.txt', iteration = true }")
    found = asked(evenrank, {"q": "abc", "r": "a"}, "GroupShare", "--project", "case.toml")
    assert found == {"qx": 0.5, "qy": 0.5, "rx": 0.0, "ry": 1.0}
    for options in ("iteration:ordinal", "probabilities=p.txt"):
        said = refused(evenrank, "GroupShare", "--groups", f"side=fair.txt:{options}")
        assert options.split(":")[0].split("=")[0] in said
