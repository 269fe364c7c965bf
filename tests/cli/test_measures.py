"""``evenrank measures``: every measure is listed and has a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from evenrank import all_measures
from evenrank.cli import build_parser
from evenrank.cli.measures import _asked_for
from evenrank.scores.names import arrow

Evenrank = Callable[..., SimpleNamespace]


def test_every_measure_is_listed_with_its_summary(evenrank: Evenrank) -> None:
    outcome = evenrank("measures")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    text = " ".join(outcome.out.split())
    for name, measure in all_measures().items():
        line = next(line for line in lines if line.split()[:1] == [name])
        assert line.split()[1] == measure.family
        sign = arrow(measure.direction.value)  # none where neither high nor low is better
        assert not sign or line.split()[2] == sign
        assert " ".join(measure.summary().split()) in text
    assert "Every other measure of ir_measures is accepted by name" in text
    assert "Bpref" in text
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", sorted(all_measures()))
def test_every_measure_has_a_page(evenrank: Evenrank, name: str) -> None:
    measure = all_measures()[name]
    page = evenrank("measures", name).out
    assert page.startswith(f"{name}: {measure.summary()}\n")
    for said in (
        measure.formula,
        measure.reference,
        measure.direction.value,
        measure.aggregation,
        *measure().needs,
    ):
        assert said in page
    for parameter in measure.parameters():
        rule = parameter.metadata["rule"].wording
        assert f"  {parameter.name}: {parameter.metadata['meaning']}; {rule}; default " in page
    for reason, when in measure.undefined_when.items():
        assert f"  {reason}: {when}" in page


def test_the_page_of_ndcg(evenrank: Evenrank) -> None:
    page = evenrank("measures", "nDCG(dcg='exp-log2')@10").out
    lines = page.splitlines()
    assert "  range        0 to 1" in lines
    assert "  cut-off      optional" in lines
    gain = "gain of a grade: the grade itself, or 2**g - 1"
    assert f"  dcg: {gain}; one of 'log2', 'exp-log2'; default 'log2'" in lines


def test_a_range_without_end_is_said_in_words(evenrank: Evenrank) -> None:
    assert "  range        0 to infinity\n" in evenrank("measures", "alpha_nDCG").out


def test_a_delegated_measure(evenrank: Evenrank) -> None:
    page = evenrank("measures", "IPrec").out
    assert page.startswith("IPrec: Computed by ir_measures")
    assert "  recall: recall threshold; given\n" in page
    assert "; default 1\n" in page
    assert "Interpolated Precision" in page
    assert "::" not in page


def test_a_position_bias(evenrank: Evenrank) -> None:
    page = evenrank("measures", "rbp").out
    assert page.startswith("rbp: ``(1 - p) p**(i - 1)``")
    assert "  p: probability of going on to the next rank; a number >= 0 and < 1; default 0.8\n" in page
    assert ">>>" not in evenrank("measures", "log2").out


def test_as_json_lines(evenrank: Evenrank) -> None:
    records = [json.loads(line) for line in evenrank("measures", "--format", "jsonl").out.splitlines()]
    assert [record["name"] for record in records] == list(all_measures())
    one = json.loads(evenrank("measures", "alpha_nDCG", "--format", "jsonl").out)
    assert one["range"] == [0.0, "Infinity"]
    assert one["parameters"]["alpha"]["default"] == 0.5
    assert (
        json.loads(evenrank("measures", "Bpref", "--format", "jsonl").out)["kind"] == "measure of ir_measures"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nDGC", "did you mean nDCG"),
        ("xyzzy", "family: combined, diversity, groups, order, pair, relevance, words"),
        ("", "empty string"),
        ("0.5*RR", "0.5*RR"),
        ("ndcg_cut_10", "here it is nDCG@10"),
    ],
)
def test_no_such_measure(evenrank: Evenrank, name: str, said: str) -> None:
    outcome = evenrank("measures", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_kinds_of_attention_are_named(evenrank: Evenrank) -> None:
    assert "an attention (log2, rbp(p=0.8), reciprocal, uniform, " in evenrank("measures", "AWRF").out


def test_what_the_paper_calls_them(evenrank: Evenrank) -> None:
    factor = evenrank("measures", "RBDF").out
    assert "stands for rank-biased discounting factor" in factor
    assert "neither high nor low is better" in factor
    assert "stands for term exposure-based divergence" in evenrank("measures", "TED").out
    assert "Eqs. 6-8" in evenrank("measures", "SetFaiRR").out
    assert "Eq. 9" in evenrank("measures", "NSetFaiRR").out


def found(outcome: SimpleNamespace) -> list[str]:
    return [line.split()[0] for line in outcome.out.splitlines()[:-1] if line and not line.startswith(" ")]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("gender", {"NFaiRR", "TExFAIR", "GroupExposure"}),
        ("women", {"NFaiRR", "TExFAIR", "GroupExposure"}),
        ("share of the first page", {"GroupShare"}),
        ("are small sellers seen", {"GroupShare"}),
        ("viewpoint", {"DUO"}),
        ("opinions", {"DUO"}),
        ("perspectives", {"DUO", "OB", "Polarity", "dGF"}),  # a word that no description has
        ("vendors", {name for name, measure in all_measures().items() if measure.family == "groups"}),
        ("seller", {name for name, measure in all_measures().items() if measure.family == "groups"}),
        ("relevance and fairness", {"FAIR", "GFR"}),
        ("precision", {"P"}),
        ("ndcg", {"nDCG"}),
        ("How similar are two rankings?", {"RBO"}),
    ],
)
def test_measures_are_found_by_need(evenrank: Evenrank, question: str, first: set[str]) -> None:
    outcome = evenrank("measures", question)
    assert (outcome.code, outcome.err) == (0, "")
    names = found(outcome)
    assert names[0] in first
    assert len(names) <= 5
    assert set(names) <= set(all_measures())
    text = " ".join(outcome.out.split())
    for name in names:
        assert all_measures()[name].summary() in text
        assert f"-m {name}" in text
    assert max(map(len, outcome.out.splitlines())) <= 110


def test_words_need_no_quotes(evenrank: Evenrank) -> None:
    quoted = evenrank("measures", "share of the first page").out
    assert evenrank("measures", "share", "of", "the", "first", "page").out == quoted


def test_what_is_found_says_how_to_ask_for_it(evenrank: Evenrank) -> None:
    lines = evenrank("measures", "share of the first page").out.splitlines()
    assert "  needs: the groups of the documents" in lines
    assert "  evenrank evaluate RUN --groups NAME=FILE -m GroupShare@10" in lines
    neutral = evenrank("measures", "neutral documents").out
    assert "  evenrank evaluate RUN --words FILE --background FILE -m NFaiRR@10\n" in neutral


def test_every_command_that_is_advised_is_one() -> None:
    for measure in all_measures().values():
        needs, command = _asked_for(measure)
        assert needs
        build_parser().parse_args(command.split()[1:])


def test_what_is_found_as_json_lines(evenrank: Evenrank) -> None:
    text = evenrank("measures", "viewpoint", "--format", "jsonl").out
    records = [json.loads(line) for line in text.splitlines()]
    assert [record["name"] for record in records] == found(evenrank("measures", "viewpoint"))
    assert records[0]["answers"] == list(all_measures()["DUO"].answers)


@pytest.mark.parametrize("name", ["NFaiRR", "FAIR", "nDCG", "rbp"])
def test_a_page_fits_a_terminal(evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Its paragraphs are laid out anew; no word of it is lost."""
    whole = evenrank("measures", name).out
    monkeypatch.setattr("evenrank.cli.measures.terminal_width", lambda: 60)
    narrow = evenrank("measures", name).out
    assert narrow.split() == whole.split()
    assert max(map(len, narrow.splitlines())) <= 60
