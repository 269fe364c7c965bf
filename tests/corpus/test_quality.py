"""Rating sheets, the published ratings, and agreement."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evenrank.corpus import balance_folder, read_balance

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


ASPECTS = ("query relevance", "query subjectiveness", "faithfulness", "coherence", "relevance", "fluency")


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def rated(evenrank: Any, folder: object, *files: object) -> list[dict[str, Any]]:
    given = [word for file in files for word in ("--from", file)]
    done = evenrank("corpus", "quality", folder, *given, "--format", "jsonl")
    assert done.code == 0, done.err
    return rows_of(done.out)


@AUDIT
def test_table_1_to_its_digits(evenrank: Any, tmp_path: Path) -> None:
    """Published ratings need no corpus."""
    files = sorted(path for path in SHARED.glob("*.csv") if path.name != "categories.csv")
    assert len(files) == 8
    rows = [row for row in rated(evenrank, tmp_path / "none", *files) if "domain" in row]
    found = {row["domain"]: " ".join(one_digit(row[aspect]) for aspect in ASPECTS) for row in rows}
    assert found == TABLE_1
    page = PAGE.read_text(encoding="utf-8")
    for row in rows:
        assert " | ".join(f"{row[aspect]:.3f}" for aspect in ASPECTS) in page, row["domain"]


@AUDIT
def test_topics_by_domain(evenrank: Any, tmp_path: Path) -> None:
    """By title they are those of Table 1; by page the list names 32 topics twice, which is refused."""
    printed = dict(zip(list(TABLE_1)[:8], (26, 122, 15, 110, 243, 112, 86, 20), strict=True))
    with (SHARED / "categories.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    fill(tmp_path / "list.csv", [{"title": row["key"], "domains": row["categories"]} for row in rows])
    assert evenrank("corpus", "topics", tmp_path / "c", "--from", tmp_path / "list.csv").code == 0
    counted = rows_of(evenrank("corpus", "statistics", tmp_path / "c", "--format", "jsonl").out)
    found = {row["domain"].replace(",", ""): row["topics"] for row in counted}
    assert {name: found[name] for name in printed} == printed
    assert found["all"] == 1376
    refused = evenrank("corpus", "topics", tmp_path / "c", "--from", SHARED / "categories.csv")
    assert refused.code == 1
    assert "'924166'" in refused.err
    pages = {row["id"] for row in rows}
    assert (len(rows), len(pages)) == (1376, 1344)


def test_the_ratings_of_the_shipped_corpus_are_those_of_its_card(evenrank: Any) -> None:
    folder = balance_folder()
    files = sorted(folder.glob("ratings_model_*.csv"))
    assert len(files) == 2
    found: dict[str, dict[str, Any]] = {}
    for row in rated(evenrank, "balance-en", *files):
        if "aspect" in row:
            found.setdefault(row["aspect"], {}).update(row)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert set(found) == set(ASPECTS)
    for aspect, row in found.items():
        line = next(line for line in card.splitlines() if line.startswith(f"| {aspect} |"))
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert float(cells[1]) == pytest.approx(row["mean"], abs=0.0051)
        interval = [float(text) for text in cells[2].strip("[]").split(",")]
        assert interval == pytest.approx(row["95% interval"], abs=0.0051)
        assert float(cells[3]) == pytest.approx(row["equal"], abs=0.0051)
        assert float(cells[4]) == pytest.approx(row["alpha"], abs=0.0051)
        assert (row["items"], row["within 1"], row["ratings"]) == (84, 1.0, 168)
    assert "ratings by a model" in card


def test_a_sheet_is_blind_and_comes_back(tmp_path: Path, evenrank: Any) -> None:
    corpus, folder = read_balance(), tmp_path / "corpus"
    shutil.copytree(balance_folder(), folder)
    assert evenrank("corpus", "quality", folder).code == 0
    text = (folder / "sheet.csv").read_text(encoding="utf-8")
    assert "_p1_" not in text
    assert "perspective" not in text.partition("\n")[0]
    rows = list(csv.DictReader(text.splitlines()))
    key = {row["item"]: row for row in csv.DictReader((folder / "sheet-key.csv").open(encoding="utf-8"))}
    texts = {record["document"]: record["text"] for record in corpus.documents}
    assert all(texts[key[row["item"]]["document"]] == row["text"] for row in rows)
    rows[0]["fluency"], rows[1]["fluency"] = "5", "2"
    fill(tmp_path / "rater.csv", rows)
    by_aspect = {
        row["aspect"]: row for row in rated(evenrank, folder, tmp_path / "rater.csv") if "mean" in row
    }
    assert (by_aspect["fluency"]["mean"], by_aspect["fluency"]["ratings"]) == (3.5, 2)
    assert not [row for row in by_aspect.values() if row["aspect"] != "fluency" and row["ratings"]]
    assert evenrank("corpus", "quality", folder).code == 0
    assert (folder / "sheet.csv").read_text(encoding="utf-8") == text  # the same seed draws the same


def fill(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("sheet", "named"),
    [
        *(
            (f"document,fluency\nt01_q1_p1_d1,4\nt01_q1_p1_d2,{cell}\n", ["r.csv:3", "fluency", f"'{cell}'"])
            for cell in ("6", "0", "five", "nan")
        ),
        ("item,fluency\n77,4\n", ["r.csv:2", "'77'"]),
        ("name,stars\nx,4\n", ["r.csv"]),
    ],
)
def test_ratings_that_are_none_are_refused_with_their_line(
    tmp_path: Path, evenrank: Any, sheet: str, named: list[str]
) -> None:
    (tmp_path / "r.csv").write_text(sheet, encoding="utf-8")
    done = evenrank("corpus", "quality", "balance-en", "--from", tmp_path / "r.csv")
    assert done.code == 1
    assert [word for word in named if word not in done.err] == []


def test_alpha_of_the_published_example(tmp_path: Path, evenrank: Any) -> None:
    """Krippendorff 2011, four observers and twelve units: ordinal .815."""
    gap = ""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
        [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
    ]
    documents = [record["document"] for record in read_balance().documents[:12]]
    for number, own in enumerate(observers):
        rows = [{"document": name, "fluency": str(v)} for name, v in zip(documents, own, strict=True)]
        fill(tmp_path / f"rater{number}.csv", rows)
    rows = rated(evenrank, "balance-en", *sorted(tmp_path.glob("rater*.csv")))
    (alpha,) = [row["alpha"] for row in rows if row.get("aspect") == "fluency" and "alpha" in row]
    assert alpha == pytest.approx(0.815, abs=5e-4)
