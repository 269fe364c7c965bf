"""Re-rankers as transformers: in pipelines, in experiments, with whatever columns a frame has."""

from __future__ import annotations

import pandas
import pyterrier as pt
import pytest

import evenrank as er
from evenrank import Membership
from evenrank.errors import DataError, ParameterError
from evenrank.plugins.ir_measures import bind
from evenrank.plugins.pyterrier import transformer

pytestmark = pytest.mark.needs("pyterrier")

GROUPS = Membership.from_labels("side", {f"d{n:02}": "left" if n < 6 else "right" for n in range(12)})
QRELS = {f"q{query}": {f"d{n:02}": (n + query) % 3 for n in range(12)} for query in range(8)}


@pytest.fixture
def frame(make_run) -> pandas.DataFrame:
    """With ties, which the ranks decide, a column of text, and rows in no order."""
    results = make_run(1).rename(columns={"query_id": "qid", "doc_id": "docno"})
    results["query"] = "about " + results["qid"]
    results["text"] = results["docno"].str.upper()
    results = results.sort_values(["qid", "score"], ascending=[True, False], kind="stable")
    results["rank"] = results.groupby("qid").cumcount()
    return results.sample(frac=1, random_state=0)


def as_run(frame: pandas.DataFrame) -> er.Run:
    ranked = frame.sort_values("rank", kind="stable")
    return er.Run.build(*(ranked[name].tolist() for name in ("qid", "docno", "score")), ties="file")


def lists(frame: pandas.DataFrame) -> dict[str, list[str]]:
    return {
        query: rows.sort_values("rank")["docno"].tolist() for query, rows in frame.groupby("qid", sort=False)
    }


@pytest.mark.filterwarnings("ignore::evenrank.errors.EvenrankWarning")
@pytest.mark.parametrize(
    "method", ["DetCons", "MMR(lam=0.2)", "Oracle | DetCons@6", "Random(seed=3)", "Unique"]
)
def test_it_gives_what_rerank_gives(frame: pandas.DataFrame, method: str) -> None:
    before = frame.copy()
    out = transformer(method, groups=GROUPS, qrels=QRELS)(frame)
    wanted = er.rerank(as_run(frame), method, groups=GROUPS, qrels=QRELS)
    assert lists(out) == {query: wanted.documents(query) for query in wanted}
    assert list(out.columns) == ["qid", "query", "docno", "rank", "score", "text"]
    for _, rows in out.groupby("qid"):
        assert rows["rank"].tolist() == list(range(len(rows)))
        assert rows["score"].is_monotonic_decreasing
        assert rows["score"].is_unique
    assert (out["text"] == out["docno"].str.upper()).all()
    assert (out["query"] == "about " + out["qid"]).all()
    pandas.testing.assert_frame_equal(frame, before)


def test_without_ranks_equal_scores_stay_as_they_come(frame: pandas.DataFrame) -> None:
    given = frame.drop(columns=["rank", "text", "query"])
    out = transformer(
        "Neutral(band=1)", words=er.scan([(d, "a") for d in given["docno"].unique()], "gender-en")
    )(given)
    assert list(out.columns) == ["qid", "docno", "rank", "score"]
    for query, documents in lists(out).items():
        own = given[given["qid"] == query].sort_values("score", ascending=False, kind="stable")
        assert documents == own["docno"].tolist()


def test_documents_that_are_put_in_have_their_query(frame: pandas.DataFrame) -> None:
    few = frame[frame["rank"] < 2]
    out = transformer("Oracle(insert=True)", qrels=QRELS)(few)
    assert len(out) > len(few)
    assert (out["query"] == "about " + out["qid"]).all()
    added = ~out.set_index(["qid", "docno"]).index.isin(few.set_index(["qid", "docno"]).index)
    assert added.any()
    assert out["text"][added].isna().all()


def test_in_a_pipeline_and_an_experiment(frame: pandas.DataFrame) -> None:
    frame = frame[frame["qid"] != "unjudged"]
    topics = frame[["qid", "query"]].drop_duplicates()
    labels = pandas.DataFrame(
        [(query, document, grade) for query, grades in QRELS.items() for document, grade in grades.items()],
        columns=["qid", "docno", "label"],
    )
    first = pt.Transformer.from_df(frame, uniform=True)
    pipeline = first >> transformer("DetCons", groups=GROUPS) >> pt.RankCutoff(5)
    assert (pipeline(topics).groupby("qid").size() == 5).all()
    metrics = [bind("nDCG@5"), bind("NDKL@5", groups=GROUPS)]
    table = pt.Experiment(
        [first, first >> transformer("DetCons", groups=GROUPS)], topics, labels, metrics, names=["old", "new"]
    ).set_index("name")
    # ir_measures puts equal scores in the order of document ids, whatever their rank
    old = er.Run.build(*(frame[name].tolist() for name in ("qid", "docno", "score")))
    runs = {"old": old, "new": er.rerank(as_run(frame), "DetCons", groups=GROUPS)}
    # q0 is judged but has no list: PyTerrier does not ask for it
    queries = [query for query in old if query in QRELS]
    scores = er.evaluate(runs, "nDCG@5 NDKL@5", qrels=QRELS, groups=GROUPS, queries=queries)
    for name in runs:
        for measure in ("nDCG@5", "NDKL@5"):
            assert table.loc[name, measure] == pytest.approx(scores.mean(measure, name), abs=1e-12)
    assert table.loc["new", "NDKL@5"] < table.loc["old", "NDKL@5"]


def test_an_empty_frame_keeps_its_columns() -> None:
    empty = pandas.DataFrame({"qid": [], "docno": [], "score": [], "url": []})
    out = transformer("Random")(empty)
    assert list(out.columns) == ["qid", "docno", "rank", "score", "url"]
    assert len(out) == 0


def test_what_cannot_be_used_is_refused(frame: pandas.DataFrame) -> None:
    with pytest.raises(DataError, match="column 'score' is missing"):
        transformer("Random")(frame[["qid", "docno"]])
    with pytest.raises(ParameterError, match="needs judgements"):
        transformer("Oracle")(frame)
    with pytest.raises(ParameterError, match="leave repeat= out"):
        transformer("Random", repeat=3)
    with pytest.raises(ParameterError, match="no reranker is called 'Nothing'"):
        transformer("Nothing")


def test_evidence_is_read_once(frame: pandas.DataFrame) -> None:
    made = transformer("DetCons", groups=iter([GROUPS]))
    first, second = made(frame), made(frame)
    pandas.testing.assert_frame_equal(first, second)
    assert repr(made) == "evenrank(DetCons)"
