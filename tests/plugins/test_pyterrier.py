"""Our measures inside ``pt.Experiment``, with frames as systems: no Java is started."""

from __future__ import annotations

import math

import ir_measures
import pandas
import pyterrier as pt
import pytest

import evenrank as er
from evenrank.errors import ParameterError
from evenrank.measures import Direction
from evenrank.plugins.ir_measures import bind
from evenrank.plugins.pyterrier import direction, means

pytestmark = pytest.mark.needs("pyterrier")

NAMES = ["iRBU@5", "I_rec@3", "D_nDCG@5", "Dsharp_nDCG@5"]


@pytest.fixture
def experiment(qrels, make_run):
    """The arguments of an experiment with two systems, and what evenrank says of them."""
    frames = {"one": make_run(1), "two": make_run(2)}
    intents = er.DiversityQrels.build(
        *(qrels[name].tolist() for name in ("query_id", "iteration", "doc_id", "relevance"))
    )
    runs = {
        name: er.Run.build(*(frame[column].tolist() for column in ("query_id", "doc_id", "score")))
        for name, frame in frames.items()
    }
    systems = {
        name: frame.rename(columns={"query_id": "qid", "doc_id": "docno"}) for name, frame in frames.items()
    }
    labels = qrels.rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"})
    topics = pandas.DataFrame({"qid": [f"q{n}" for n in range(8)], "query": "words"})
    return systems, topics, labels, er.evaluate(runs, NAMES, qrels=intents)


def test_experiment_gives_our_means(experiment):
    systems, topics, qrels, expected = experiment
    judged = qrels[qrels["qid"] != "q7"]  # where all measures are defined
    metrics = ["map", *(ir_measures.parse_measure(name) for name in NAMES), ir_measures.nDCG @ 5]
    table = pt.Experiment(systems, topics, judged, eval_metrics=metrics).set_index("name")
    assert set(table.columns) == {"map", *NAMES, "nDCG@5"}
    for system in systems:
        for name in NAMES:
            assert table.loc[system, name] == pytest.approx(expected.mean(name, system), abs=1e-12)
    assert table.loc["one", "iRBU@5"] != table.loc["two", "iRBU@5"]
    assert not pt.java.started()


def test_means_leave_out_undefined_queries(experiment):
    systems, topics, qrels, expected = experiment
    metrics = ["map", "num_q", *map(bind, NAMES), "mrt"]
    # what the helper is for: PyTerrier's own mean is lost to the one undefined query
    assert math.isnan(pt.Experiment(systems, topics, qrels, metrics).set_index("name").loc["one", "iRBU@5"])
    per_query = pt.Experiment(systems, topics, qrels, metrics, perquery=True)
    table = means(per_query, metrics).set_index("name")
    assert list(table.columns) == ["map", "num_q", *NAMES]
    assert list(table.index) == ["one", "two"]
    for system in systems:
        assert table.loc[system, "num_q"] == 7  # a sum; q0 is not in the run
        for name in NAMES:
            assert table.loc[system, name] == pytest.approx(expected.mean(name, system), abs=1e-12)
    graded = ir_measures.calc_aggregate(
        [ir_measures.AP], *(pt.model.to_ir_measures(f) for f in (qrels, systems["one"]))
    )
    assert table.loc["one", "map"] == pytest.approx(graded[ir_measures.AP])


def test_a_transformer_in_batches(experiment):
    """A batch may have no judged query, and the largest grade must not come from the batch."""
    systems, topics, qrels, _ = experiment
    judged = qrels[qrels["qid"].isin(["q1", "q2"])]
    system = pt.Transformer.from_df(systems["one"], uniform=True)
    metrics = [bind("iRBU(max_grade=3)@5"), bind("I_rec@3")]
    whole, parts = (
        pt.Experiment(
            [system],
            topics,
            judged,
            metrics,
            names=["one"],
            filter_by_topics=False,
            validate="ignore",
            **more,
        )
        for more in ({}, {"batch_size": 1})
    )
    pandas.testing.assert_frame_equal(whole, parts)
    assert whole["iRBU(max_grade=3)@5"][0] > 0


def test_bound_evidence_and_unjudged_topics(experiment, Toy, weights):
    """A measure without judgements has values for topics that no other measure has."""
    systems, topics, qrels, _ = experiment
    topics = pandas.concat([topics, pandas.DataFrame({"qid": ["unjudged"], "query": ["words"]})])
    metrics = ["map", bind("Toy_weight@3", evidence=[weights])]
    per_query = pt.Experiment(systems, topics, qrels, metrics, perquery=True)
    table = means(per_query, metrics).set_index("name")
    for system, frame in systems.items():
        run = er.Run.build(*(frame[column].tolist() for column in ("qid", "docno", "score")))
        scores = er.evaluate(run, "Toy_weight@3", evidence=[weights])
        assert table.loc[system, "Toy_weight@3"] == scores.mean("Toy_weight@3")
        assert "unjudged" in scores.blocks[0].query_ids


def test_direction(Toy):
    assert direction(bind("Toy_weight@3")) is Direction.LOWER
    assert direction(bind("iRBU@3")) is Direction.HIGHER
    assert direction(ir_measures.Bpref) is Direction.HIGHER
    assert direction(ir_measures.Judged @ 3) is Direction.NONE


def test_means_need_the_same_metrics(experiment):
    systems, topics, qrels, _ = experiment
    per_query = pt.Experiment(systems, topics, qrels, ["map", bind("iRBU@5")], perquery=True)
    with pytest.raises(ParameterError, match="'iRBU@5' is in the table"):
        means(per_query, ["map"])
