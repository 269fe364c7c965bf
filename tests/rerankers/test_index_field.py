"""Neutrality as a field of the index: what each engine's file holds, and the weight of it in a query."""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]
FORMS = ("opensearch", "elasticsearch", "rank_feature", "solr", "vespa", "postgresql")
LEXICON = er.Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
TEXTS = {"a": "he he", 'b",\u00fc': "he he she", "c": "she she", "n": "nobody", "e": ""}
EXPECTED = {"a": 0.0, 'b",\u00fc': 2 / 3, "c": 0.0, "n": 1.0, "e": 1.0}


@pytest.fixture(autouse=True)
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    er.scan(TEXTS, LEXICON, "counts.parquet")
    with Path("d.jsonl").open("w") as file:
        file.writelines(json.dumps({"id": key, "text": text}) + "\n" for key, text in TEXTS.items())
    Path("sides.csv").write_text("group,word\nleft,he\nright,she\n")
    return tmp_path / "counts.parquet"


def options(form: str, **settings: object) -> list[str]:
    given = {**({"vespa_type": "page", "vespa_namespace": "shop"} if form == "vespa" else {}), **settings}
    words = ((f"--{name.replace('_', '-')}", str(value)) for name, value in given.items())
    return ["--field", form, *(word for pair in words for word in pair)]


@pytest.fixture
def field(evenrank: Evenrank) -> Callable[..., str]:
    """Write a field of the counts to ``out``, and give the query that is printed for it."""

    def written(form: str, **settings: object) -> str:
        done = evenrank("scan", "counts.parquet", *options(form, **settings), "-o", "out")
        assert done.code == 0, done.err
        return done.out

    return written


def read_back(form: str, path: str) -> dict[str, float]:
    """What an engine is to take from the file, by the grammar of its bulk format."""
    text = Path(path).read_text(encoding="utf-8")
    if form == "postgresql":
        with Path(path).open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        assert head == ["id", "neutrality"]
        return {key: float(value) for key, value in rows}
    if form == "solr":
        return {row["id"]: row["neutrality"]["set"] for row in json.loads(text)}
    lines = [json.loads(line) for line in text.splitlines()]
    if form == "vespa":
        assert all(row["update"].startswith("id:shop:page::") for row in lines)
        return {
            row["update"].removeprefix("id:shop:page::"): row["fields"]["neutrality"]["assign"]
            for row in lines
        }
    return {
        one["update"]["_id"]: two["doc"]["neutrality"]
        for one, two in zip(lines[::2], lines[1::2], strict=True)
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_neutrality_of_every_document(form: str, field: Callable[..., str]) -> None:
    field(form)
    found = read_back(form, "out")
    assert found == pytest.approx(EXPECTED, abs=1e-11)
    if form == "rank_feature":  # a field of that type takes no 0
        assert min(found.values()) > 0


def test_tau_is_that_of_the_measure(field: Callable[..., str]) -> None:
    field("opensearch", tau=2)
    assert read_back("opensearch", "out")["a"] == 1.0


def weight_in(query: str) -> float:
    """Of Solr's query."""
    return float(query.partition("product(")[2].partition(",")[0])


def test_the_weight_is_the_median_deviation(field: Callable[..., str], evenrank: Evenrank) -> None:
    """Of the first hundred scores, over the queries whose scores differ at all."""
    lists = {
        "q1": [9.0, 5.0, 1.0],
        "q2": [3.0, 2.5, 2.0],
        "q3": [float(-2 * at) for at in range(150)],
        "q4": [7.0],
    }
    run = er.read_run({q: {f"d{at}": s for at, s in enumerate(own)} for q, own in lists.items()})
    er.write_run(run, "r.csv")
    spreads = [statistics.pstdev(own[:100]) for own in lists.values()][:3]
    found = weight_in(field("solr", engine_run="r.csv", lam=0.5))
    assert found == pytest.approx(0.5 * statistics.median(spreads), rel=1e-5)
    er.write_run(er.read_run({"q": {"a": 1.0, "b": 1.0}}), "flat.csv")
    done = evenrank("scan", "counts.parquet", *options("solr", engine_run="flat.csv"), "-o", "field")
    assert (done.code, Path("field").exists()) == (1, False)


@pytest.mark.parametrize("form", FORMS)
def test_the_query_is_that_of_the_guide_with_the_field_and_its_weight(
    form: str, field: Callable[..., str]
) -> None:
    Path("r.trec").write_text("q Q0 a 1 4 x\nq Q0 n 2 2 x\n")  # whose deviation is 1
    guide = Path(__file__).resolve().parents[2] / "docs/guides/scan.md"
    assert field(form, engine_run="r.trec", lam=0.5).strip() in guide.read_text(encoding="utf-8")
    named = field(form, engine_run="r.trec", lam=0.125, field_name="LAM_FIELD")
    assert "LAM_FIELD" in named
    assert "0.125" in named


def test_a_field_alone_has_the_weight_1(evenrank: Evenrank) -> None:
    outcome = evenrank("scan", "counts.parquet", "--field", "solr", "-o", "field.json")
    assert outcome.code == 0, outcome.err
    assert read_back("solr", "field.json") == pytest.approx(EXPECTED, abs=1e-11)
    assert "wrote field.json: neutrality of 5 documents" in outcome.err
    assert outcome.out == "q=QUERY&defType=edismax&qf=text&bf=product(1,def(neutrality,1))\n"
    assert "--engine-run RUN" in outcome.err  # how the weight is found
    assert sorted(path.name for path in Path().iterdir()) == [
        "counts.parquet", "d.jsonl", "field.json", "sides.csv"
    ]  # fmt: skip


def test_the_command_takes_counts_and_a_run(evenrank: Evenrank) -> None:
    Path("r.trec").write_text("q Q0 a 1 4 x\nq Q0 n 2 2 x\n")
    outcome = evenrank(
        "scan",
        "counts.parquet",
        *options("opensearch", field_name="w", engine_run="r.trec", lam=0.5),
        "-o",
        "field.jsonl",
    )
    assert outcome.code == 0, outcome.err
    assert '"doc":{"w":' in Path("field.jsonl").read_text()
    assert '{"lam": 0.5}' in outcome.out


def test_bad_usage(evenrank: Evenrank) -> None:
    for arguments, message in (
        (("d.jsonl", "--field", "solr", "-o", "f"), "d.jsonl: a field is made of counts"),
        (("counts.parquet", "--field", "solr"), "-o"),
        (("counts.parquet", "--field", "solr", "-o", "counts.parquet"), "would be overwritten"),
        (("counts.parquet", "--field", "solr", "--lam", "x", "-o", "f"), "--lam"),
        (("counts.parquet", "--field", "solr", "--field-name", "a b", "-o", "f"), "'a b'"),
        (("counts.parquet", "--field", "vespa", "-o", "f"), "type="),
        (("counts.parquet", "--field", "solr", "--vespa-type", "page", "-o", "f"), "Vespa"),
        (("counts.parquet", "--field", "solr", "--tau", "-1", "-o", "f"), "--tau"),
        (("counts.parquet", "--field", "slor", "-o", "f"), "called 'slor'; did you mean solr?"),
        (("counts.parquet", "--tau", "2", "-o", "f"), "holds word counts"),
        (("d.jsonl", "--lexicon", "sides.csv", "--tau", "2", "-o", "f"), "--field"),
        (("counts.parquet", "--field", "solr", "--terms", "-o", "f"), "--terms"),
    ):
        outcome = evenrank("scan", *arguments)
        assert (outcome.code, message in outcome.err) == (2, True), (arguments, outcome.err)
        assert not Path("f").exists()


def test_ranks_are_no_scores(evenrank: Evenrank) -> None:
    """A TREC file keeps the scores of a list with some equal ones; of a list without others it has ranks."""
    tied = er.read_run({"q": {f"d{at}": 0.5 - at // 2 / 100 for at in range(60)}}, name="tied")
    expected = 0.5 * statistics.pstdev(0.5 - at // 2 / 100 for at in range(60))
    command = "scan", "counts.parquet", "-o", "field.json"
    for name in ("tied.csv", "tied.trec"):
        er.write_run(tied, name)
        right = evenrank(*command, *options("solr", engine_run=name, lam=0.5))
        assert weight_in(right.out) == pytest.approx(expected, rel=1e-5)
    er.write_run(er.read_run({"q": {f"d{at}": 0.5 for at in range(60)}}, name="tied"), "tied.trec")
    refused = evenrank(*command, *options("solr", engine_run="tied.trec", lam=0.5))
    assert refused.code == 1
    assert "'tied'" in refused.err
    with Path("tied.trec").open("a") as file:
        file.write("q2 Q0 a 1 4 x\nq2 Q0 n 2 2 x\n")
    mixed = evenrank(*command, *options("solr", engine_run="tied.trec", lam=0.5))
    assert weight_in(mixed.out) == 0.5  # of the other query
    er.write_run(er.read_run({"q": {"a": -1.0, "b": -2.0, "c": -3.0}}), "ranks.csv")
    ranked = evenrank(*command, *options("solr", engine_run="ranks.csv"))
    assert ranked.code == 1
    assert "evenrank retrieve" in ranked.err  # whose run has the engine's own scores
