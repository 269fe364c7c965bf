"""Rating sheets, the published ratings, and agreement."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from evenrank.corpus import balance_folder, read_balance, read_corpus
from evenrank.corpus.pipeline import read_stage
from evenrank.corpus.quality import ASPECTS, agreement_rows, quality_tables, read_ratings, write_sheet
from evenrank.corpus.statistics import statistics_table
from evenrank.errors import DataError
from evenrank.stats.reliability import krippendorff_alpha

SHARED = Path(__file__).resolve().parents[3] / "shared/data/pair_wikibalance_audit"
AUDIT = pytest.mark.skipif(not SHARED.is_dir(), reason=f"needs {SHARED.name}, which is not distributed")
# pair-duo-2024, Table 1, right: relevance and subjectiveness of queries, then of documents faithfulness,
# coherence, relevance, fluency
TABLE_1 = {
    "Entertainment": "4.3 3.8 5.0 5.0 5.0 4.8",
    "History": "4.9 3.5 5.0 5.0 4.5 4.8",
    "Law and order": "3.3 4.9 4.8 5.0 4.8 5.0",
    "Media and culture": "4.5 5.0 4.8 4.8 4.7 5.0",
    "Politics and economics": "4.4 4.9 4.7 4.5 4.8 5.0",
    "Religion": "5.0 3.0 4.7 4.7 4.3 4.6",
    "Sex sexuality and gender identity": "4.3 5.0 4.8 5.0 5.0 5.0",
    "Sports": "4.9 3.0 5.0 5.0 4.6 4.7",
    "mean of domains": "4.5 4.1 4.9 4.9 4.7 4.9",
}
PAGE = Path(__file__).resolve().parents[2] / "docs/reproductions/wiki-balance-audit.md"


def one_digit(value: float) -> str:
    """Rounded half up, as the paper rounds: 4.75 is printed 4.8."""
    return f"{int(value * 10 + 0.5 + 1e-9) / 10:.1f}"


@AUDIT
def test_table_1_to_its_digits() -> None:
    files = sorted(path for path in SHARED.glob("*.csv") if path.name != "categories.csv")
    assert len(files) == 8
    table = quality_tables(read_ratings(files))[0]
    found = {row[0]: " ".join(one_digit(value) for value in row[2:]) for row in table.rows}
    assert found == TABLE_1
    page = PAGE.read_text(encoding="utf-8")
    for row in table.rows:
        values = " | ".join(f"{value:.3f}" for value in row[2:])
        assert values in page, row[0]
    equal = {(each.domain, each.aspect) for each in read_ratings(files).given}
    assert len(equal) == 48


@AUDIT
def test_topics_by_domain(tmp_path: Path) -> None:
    """By title they are those of Table 1; by page the list names 32 topics twice, which is refused."""
    printed = dict(zip(list(TABLE_1)[:8], (26, 122, 15, 110, 243, 112, 86, 20), strict=True))
    with (SHARED / "categories.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    fill(tmp_path / "list.csv", [{"title": row["key"], "domains": row["categories"]} for row in rows])
    read_stage("topics", tmp_path / "c", [tmp_path / "list.csv"])
    table = statistics_table(read_corpus(tmp_path / "c"))
    found = {str(row[0]).replace(",", ""): row[1] for row in table.rows}
    assert {name: found[name] for name in printed} == printed
    assert found["all"] == 1376
    with pytest.raises(DataError, match="page '924166' is that of 'Gay rights' already"):
        read_stage("topics", tmp_path / "c", [SHARED / "categories.csv"])
    pages = {row["id"] for row in rows}
    assert (len(rows), len(pages)) == (1376, 1344)


def test_the_ratings_of_the_shipped_corpus_are_those_of_its_card() -> None:
    folder = balance_folder()
    files = sorted(folder.glob("ratings_model_*.csv"))
    assert len(files) == 2
    ratings = read_ratings(files, read_balance())
    card = (folder / "README.md").read_text(encoding="utf-8")
    overall = {row[0]: row for row in quality_tables(ratings)[1].rows}
    for aspect, items, equal, within, alpha in agreement_rows(ratings):
        _, mean, interval, count, _ = overall[aspect]
        line = next(line for line in card.splitlines() if line.startswith(f"| {aspect} |"))
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert float(cells[1]) == pytest.approx(mean, abs=0.0051)
        low, high = (float(text) for text in cells[2].strip("[]").split(","))
        assert (low, high) == pytest.approx((interval.low, interval.high), abs=0.0051)
        assert float(cells[3]) == pytest.approx(equal, abs=0.0051)
        assert float(cells[4]) == pytest.approx(alpha, abs=0.0051)
        assert (items, within, count) == (84, 1.0, 168)
    assert "ratings by a model" in card


def test_a_sheet_is_blind_and_comes_back(tmp_path: Path) -> None:
    corpus = read_balance()
    assert write_sheet(corpus, tmp_path, per_domain=2) == 28
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8")
    assert "_p1_" not in text
    assert "perspective" not in text.partition("\n")[0]
    rows = list(csv.DictReader(text.splitlines()))
    key = {row["item"]: row for row in csv.DictReader((tmp_path / "sheet-key.csv").open(encoding="utf-8"))}
    texts = {record["document"]: record["text"] for record in corpus.documents}
    assert all(texts[key[row["item"]]["document"]] == row["text"] for row in rows)
    rows[0]["fluency"], rows[1]["fluency"] = "5", "2"
    fill(tmp_path / "rater.csv", rows)
    ratings = read_ratings([tmp_path / "rater.csv"], corpus, tmp_path)
    assert [each.value for each in ratings.given] == [5.0, 2.0]
    assert ratings.unrated == 28 * 6 - 2  # empty cells are not zeros
    assert write_sheet(corpus, tmp_path, per_domain=2) == 28
    assert (tmp_path / "sheet.csv").read_text(encoding="utf-8") == text  # the same seed draws the same


def fill(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("cell", ["6", "0", "five", "nan"])
def test_a_rating_out_of_range_is_refused_with_its_line(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(f"document,fluency\nt01_q1_p1_d1,4\nt01_q1_p1_d2,{cell}\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=rf"r\.csv:3: fluency: a rating is a number from 1 to 5, got '{cell}'"
    ):
        read_ratings([path], read_balance())


def test_an_item_that_nobody_knows_and_a_file_without_ratings(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,fluency\n77,4\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"r\.csv:2: item '77' is neither"):
        read_ratings([path], read_balance())
    path.write_text("name,stars\nx,4\n", encoding="utf-8")
    with pytest.raises(DataError, match="is no sheet of ratings"):
        read_ratings([path])


def test_alpha_of_the_published_example() -> None:
    """Krippendorff 2011, four observers and twelve units: nominal .743, ordinal .815, interval .849."""
    gap = None
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    units = [[value for value in unit if value is not None] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(units, level="ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(units, level="interval") == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha([[3, 3], [3, 3]]) != krippendorff_alpha([[3, 3], [3, 3]])  # NaN: nothing varies


def test_aspects_are_those_of_the_paper() -> None:
    assert len(ASPECTS) * 8 == 48
