"""Labels by several raters who may disagree: the share of votes for each value."""

from pathlib import Path

import numpy as np
import pytest

from evenrank import read_groups
from evenrank.cli import main
from evenrank.errors import DataError, ParameterError

VOTES = "document,rater,label\nd1,a,f\nd1,b,f\nd1,c,m\nd2,a,m\nd2,b,m\nd3,a,f\nd3,b,unsure\nd4,a,m\nd4,b,f\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("votes.csv").write_text(VOTES)


def test_shares_of_votes() -> None:
    found = read_groups("votes.csv", "gender", votes=True, ignore=["unsure"])
    assert found.attribute.values == ("f", "m")
    shares = found.shares.dense(np.arange(4))
    expected = {"d1": (2 / 3, 1 / 3), "d2": (0, 1), "d3": (1, 0), "d4": (1 / 2, 1 / 2)}
    by_document = dict(zip(found.doc_ids.to_pylist(), shares.tolist(), strict=True))
    assert by_document == {document: pytest.approx(row) for document, row in expected.items()}


def test_votes_that_depend_on_the_query() -> None:
    Path("q.csv").write_text(
        "query,document,annotator,label\nq1,d1,a,f\nq1,d1,b,m\nq2,d1,a,f\nq2,d1,b,f\nq2,d2,b,m\n"
    )
    found = read_groups("q.csv", "gender", votes=True)
    assert sorted(map(tuple, found.shares.dense(np.arange(3)).tolist())) == [(0, 1), (0.5, 0.5), (1, 0)]


def test_a_rater_twice_on_a_document() -> None:
    Path("votes.csv").write_text(VOTES + "d2,a,f\nd4,b,f\n")
    with pytest.raises(DataError) as error:
        read_groups("votes.csv", "gender", votes=True)
    assert str(error.value).splitlines() == [
        "votes.csv:11: document 'd2': rater 'a' votes twice (first on line 5)",
        "votes.csv:12: document 'd4': rater 'b' votes twice (first on line 10)",
    ]


def test_votes_need_raters_and_labels() -> None:
    Path("plain.csv").write_text("document,label\nd1,f\nd2,m\n")
    with pytest.raises(DataError, match=r"plain\.csv: no column for the rater"):
        read_groups("plain.csv", "gender", votes=True)
    for other in ({"multilabel": True}, {"unlabelled": "own"}):
        with pytest.raises(ParameterError, match="votes"):
            read_groups("votes.csv", "gender", votes=True, **other)  # type: ignore[arg-type]
    Path("shares.csv").write_text("document,rater,label,share\nd1,a,f,0.5\nd1,b,m,0.5\n")
    with pytest.raises(DataError, match="a vote is one label, not shares"):
        read_groups("shares.csv", "gender", votes=True)
    with pytest.raises(ParameterError, match="votes"):
        read_groups("votes.csv", "gender", votes=True, format="trec")


def test_intervals_include_the_disagreement(capfd: pytest.CaptureFixture[str]) -> None:
    Path("run.trec").write_text(
        "".join(f"q{q} Q0 d{d} {d} {9 - d} r\n" for q in (1, 2) for d in (1, 2, 3, 4))
    )
    command = [
        "evaluate", "run.trec", "-m", "GroupShare(attr='gender')@4", "--view", "labels", "--format", "tsv"
    ]  # fmt: skip
    described = "groups.gender = { file = 'votes.csv', votes = true, "
    Path("case.toml").write_text(described + "ignore = 'unsure' }")
    assert main([*command, "--project", "case.toml"]) == 0
    head, *rows = [line.split("\t") for line in capfd.readouterr().out.splitlines()]
    cells = dict(zip(head, rows[0], strict=True))
    # both queries have the same list, so that all of the spread is the disagreement of the raters
    assert float(cells["labels_low"]) < float(cells["plain"]) < float(cells["labels_high"])
    Path("case.toml").write_text(described + "error = 'rates.csv' }")
    assert main([*command, "--project", "case.toml"]) == 2
    assert "error= goes with one label for each document, not with votes" in capfd.readouterr().err
