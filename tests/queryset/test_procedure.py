"""The procedure from candidates to a query set: sheets, what does not fit, decisions, agreement, export."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenrank.errors import DataError
from evenrank.queryset import Procedure, decide, read_procedure, read_sheets, write_sheets
from evenrank.queryset.agreement import agreement_rows

Evenrank = Callable[..., SimpleNamespace]
SHARED = Path(__file__).resolve().parents[3] / "shared/data"
PROCEDURE = Procedure()
TEXTS = {"1": "best school", "2": "who is he", "3": "what is pay", "4": "a tie", "5": "a gap", "6": "rain"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stage1(votes: dict[str, str], who: str, name: str | None = None) -> str:
    path = name or f"{who}.csv"
    rows = [[who, query, TEXTS[query], label] for query, label in votes.items()]
    _write(path, [["annotator", "query", "text", "label"], *rows])
    return path


def stage2(opinions: dict[str, tuple[str, str, str, str]], who: str) -> str:
    head = ["annotator", "query", "text", *PROCEDURE.questions, "domains", "reason"]
    _write(f"{who}.csv", [head, *([who, query, TEXTS[query], *cells] for query, cells in opinions.items())])
    return f"{who}.csv"


def _write(path: str, rows: list[list[str]]) -> None:
    with Path(path).open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def workers() -> list[str]:
    return [
        stage1({"1": "n", "2": "m", "3": "n", "4": "n", "5": "n", "6": "n"}, "w1"),
        stage1({"1": "n", "2": "m", "3": "n", "4": "m", "5": "", "6": "n"}, "w2"),
        stage1({"1": "n", "2": "n", "3": "n", "4": "f", "5": "", "6": "n"}, "w3"),
    ]


def experts() -> list[str]:
    yes, both = ("yes", "yes", "Education", "who teaches"), "Career; Social Inequality"
    return [
        stage2({"1": yes, "3": ("yes", "yes", both, "pay gap"), "6": ("yes", "no", "", "")}, "e1"),
        stage2(
            {"1": yes, "3": ("yes", "yes", "Career", "salary"), "6": ("yes", "yes", "Health", "why")}, "e2"
        ),
    ]


def test_what_becomes_of_each_query() -> None:
    votes = read_sheets([*workers(), *experts()], PROCEDURE)
    assert votes.problems == ()
    outcome = decide(votes, PROCEDURE)
    assert {one.query: (one.stage, one.why) for one in outcome.decisions} == {
        "1": (3, "kept"),
        "2": (1, "majority 'm'"),
        "3": (3, "kept"),
        "4": (1, "tie"),
        "5": (1, "votes are missing"),
        "6": (2, "experts disagree on problematic"),
    }
    assert [one.query for one in outcome.open()] == ["4", "5"]
    assert outcome.kept[1].domains == ("Career", "Social Inequality")
    assert outcome.kept[1].reasons == ("pay gap", "salary")
    flow = [(row[0], row[1]) for row in outcome.flow(100).rows if not row[0].startswith(" ")]
    assert flow == [("candidates", 100), ("annotated by workers", 6), ("majority 'n'", 3), ("kept", 2)]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ("mmnn", "tie"),
        ("nnmm", "tie"),
        ("nnmof", "tie"),
        ("nnnmm", "opinions are missing"),
        ("mmmnn", "majority 'm'"),
        ("nn", "opinions are missing"),
        ("nm", "votes are missing"),
    ],
)
def test_a_majority_is_more_than_half_of_all_who_voted(labels: str, why: str) -> None:
    """Three workers are asked: where more of them vote, two equal votes are no majority any more."""
    sheets = [stage1({"1": label}, f"w{number}") for number, label in enumerate(labels)]
    for order in (sheets, sheets[::-1]):
        votes = read_sheets(order, PROCEDURE)
        (decision,) = decide(votes, PROCEDURE).decisions
        assert decision.why == why
        too_many = f"{len(labels)} workers voted on it, but the procedure asks for 3; all of the votes count"
        assert [(one.query, one.line, one.what) for one in votes.problems] == (
            [("1", 2, too_many)] if len(labels) > 3 else []
        )
        assert [one.source.endswith(order[3]) for one in votes.problems] == [True] * len(votes.problems)


def test_neither_a_machine_nor_a_contradiction_makes_too_many_voters() -> None:
    sheets = [stage1({"1": "n"}, who) for who in ("w1", "w2", "w3", "w4")]
    again = stage1({"1": "m"}, "w4", "again.csv")
    assert len(read_sheets([*sheets, again], PROCEDURE).problems) == 1
    assert read_sheets(sheets, PROCEDURE, machines=["w4"]).problems == ()


def test_the_query_set_is_read_by_commands_and_names_nobody(evenrank: Evenrank) -> None:
    decide(read_sheets([*workers(), *experts()], PROCEDURE), PROCEDURE).write("set.csv", "3 workers")
    with Path("set.csv").open(newline="") as file:
        rows = {row["query"]: row for row in csv.DictReader(file)}
    assert {query: row["text"] for query, row in rows.items()} == {"1": "best school", "3": "what is pay"}
    assert rows["3"]["domains"].split(", ") == ["Career", "Social Inequality"]
    assert rows["3"]["reason"] == "pay gap | salary"
    assert not any(name in Path("set.csv").read_text() for name in ("w1", "w2", "e1", "e2"))
    assert evenrank("queryset", "sheets", "set.csv", "-o", "again").code == 0


def test_every_inconsistency_is_listed() -> None:
    one = stage1({"1": "n", "2": "x"}, "w1")
    again = stage1({"1": "m"}, "w1", "again.csv")
    same = stage1({"3": "n"}, "w1", "same.csv")
    twice = stage1({"3": "n"}, "w1", "twice.csv")
    expert = stage2({"1": ("no", "yes", "Sport", "")}, "e1")
    bare = stage2({"3": ("yes", "yes", "", "")}, "e2")
    worker = stage2({"6": ("yes", "perhaps", "", "")}, "e3")
    was_worker = stage2({"6": ("yes", "yes", "Health", "x")}, "w1b")
    Path(was_worker).write_text(Path(was_worker).read_text().replace("w1b", "w1"))
    other = stage1({"4": "n"}, "w2")
    changed = "changed.csv"
    Path(changed).write_text(Path(other).read_text().replace("w2", "w3").replace("a tie", "another"))
    votes = read_sheets(
        [one, again, same, twice, expert, bare, worker, was_worker, other, changed], PROCEDURE
    )
    said = [(Path(p.source).name, p.line, p.query) for p in votes.problems]
    assert said == [
        ("w1.csv", 3, "2"), ("again.csv", 2, "1"), ("twice.csv", 2, "3"), ("e1.csv", 2, "1"),
        ("e1.csv", 2, "1"),
        ("e2.csv", 2, "3"), ("e2.csv", 2, "3"), ("e3.csv", 2, "6"), ("changed.csv", 2, "4"),
        ("w1b.csv", 2, ""),
    ]  # fmt: skip
    for problem, words in zip(
        votes.problems,
        (["'x'"], ["w1.csv:2"], ["same.csv:2"], ["problematic"], ["'Sport'"], ["reason"], ["domain"],
         ["'perhaps'"], ["'another'", "'a tie'"], ["w1"]),
        strict=True,
    ):  # fmt: skip
        assert [word for word in words if word not in problem.what] == []
    assert votes.labels["1"] == {}
    assert votes.labels["3"] == {"w1": "n"}
    assert votes.labels["4"] == {"w2": "n"}
    assert votes.opinions["6"] == {}
    assert votes.opinions["1"]["e1"].answers == (False, None)


def test_agreement_is_by_question_and_domain() -> None:
    votes = read_sheets([*workers(), *experts()], PROCEDURE)
    rows = {(question, one.name): one for question, one in agreement_rows(votes, PROCEDURE)}
    labels = ["nnn", "mmn", "nnn", "nmf", "nnn"]  # and one that only one worker voted on
    assert rows["label", "Krippendorff's alpha"].value == pytest.approx(_alpha(labels))
    assert rows["label", "Fleiss' kappa"].reason == "some items lack votes"
    assert rows["problematic", "per cent"].value == pytest.approx(2 / 3)
    assert rows["domain Social Inequality", "per cent"].value == pytest.approx(0.5)
    assert rows["problematic", "Cohen's kappa"].items == 3


def test_cohens_kappa_needs_the_same_two_annotators() -> None:
    """Three workers with two votes on each query are not two people, in whatever order they come."""
    sheets = [
        stage1({"1": "n", "2": "m", "3": "n", "4": "m"}, "w1"),
        stage1({"1": "n", "2": "m", "5": "n", "6": "m"}, "w2"),
        stage1({"3": "n", "4": "n", "5": "n", "6": "m"}, "w3"),
    ]
    rows = {one.name: one for _, one in agreement_rows(read_sheets(sheets, PROCEDURE), PROCEDURE)}
    assert np.isnan(rows["Cohen's kappa"].value)
    assert rows["Cohen's kappa"].reason == "there are not two raters"
    assert rows["per cent"].value == pytest.approx(5 / 6)
    assert rows["Fleiss' kappa"].value == pytest.approx(23 / 35)
    pair = {one.name: one for _, one in agreement_rows(read_sheets(sheets[:2], PROCEDURE), PROCEDURE)}
    assert pair["Cohen's kappa"].value == 1
    assert pair["Cohen's kappa"].items == 2


def _alpha(units: list[str]) -> float:
    """Krippendorff's alpha of labels without an order, from every pair of votes on the same item."""
    pairs = [
        (one, other, 1 / (len(unit) - 1))
        for unit in units
        for place, one in enumerate(unit)
        for at, other in enumerate(unit)
        if at != place
    ]
    apart = sum(weight for one, other, weight in pairs if one != other)
    every = "".join(units)
    by_chance = sum(one != other for one in every for other in every) / (len(every) - 1)
    return 1 - apart / by_chance


def test_a_machine_never_decides_and_changes_no_agreement_of_people() -> None:
    model = stage1({"1": "m", "2": "m", "3": "m", "4": "n", "5": "n", "6": "m"}, "model")
    without = decide(read_sheets(workers(), PROCEDURE), PROCEDURE)
    votes = read_sheets([*workers(), model], PROCEDURE, machines=["model"])
    assert decide(votes, PROCEDURE) == without
    people = {(q, one.name): one.value for q, one in agreement_rows(votes, PROCEDURE)}
    alone = {
        (q, one.name): one.value for q, one in agreement_rows(read_sheets(workers(), PROCEDURE), PROCEDURE)
    }
    assert people == pytest.approx(alone, nan_ok=True)


def test_other_attributes_by_settings() -> None:
    Path("age.toml").write_text(
        'workers = 1\nlabels = ["plain", "old"]\npassing = "plain"\nexperts = 1\n'
        'questions = ["ageless"]\ndomains = ["Work"]\n'
    )
    procedure = read_procedure("age.toml")
    paths = write_sheets("one", 1, procedure, {"q": "bread"})
    filled = paths[0].read_text().replace("worker1,q,bread,", "worker1,q,bread,plain")
    paths[0].write_text(filled)
    with pytest.raises(DataError, match="stage1-worker1"):
        write_sheets("one", 1, procedure, {"q": "bread"})
    (expert,) = write_sheets("two", 2, procedure, {"q": "bread"})
    assert expert.read_text().splitlines()[0] == "annotator,query,text,ageless,domains,reason"
    expert.write_text(expert.read_text().replace("bread,,,", "bread,yes,Work,because"))
    assert len(decide(read_sheets([*paths, expert], procedure), procedure).kept) == 1
    Path("bad.toml").write_text('labels = ["a"]\n')
    with pytest.raises(DataError, match="passing"):
        read_procedure("bad.toml")


@pytest.mark.skipif(not SHARED.exists(), reason="the published annotations are not here")
def test_the_published_labels() -> None:
    """1,765 of 3,750 labelled queries are n."""
    labels = SHARED / "gender_lexicons/rekabsaz2020_queries_gender_annotated.csv"
    procedure = Procedure(workers=1)
    outcome = decide(read_sheets([labels], procedure), procedure)
    counts: dict[str, int] = {}
    for one in outcome.decisions:
        counts[one.label] = counts.get(one.label, 0) + 1
    assert counts["n"] == 1765


def test_the_flow_begins_with_the_log(evenrank: Evenrank) -> None:
    """40 queries, 10 of them with a word of the lexicon; 3 are drawn of each of two strata of 15."""
    texts = [f"is she {place}" if place < 10 else f"query {place}" for place in range(40)]
    rows = [f"{place},{text},{'AB'[place % 2]}\n" for place, text in enumerate(texts)]
    Path("log.csv").write_text("query,text,domain\n" + "".join(rows))
    command = ("queryset", "suggest", "log.csv", "--sample", "6", "-o", "c.csv")
    assert evenrank(*command, "--lexicon", "gender-en").code == 0
    collect = ("queryset", "collect", *workers(), "--queries", "c.csv", "--format", "jsonl")

    def flow() -> list[list[str | int]]:
        return [list(json.loads(line).values()) for line in evenrank(*collect).out.splitlines()[:4]]

    assert flow() == [
        ["in the log", 40, ""], ["  stopped", 10, "has a word of the lexicon"], ["drawn from", 30, ""],
        ["candidates", 6, ""],
    ]  # fmt: skip
    assert evenrank(*command).code == 0
    assert flow()[:2] == [["in the log", 40, ""], ["candidates", 6, ""]]
    with Path("c.csv").open(newline="") as file:
        cells = [row[:-1] for row in csv.reader(file)]
    _write("c.csv", cells)  # as one without the number of queries that were left out
    assert flow()[:2] == [["drawn from", 40, ""], ["candidates", 6, ""]]
    _write("c.csv", [[*cells[0], "left_out"], *([*row, "3"] for row in cells[1:-1]), [*cells[-1], "4"]])
    assert "c.csv: the column 'left_out' must hold one number, the same in each row" in evenrank(*collect).err
