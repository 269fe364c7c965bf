"""``evenrank counterfactual crbo`` on the sample and on four texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from scipy.stats import kendalltau

import evenrank as er
from evenrank.sample import load

pytestmark = pytest.mark.needs("bm25s")

Evenrank = Callable[..., SimpleNamespace]
COMMAND = ("counterfactual", "rank", "--tagger", "rules")
SWAP = ("counterfactual", "swap", "--tagger", "rules")


@pytest.fixture
def collection(tmp_path: Path) -> tuple[str, str]:
    documents, queries = tmp_path / "documents.tsv", tmp_path / "queries.tsv"
    documents.write_text(
        "d1\tThe nurse said that she would come.\nd2\tHe is an engineer, and he is late.\n"
        "d3\tNobody is late today.\nd4\tShe is an engineer, and so is he.\n",
        encoding="utf-8",
    )
    queries.write_text("q1\tdid he come\nq2\tnobody today\n", encoding="utf-8")
    return str(documents), str(queries)


def test_the_value_is_that_of_the_function(evenrank: Evenrank, tmp_path: Path) -> None:
    sample = load()
    folder = Path(er.__file__).parent / "sample"
    written = tmp_path / "rbo.jsonl"
    outcome = evenrank(
        *COMMAND, "--system", "bm25+rm3", "--format", "jsonl", "-o", str(written),
        str(folder / "documents.jsonl"), str(folder / "queries.csv"),
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    record = json.loads(outcome.out)
    result = er.counterfactual("bm25+rm3", sample.documents, queries=sample.queries, tagger="rules")
    assert record["crbo"] == result.crbo < 1
    assert (record["low"], record["high"]) == result.interval
    words = er.scan(list(sample.documents.items()), "gender-en+gender-en-names")
    scores = er.evaluate(result.original, "TExFAIR@10 NFaiRR@10", words=words, background=result.original)
    assert record["TExFAIR@10"] == scores.mean("TExFAIR@10")
    assert record["NFaiRR@10"] == scores.mean("NFaiRR@10")
    assert er.Scores.read(written).mean("RBO@10") == pytest.approx(result.crbo)


@pytest.mark.needs("jinja2")
def test_the_page(evenrank: Evenrank, collection: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "lists.html"
    assert evenrank(*COMMAND, "--page", str(page), *collection).code == 0
    text = page.read_text(encoding="utf-8")
    assert "<mark>He</mark> is an engineer, and <mark>he</mark> is late." in text


def test_a_lexicon_of_three_groups(evenrank: Evenrank, tmp_path: Path) -> None:
    """Every young word becomes a grown one, a grown an old one, an old a young one: all lists move."""
    for name, text in {
        "ages.csv": "word,group\nchild,young\nadult,grown\nsenior,old\n",
        "documents.tsv": "d1\tA child here\nd2\tAn adult here\nd3\tA senior here\n",
        "queries.tsv": "q1\tchild\nq2\tsenior\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("documents.tsv", "queries.tsv")]
    given = ["--lexicon", str(tmp_path / "ages.csv"), "--mapping", "cyclic", "--format", "jsonl"]
    outcome = evenrank(*COMMAND, *given, *files)
    assert outcome.code == 0, outcome.err
    record = json.loads(outcome.out)
    assert (record["crbo"], record["documents_changed"]) == (0, 3)


def test_strata_are_the_kinds_that_a_lexicon_has(
    evenrank: Evenrank, collection: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "l.csv").write_text(
        "word,group,partner\nshe,f,he\nhe,m,she\nnurse,f,engineer\nengineer,m,nurse\n"
    )
    given = ("--lexicon", str(tmp_path / "l.csv"), "--kinds", "each", "--format", "tsv")
    outcome = evenrank(*COMMAND, *given, *collection)
    assert outcome.code == 0, outcome.err
    assert [line.split("\t")[1] for line in outcome.out.splitlines()[1:]] == [
        "all words",
        "pronouns",
        "nouns",
    ]


def test_columns_of_the_queries(evenrank: Evenrank, collection: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "queries.csv").write_text("name,asked\nq1,did he come\n", encoding="utf-8")
    outcome = evenrank(*COMMAND, collection[0], str(tmp_path / "queries.csv"))
    assert outcome.code == 1
    assert "'name', 'asked'" in outcome.err
    named = ("--columns", "query=name,text=asked")
    assert evenrank(*COMMAND, *named, collection[0], str(tmp_path / "queries.csv")).code == 0
    (tmp_path / "queries.csv").write_text("query,kind\nq1,x\n", encoding="utf-8")
    outcome = evenrank(*COMMAND, collection[0], str(tmp_path / "queries.csv"))
    assert outcome.code == 1
    assert "1 query has no text, which a search needs (first: q1)" in outcome.err
    assert "(it has the columns kind)" in outcome.err


def test_documents_and_queries_name_their_texts_apart(
    evenrank: Evenrank, collection: tuple[str, str], tmp_path: Path
) -> None:
    documents, queries = tmp_path / "docs.csv", tmp_path / "asked.csv"
    rows = [line.split("\t") for line in Path(collection[0]).read_text().splitlines()]
    documents.write_text("id,payload\n" + "".join(f'{key},"{text}"\n' for key, text in rows))
    rows = [line.split("\t") for line in Path(collection[1]).read_text().splitlines()]
    queries.write_text("query,utterance\n" + "".join(f"{key},{text}\n" for key, text in rows))
    one = evenrank(*COMMAND, str(documents), str(queries), "--columns", "text=payload")
    assert (one.code, "(it has the columns utterance)" in one.err) == (1, True)
    both = ("--columns", "text=payload,query_text=utterance", "--format", "tsv")
    apart = evenrank(*COMMAND, str(documents), str(queries), *both)
    assert apart.code == 0, apart.err
    assert apart.out == evenrank(*COMMAND, *collection, "--format", "tsv").out
    wrong = evenrank(*COMMAND, str(documents), str(queries), "--columns", "text=payload,query_text=said")
    assert wrong.code == 1
    assert all(word in wrong.err for word in ("asked.csv", "'said'", "'utterance'"))


def test_systems_of_the_project_file(
    evenrank: Evenrank, collection: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evenrank.toml").write_text(
        '[data]\ndocuments = "documents.tsv"\nqueries = "queries.tsv"\n'
        '[systems]\nplain = "bm25"\nwide = "bm25+rm3"\n[report]\nsystem = "plain"\n'
    )

    def rows(*more: str) -> list[list[str]]:
        done = evenrank(*COMMAND, "--format", "tsv", *more)
        assert done.code == 0, done.err
        return [line.split("\t") for line in done.out.splitlines()[1:]]

    both = rows()
    assert [row[0] for row in both] == ["plain", "wide"]
    assert [row[0] for row in rows("--system", "wide")] == ["wide"]
    by_name = rows("--no-project", *collection, "--system", "bm25", "--system", "bm25+rm3")
    assert [row[1:] for row in both] == [row[1:] for row in by_name]
    assert [row[0] for row in rows("--system", "bm25")] == ["bm25"]


def test_shares_and_directions_are_rows_and_equal_the_functions(
    evenrank: Evenrank, collection: tuple[str, str]
) -> None:
    from evenrank.counterfactuals.swap import make_swapper
    from evenrank.systems import read_texts

    asked = (
        "--kinds",
        "pronouns",
        "--share",
        "0.5",
        "--share",
        "1",
        "--from",
        "each",
        "--format",
        "jsonl",
        "--seed",
        "2",
    )
    outcome = evenrank(*COMMAND, *asked, *collection)
    assert outcome.code == 0, outcome.err
    records = {record["swapped"]: record for record in map(json.loads, outcome.out.splitlines())}
    shares = {"pronouns": 1.0, "pronouns, 50% of pairs": 0.5}
    groups = {"": None, ", from female": "female", ", from male": "male"}
    assert set(records) == {share + group for share in shares for group in groups}
    documents = read_texts(collection[0])
    queries = {"q1": "did he come", "q2": "nobody today"}
    for share, part in shares.items():
        for group, name in groups.items():
            swapper = make_swapper(kinds=["pronouns"], share=part, from_group=name, seed=2, tagger="rules")
            expected = er.counterfactual("bm25", documents, swapper, queries=queries)
            assert records[share + group]["crbo"] == expected.crbo
            assert records[share + group]["documents_changed"] == len(expected.changed)
    changed = {name: record["documents_changed"] for name, record in records.items()}
    assert changed["pronouns, from female"] == changed["pronouns, from male"] == 2 < changed["pronouns"] == 3


def test_agreement_over_three_systems_is_printed(evenrank: Evenrank, tmp_path: Path) -> None:
    """Kendall's correlation of CRBO with the measures of the original lists; two systems have none."""
    folder = Path(er.__file__).parent / "sample"
    asked = ["--moved", "0", str(folder / "documents.jsonl"), str(folder / "queries.csv")]
    systems = [word for name in ("bm25", "bm25+rm3", "BM25(k1=3.0,b=0.1)") for word in ("--system", name)]
    outcome = evenrank(*COMMAND, *systems, *asked)
    assert outcome.code == 0, outcome.err
    rows = [
        json.loads(line)
        for line in evenrank(*COMMAND, *systems, "--format", "jsonl", *asked).out.splitlines()
    ]
    for measure in ("TExFAIR@10", "NFaiRR@10"):
        tau = kendalltau([row["crbo"] for row in rows], [row[measure] for row in rows]).statistic
        line = [line for line in outcome.out.splitlines() if line.startswith(measure)][-1]
        assert (line.split()[1], line.split()[-1]) == (f"{tau:.4f}", "3")
    two = evenrank(*COMMAND, *systems[:4], *asked)
    assert not any(line.startswith("NFaiRR@10") for line in two.out.splitlines())


def test_a_part_can_be_swapped_into_a_file(
    evenrank: Evenrank, collection: tuple[str, str], tmp_path: Path
) -> None:
    output = tmp_path / "swapped.tsv"
    done = evenrank(*SWAP, collection[0], "--from", "female", "-o", output)
    assert done.code == 0, done.err
    text = output.read_text(encoding="utf-8")
    assert "d4\tHe is an engineer, and so is he.\n" in text
    assert "d2\tHe is an engineer, and he is late.\n" in text
    for part in (("--kinds", "each"), ("--from", "each")):
        wrong = evenrank(*SWAP, collection[0], *part, "-o", output)
        assert (wrong.code, "'each'" in wrong.err) == (2, True)


def test_categories_of_queries_have_rows_of_their_own(
    evenrank: Evenrank, collection: tuple[str, str], tmp_path: Path
) -> None:
    documents, _ = collection
    queries = tmp_path / "by.csv"
    queries.write_text("query,text,kind\nq1,did he come,person\nq2,nobody today,thing\n", encoding="utf-8")
    written = tmp_path / "rbo.jsonl"
    outcome = evenrank(
        *COMMAND, documents, str(queries), "--by", "kind", "--format", "jsonl", "-o", str(written)
    )
    assert outcome.code == 0, outcome.err
    rows = {row["swapped"]: row for row in map(json.loads, outcome.out.splitlines())}
    assert list(rows) == ["all words", "all words, person", "all words, thing"]
    lines = map(json.loads, written.read_text().splitlines())
    values = {row["query"]: row["value"] for row in lines if "query" in row}
    assert (
        rows["all words, person"]["crbo"] == values["q1"] < rows["all words, thing"]["crbo"] == values["q2"]
    )
    assert [row["queries"] for row in rows.values()] == [2, 1, 1]


def test_several_pairings_of_names(evenrank: Evenrank, collection: tuple[str, str]) -> None:
    """A row for each pairing, as with its seed alone, and their mean with an interval over pairings."""
    several = evenrank(*COMMAND, "--pairings", "3", "--seed", "4", "--moved", "0", *collection)
    assert several.code == 0, several.err
    values = []
    for seed in ("4", "5", "6"):
        alone = evenrank(*COMMAND, "--seed", seed, "--format", "jsonl", *collection)
        values.append(json.loads(alone.out.splitlines()[0])["crbo"])
        assert re.search(rf"all words, pairing {seed} +{values[-1]:.4f}", several.out)
    assert re.search(rf"^all +{sum(values) / 3:.4f}", several.out, re.MULTILINE)
    assert "that of all is over pairings" in several.out
