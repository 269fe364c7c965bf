"""What one function takes in Python, all take: files, frames, dictionaries, lists, names."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import evenrank as er
from evenrank import DataError, ParameterError
from evenrank.errors import InputTypeError

Evenrank = Callable[..., Any]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from evenrank.cli import main

    folder = tmp_path_factory.mktemp("demo")
    assert main(["init", "--demo", str(folder)]) == 0
    return folder


@pytest.fixture(autouse=True)
def _in_the_demo(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)


def groups() -> pd.DataFrame:
    return pd.read_csv("groups.csv")


AWRF = "AWRF(attr='author')@10"


def test_groups_of_any_kind_give_the_same_values() -> None:
    frame = groups()[["document", "author"]]
    by_hand = er.read_groups("groups.csv", "author")
    expected = er.evaluate("bm25.trec", AWRF, groups=by_hand)[AWRF]
    assert isinstance(expected, float)
    renamed = er.Inputs.of("bm25.trec", groups={"writer": by_hand}).groups[0]
    assert renamed.attribute.name == "writer"
    shapes: list[Any] = [
        frame, pl.DataFrame(frame.to_dict("list")), {"author": "groups.csv"}, {"author": groups()},
        {"author": dict(zip(frame["document"], frame["author"], strict=True))}, {"author": by_hand},
        "author=groups.csv", ["author=groups.csv"], "groups.csv", Path("groups.csv"), groups(),
    ]  # fmt: skip
    assert {er.evaluate("bm25.trec", AWRF, groups=shape)[AWRF] for shape in shapes} == {expected}
    assert er.evaluate("bm25.trec", AWRF, groups="author", documents="groups.csv")[AWRF] == expected
    assert er.evaluate("bm25.trec", AWRF, groups="author", documents=groups())[AWRF] == expected


def test_a_table_has_an_attribute_in_each_column_of_few_values() -> None:
    table = groups().assign(name=[f"name {row}" for row in range(len(groups()))])
    found = er.Inputs.of("bm25.trec", groups=table).groups
    assert [one.attribute.name for one in found] == ["popularity", "publisher", "leaning", "author"]
    long = pd.DataFrame({"document": ["a", "a", "b"], "value": ["x", "y", "x"], "share": [0.5, 0.5, 1.0]})
    (one,) = er.Inputs.of({"q": {"a": 1.0}}, groups=long).groups
    assert (one.attribute.name, one.attribute.values) == ("group", ("x", "y"))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"groups": {"author": "nothing.csv"}}, "nothing.csv"),
        ({"groups": {"d1": "female", "d2": "male"}}, "'d1'"),
        ({"groups": "nothing.csv"}, "nothing.csv"),
        ({"groups": 3}, "int"),
        ({"groups": pd.DataFrame({"document": ["a"], "x": ["1"], "y": ["2"]})}, "x, y"),
        ({"target": "catalogue"}, "groups="),
        ({"groups": {"author": "groups.csv"}, "target": "x=equal"}, "author"),
    ],
)
def test_groups_and_targets_that_cannot_be_taken(given: Any, named: str) -> None:
    with pytest.raises((ParameterError, InputTypeError, DataError)) as caught:
        er.evaluate("bm25.trec", "nDCG@10", qrels="qrels.txt", **given)
    assert named in str(caught.value)


def test_targets_by_name_by_share_and_by_attribute() -> None:
    def target(given: Any) -> Any:
        (one,) = er.Inputs.of("bm25.trec", groups={"author": "groups.csv"}, target=given).groups
        return one.attribute.target

    assert target("catalogue") == target("author=catalogue") == "collection"
    assert target("candidates") == "pool"
    shares = {"freelance": 0.3, "staff": 0.7}
    assert target(shares) == target({"author": shares}) == target([0.3, 0.7]) == (0.3, 0.7)
    Path("target.csv").write_text("value,share\nfreelance,0.3\nstaff,0.7\n")
    assert target("target.csv") == target(Path("target.csv")) == (0.3, 0.7)


def test_rerank_takes_files_and_dictionaries() -> None:
    judged = {"q": {"b": 1}}
    assert er.rerank({"q": {"a": 2.0, "b": 1.0}}, "Oracle()", qrels=judged).documents("q") == ["b", "a"]
    of_file = er.rerank("bm25.trec", er.FAIR_greedy(epsilon=0.3, attr="author") @ 20, groups=groups())
    of_run = er.rerank(
        er.read_run("bm25.trec"),
        "FAIR_greedy(epsilon=0.3,attr='author')@20",
        groups={"author": "groups.csv"},
    )
    assert of_file.to_dict() == of_run.to_dict()


def test_lists_of_runs_have_their_own_names() -> None:
    runs = [er.read_run("bm25.trec"), "fairer.trec"]
    scores = er.evaluate(runs, "nDCG@10", qrels="qrels.txt")
    assert list(scores.runs) == ["bm25", "fairer"]
    found = scores["nDCG@10"]
    assert found == {run: scores.mean("nDCG@10", run) for run in scores.runs}
    with pytest.raises(ParameterError, match="'bm25'"):
        er.evaluate(["bm25.trec", "bm25.trec"], "RR", qrels="qrels.txt")


def test_measures_and_rerankers_are_names_of_the_package() -> None:
    from evenrank import FAIR_greedy, NFaiRR, nDCG

    assert repr(nDCG @ 10) == "nDCG@10"
    assert nDCG @ 10 == er.parse_measure("nDCG@10") == nDCG() @ 10
    assert repr(NFaiRR(tau=0) @ 5) == "NFaiRR(tau=0)@5"
    assert repr(0.5 * nDCG @ 10 + 0.5 * er.RR) == "0.5*nDCG@10 + 0.5*RR"
    assert repr(er.GFR @ 10 * nDCG @ 10) == repr(er.parse_measure("GFR@10 * nDCG@10"))
    assert repr(FAIR_greedy()) == "FAIR_greedy"
    by_class = er.evaluate("bm25.trec", [er.RR, nDCG @ 10], qrels="qrels.txt")
    assert by_class == er.evaluate("bm25.trec", "RR nDCG@10", qrels="qrels.txt")
    assert by_class[er.RR] == by_class["RR"]
    assert len(er.__all__) < 60
    assert not hasattr(er, "nDCG" + "G")


def test_a_background_by_the_name_of_a_run_or_as_a_frame() -> None:
    words = er.scan("documents.jsonl", "gender-en")
    runs = ["bm25.trec", "fairer.trec"]
    by_name = er.evaluate(runs, "NFaiRR@10", words=words, background="bm25")
    assert by_name == er.evaluate(runs, "NFaiRR@10", words=words, background=er.read_run("bm25.trec"))
    rows = [
        {"query": query, "document": document, "score": score}
        for query, own in er.read_run("bm25.trec").to_dict().items()
        for document, score in own.items()
    ]
    assert by_name == er.evaluate(runs, "NFaiRR@10", words=words, background=pd.DataFrame(rows))
    with pytest.raises(InputTypeError, match="'BM26'"):
        er.evaluate(runs, "NFaiRR@10", words=words, background="BM26")


def test_a_comparison_as_a_frame_and_in_a_notebook() -> None:
    found = er.compare(["bm25.trec", "fairer.trec"], "nDCG@10 RR", qrels="qrels.txt")
    for frame in (found.to_pandas(), found.to_polars().to_pandas()):
        assert list(frame["measure"]) == ["nDCG@10", "RR"]
        for row, pair in zip(frame.to_dict("records"), found.pairs, strict=True):
            assert (row["difference"], row["low"], row["high"]) == (pair.difference, pair.low, pair.high)
            assert (row["p"], row["corrected_p"]) == (pair.p_value, pair.corrected)
    page = found._repr_html_()
    assert all(f">{number}<" in page for number in ("-0.0085", "0.3885", "[0.2119, 0.3255]"))


def test_gate_in_python_is_the_command(evenrank: Evenrank) -> None:
    limit = "GroupShare(attr='author',attention=log2)@10[freelance] >= {}"
    Path("gate.toml").write_text(
        f'[groups]\nauthor = "groups.csv"\n[gate]\nlimits = ["{limit.format(0.45)}"]\n'
    )
    for run, code in (("bm25.trec", 3), ("fairer.trec", 0)):
        held = er.gate(run, limit.format(0.45), groups={"author": "groups.csv"})
        assert held.failed == bool(code)
        done = evenrank("gate", run, "--project", "gate.toml", "--format", "jsonl")
        assert done.code == code
        row = json.loads(done.out.splitlines()[0])
        assert (row["low"], row["high"]) == (held.verdicts[0].low, held.verdicts[0].high)
    rules = {"measures": {"nDCG@10": {"allowed": 0.0}}}
    by_file = er.gate("fairer.trec", rules, baseline="bm25.trec", qrels="qrels.txt")
    by_name = er.gate(["fairer.trec", "bm25.trec"], rules, baseline="bm25", qrels="qrels.txt")
    assert by_file.verdicts == by_name.verdicts
    namesake = er.read_run(er.read_run("bm25.trec").to_dict(), name="fairer")
    assert er.gate("fairer.trec", rules, baseline=namesake, qrels="qrels.txt").verdicts == by_file.verdicts
    with pytest.raises(ParameterError, match="fairer"):
        er.gate(["fairer.trec", "bm25.trec"], rules, qrels="qrels.txt")


def test_audit_and_report_take_what_is_in_memory(tmp_path: Path) -> None:
    run, frame = er.read_run("bm25.trec"), groups()[["document", "author"]]
    of_memory = er.audit(
        run, tmp_path / "a", groups=frame, target="catalogue", queries={"occ-1": "text", "nowhere": "text"}
    )
    of_files = er.audit("bm25.trec", tmp_path / "b", groups="author=groups.csv", target="catalogue")
    assert [one.attribute for one in of_memory.verdicts] == ["author"]
    assert of_memory.inputs.queries == ("occ-1",)
    all_queries = er.audit([run], tmp_path / "c", groups=frame, target={"author": "catalogue"})
    assert [g.share for g in all_queries.verdicts[0].groups] == [g.share for g in of_files.verdicts[0].groups]
    assert [g.decision for g in all_queries.verdicts[0].groups] == [
        g.decision for g in of_files.verdicts[0].groups
    ]
    texts = frame.assign(text="some words")
    texts.to_csv("texts.csv", index=False)
    of_fields = er.audit("bm25.trec", tmp_path / "d", groups="author", documents=texts)
    by_field = er.audit("bm25.trec", tmp_path / "e", groups="author", documents="texts.csv")
    (shares,) = {tuple(g.share for g in one.verdicts[0].groups) for one in (of_fields, by_field)}
    assert len(shares) == 2
    given = er.audit(run, tmp_path / "f", groups=frame, target={"author": {"freelance": 0.3, "staff": 0.7}})
    assert [round(g.target, 4) for g in given.verdicts[0].groups] == [0.3, 0.7]
    for two in ([run, run], [run, "bm25.trec"]):
        with pytest.raises(ParameterError, match="'bm25'"):
            er.audit(two, tmp_path / "g", groups=frame)
    with pytest.raises(ParameterError, match="qrels="):
        er.report(er.evaluate(run, "RR", qrels="qrels.txt"), tmp_path / "r.html", qrels="qrels.txt")
    of_files.report(tmp_path / "copy.html")
    assert (tmp_path / "copy.html").read_bytes() == (of_files.folder / "report.html").read_bytes()
    er.report(["bm25.trec", "fairer.trec"], tmp_path / "r.html", "nDCG@10", qrels="qrels.txt", groups=frame)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "nDCG@10" in page
    assert "fairer" in page


def test_functions_and_modules_do_not_hide_each_other() -> None:
    commands = "main(['audit', 'no.trec']); main(['report', 'no.trec']); main(['gate', 'no.trec'])"
    code = (
        f"from evenrank.cli import main; {commands}; import evenrank as er; "
        "assert all(type(one).__name__ == 'function' for one in (er.audit, er.report, er.gate))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
