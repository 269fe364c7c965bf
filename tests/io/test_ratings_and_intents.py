"""Ratings of users, probabilities of intents, and groups that judgements name in their second column."""

from __future__ import annotations

import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.errors import DataError, ParameterError
from evenrank.inputs.group_options import GroupSources, groups_of, memberships
from evenrank.io import write_qrels
from evenrank.io.intents import read_intent_groups, read_intent_probabilities, read_iteration_groups
from evenrank.io.ratings import read_ratings

RATINGS = "userId,movieId,rating,timestamp\nu1,m1,3.5,1\nu1,m2,5.0,2\nu2,m1,0.5,3\n"
BY_INTENT = "q 1 a 2\nq 2 a 2\nq 2 b 1\nr 1 c 1\nr 2 d 1\n"


def test_ratings_are_grades_as_they_are_or_in_steps(tmp_path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS)
    assert read_ratings(path).to_dict() == {"u1": {"m2": 5.0, "m1": 3.5}, "u2": {"m1": 0.5}}
    assert not read_ratings(path).whole
    assert read_ratings(path, step=0.5).to_dict() == {"u1": {"m2": 10, "m1": 7}, "u2": {"m1": 1}}
    assert read_ratings(path, step=0.25).max_grade == 20
    with pytest.raises(DataError, match=r"these have fractions: read the ratings in steps"):
        write_qrels(read_ratings(path), tmp_path / "qrels.txt")
    with pytest.raises(DataError, match=r"ratings\.csv:2: rating 3\.5 is not a multiple of 1: name the step"):
        read_ratings(path, step=1)
    with pytest.raises(ParameterError, match="step must be a number > 0, got 0"):
        read_ratings(path, step=0)
    path.write_text("who,what,rating\nu,m,1\n")
    with pytest.raises(DataError, match=r"no single column of users .* the columns found are who, what"):
        read_ratings(path)
    assert read_ratings(path, columns={"query": "who", "document": "what"}).to_dict() == {"u": {"m": 1}}
    assert read_ratings(path, columns={"query": "who", "document": "what"}).whole


def test_the_step_does_not_change_linear_gain() -> None:
    table = {"user": ["u"] * 3, "item": ["a", "b", "c"], "rating": [1.0, 3.5, 2.0]}
    run = {"u": {"a": 3.0, "b": 2.0, "c": 1.0}}
    fine, coarse, own = (
        er.evaluate(run, "nDCG@2", qrels=read_ratings(table, step=s)).mean("nDCG@2") for s in (0.1, 0.5, None)
    )
    assert fine == pytest.approx(coarse) == pytest.approx(own)


def test_ratings_in_the_shell(tmp_path, capsys) -> None:
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "run.txt").write_text("u1 Q0 m1 1 2 r\nu1 Q0 m2 2 1 r\nu2 Q0 m1 1 1 r\n")
    for judged in (f"{tmp_path / 'ratings.csv'}:ratings:step=0.5", f"{tmp_path / 'ratings.csv'}:ratings"):
        assert main(["evaluate", str(tmp_path / "run.txt"), "-m", "nDCG@1", "--qrels", judged]) == 0
        assert "0.8500" in capsys.readouterr().out  # 7 of 10, and 1 of 1
    # a measure that another tool computes needs whole grades, and says how to get them
    asked = ["evaluate", str(tmp_path / "run.txt"), "-m", "Bpref", "--qrels"]
    assert main([*asked, f"{tmp_path / 'ratings.csv'}:ratings"]) != 0
    said = capsys.readouterr().err
    assert "which takes whole grades, and these judgements have 3.5" in said
    assert "FILE:ratings:step=0.5" in said
    assert main([*asked, f"{tmp_path / 'ratings.csv'}:ratings:step=0.5"]) == 0


def test_probabilities_of_intents(tmp_path) -> None:
    path = tmp_path / "chances.csv"
    path.write_text("query,intent,probability\nq,1,0.75\nq,2,0.25\n")
    assert read_intent_probabilities(path) == {"q": {"1": 0.75, "2": 0.25}}
    judged = tmp_path / "intents.txt"
    judged.write_text(BY_INTENT)
    run = {"q": {"b": 2.0, "a": 1.0}, "r": {"c": 1.0}}
    from evenrank.io.intents import with_probabilities

    likely = with_probabilities(er.read_qrels(judged, diversity=True), path)
    gains = {"a": 3 * 0.75 + 3 * 0.25, "b": 1 * 0.25}
    best = gains["a"] + gains["b"] / 1.584962500721156
    expected = (gains["b"] + gains["a"] / 1.584962500721156) / best
    assert er.evaluate(run, "D_nDCG@2", intents=likely).block("D_nDCG@2").values[0, 0] == pytest.approx(
        expected
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("q 1 0.5\nq 2 0.4\n", r"the probabilities of query 'q' sum to 0\.9, not to 1"),
        ("q 1 x\n", r":1: a line is query, intent and probability"),
        ("q 1 0.5\nq 1 0.5\n", r":2: intent '1' of query 'q' is there twice"),
        ("q 1 1.5\n", r":1: probability 1\.5 is not between 0 and 1"),
        ("q 1 -0.5\nq 2 1\n", r":1: probability -0\.5 is not between 0 and 1"),
        ("q 1 nan\n", r":1: probability nan is not between 0 and 1"),
        ("q 1 x\nq 2 2\n", r"(?s):1: a line is .*:2: probability 2 is not"),
        ("q 1 1\nquery intent probability\n", r":2: a line is query, intent and probability"),
        ("q 1 0.5\nq 2 0.499997\n", r"sum to 0\.999997, not to 1"),
        ("", "there are no probabilities"),
    ],
)
def test_probabilities_that_are_none(tmp_path, content: str, complaint: str) -> None:
    path = tmp_path / "chances.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=complaint):
        read_intent_probabilities(path)


def test_intents_as_groups(tmp_path) -> None:
    judged, chances = tmp_path / "intents.txt", tmp_path / "chances.txt"
    judged.write_text(BY_INTENT)
    chances.write_text("q 1 0.75\nq 2 0.25\n")
    groups = read_intent_groups(judged, "intent", probabilities=chances)
    (same,) = memberships(groups_of(f"intent={judged}:intents:probabilities={chances}"), [], GroupSources())
    run = {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.0}}
    name = "GF(decay=RBP)@2"
    assert er.evaluate(run, name, groups=groups).mean(name) == er.evaluate(run, name, groups=same).mean(name)
    # in q document a is half of each intent, where 3/4 and 1/4 are wanted; in r one of two
    far = er.evaluate({"q": {"a": 1.0}}, "AWRF", groups=groups).mean("AWRF")
    assert far == pytest.approx(0.5)


def test_groups_in_the_second_column(tmp_path) -> None:
    """expeval's judgements: query, group, document, grade."""
    judged = tmp_path / "fair.txt"
    judged.write_text("q x a 1\nq y b 0\nq x c 1\nq y c 1\nr y a 1\n")
    groups = read_iteration_groups(judged, "side")
    assert groups.attribute.values == ("x", "y")
    scores = er.evaluate({"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0}}, "GroupShare", groups=groups)
    assert scores.block("GroupShare").values.tolist() == [[0.5, 0.5], [0.0, 1.0]]
    (same,) = memberships(groups_of(f"side={judged}:iteration"), [], GroupSources())
    assert same.fingerprint == groups.fingerprint
    with pytest.raises(ParameterError, match=r":iteration is for a file .* and goes without ordinal"):
        memberships(groups_of(f"side={judged}:iteration:ordinal"), [], GroupSources())
    with pytest.raises(ParameterError, match="probabilities= goes with :intents"):
        memberships(groups_of(f"side={judged}:probabilities=p.txt"), [], GroupSources())


@pytest.mark.parametrize("name", ["probability", "prob", "share", "p", "P"])
def test_a_header_and_a_mark_of_the_byte_order_are_no_lines(tmp_path, name: str) -> None:
    path = tmp_path / "chances.tsv"
    path.write_text(f"\ufeffquery\tintent\t{name}\nq\t1\t1\n", encoding="utf-8")
    assert read_intent_probabilities(path) == {"q": {"1": 1.0}}
    path.write_text("\ufeffq\t1\t1\n", encoding="utf-8")
    assert read_intent_probabilities(path) == {"q": {"1": 1.0}}


def test_three_times_a_third_of_six_digits_is_a_distribution(tmp_path) -> None:
    path = tmp_path / "chances.txt"
    path.write_text("q 1 0.333333\nq 2 0.333333\nq 3 0.333333\n")
    assert list(read_intent_probabilities(path)["q"].values()) == [0.333333] * 3


def test_one_group_in_the_second_column_is_none(tmp_path) -> None:
    path = tmp_path / "plain.txt"
    path.write_text("q 0 a 1\nq 0 b 0\n")
    with pytest.raises(DataError, match="the second column names one group only"):
        read_iteration_groups(path, "side")


def test_probabilities_of_intents_in_the_shell(tmp_path, capsys) -> None:
    judged, chances, run = (tmp_path / name for name in ("intents.txt", "chances.txt", "run.txt"))
    judged.write_text("q 1 a 1\nq 2 b 1\n")
    chances.write_text("q 1 0.75\nq 2 0.25\n")
    run.write_text("q 0 b 1 2 r\nq 0 a 2 1 r\n")
    command = ["evaluate", str(run), "-m", "D_nDCG@1", "--format", "tsv", "--qrels"]
    values = []
    for qrels in (f"{judged}:intents", f"{judged}:intents:probabilities={chances}"):
        assert main([*command, qrels]) == 0
        values.append(float(capsys.readouterr().out.splitlines()[1].split("\t")[3]))
    assert values == pytest.approx([1.0, 0.25 / 0.75])
    chances.write_text("q 1 0.75\nq 2 0.5\n")
    assert main([*command, f"{judged}:intents:probabilities={chances}"]) != 0
    assert "the probabilities of query 'q' sum to 1.25, not to 1" in capsys.readouterr().err
