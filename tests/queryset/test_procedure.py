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
from evenrank.io.queries import read_queries
from evenrank.queryset import Procedure, decide, read_procedure, read_sheets, write_sheets
from evenrank.queryset.agreement import agreement_rows, machine_rows
from evenrank.stats.raters import fleiss_kappa

Evenrank = Callable[..., SimpleNamespace]
FLOW = ("in the log", "drawn from", "candidates", "annotated by workers", "majority 'n'", "kept")
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


def test_the_query_set_is_read_by_every_command_and_names_nobody() -> None:
    decide(read_sheets([*workers(), *experts()], PROCEDURE), PROCEDURE).write("set.csv", "3 workers")
    queries = read_queries("set.csv")
    assert queries.ids == ("1", "3")
    assert queries.texts == {"1": "best school", "3": "what is pay"}
    assert queries.categories(["domains"]) == {"1": ["Education"], "3": ["Career", "Social Inequality"]}
    assert queries.reasons["3"] == "pay gap | salary"
    assert not any(name in Path("set.csv").read_text() for name in ("w1", "w2", "e1", "e2"))


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
    said = [f"{p.source}:{p.line} {p.query}: {p.what}" for p in votes.problems]
    expected = [
        "w1.csv:3 2: unknown label 'x': there are n, m, f, o",
        "again.csv:2 1: w1 voted on it before (w1.csv:2): another vote, so neither counts",
        "twice.csv:2 3: w1 voted on it before (same.csv:2): the same vote, which counts once",
        "e1.csv:2 1: problematic is answered without a yes before it; the answer does not count",
        "e1.csv:2 1: unknown domain 'Sport': there are Education, Career, Health, Violence and Exploitation, "
        "Social Inequality, Politics",
        "e2.csv:2 3: yes without a reason",
        "e2.csv:2 3: yes without a domain",
        "e3.csv:2 6: an answer is yes or no, got 'perhaps'; the vote does not count",
        "changed.csv:2 4: has another text than before: 'another', not 'a tie'; the vote does not count",
        "w1b.csv:2 : the expert w1 was a worker; none of the opinions counts",
    ]
    assert [line.removeprefix(f"{Path.cwd()}/") for line in said] == expected
    assert votes.labels["1"] == {}
    assert votes.labels["3"] == {"w1": "n"}
    assert votes.labels["4"] == {"w2": "n"}
    assert votes.opinions["6"] == {}
    assert votes.opinions["1"]["e1"].answers == (False, None)


def test_agreement_is_by_question_and_domain() -> None:
    votes = read_sheets([*workers(), *experts()], PROCEDURE)
    rows = {(question, one.name): one for question, one in agreement_rows(votes, PROCEDURE)}
    codes = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 2], [0, -1, -1], [0, 0, 0]])
    assert rows["label", "Krippendorff's alpha"].value == pytest.approx(_alpha(codes))
    assert rows["label", "Fleiss' kappa"].reason == "some items lack votes"
    assert fleiss_kappa(codes[[0, 1, 2, 3, 5]], 4).reason is None
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


def _alpha(codes: np.ndarray) -> float:
    from evenrank.stats.raters import krippendorff_alpha

    return krippendorff_alpha(codes, 4).value


def test_a_machine_never_decides_and_is_shown_beside_people() -> None:
    model = stage1({"1": "m", "2": "m", "3": "m", "4": "n", "5": "n", "6": "m"}, "model")
    without = decide(read_sheets(workers(), PROCEDURE), PROCEDURE)
    votes = read_sheets([*workers(), model], PROCEDURE, machines=["model"])
    assert decide(votes, PROCEDURE) == without
    people = {(q, one.name): one.value for q, one in agreement_rows(votes, PROCEDURE)}
    alone = {
        (q, one.name): one.value for q, one in agreement_rows(read_sheets(workers(), PROCEDURE), PROCEDURE)
    }
    assert people == pytest.approx(alone, nan_ok=True)
    found = machine_rows(votes, PROCEDURE)
    assert [(who, one.name, one.value) for who, _, one in found if one.name == "per cent"] == [
        ("model and one person", "per cent", pytest.approx(3 / 6)),
        ("model and one person", "per cent", pytest.approx(1 / 5)),
        ("model and one person", "per cent", pytest.approx(0 / 5)),
    ]


def test_other_attributes_by_settings() -> None:
    Path("age.toml").write_text(
        'workers = 1\nlabels = ["plain", "old"]\npassing = "plain"\nexperts = 1\n'
        'questions = ["ageless"]\ndomains = ["Work"]\n'
    )
    procedure = read_procedure("age.toml")
    paths = write_sheets("one", 1, procedure, {"q": "bread"})
    filled = paths[0].read_text().replace("worker1,q,bread,", "worker1,q,bread,plain")
    paths[0].write_text(filled)
    with pytest.raises(DataError, match="is there already and may hold votes"):
        write_sheets("one", 1, procedure, {"q": "bread"})
    (expert,) = write_sheets("two", 2, procedure, {"q": "bread"})
    assert expert.read_text().splitlines()[0] == "annotator,query,text,ageless,domains,reason"
    expert.write_text(expert.read_text().replace("bread,,,", "bread,yes,Work,because"))
    assert len(decide(read_sheets([*paths, expert], procedure), procedure).kept) == 1
    Path("bad.toml").write_text('workers = "three"\n')
    with pytest.raises(DataError, match="workers must be like 3, got 'three'"):
        read_procedure("bad.toml")
    Path("bad.toml").write_text('labels = ["a"]\n')
    with pytest.raises(DataError, match="passing must be one of the labels"):
        read_procedure("bad.toml")


def test_the_command_from_log_to_set(evenrank: Evenrank) -> None:
    Path("log.csv").write_text("query,text,count\n" + "".join(f"{q},{t},{q}\n" for q, t in TEXTS.items()))
    drawn = evenrank(
        "queryset", "suggest", "log.csv", "--lexicon", "gender-en", "--sample", "9", "-o", "c.csv"
    )
    assert "6 in the log; 1 with a word of the lexicon; 5 drawn" in drawn.err
    assert "who is he" not in Path("c.csv").read_text()
    assert evenrank("queryset", "sheets", "c.csv", "-o", "w").code == 0
    assert len(list(Path("w").glob("stage1-worker*.csv"))) == 3
    assert evenrank("queryset", "sheets", *workers(), "-o", "e").code == 0
    assert Path("e/stage2-expert1.csv").read_text().count("\n") == 4
    done = evenrank("queryset", "collect", *workers(), *experts(), "--queries", "c.csv", "-o", "set.csv")
    assert done.code == 0, done.err
    assert "kept" in done.out
    assert "2 queries are not decided (ties and missing votes):" in done.err
    assert "4 (tie): a tie" in done.err
    undefined = (
        "the share of the 5 queries that were drawn from that would be kept is undefined: no drawn query "
    )
    assert f"{undefined}of the stratum 'middle' was decided, which holds 1 of the 5 queries" in done.err
    assert "wrote set.csv: 2 queries" in done.err
    assert "wrote set.rejected.csv: 4 queries that were not kept, with the stage and the reason" in done.err
    with Path("set.rejected.csv").open(newline="") as file:
        rejected = [(row["query"], row["stage"], row["why"]) for row in csv.DictReader(file)]
    assert rejected == [
        ("2", "1", "majority 'm'"), ("4", "1", "tie"), ("5", "1", "votes are missing"),
        ("6", "2", "experts disagree on problematic"),
    ]  # fmt: skip
    assert not any(name in Path("set.rejected.csv").read_text() for name in ("w1", "w2", "e1", "e2"))
    counts = [line.split("  ")[0].strip() for line in done.out.splitlines()]
    assert [name for name in counts if name in FLOW] == list(FLOW)
    assert any(line.split() == ["in", "the", "log", "6"] for line in done.out.splitlines())
    assert any(line.split()[:2] == ["candidates", "5"] for line in done.out.splitlines())
    assert evenrank("queryset", "collect", *workers(), "--machine", "nobody").code == 2
    assert evenrank("queryset", "sheets", "c.csv").code == 2


@pytest.mark.skipif(not SHARED.exists(), reason="the published annotations are not here")
def test_the_published_files(evenrank: Evenrank) -> None:
    """1,765 of 3,750 labelled queries are n; the 30 queries have the published categories."""
    labels = SHARED / "gender_lexicons/rekabsaz2020_queries_gender_annotated.csv"
    procedure = Procedure(workers=1)
    outcome = decide(read_sheets([labels], procedure), procedure)
    counts: dict[str, int] = {}
    for one in outcome.decisions:
        counts[one.label] = counts.get(one.label, 0) + 1
    assert counts["n"] == 1765
    thirty = read_queries(str(SHARED / "msmarco_trecdl/trecdeep19_passage.fair.FULL_ANNOTATION.tsv"))
    assert len(thirty.ids) == 30
    assert thirty.texts["148538"] == "difference between rn and bsn"
    categories = thirty.categories(["categories"])
    assert sum(own == ["Education", "Career"] for own in categories.values()) == 10
    assert thirty.reasons["148538"] == "gender roles in career choice"


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
