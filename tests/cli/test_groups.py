"""Groups and targets on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenrank import EvenrankError, Membership, ParameterError, RunSet, evaluate, read_groups, read_run
from evenrank.cli import build_parser
from evenrank.cli.everywhere import Everywhere, apply_everywhere
from evenrank.cli.shared import description
from evenrank.inputs.group_options import GroupSources, groups_of, target_of
from evenrank.inputs.group_options import check_groups as check_options
from evenrank.inputs.group_options import memberships as read_options

GROUPS = "doc,gender,stars\na,f,1\nb,m,3\nc,f,2\nd,,1\ne,both,3\n"


@pytest.fixture
def folder(files: Path) -> Path:
    """The folder of ``files``, with groups and targets."""
    (files / "groups.csv").write_text(GROUPS)
    (files / "june:24.csv").write_text(GROUPS)
    (files / "stars.csv").write_text("value,share\n1,0.5\n3,0.5\n")
    (files / "gold.txt").write_text("0.25\n0.75\n")
    return files


def arguments(*given: str) -> argparse.Namespace:
    found = build_parser().parse_args(["evaluate", "bm25.trec", "-m", "RR", *given])
    apply_everywhere(found, Everywhere(wanted=False))
    return found


def check_groups(given: argparse.Namespace) -> None:
    known = description(given)
    check_options(known.groups, known.targets)


def memberships(given: argparse.Namespace) -> list[Membership]:
    known = description(given)
    return read_options(known.groups, known.targets, GroupSources())


PARSED: dict[str, tuple[str, dict[str, Any]]] = {
    "g=groups.csv": ("groups.csv", {}),
    "g=groups.csv:ordinal": ("groups.csv", {"ordinal": True}),
    "g=groups.csv:multilabel:own": ("groups.csv", {"multilabel": True, "unlabelled": "own"}),
    "g=groups.csv:full": ("groups.csv", {"multilabel": True, "split": "full"}),
    "g=groups.csv:values=a, b,c:even=x,y": ("groups.csv", {"values": ["a", "b", "c"], "even": ["x", "y"]}),
    "g=groups.csv:column=my gender:format=tsv": ("groups.csv", {"column": "my gender", "format": "tsv"}),
    "g=groups.csv:document=id:query=session:share=p": (
        "groups.csv",
        {"columns": {"document": "id", "query": "session", "share": "p"}},
    ),
    "g=june:24.csv": ("june:24.csv", {}),
    "g=june:24.csv:ordinal": ("june:24.csv", {"ordinal": True}),
    "g=a=b.csv:ordnal": ("a=b.csv:ordnal", {}),
    "g=ordinal": ("ordinal", {}),
    "g=x:ordinal:y": ("x:ordinal:y", {}),
    "g=C:/data/g.csv:own": ("C:/data/g.csv", {"unlabelled": "own"}),
}


@pytest.mark.parametrize("text", PARSED)
def test_files_and_options_are_told_apart(text: str) -> None:
    path, options = PARSED[text]
    (found,) = groups_of(text)
    assert (found.name, found.path, found.options) == ("g", path, options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gender:", "must be NAME=FILE"),
        ("=groups.csv", "must be NAME=FILE"),
        ("g=", "must be NAME=FILE"),
        ("g=:ordinal", "must be NAME=FILE"),
        ("g=x.csv:values=", "values= names nothing"),
        ("g=x.csv:even=a,,b", "even= names nothing"),
        ("g=x.csv:own:own", "own is given twice"),
        ("g=x.csv:values=a,b:values=b,a", "values is given twice"),
        ("g=x.csv:column=a:ordinal:column=a", "column is given twice"),
    ],
)
def test_what_is_no_groups_option(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        groups_of(text)


@pytest.mark.parametrize(
    ("text", "target", "path"),
    [
        ("g=pool", "pool", None),
        ("g=relevance", "relevance", None),
        ("g=0.5,0.3, 0.2", [0.5, 0.3, 0.2], None),
        ("g=f:0.4, m:0.6", {"f": 0.4, "m": 0.6}, None),
        ("g=11-100:0.25,a:b:0.75", {"11-100": 0.25, "a:b": 0.75}, None),
        ("g=june:24.csv", None, "june:24.csv"),
        ("g=f:0.4,m", None, "f:0.4,m"),
        ("g=gold.txt", None, "gold.txt"),
        ("g=a,b.csv", None, "a,b.csv"),
        ("a*b=collection", "collection", None),
    ],
)
def test_targets_are_told_apart(text: str, target: Any, path: str | None) -> None:
    found = target_of(text)
    assert (found.target, found.path) == (target, path)


def test_a_value_has_one_share() -> None:
    with pytest.raises(ParameterError, match="the value 'f' is listed twice"):
        target_of("g=f:0.5,f:0.5")


def test_a_target_by_the_names_of_values(folder: Path) -> None:
    """Whatever the order of the values is; one that is not named has no share."""
    given = arguments("--groups", "stars=groups.csv:ordinal", "--target", "stars=3:0.4,1:0.6")
    (stars,) = memberships(given)
    assert dict(zip(stars.attribute.values, stars.attribute.target, strict=True)) == {
        "1": 0.6, "2": 0, "3": 0.4,
    }  # fmt: skip
    wrong = arguments("--groups", "stars=groups.csv:ordinal", "--target", "stars=3:0.4,9:0.6")
    with pytest.raises(EvenrankError, match="there is no value '9'; the values are '1', '2', '3'"):
        memberships(wrong)


def test_memberships(folder: Path) -> None:
    given = arguments(
        "--groups", "gender=groups.csv:even=both:values=m,f", "--groups", "stars=june:24.csv:ordinal",
        "--target", "gender=gold.txt", "--target", "stars=stars.csv",
    )  # fmt: skip
    gender, stars = memberships(given)
    expected = read_groups("groups.csv", "gender", even=["both"], values=["m", "f"], target=[0.25, 0.75])
    assert gender.fingerprint == expected.fingerprint
    assert (stars.attribute.ordinal, stars.attribute.values) == (True, ("1", "2", "3"))
    assert stars.attribute.target == (0.5, 0, 0.5)
    assert memberships(arguments()) == []


def test_a_target_for_a_combination(folder: Path) -> None:
    given = arguments(
        "--groups", "gender=groups.csv:even=both", "--groups", "stars=groups.csv",
        "--target", "gender*stars=collection", "--target", "stars=pool",
    )  # fmt: skip
    gender, stars, both = memberships(given)
    assert (gender.attribute.target, stars.attribute.target) == ("uniform", "pool")
    assert (both.attribute.name, both.attribute.target) == ("gender*stars", "collection")


def test_a_target_by_relevance(folder: Path, evenrank: Callable[..., Any]) -> None:
    """b of q1 and c of q2 are relevant, so m is wanted for q1 and f for q2; the lists begin with f."""
    common = ("evaluate", "bm25.trec", "--groups", "gender=groups.csv:even=both", "-m", "KL@1")
    done = evenrank(
        *common,
        "--target",
        "gender=relevance",
        "--qrels",
        "qrels.txt",
        "--view",
        "queries",
        "--format",
        "tsv",
    )
    assert done.code == 0
    q1, q2 = (next(line for line in done.out.splitlines() if f"\t{q}\t" in line) for q in ("q1", "q2"))
    assert q1.endswith("infinite")
    assert float(q2.split("\t")[-2]) == 0
    failed = evenrank(*common, "--target", "gender=relevance")
    assert failed.code == 2
    assert "the target 'relevance' needs judgements: pass --qrels FILE" in failed.err


def test_a_folder_is_one_system_with_several_rankings(folder: Path, evenrank: Callable[..., Any]) -> None:
    assert (
        evenrank("rerank", "bm25.trec", "--with", "Random(seed=4)", "--repeat", "12", "-o", "draws").code == 0
    )
    (folder / "draws" / ".notes").write_text("not a run")
    measures = ["EE_L(attr='gender')@2", "EE_D(attr='gender')@2", "RR"]
    done = evenrank(
        "evaluate", "draws/", "bm25.trec", "--groups", "gender=groups.csv:even=both", "--qrels", "qrels.txt",
        "-m", " ".join(measures), "--format", "tsv",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [line.split("\t") for line in done.out.splitlines()[1:]]
    found = {(row[0], row[1]): float(row[3]) for row in rows}
    assert {run for run, _ in found} == {"draws", "bm25"}
    draws = RunSet.build([read_run(file) for file in sorted((folder / "draws").glob("*.trec"))])
    groups = read_groups("groups.csv", "gender", even=["both"])
    for name, ranking in (("draws", draws), ("bm25", read_run("bm25.trec"))):
        wanted = evaluate(ranking, measures, groups=groups, qrels="qrels.txt")
        for measure in measures:
            assert found[name, measure] == pytest.approx(wanted.mean(measure), abs=1e-6)
    assert found["draws", measures[1]] < found["bm25", measures[1]]  # a random order spreads attention


def test_a_folder_without_runs(folder: Path, evenrank: Callable[..., Any]) -> None:
    (folder / "empty").mkdir()
    done = evenrank("evaluate", "empty", "--qrels", "qrels.txt", "-m", "RR")
    assert (done.code, done.err) == (2, "evenrank: empty: the folder has no runs in it\n")


BAD: dict[str, tuple[list[str], str]] = {
    "twice": (
        ["--groups", "g=groups.csv", "--groups", "g=groups.csv"],
        "--groups g is given twice: leave one of them out",
    ),
    "an unknown option": (
        ["--groups", "g=groups.csv:ordnal"],
        "--groups g: there is no option 'ordnal'; the options are ordinal, multilabel, full, own, votes, "
        "intents, iteration, values=.., even=.., ignore=.., column=.., format=.., probabilities=.., "
        "error=.., unit=.., document=.., query=.., share=.., rater=..",
    ),
    "a target of nothing": (
        ["--groups", "gender=groups.csv", "--target", "stars=pool"],
        "--target stars: no groups are called 'stars' (there are gender): add --groups stars=FILE, "
        "or leave the target out",
    ),
    "a target without groups": (
        ["--target", "stars=pool"],
        "--target stars: no groups are called 'stars': add --groups stars=FILE, or leave the target out",
    ),
    "a target of half a combination": (
        ["--groups", "gender=groups.csv", "--target", "gender*x=pool"],
        "--target gender*x: no groups are called 'x' (there are gender): add --groups x=FILE, "
        "or leave the target out",
    ),
    "a target twice": (
        ["--groups", "gender=groups.csv", "--target", "gender=pool", "--target", "gender=pool"],
        "--target gender is given twice: leave one of them out",
    ),
    "neither kind nor file": (
        ["--groups", "gender=groups.csv", "--target", "gender=unifrom"],
        "--target gender: 'unifrom' is not one of uniform, present, pool, collection, relevance, "
        "not shares as 0.5,0.5 or f:0.5,m:0.5, and there is no file of that name",
    ),
    "too few shares": (
        ["--groups", "stars=groups.csv:ordinal", "--target", "stars=0.5,0.5"],
        "attribute 'stars': target: got 2 shares, but there are 3 values, '1', '2', '3': give one share for "
        "each",
    ),
    "no such file": (["--groups", "gender=gone.csv"], "gone.csv: no such file"),
    "an unknown format": (
        ["--groups", "gender=groups.csv:format=xml"],
        "format must be one of trec, csv, tsv, jsonl, parquet, gmemb, trec-fair, got 'xml'",
    ),
    "bad data": (
        ["--groups", "gender=groups.csv:values=f,m"],
        "groups.csv:6: document 'e': 'both' is not a value of 'gender': they are 'f', 'm'; add it to "
        "values=, even= (equally of all values) or ignore= (no label)",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named(case: str, folder: Path, evenrank: Callable[..., Any]) -> None:
    options, message = BAD[case]
    with pytest.raises(EvenrankError) as caught:
        memberships(arguments(*options))
    assert str(caught.value) == message
    for command in (["evaluate"], ["explain", "--query", "q1"]):
        outcome = evenrank(*command, "bm25.trec", "-m", "GF@10", *options)
        assert outcome.err == f"evenrank: {message}\n"
        assert outcome.code == (1 if case in ("no such file", "bad data") else 2)


def test_wrong_usage_is_said_before_files_are_read(files: Path) -> None:
    with pytest.raises(EvenrankError, match="--groups g is given twice"):
        check_groups(arguments("--groups", "g=gone.csv", "--groups", "g=gone.csv"))


def test_evaluate(folder: Path, evenrank: Callable[..., Any]) -> None:
    outcome = evenrank(
        "evaluate", "bm25.trec", "--groups", "gender=groups.csv:even=both",
        "--groups", "stars=groups.csv:ordinal", "--target", "stars=0.5,0.25,0.25",
        "-m", "GF(attr='gender')@2 GF(attr='stars',div='NMD')@2", "--view", "queries", "--format", "tsv",
    )  # fmt: skip
    assert outcome.code == 0
    gender = read_groups("groups.csv", "gender", even=["both"])
    stars = read_groups("groups.csv", "stars", ordinal=True, target=[0.5, 0.25, 0.25])
    measures = "GF(attr='gender')@2 GF(attr='stars',div='NMD')@2"
    scores = evaluate(read_run("bm25.trec"), measures, groups=[gender, stars])
    from evenrank.scores.score_tables import print_scores

    assert outcome.out == print_scores(scores, "tsv", per_query=True)


def test_explain(folder: Path, evenrank: Callable[..., Any]) -> None:
    outcome = evenrank(
        "explain", "bm25.trec", "--query", "q1", "--groups", "gender=groups.csv:even=both", "-m", "GF@2"
    )
    assert outcome.code == 0
    assert "GF@2" in outcome.out


def test_missing(folder: Path, evenrank: Callable[..., Any]) -> None:
    command = ["bm25.trec", "--groups", "gender=groups.csv:even=both", "-m", "GF@2", "--missing"]
    assert evenrank("evaluate", *command, "uniform").code == 0
    outcome = evenrank("evaluate", *command, "error")
    assert outcome.code == 1
    assert "such as 'd' (query 'q3')" in outcome.err
    assert "invalid choice: 'some'" in evenrank("evaluate", *command, "some").err


def test_standard_input_is_read_once_and_inputs_are_not_written_over(
    folder: Path, evenrank: Callable[..., Any]
) -> None:
    outcome = evenrank("evaluate", "-", "--groups", "gender=-:format=csv", "-m", "GF@2")
    assert outcome.err == "evenrank: standard input (-) can stand for one file only\n"
    outcome = evenrank(
        "evaluate", "bm25.trec", "--groups", "gender=groups.csv", "-m", "GF@2", "-o", "groups.csv"
    )
    assert "groups.csv: is also an input, and would be overwritten" in outcome.err


def test_ntcir(shared: Path, evenrank: Callable[..., Any]) -> None:
    toy = shared / "data/fairweb1_gfr/toy"
    outcome = evenrank(
        "evaluate", toy / "toyrun1", "--qrels", f"{toy / 'toy.4topics.qrels'}:format=ntcir",
        "--groups", f"gender={toy}/toy.R-GENDER.gmemb", "--target", f"gender={toy}/R-GENDER.golddistr",
        "-m", "ERR@5 GF(attr='gender')@5", "--view", "queries", "--format", "tsv",
    )  # fmt: skip
    assert outcome.code == 0
    table = (shared / "data/fairweb1_gfr/expected/toy_ntcireval_GFR.tsv").read_text().splitlines()
    published = {tuple(line.split("\t")[:4]): float(line.split("\t")[4]) for line in table[1:]}
    rows = [line.split("\t") for line in outcome.out.splitlines()[1:]]
    found = {(row[1], row[2].partition("@")[0].partition("(")[0]): float(row[4]) for row in rows}
    for own, other in (("ERR", "ERR"), ("GF", "GF-JSD")):
        expected = published["toyrun1", "R-GENDER", "P001", other]
        assert found["P001", own] == pytest.approx(expected, abs=1e-4)
    outcome = evenrank(
        "explain", toy / "toyrun1", "--query", "P001", "--qrels",
        f"{toy / 'toy.4topics.qrels'}:format=ntcir", "-m", "ERR@5",
    )  # fmt: skip
    assert outcome.code == 0
