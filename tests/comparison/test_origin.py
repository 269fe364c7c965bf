"""Collection, background and ranker side by side: random orders are means over all orders there are."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from evenrank import (
    Inputs,
    Lexicon,
    Membership,
    Run,
    WordCounts,
    origin,
    parse_measure,
    read_lexicon,
    read_run,
    scan,
)
from evenrank.comparison.origin import BACKGROUND, COLLECTION, Origin
from evenrank.comparison.origin_table import extreme_table, origin_tables, tables_of_origin, term_table
from evenrank.comparison.random_lists import DocumentPool, random_scores
from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.stats.difference import mean_difference
from evenrank.tables import printed

SIDES = Lexicon.build("sides", {"m": ["he"], "f": ["she"]})
# (m, f) and length of each document
DOCUMENTS = {
    "a": (4, 0, 10), "b": (3, 1, 8), "c": (0, 0, 12), "d": (2, 2, 9), "e": (0, 5, 10), "f": (1, 0, 7),
    "g": (2, 0, 11),
}  # fmt: skip
BACKGROUND_LISTS = {"q1": ["a", "b", "c", "d"], "q2": ["e", "f", "b", "g"], "q3": ["c", "f", "d"]}
RANKED = {"q1": ["b", "a", "c"], "q2": ["f", "e"], "q3": ["d", "c", "f"]}


def as_run(lists: dict[str, list[str]], name: str = "run") -> Run:
    rows = [(q, d, float(-rank)) for q, documents in lists.items() for rank, d in enumerate(documents)]
    return Run.build(*zip(*rows, strict=True), name=name)


WORDS = WordCounts.build(
    list(DOCUMENTS),
    [length for *_, length in DOCUMENTS.values()],
    [[m, f] for m, f, _ in DOCUMENTS.values()],
    SIDES,
)
POOL, SYSTEM = as_run(BACKGROUND_LISTS, "pool"), as_run(RANKED, "system")


def w(document: str) -> float:
    m, f, _ = DOCUMENTS[document]
    return 1.0 if m + f <= 1 else 1 - abs(m / (m + f) - 0.5) - abs(f / (m + f) - 0.5)


def fairr(documents: list[str] | tuple[str, ...], k: int) -> float:
    return sum(w(document) / math.log2(1 + rank) for rank, document in enumerate(documents[:k], 1))


def ideal(query: str, k: int) -> float:
    return fairr(sorted(BACKGROUND_LISTS[query], key=w, reverse=True), k)


def texfair(documents: list[str] | tuple[str, ...], k: int) -> float:
    exposure, share, attention = [0.0, 0.0], 0.0, 0.0
    for rank, document in enumerate(documents[:k], 1):
        m, f, length = DOCUMENTS[document]
        v = 1 / math.log2(1 + rank)
        exposure[0] += m / length * v
        exposure[1] += f / length * v
        share += v * (m + f > 0)
        attention += v
    total = sum(exposure)
    return 1 - (abs(exposure[0] / total - 0.5) + abs(exposure[1] / total - 0.5)) * share / attention


def found(measures: str = "NFaiRR@2", **more: object) -> Origin:
    return origin({"system": SYSTEM}, measures, words=WORDS, background=POOL, **more)


def values(scores: Origin, measure: str, place: str) -> dict[str, float]:
    return scores.scores.to_dict()[place][measure]


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_random_orders_of_nfairr_are_the_mean_over_all_orders(k: int) -> None:
    ours = found(f"NFaiRR@{k} FaiRR@{k}")
    everything = [fairr(order, k) for order in permutations(DOCUMENTS)]
    for query, documents in BACKGROUND_LISTS.items():
        orders = [fairr(order, k) for order in permutations(documents)]
        assert values(ours, f"FaiRR@{k}", BACKGROUND)[query] == pytest.approx(np.mean(orders))
        assert values(ours, f"FaiRR@{k}", COLLECTION)[query] == pytest.approx(np.mean(everything))
        best = ideal(query, k)
        assert values(ours, f"NFaiRR@{k}", BACKGROUND)[query] == pytest.approx(np.mean(orders) / best)
        assert values(ours, f"NFaiRR@{k}", COLLECTION)[query] == pytest.approx(np.mean(everything) / best)
        assert values(ours, f"NFaiRR@{k}", "system")[query] == pytest.approx(fairr(RANKED[query], k) / best)
    assert not any("random lists" in note for note in ours.notes)


def test_a_collection_that_allows_more_than_the_background_is_said() -> None:
    short = as_run({**BACKGROUND_LISTS, "q2": ["e", "b"]})
    ours = origin({"s": SYSTEM}, "NFaiRR@2", words=WORDS, background=short)
    assert values(ours, "NFaiRR@2", COLLECTION)["q2"] > 1
    assert ours.notes == ("(collection): NFaiRR@2 is above 1 for 1 query, whose background allows less",)


def test_tau_and_missing_are_those_of_the_measure() -> None:
    ours = found("NFaiRR(tau=4)@2")
    for query, documents in BACKGROUND_LISTS.items():
        flat = {d: 1.0 if sum(DOCUMENTS[d][:2]) <= 4 else w(d) for d in DOCUMENTS}
        weights = [1.0, 1 / math.log2(3)]
        best = sum(
            x * y for x, y in zip(sorted((flat[d] for d in documents), reverse=True), weights, strict=False)
        )
        mean = np.mean([flat[d] for d in documents]) * sum(weights)
        assert values(ours, "NFaiRR(tau=4)@2", BACKGROUND)[query] == pytest.approx(mean / best)
    more = as_run({**BACKGROUND_LISTS, "q3": ["c", "unknown"]})
    taken = origin({"system": SYSTEM}, "NFaiRR@2", words=WORDS, background=more, missing="neutral")
    assert values(taken, "NFaiRR(missing='neutral')@2", BACKGROUND)["q3"] == 1.0


def test_random_orders_of_other_measures_are_near_the_mean_over_all_orders() -> None:
    draws = 300
    ours = found("TExFAIR@2", draws=draws)
    spread = []
    for query, documents in BACKGROUND_LISTS.items():
        orders = [texfair(order, 2) for order in permutations(documents)]
        error = np.std(orders) / math.sqrt(draws)
        spread.append(error)
        assert abs(values(ours, "TExFAIR@2", BACKGROUND)[query] - np.mean(orders)) < 6 * error + 1e-12
    everything = [texfair(order, 2) for order in permutations(DOCUMENTS, 2)]
    for value in values(ours, "TExFAIR@2", COLLECTION).values():
        assert abs(value - np.mean(everything)) < 6 * np.std(everything) / math.sqrt(draws)
    said = "(background): means over 300 random lists, standard error "
    told = float(ours.notes[1].removeprefix(said).partition(":")[0])  # of the mean over three queries
    assert told == pytest.approx(math.sqrt(sum(e**2 for e in spread)) / 3, rel=0.25)
    assert ours.notes[1].startswith(said)
    assert ours.notes[1].endswith(": TExFAIR@2")


def test_the_seed_decides_what_is_drawn() -> None:
    first, again, other = (found("TExFAIR@2", draws=20, seed=seed) for seed in (1, 1, 2))
    assert first.scores == again.scores
    assert first.scores != other.scores


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    found("TExFAIR@2", draws=25, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(10, 50), (20, 50), (25, 50), (35, 50), (45, 50), (50, 50)]


def test_a_pool_that_lacks_a_query_is_an_empty_list() -> None:
    short = as_run({q: d for q, d in BACKGROUND_LISTS.items() if q != "q2"})
    ours = origin({"system": SYSTEM}, "TExFAIR@2", words=WORDS, background=short, draws=4)
    block = ours.scores.block("TExFAIR@2", BACKGROUND)
    assert [block.reasons[code] for code in block.status[:, 0]] == ["ok", "empty list", "ok"]


def test_where_documents_are_left_out_later_ones_move_up() -> None:
    """A pool of one known document among many unknown ones: its value, whatever is drawn."""
    pool = DocumentPool(by_query=as_run({"q": ["a", *(f"x{place}" for place in range(30))]}))
    measure = parse_measure("TExFAIR(missing='drop')@1")
    drawn = random_scores(
        pool, [measure], Inputs({}).with_known(words=WORDS, queries=["q"]), draws=12, seed=0
    )
    assert drawn.mean(measure) == pytest.approx(texfair(["a"], 1))


def copied(lists: dict[str, list[str]]) -> dict[str, list[str]]:
    return {f"{query}{copy}": documents for query, documents in lists.items() for copy in "abcdefghijkl"}


def test_documents_that_are_left_out_do_not_shorten_the_lists_of_the_collection() -> None:
    """One in three is known, so the first of each list is one of them."""
    names = [*DOCUMENTS, *(f"x{place}" for place in range(14))]
    ours = found("NFaiRR@1 TExFAIR@1", collection=names, missing="drop", draws=300)
    known = np.mean([texfair([document], 1) for document in DOCUMENTS if document != "c"] + [1.0])
    spread = np.std([texfair([document], 1) for document in DOCUMENTS if document != "c"] + [1.0])
    for value in values(ours, "TExFAIR(missing='drop')@1", COLLECTION).values():
        assert abs(value - known) < 6 * spread / math.sqrt(300)
    exact = np.mean([w(document) for document in DOCUMENTS])
    for query, value in values(ours, "NFaiRR(missing='drop')@1", COLLECTION).items():
        assert value == pytest.approx(exact / ideal(query, 1))


def test_what_each_place_adds() -> None:
    one_sided = {"q1": ["a", "b"], "q2": ["e", "g"], "q3": ["f"]}
    ours = origin(
        {"s1": as_run(copied(RANKED)), "s2": as_run(copied(one_sided))},
        "NFaiRR@2 TED@2",
        words=WORDS,
        background=as_run(copied(BACKGROUND_LISTS)),
        draws=10,
    )
    steps = {(repr(step.measure), step.place): step for step in ours.steps()}
    assert [step.place for step in ours.steps()][:4] == [COLLECTION, BACKGROUND, "s1", "s2"]
    for measure in ("NFaiRR@2", "TED@2"):
        assert steps[measure, COLLECTION].against is None
        assert math.isnan(steps[measure, COLLECTION].adds.difference)
        for place, before in ((BACKGROUND, COLLECTION), ("s1", BACKGROUND), ("s2", BACKGROUND)):
            step = steps[measure, place]
            own, other = (list(values(ours, measure, each).values()) for each in (place, before))
            assert step.against == before
            assert step.adds == mean_difference(own, other, (0.0, 1.0))  # two groups with equal targets
            assert step.value == pytest.approx(np.mean(own))
            leans = 1 if measure == "NFaiRR@2" else -1
            apart = step.adds.low > 0 or step.adds.high < 0
            good = leans * step.adds.difference > 0
            assert step.verdict == (("better" if good else "worse") if apart else "")
    assert {step.verdict for step in ours.steps()} == {"", "better", "worse"}


def test_extreme_queries() -> None:
    ours = found("NFaiRR@2")
    own = values(ours, "NFaiRR@2", "system")
    lowest, highest = min(own, key=own.__getitem__), max(own, key=own.__getitem__)
    low, high = ours.extremes(1)
    assert (low.end, low.query, low.value) == ("lowest", lowest, own[lowest])
    assert (high.end, high.query, high.value) == ("highest", highest, own[highest])
    assert low.background == values(ours, "NFaiRR@2", BACKGROUND)[lowest]
    assert low.collection == values(ours, "NFaiRR@2", COLLECTION)[lowest]
    assert [each.query for each in ours.extremes(9)] == sorted(own, key=own.__getitem__)  # none twice
    with pytest.raises(ParameterError, match=">= 1, got 0"):
        ours.extremes(0)


def test_categories_are_their_queries_alone() -> None:
    parts = found("NFaiRR@2").by({"q1": "x", "q2": ["x", "y"]})
    assert list(parts) == ["x", "y", "(no category)"]
    for name, queries in {"x": ["q1", "q2"], "y": ["q2"], "(no category)": ["q3"]}.items():
        alone = found("NFaiRR@2", queries=queries)
        assert parts[name].scores == alone.scores
        assert parts[name].places == (COLLECTION, BACKGROUND)
    with pytest.raises(DataError, match="none of the 1 queries with a category was scored"):
        found("NFaiRR@2").by({"other": "x"})
    with pytest.raises(InputTypeError, match="a mapping"):
        found("NFaiRR@2").by({})


def test_one_run_has_its_own_background_and_several_need_one() -> None:
    alone = origin(POOL, "NFaiRR@2", words=WORDS)
    assert values(alone, "NFaiRR@2", BACKGROUND) == values(found(), "NFaiRR@2", BACKGROUND)
    with pytest.raises(ParameterError, match="several runs need one common background"):
        origin({"a": POOL, "b": SYSTEM}, "TExFAIR@2", words=WORDS)
    deep = origin(POOL, "NFaiRR@1", words=WORDS, background_depth=1)
    block = deep.scores.block("NFaiRR@1", BACKGROUND)
    assert [block.reasons[code] for code in block.status[:, 0]] == ["ideal is 0", "ideal is 0", "ok"]
    assert block.values[2] == 1.0


def test_the_collection_may_be_a_list_and_may_be_unknown() -> None:
    some = found("NFaiRR@2", collection=["a", "c"])
    mean = (w("a") + w("c")) / 2 * (1 + 1 / math.log2(3))
    assert values(some, "NFaiRR@2", COLLECTION)["q1"] == pytest.approx(mean / ideal("q1", 2))
    judged = origin(SYSTEM, "RR@2", qrels={"q1": {"a": 1}, "q2": {"f": 1}, "q3": {"c": 1}}, background=POOL)
    assert judged.places == (BACKGROUND,)
    assert judged.notes[-1].startswith("the collection is not known")
    (background, system) = judged.steps()
    assert (background.against, system.against) == (None, BACKGROUND)
    with pytest.raises(InputTypeError, match="got dict"):
        found(collection={"a": 1})
    with pytest.raises(ParameterError, match="the collection is empty"):
        found(collection=[])


def test_a_background_of_other_queries_is_refused() -> None:
    with pytest.raises(DataError, match="the background 'other' has none of the queries"):
        origin({"s": SYSTEM}, "TExFAIR@2", words=WORDS, background=as_run({"x": ["a"]}, "other"))


def test_the_whole_collection_is_no_list() -> None:
    ours = found("TExFAIR NFaiRR@2", draws=4)
    assert COLLECTION not in [b.run for b in ours.scores.blocks if repr(b.measure) == "TExFAIR"]
    assert (
        "(collection): TExFAIR needs a ranked list, which the whole collection is not, so it has no "
        "value there" in ours.notes
    )
    assert [s.against for s in ours.steps() if repr(s.measure) == "TExFAIR"] == [None, BACKGROUND]


def test_runs_cannot_be_called_as_the_places() -> None:
    with pytest.raises(ParameterError, match="cannot be called"):
        origin({COLLECTION: SYSTEM}, "NFaiRR@2", words=WORDS, background=POOL)


TEXTS = {"d1": "He said he saw his mother", "d2": "she and her sister", "d3": "nothing here", "d4": "a king"}


def by_term() -> tuple[Origin, Lexicon]:
    lexicon = read_lexicon("gender-en")
    words = scan(list(TEXTS.items()), lexicon, terms=True)
    run = as_run({"q": ["d1", "d2"], "p": ["d3", "d4"]}, "run")
    return origin(run, "NFaiRR@2 TermExposure@2", words=words, draws=4), lexicon


def test_the_words_with_most_exposure() -> None:
    ours, lexicon = by_term()
    sheet = term_table(ours, lexicon, 3)
    assert sheet.head == ("term", "group", "(collection) (n = 2)", "(background) (n = 2)", "run (n = 2)")
    second = 1 / math.log2(3)
    # he twice of six, his and mother once; she, her, sister of four at rank 2; king of two; two queries
    wanted = {"he": 2 / 6 / 2, "king": second / 2 / 2, "his": 1 / 6 / 2}
    assert [row[:2] for row in sheet.rows] == [("he", "male"), ("king", "male"), ("his", "male")]
    own = {r["term"]: r for r in sheet.records if r["place"] == "run"}
    total = (4 / 6 + 3 / 4 * second + second / 2) / 2
    for term, value in wanted.items():
        assert own[term]["exposure"] == pytest.approx(value)
        assert own[term]["share"] == pytest.approx(value / total)
    assert "4 terms with less are left out" in sheet.notes[0]
    assert "TermExposure" not in printed(origin_tables(ours), "table").split("\n")[0]
    with pytest.raises(ParameterError, match="needs the measure TermExposure"):
        term_table(found(), lexicon)


def test_tables_have_every_digit_for_programs_and_four_for_people() -> None:
    ours = found("NFaiRR@2")
    (sheet,) = tables_of_origin(ours)
    rows = [json.loads(line) for line in printed([sheet], "jsonl").splitlines()]
    steps = ours.steps()
    assert [row["place"] for row in rows] == [step.place for step in steps]
    assert [row["value"] for row in rows] == [step.value for step in steps]
    assert rows[0]["adds"] is None
    assert rows[1]["adds"] == steps[1].adds.difference
    shown = printed([sheet], "table")
    assert f"(background)  {steps[1].value:.4f}" in shown
    assert f"{steps[1].adds.difference:+.4f}" in shown
    table = printed([sheet], "tsv").splitlines()
    assert table[0].split("\t") == list(rows[0])
    assert table[2].split("\t")[3] == repr(steps[1].value)
    assert "\\begin{tabular}{lrrrrrr}" in printed([sheet], "latex")
    assert printed([sheet], "markdown").startswith("**NFaiRR@2 ↑**\n\n| place |")
    both = tables_of_origin(ours, extremes=1)
    assert [len(each.rows) for each in both] == [3, 2]
    assert tables_of_origin(ours, extremes=1, only=True)[0] == extreme_table(ours, 1)
    with pytest.raises(ParameterError, match="one table is printed at a time"):
        printed(both, "tsv")
    with pytest.raises(ParameterError, match="format must be one of"):
        printed(both, "pdf")
    assert repr(ours) == printed(tables_of_origin(ours), "table").rstrip("\n")


def test_hostile_names_are_escaped() -> None:
    ours = origin({"a|b\n<i>": SYSTEM}, "NFaiRR@2", words=WORDS, background=POOL)
    sheets = tables_of_origin(ours, extremes=1)
    assert "a\\|b\\\\n&lt;i&gt;" in printed(sheets, "markdown")
    assert "a|b\\n<i>" in printed(sheets, "table")
    assert "a\\textbar{}b\\textbackslash{}n\\textless{}i\\textgreater{}" in printed(sheets, "latex")


PAGE = Path(__file__).resolve().parents[2] / "docs/reproductions/nfairc-figure3.md"


@pytest.fixture(scope="module")
def deep_learning(shared: Path) -> dict[str, Origin]:
    """TREC DL 2019 fair, by tokeniser."""
    folder = shared / "data/msmarco_trecdl"
    lexicon = read_lexicon(folder / "wordlist_gender_representative.txt")
    lines = (folder / "trecdeep19_passage.fair.tsv").read_text(encoding="utf-8").splitlines()
    queries = [line.split("\t")[0] for line in lines if line]
    files = sorted((folder / "runs_cpjku_dl19fair").glob("*.run"))
    runs = {path.stem: read_run(path, name=path.stem) for path in files}
    given = {"background": runs["BM25"], "queries": queries, "missing": "neutral"}
    return {
        tokenizer: origin(
            runs,
            "NFaiRR@10",
            words=scan(folder / "passages.tsv", lexicon, tokenizer=tokenizer),
            **given,
        )
        for tokenizer in ("word", "whitespace")
    }


def test_figure_3_of_nfairc(deep_learning: dict[str, Origin]) -> None:
    usual, published = (
        {step.place: step for step in deep_learning[name].steps()} for name in ("word", "whitespace")
    )
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert {row[0] for row in shown[1:]} == set(usual)
    for place, paper, ours, adds, interval, other in shown[1:]:
        step = usual[place]
        assert ours == f"{step.value:.4f}"
        assert other == f"{published[place].value:.4f}"
        if place == COLLECTION:
            assert (adds, interval) == ("", "")
        else:
            assert adds == f"{step.adds.difference:+.4f}"
            assert interval == f"[{step.adds.low:+.4f}, {step.adds.high:+.4f}]"
        if place in ("BM25", "match_pyramid", "advbert_L2", "bert_L4", "advbert_L4", "conv_knrm"):
            assert step.value == pytest.approx(float(paper), abs=5.1e-4)
    assert published[BACKGROUND].value == pytest.approx(0.987, abs=5e-4)  # the paper's DocSet Top
    # as the paper says: the background is fairer than the collection, and rankers differ little from it
    assert [usual[place].verdict for place in (BACKGROUND, "BM25", "tk")] == ["better", "", ""]
    lowest = [each.query for each in deep_learning["word"].extremes(1) if each.end == "lowest"]
    assert lowest == ["962179"] * 10


@pytest.mark.needs("altair", "vl_convert")
def test_the_figure_draws_the_values_of_the_page(deep_learning: dict[str, Origin]) -> None:
    from evenrank.report.figures import origin_figure

    ours = deep_learning["word"]
    (panel,) = origin_figure({"": ours.scores}, ours.places).to_dict()["concat"]
    (points,) = (layer for layer in panel["layer"] if layer["mark"]["type"] == "point")
    drawn = points.get("data", panel.get("data"))["values"]
    assert {row["place"]: row["value"] for row in drawn} == {step.place: step.value for step in ours.steps()}
    assert len(drawn) == 12


def test_infinite_values_are_counted_in_the_table() -> None:
    places = [(query, rank) for query in range(8) for rank in range(4)]
    documents = [f"d{query}{rank}" for query, rank in places]
    run = Run.build([f"q{query}" for query, _ in places], documents, [4.0 - rank for _, rank in places])
    labels = {f"d{query}{rank}": "b" if rank == 0 and query > 1 else "a" for query, rank in places}
    groups = Membership.from_labels("g", labels)
    found = origin(run, "Skew(attr='g')@2", groups=groups, background=run, draws=3)
    step = next(step for step in found.steps() if step.place == "run" and step.column == "b")
    assert (step.queries, step.defined, step.infinite) == (8, 6, 2)
    assert "6/8, 2 infinite" in repr(found)
