"""What is particular to single re-rankers."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

from evenrank import Attribute, Lexicon, Membership, Run, WordCounts, evaluate, read_run, rerank, tradeoff
from evenrank.data.tables import DocumentTable
from evenrank.errors import EvenrankWarning, MissingEvidenceError, ParameterError
from evenrank.rerankers import parse_reranker

RUN = Run.build(["q"] * 5, list("abcde"), [5, 4, 3, 2, 1])


def test_random_orders_are_equally_likely() -> None:
    queries = [f"q{i}" for i in range(3000) for _ in range(3)]
    run = Run.build(queries, ["a", "b", "c"] * 3000, [3, 2, 1] * 3000)
    new = rerank(run, "Random(seed=4)")
    found = Counter("".join(new.documents(query)) for query in new)
    assert len(found) == 6
    assert sum((count - 500) ** 2 / 500 for count in found.values()) < 20.5  # chi-square, p = 0.001


def test_draws_differ_and_come_back() -> None:
    draws = rerank(RUN, "Random(seed=1)", repeat=20)
    orders = [tuple(run.documents("q")) for run in draws.runs]
    assert len(set(orders)) > 10
    again = rerank(RUN, "Random(seed=1)", repeat=20)
    assert [tuple(run.documents("q")) for run in again.runs] == orders


def test_unique_keeps_what_belongs_to_nobody() -> None:
    chains = Membership.from_labels("chain", {"b": "x", "c": "x", "e": "y"})
    assert rerank(RUN, "Unique", groups=chains).documents("q") == ["a", "b", "d", "e"]
    with pytest.warns(EvenrankWarning, match="are ranked lower because they have no groups of 'chain'"):
        assert rerank(RUN, "Unique(missing='behind')", groups=chains).documents("q") == ["b", "e", "a", "d"]
    with pytest.warns(EvenrankWarning, match="are ranked lower"):
        assert rerank(RUN, "Unique(missing='behind')@4", groups=chains).documents("q") == ["b", "a", "d", "e"]


def test_unique_among_very_many_values() -> None:
    """Values beyond those of the background are told apart, too."""
    names = [f"d{i:03}" for i in range(300)]
    run = Run.build(["q"] * 300, names, np.arange(300, 0, -1.0))
    values = tuple(f"c{i}" for i in range(150))
    chain = Attribute("chain", values, target="present")
    groups = Membership.build(chain, names, [values[i // 2] for i in range(300)])
    assert rerank(run, "Unique", groups=groups).documents("q") == names[::2]


@pytest.mark.parametrize("more", [0, 4200], ids=["few values", "more than a dense table has room for"])
def test_a_document_counts_for_its_largest_share_and_of_equal_ones_for_the_first(more: int) -> None:
    others = [f"other{place}" for place in range(more)]
    side = Attribute("side", ("l", "r", "m", *others), target=(1 / 3, 1 / 3, 1 / 3, *(0.0 for _ in others)))
    shares = [[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.0, 0.5, 0.5], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3]]
    rows = [(name, name, 1.0) for name in others]
    for document, own in zip("abcde", shares, strict=True):
        rows += [(document, value, share) for value, share in zip("lrm", own, strict=True)]
    documents, values, numbers = map(list, zip(*rows, strict=True))
    mixed = Membership.build(side, documents, values, numbers)
    hard = Membership.from_labels(side, dict(zip("abcde", "rlrmr", strict=True)))
    for method in ("DetCons", "DetConstSort", "FA_IR(protected='m',p=0.7)"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenrankWarning)
            found, expected = (rerank(RUN, method, groups=groups) for groups in (mixed, hard))
        assert found.documents("q") == expected.documents("q") != list("abcde")


def test_mmr_alternates() -> None:
    side = Membership.from_labels("side", dict(zip("abcde", "lllrr", strict=True)))
    assert rerank(RUN, "MMR(lam=0.9)", groups=side).documents("q") == list("abdce")
    assert rerank(RUN, "MMR(lam=0.5)", groups=side).documents("q") == list("adbce")
    assert rerank(RUN, "MMR(lam=1)", groups=side).documents("q") == list("abcde")


def test_mmr_takes_similarities_that_differ_in_the_last_bit_as_equal() -> None:
    tags = Attribute("tags", ("x", "y", "z"))
    rows = np.outer([0.3, 0.1, 0.7, 0.9, 0.6], [1, 0.5, 0.3])  # all in one direction
    alike = Membership.from_matrix(tags, list("abcde"), rows, multilabel=True, split="full")
    for lists in (RUN, Run.build(["q"] * 5, list("edcba"), [5, 4, 3, 2, 1])):
        assert rerank(lists, "MMR(lam=0)", groups=alike).documents("q") == lists.documents("q")


def test_sort_by_the_only_table() -> None:
    table = DocumentTable.build("rating", list("abcde"), {"": [1, 3, 3, 5, np.nan]})
    with pytest.raises(MissingEvidenceError, match="is not a number for 1 ranked documents"):
        rerank(RUN, "SortBy", evidence=[table])
    new = rerank(RUN, "SortBy(missing='behind')", evidence=[table])
    assert new.documents("q") == list("dbcae")
    new = rerank(RUN, "SortBy(field='rating',ascending=True,missing='behind')@3", evidence=[table])
    assert new.documents("q") == list("abcde")


def test_sort_by_says_what_there_is() -> None:
    table = DocumentTable.build("shop", list("abcde"), {"price": range(5), "name": list("vwxyz")})
    with pytest.raises(
        ParameterError, match=r"SortBy: there is no '' in 'shop'; it has shop\.price, shop\.name"
    ):
        rerank(RUN, "SortBy", evidence=[table])
    with pytest.raises(ParameterError, match="no column of numbers"):
        rerank(RUN, "SortBy(field='shop.name')", evidence=[table])
    with pytest.raises(ParameterError, match="say what to sort by"):
        rerank(RUN, "SortBy")
    with pytest.raises(ParameterError, match="needs size: pass it in evidence="):
        rerank(RUN, "SortBy(field='size')", evidence=[table])


def test_documents_without_evidence_are_named() -> None:
    side = Membership.from_labels("side", {"a": "l", "b": "r"})
    with pytest.raises(
        MissingEvidenceError, match=r"3 ranked documents .* such as 'c' \(query 'q'\).*'behind'"
    ):
        rerank(RUN, "DetCons(missing='error')", groups=side)
    assert rerank(RUN, "DetCons@2", groups=side).documents("q") == list("abcde")


def test_a_query_without_a_target_stays_and_is_reported() -> None:
    side = Membership.from_labels(
        Attribute("side", ("l", "r"), target={"other": (0.5, 0.5)}), dict(zip("abcde", "lllrr", strict=True))
    )
    with pytest.warns(EvenrankWarning, match="no target for 1 of 1 queries"):
        assert rerank(RUN, "DetConstSort", groups=side).documents("q") == list("abcde")


def test_a_reranked_run_is_measured_like_any_other() -> None:
    side = Membership.from_labels("side", dict(zip("abcde", "lllrr", strict=True)))
    before = evaluate(RUN, "InfeasibleIndex@4", groups=side).block("InfeasibleIndex@4").values.item()
    new = rerank(RUN, "DetCons(top=4) | Random@1", groups=side)
    after = evaluate(new, "InfeasibleIndex@4", groups=side).block("InfeasibleIndex@4").values.item()
    assert (before, after) == (3, 0)  # ranks 2 to 4 lack a document of r


def test_a_chain_takes_no_cutoff_of_its_own() -> None:
    with pytest.raises(ParameterError, match=r"Random \| Random@3 takes no cut-off: give each step its own"):
        parse_reranker("Random | Random@3") @ 5


def test_queries_without_judgements_take_relevance_from_their_ranking() -> None:
    """Not 0 for all: then nothing but fairness would order them."""
    documents = [f"d{place}" for place in range(6)]
    scores = [6.0, 5, 4, 3, 2, 1]
    run = Run.build(["judged"] * 6 + ["not"] * 6, documents * 2, scores * 2)
    groups = Membership.from_labels("side", dict(zip(documents, "aaabbb", strict=True)))
    qrels = {"judged": {"d5": 1}}
    both = rerank(run, "FAIR_greedy(alpha=0.0)", qrels=qrels, groups=groups)
    alone = rerank(run.select(["not"]), "FAIR_greedy(alpha=0.0)", groups=groups)
    assert both.documents("not") == alone.documents("not")
    assert both.documents("judged")[0] == "d5"


def test_a_run_of_which_no_document_is_known_is_refused() -> None:
    run = Run.build(["q1", "q1", "q2"], ["a", "b", "a"], [2.0, 1.0, 1.0])
    groups = Membership.from_labels("side", {"x": "l", "y": "r"})
    with pytest.raises(MissingEvidenceError, match=r"none of the 3 ranked documents has groups of 'side'"):
        rerank(run, "DetCons", groups=groups)


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("DetCons(top=3,top=4)", "top"),
        ("Oracle | MMR(lam=0.1,lam=0.2)@5", "lam"),
        ("SortBy(field='a',field='a')", "field"),
    ],
)
def test_a_parameter_given_twice_is_refused(text: str, twice: str) -> None:
    with pytest.raises(ParameterError, match=f"{twice} is given twice, keep one of them"):
        parse_reranker(text)
    with pytest.raises(ParameterError, match=f"{twice} is given twice, keep one of them"):
        tradeoff(RUN, [text], "RR", qrels={"q": {"a": 1}})


def test_a_chain_may_have_thousands_of_steps() -> None:
    chain = parse_reranker(" | ".join(f"Random(seed={step})" for step in range(2000)))
    assert [step.seed for step in chain.steps()] == list(range(2000))


def test_documents_without_a_group_stay_unless_told_otherwise() -> None:
    """They take no part: the others change places among the ranks that they had between them."""
    side = Attribute("side", ("left", "right"))
    groups = Membership.from_labels(side, {"b": "left", "c": "left", "e": "right"})
    for method in (
        "DetCons",
        "DetGreedy",
        "DetRelaxed",
        "DetConstSort",
        "FA_IR(protected='right',p=0.5)",
        "MMR",
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            new = rerank(RUN, method, groups=groups).documents("q")
        assert (new[0], new[3]) == ("a", "d"), method
        assert sorted(new) == list("abcde")
    with pytest.warns(
        EvenrankWarning,
        match=r"2 of 5 documents \(40\.0%\) are ranked lower because they have no groups of 'side' "
        r"\(missing='behind'\); missing='stay' leaves them",
    ):
        new = rerank(RUN, "DetCons(missing='behind')", groups=groups).documents("q")
    assert new == ["b", "e", "c", "a", "d"]


def test_only_documents_that_stand_lower_are_counted() -> None:
    """Those that stand below all others already are where they were."""
    side = Attribute("side", ("left", "right"))
    groups = Membership.from_labels(side, {"a": "left", "c": "right"})
    with pytest.warns(EvenrankWarning, match=r"1 of 5 documents \(20\.0%\)"):
        rerank(RUN, "DetCons(missing='behind')", groups=groups)
    lexicon = Lexicon.build("two", {"female": ["she"], "male": ["he"]})
    words = WordCounts.build(["b", "c"], [4, 4], [[2, 2], [2, 2]], lexicon)
    with pytest.warns(EvenrankWarning, match=r"1 of 3 documents .* no word counts \(missing='behind'\)$"):
        rerank(RUN, "Neutral(missing='behind')@3", words=words)


def test_a_cell_that_expects_less_than_one_place_is_named_with_its_queries() -> None:
    """Of two attributes with two values each: a list of three has .75 for a cell, one of twelve has three."""
    documents = [f"d{place}" for place in range(12)]
    lists = {"short": documents[:3], "long": documents, "unknown": [*documents[:3], *"xyz"]}
    run = read_run({query: {one: -float(n) for n, one in enumerate(own)} for query, own in lists.items()})
    groups = [
        Membership.from_labels(name, {one: str(place // step % 2) for place, one in enumerate(documents)})
        for name, step in (("side", 1), ("size", 2))
    ]
    with pytest.warns(EvenrankWarning, match="DetCons") as found:
        rerank(run, "DetCons(attr='side*size')", groups=groups)
    (note,) = {str(one.message) for one in found if "less than one place" in str(one.message)}
    assert [query for query in lists if repr(query) in note] == ["short", "unknown"]
