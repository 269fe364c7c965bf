"""Numbers of documents as ordered groups: by size against a slow oracle, by edges, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenrank as er
from evenrank import DataError, EvenrankWarning, ParameterError, audit, read_groups


def prices(count: int, seed: int = 4) -> dict[str, float]:
    drawn = np.random.default_rng(seed).lognormal(3, 1, count).round(2)
    return {f"d{place}": float(price) for place, price in enumerate(drawn)}


def labels_of(membership: Any) -> dict[str, str]:
    names = membership.attribute.values
    rows = membership.shares.dense(np.arange(len(membership)))
    return dict(zip(membership.doc_ids.to_pylist(), (names[row.argmax()] for row in rows), strict=True))


@pytest.mark.parametrize("count", [2, 4, 7])
def test_groups_have_about_the_same_size_and_say_their_range(count: int) -> None:
    given = prices(101)
    found = read_groups(given, "price", bins=count)
    groups = labels_of(found)
    assert found.attribute.ordinal
    ends = []
    for name in found.attribute.values:
        own = [given[document] for document, group in groups.items() if group == name]
        assert abs(len(own) - 101 / count) < 1
        assert [float(end) for end in name.split(" to ")] == [min(own), max(own)]
        ends += [min(own), max(own)]
    assert ends == sorted(ends)
    assert len(found.attribute.values) == count


def test_equal_numbers_stay_together() -> None:
    """Half of the documents cost nothing, so four groups become three."""
    given = {f"d{place}": max(0, place - 49) for place in range(100)}
    with pytest.warns(EvenrankWarning, match="price"):
        found = read_groups(given, "price", bins=4)
    assert found.attribute.values == ("0", "1 to 25", "26 to 50")
    assert sorted(found.sizes().tolist()) == [25, 25, 50]


def test_edges_belong_to_the_group_above() -> None:
    given = {"a": 9.99, "b": 10, "c": 49.5, "d": 49.4, "e": 1e6, "f": None, "g": -1}
    found = read_groups(given, "price", bins=[10, 49.5, 100])
    assert found.attribute.values == ("below 10", "10 to below 49.5", "49.5 to below 100", "100 or more")
    assert labels_of(found) == {
        "a": "below 10", "g": "below 10", "b": "10 to below 49.5", "d": "10 to below 49.5",
        "c": "49.5 to below 100", "e": "100 or more",
    }  # fmt: skip


def test_every_form_of_a_table_gives_the_same_groups(tmp_path: Path) -> None:
    given: dict[str, float | None] = {**prices(40), "none": None}
    rows = {"document": list(given), "price": list(given.values())}
    (tmp_path / "p.csv").write_text(
        "document,price\n"
        + "".join(f"{one},{'' if price is None else price}\n" for one, price in given.items())
    )
    (tmp_path / "p.jsonl").write_text(
        "".join(json.dumps({"document": one, "price": price}) + "\n" for one, price in given.items())
    )
    pq.write_table(pa.table(rows), tmp_path / "p.parquet")
    folder = tmp_path / "many"
    folder.mkdir()
    for number, part in enumerate((slice(0, 15), slice(15, None))):
        pq.write_table(
            pa.table({name: cells[part] for name, cells in rows.items()}), folder / f"{number}.parquet"
        )
    first = read_groups(given, "price", bins=4)
    assert len(first) == 40
    for source in (tmp_path / "p.csv", tmp_path / "p.jsonl", tmp_path / "p.parquet", folder, pa.table(rows)):
        found = read_groups(source, "price", bins=4)
        assert found.attribute == first.attribute
        assert labels_of(found) == labels_of(first)


def test_a_document_may_have_another_number_for_each_query() -> None:
    found = read_groups({"q1": {"a": 1.5, "b": 20.0}, "q2": {"a": 30}}, "age_in_days", bins=[10])
    assert found.query_ids == ("q1", "q2")
    assert found.sizes().tolist() == [1, 2]


def test_groups_by_numbers_have_an_order_for_measures() -> None:
    """To miss a target by one group is less than by two."""
    found = read_groups({"a": 1, "b": 15, "c": 99}, "price", bins=[10, 50], target=[1.0, 0.0, 0.0])
    measure = "GF(attr='price', div='RNOD')@1"
    near, far = (er.evaluate({"q": {one: 1.0}}, measure, groups=found).mean(measure) for one in "bc")
    assert far < near < 1


@pytest.mark.parametrize("bins", [1, 0, -3, True, [], [5, 5], [9, 2], [float("nan")], "many", 2.5])
def test_bins_are_a_number_of_groups_or_rising_edges(bins: Any) -> None:
    with pytest.raises(ParameterError, match="bins"):
        read_groups(prices(30), "price", bins=bins)


@pytest.mark.parametrize(
    "option",
    [{"values": ["a", "b"]}, {"multilabel": True}, {"ignore": ["0"]}, {"even": ["0"]}, {"unlabelled": "own"},
     {"votes": True}],
)  # fmt: skip
def test_what_is_for_labels_does_not_go_with_bins(option: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(option))):
        read_groups(prices(30), "price", bins=4, **option)


def test_bins_need_numbers(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("document,price\na,1\nb,cheap\nc,3\nd,inf\n")
    with pytest.raises(DataError) as raised:
        read_groups(tmp_path / "p.csv", "price", bins=2)
    assert [problem.line for problem in raised.value.problems] == [3, 5]
    with pytest.raises(DataError, match="price"):
        read_groups({"a": 3, "b": 3.0}, "price", bins=2)
    with pytest.raises(DataError, match="price"):
        read_groups({"a": None, "b": None}, "price", bins=2)
    (tmp_path / "p.qrels").write_text("q1 0 a 1\n")
    with pytest.raises(ParameterError, match=r"p\.qrels"):
        read_groups(tmp_path / "p.qrels", "price", bins=2)


@pytest.mark.parametrize("form", ["dict", "csv", "parquet"])
def test_many_numbers_without_bins_are_one_error_that_names_them(tmp_path: Path, form: str) -> None:
    given = prices(60)
    rows = {"document": list(given), "price": list(given.values())}
    source: Any = {"dict": given, "csv": tmp_path / "p.csv", "parquet": tmp_path / "p.parquet"}[form]
    (tmp_path / "p.csv").write_text("document,price\n" + "".join(f"{d},{p}\n" for d, p in given.items()))
    pq.write_table(pa.table(rows), tmp_path / "p.parquet")
    with pytest.raises(DataError, match="bins=4") as raised:
        read_groups(source, "price")
    assert len(str(raised.value).splitlines()) == 1


def test_many_whole_numbers_may_be_names_and_are_doubted() -> None:
    given = {f"d{place}": place % 30 for place in range(90)}
    with pytest.warns(EvenrankWarning, match="bins=4"):
        found = read_groups(given, "brand")
    assert len(found.attribute.values) == 30


def test_audits_and_the_project_file_take_bins(
    evenrank: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = prices(80)
    Path("products.csv").write_text(
        "id,price,text\n" + "".join(f"{d},{p},a lamp\n" for d, p in given.items())
    )
    cheapest_first = sorted(given, key=lambda one: given[one])
    Path("run.trec").write_text(
        "".join(
            f"q{query} Q0 {document} {rank} {100 - rank} shop\n"
            for query in range(14)
            for rank, document in enumerate(cheapest_first[query : query + 30], 1)
        )
    )
    Path("evenrank.toml").write_text(
        '[data]\ndocuments = "products.csv"\n[groups]\nprice = "documents:bins=20,40"\n'
    )
    told = evenrank(
        "evaluate", "run.trec", "--project", "evenrank.toml", "-m", "GroupShare@10", "--format", "jsonl"
    )
    shares = {row["column"]: row["value"] for row in map(json.loads, told.out.splitlines())}
    assert shares == {"below 20": pytest.approx(1.0), "20 to below 40": 0.0, "40 or more": 0.0}
    found = audit("run.trec", tmp_path / "audit", documents="products.csv", groups="price:bins=2")
    (verdict,) = found.verdicts
    low, high = verdict.groups
    assert low.documents == high.documents == 40
    assert (low.share, high.share) == pytest.approx((1.0, 0.0))


def test_a_first_number_that_is_bad_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("document,price\nd1,n/a\nd2,5\nd3,7\n")
    with pytest.raises(DataError, match=r"p\.csv:2: document 'd1': .*'n/a'"):
        read_groups(path, "price", bins=2)
    path.write_text('document,price\n"d1,5\nd2,12\n')
    with pytest.raises(DataError, match=r"p\.csv:2: "):
        read_groups(path, "price", bins=2)
